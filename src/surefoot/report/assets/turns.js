// Where an outcome changes as losses weigh more, and what was found; as surefoot.risk.outcomes and words.headline.

function namedAlphas(most) {
  // Every α that three digits can name, from 0 on; below 1 every thousandth.
  const alphas = Array.from({ length: 1000 }, (_, k) => k / 1000);
  for (let unit = 100; 100 / unit <= most; unit /= 10)
    for (let k = 100; k < 1000 && k / unit <= most; k++) alphas.push(k / unit);
  return alphas;
}

function isSame({ is_baseline, wins, losses }) {
  // Who differs on no query needs no test.
  return !is_baseline && !wins && !losses;
}

function turningPoints(pairs, own) {
  // For each system its outcome at α = 0 and each α at which another starts; null where there is no test.
  const tested = pairs.map((_, i) => i).filter((i) => untestable(pairs[i], 0) === null),
    bySystem = pairs.map((one, i) => (tested.includes(i) ? [] : isSame({ ...one, is_baseline: i === own }) ? [{ alpha: 0, outcome: "same" }] : null));
  for (const alpha of namedAlphas(MOST_ALPHA)) {
    const ts = tested.map((i) => quickT(pairs[i], alpha));
    holm(ts.map((t, k) => quickP(t, pairs[tested[k]], alpha))).forEach((p, k) => {
      const outcome = outcomeOf(ts[k], p),
        turns = bySystem[tested[k]];
      if (turns.at(-1)?.outcome !== outcome) turns.push({ alpha, outcome });
    });
  }
  return bySystem;
}

function quickP(t, one, alpha) {
  // P-values that are not significant do not change Holm's correction of those that are.
  if (t === null) return null;
  if (Math.abs(t) < one.book.critical) return 1;
  return decisiveP(twoSidedP(t, one.sorted.length - 1), one.weights ? quickTrafficP(one, alpha) : null);
}

function quickTrafficP(one, alpha) {
  const mean = sumAt(one, alpha, 1, 1) / one.sorted.length,
    cross = sumAt(one, alpha, 2, 1) - mean * sumAt(one, alpha, 2, 0),
    all = sumAt(one, alpha, 2, 2),
    squares = Math.max(all - mean * (sumAt(one, alpha, 2, 1) + cross), ROUNDING * all);
  return twoSidedP(trafficTest(one, alpha, mean, squares, cross).t, one.book.effective - 1);
}

function turnsWith(turns, alpha, outcome) {
  // The same where the outcome at this α is known: an α of more digits may lie in a band that no other one shows.
  const before = turns.filter((turn) => turn.alpha <= alpha),
    after = turns.filter((turn) => turn.alpha > alpha);
  if (before.at(-1).outcome === outcome) return turns;
  if (after.length && after[0].outcome === outcome) return [...before, { alpha, outcome }, ...after.slice(1)];
  const next = namedAlphas(MOST_ALPHA).find((one) => one > alpha),
    back = next === undefined ? [] : [{ alpha: next, outcome: before.at(-1).outcome }];
  return [...before, { alpha, outcome }, ...back, ...after];
}

const MOST_BANDS = 4;

function turnsOf(view) {
  // Within a segment outcomes go by all segments of its column together, for which this would take too long.
  const known = view.book.column === ALL_QUERIES ? view.against.turns()[view.index] : null;
  return known && turnsWith(known, view.alpha, view.row.outcome);
}

function bandParts(turns, over) {
  // From which α on which outcome holds.
  const starts = turns.map(({ alpha }) => String(Number(alpha.toPrecision(6)))),
    outcomes = turns.map(({ outcome }) => outcome),
    words = outcomes.map((outcome) => HERE[outcome]),
    unclear = outcomes[0] === "unclear",
    first = [words[0], ...(unclear ? [] : [" than ", over.cloneNode(true)]), ` up to α = ${starts[1]}`],
    last = [words.at(-1), ...(unclear && outcomes.at(-1) !== "unclear" ? [" than ", over.cloneNode(true)] : [])];
  if (outcomes.join() === "better,unclear,worse") return [...first, `, worse from ${starts[2]} on; between, we cannot tell`];
  if (turns.length === 2) return [...first, "; from there on, ", ...last];
  const bands = words.slice(1, -1).map((word, k) => `${word} from ${starts[k + 1]} to ${starts[k + 2]}`),
    several = `this changes several times from ${starts[1]} to ${starts.at(-1)}`,
    between = bands.length > MOST_BANDS ? [several] : bands;
  return [...first, `; ${between.join("; ")}; `, ...last, ` from ${starts.at(-1)} on`];
}

function sufferingWords(view) {
  // The segments that the chosen system hurts by more than chance, the most hurt first.
  if (!data.segments.length || view.book.column !== ALL_QUERIES) return "";
  const hurt = onSegments(view)
    .filter(({ row }) => row.outcome === "worse")
    .sort(SEGMENT_ORDERS.hurt);
  if (!hurt.length) return " No segment gets worse by more than chance.";
  const named = hurt.slice(0, 5).map((one) => `${one.column} ${one.segment} (${count(one.row.queries)} queries${one.book.weights ? `, ${trafficPercent(one.book.trafficShare)} of traffic` : ""})`);
  const more = hurt.length > 5 ? ` and ${hurt.length - 5} more` : "";
  return visible(` These segments get worse by more than chance: ${named.join(", ")}${more}.`);
}

function advice({ rows, baseline, book, alpha }) {
  // The sentence of words.headline as parts, a word for the chip, and what kind of finding it is.
  const others = rows.filter((row) => !row.is_baseline),
    over = name(baselineName(baseline)),
    at = `at α = ${short(alpha)}`;
  if (!others.length) return { system: null, kind: "neutral", word: "No system", parts: ["There is no system to compare with ", over] };
  const better = others.filter((row) => row.outcome === "better");
  const chosen = (better.length ? better : others).reduce((best, row) => (row.u_risk > best.u_risk ? row : best));
  const { outcome } = chosen,
    caution = tooFew(book, alpha),
    word = outcome === null ? "No test" : asSentence(outcome),
    kind = { better: caution ? "wait" : "ship", worse: "keep" }[outcome] ?? "neutral",
    known = { system: chosen.system, caution, word, kind };
  if (others.length > 1 && !["better", null].includes(outcome))
    return { ...known, kind: "keep", word: "None better", parts: ["No system is better than ", over, ` ${at} by more than chance`] };
  if (outcome === "same") return { ...known, parts: [name(chosen.system), ` ${SAME_SCORES} `, over, " on every query"] };
  const meaning = {
    better: ["it is better than ", over, ` ${at}`],
    worse: ["it is worse than ", over, ` ${at}`],
    unclear: ["we cannot tell whether it is better than ", over, ` ${at}`],
  }[outcome] ?? ["no test says whether that is chance"];
  return { ...known, parts: [name(chosen.system), ` ${changeWords(chosen, book)}, and ${getWorse(chosen, book)}: `, ...meaning] };
}

function drawAdvice(view, chooseSystem) {
  const { system, kind, word, parts, caution = "" } = advice(view);
  replace(get("headline"), ...parts);
  setText(get("chip"), word);
  get("chip").dataset.kind = kind;
  setText(get("caution"), caution);
  get("caution").hidden = !caution;
  const button = get("advice-show");
  button.hidden = system === null || system === view.system;
  if (button.hidden) return;
  const nearest = view.rows.find((row) => row.system === system).outcome !== "better";
  replace(button, nearest ? "Show the closest system, " : "Show ", name(clip(system, 40)));
  button.onclick = () => chooseSystem(system);
}
