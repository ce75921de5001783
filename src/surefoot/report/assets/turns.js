// Where a verdict turns as losses weigh more, and which system to ship; as surefoot.risk.turns and words.headline.

function namedAlphas(most) {
  // Every α that three digits can name, from 0 on; below 1 every thousandth.
  const alphas = Array.from({ length: 1000 }, (_, k) => k / 1000);
  for (let unit = 100; 100 / unit <= most; unit /= 10)
    for (let k = 100; k < 1000 && k / unit <= most; k++) alphas.push(k / unit);
  return alphas;
}

function turningPoints(pairs) {
  // For each system its verdict at α = 0 and each α at which another starts; null where it cannot be tested.
  const tested = pairs.map((_, i) => i).filter((i) => untestable(pairs[i], 0) === null),
    bySystem = pairs.map((_, i) => (tested.includes(i) ? [] : null));
  for (const alpha of namedAlphas(MOST_ALPHA)) {
    const ts = tested.map((i) => quickT(pairs[i], alpha));
    holm(ts.map((t, k) => quickP(t, pairs[tested[k]], alpha))).forEach((p, k) => {
      const verdict = verdictOf(ts[k], p),
        turns = bySystem[tested[k]];
      if (turns.at(-1)?.verdict !== verdict) turns.push({ alpha, verdict });
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

function turnsWith(turns, alpha, verdict) {
  // The same where the verdict at this α is known: an α of more digits may lie in a band that no other one shows.
  const before = turns.filter((turn) => turn.alpha <= alpha),
    after = turns.filter((turn) => turn.alpha > alpha);
  if (before.at(-1).verdict === verdict) return turns;
  if (after.length && after[0].verdict === verdict) return [...before, { alpha, verdict }, ...after.slice(1)];
  const next = namedAlphas(MOST_ALPHA).find((one) => one > alpha),
    back = next === undefined ? [] : [{ alpha: next, verdict: before.at(-1).verdict }];
  return [...before, { alpha, verdict }, ...back, ...after];
}

const PREVAILS = { reward: "its reward prevails", inconclusive: "neither prevails", risk: "its risk prevails" };
const MOST_BANDS = 4;

function turnedWords(view) {
  // Within a segment verdicts go by all segments of its column together, for which this would take too long.
  const known = view.book.column === ALL_QUERIES ? view.against.turns()[view.index] : null;
  if (!known) return "";
  const turns = turnsWith(known, view.alpha, view.row.verdict);
  if (turns.length === 1) return ` The verdict is the same at every α up to ${short(Math.max(MOST_ALPHA, view.alpha))}.`;
  const starts = turns.map(({ alpha }) => String(Number(alpha.toPrecision(6)))),
    words = turns.map(({ verdict }) => PREVAILS[verdict]);
  const bands = words.slice(1, -1).map((prevailing, k) => `${prevailing} from ${starts[k + 1]} to ${starts[k + 2]}`);
  const several = `this changes several times from ${starts[1]} to ${starts.at(-1)}`,
    between = bands.length > MOST_BANDS ? [several] : bands,
    first = `${words[0][0].toUpperCase()}${words[0].slice(1)} for α from 0 to ${starts[1]}`;
  return ` ${[first, ...between].join(", ")}, and ${words.at(-1)} from ${starts.at(-1)} on.`;
}

function sufferingWords(view) {
  // The segments that the chosen system hurts by more than chance, the most hurt first.
  if (!data.segments.length || view.book.column !== ALL_QUERIES) return "";
  const hurt = onSegments(view)
    .filter(({ row }) => row.verdict === "risk")
    .sort(SEGMENT_ORDERS.hurt);
  if (!hurt.length) return " No segment loses by more than chance.";
  const named = hurt.slice(0, 5).map((one) => `${one.column} ${one.segment} (${count(one.row.queries)} queries${one.book.weights ? `, ${trafficPercent(one.book.trafficShare)} of traffic` : ""})`);
  const more = hurt.length > 5 ? ` and ${hurt.length - 5} more` : "";
  return visible(` These segments lose by more than chance: ${named.join(", ")}${more}.`);
}

function advice({ rows, baseline, book, alpha }) {
  // Which system to ship: the sentence of words.headline as parts, a word for the chip, and what kind of decision it is.
  const others = rows.filter((row) => !row.is_baseline);
  if (!others.length)
    return { system: null, kind: "neutral", word: "No system", parts: ["There is no system to compare with ", name(baselineName(baseline))] };
  const rewarded = others.filter((row) => row.verdict === "reward");
  const chosen = (rewarded.length ? rewarded : others).reduce((best, row) => (row.u_risk > best.u_risk ? row : best));
  const caution = tooFew(book, alpha),
    known = { system: chosen.system, caution };
  if (rewarded.length) {
    const hurt = `${count(chosen.losses)} of ${plural(book.queries.length, "query", "queries")}${ofTraffic(chosen.traffic_lost)}`;
    const why = `${caution && ", with caution"}: it gains ${fixed(Math.abs(chosen.gain))} ${visible(book.measure)} and hurts ${hurt}`;
    return { ...known, kind: caution ? "wait" : "ship", word: "Ship", parts: ["Ship ", name(chosen.system), why] };
  }
  if (chosen.p_holm === null) {
    const parts = [name(chosen.system), " has the highest U_Risk, but no test can say whether this is chance"];
    return { ...known, kind: "neutral", word: "No test", parts };
  }
  const why = ": no system's reward outweighs its risk by more than chance";
  const parts = virtual.has(baseline) ? [`Do not ship any system yet${why}`] : ["Keep ", name(baseline), why];
  return { ...known, kind: "keep", word: "Keep", parts };
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
  const nearest = view.rows.find((row) => row.system === system).verdict !== "reward";
  replace(button, nearest ? "Show the closest system, " : "Show ", name(clip(system, 40)));
  button.onclick = () => chooseSystem(system);
}
