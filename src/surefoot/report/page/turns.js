// Where a verdict turns as losses weigh more, and which system to ship; as surefoot.risk.turns and words.advice.

function turningPoints(pairs) {
  // For each system its verdict at α = 0 and each α at which another starts; null where it cannot be tested.
  const tested = pairs.map((_, i) => i).filter((i) => untestable(pairs[i], 0) === null);
  const verdicts = (alpha) => {
    const ts = tested.map((i) => adjustedT(pairs[i], alpha));
    return holm(ts.map((t, k) => quickP(t, pairs[tested[k]]))).map((p, k) => verdictOf(ts[k], p));
  };
  const { most, steps, close } = data.turns;
  const grid = Array.from({ length: steps + 1 }, (_, k) => (k * most) / steps),
    at = grid.map(verdicts);
  const found = pairs.map(() => null);
  tested.forEach((i, own) => {
    found[i] = [{ alpha: 0, verdict: at[0][own] }];
    for (let k = 1; k < grid.length; k++) {
      if (at[k][own] === at[k - 1][own]) continue;
      let [low, high] = [grid[k - 1], grid[k]];
      while (high - low > close) {
        const middle = (low + high) / 2;
        if (verdicts(middle)[own] === at[k][own]) high = middle;
        else low = middle;
      }
      found[i].push({ alpha: high, verdict: at[k][own] });
    }
  });
  return found;
}

function quickP(t, one) {
  // P-values that are not significant do not change Holm's correction of those that are.
  return t === null ? null : Math.abs(t) < one.book.critical ? 1 : twoSidedP(t, one.sorted.length - 1);
}

const PREVAILS = { reward: "its reward prevails", risk: "its risk prevails", inconclusive: "neither prevails" };

function turnedWords(view) {
  // Within a segment verdicts go by all segments of its column together, for which this would take too long.
  const turns = view.book.column === WHOLE ? view.against.turns()[view.index] : null;
  if (!turns) return "";
  const [first, ...later] = turns;
  if (!later.length) return ` The verdict is the same at every α up to ${short(data.turns.most)}.`;
  const steps = later.map(({ alpha, verdict }) => `from α = ${Number(alpha.toPrecision(3))} on ${PREVAILS[verdict]}`);
  return ` At α = 0 ${PREVAILS[first.verdict]}, ${steps.join(", ")}.`;
}

function sufferingWords(view) {
  // The segments that the chosen system hurts by more than chance, the most hurt first.
  if (!data.segments.length || view.book.column !== WHOLE) return "";
  const hurt = onSegments(view)
    .filter(({ row }) => row.verdict === "risk")
    .sort(SEGMENT_ORDERS.hurt);
  if (!hurt.length) return " No segment suffers by more than chance.";
  const named = hurt.slice(0, 5).map((one) => `${one.column} ${one.segment} (${count(one.row.queries)} queries)`);
  const more = hurt.length > 5 ? ` and ${hurt.length - 5} more` : "";
  return visible(` Suffering by more than chance: ${named.join(", ")}${more}.`);
}

function advice(rows, baseline) {
  // Which system to ship, and the words around its name.
  const others = rows.filter((row) => !row.is_baseline);
  if (!others.length) return { system: null, parts: ["There is no system to compare with ", name(baselineName(baseline)), "."] };
  const rewarded = others.filter((row) => row.verdict === "reward");
  const chosen = (rewarded.length ? rewarded : others).reduce((best, row) => (row.u_risk > best.u_risk ? row : best));
  if (rewarded.length) return { system: chosen.system, parts: ["Ship ", name(chosen.system), "."] };
  if (chosen.p_holm === null)
    return {
      system: chosen.system,
      parts: ["The highest U_Risk is that of ", name(chosen.system), ", and no test says whether by chance."],
    };
  const why = ": no system's reward outweighs its risk by more than chance.";
  return {
    system: chosen.system,
    parts: virtual.has(baseline) ? [`Ship none yet${why}`] : ["Keep ", name(baseline), why],
  };
}

function drawAdvice(view, chooseSystem) {
  const { system, parts } = advice(view.rows, view.baseline);
  const button = get("advice-show");
  replace(get("advice"), ...parts);
  button.hidden = system === null || system === view.system;
  if (button.hidden) return;
  const nearest = view.rows.find((row) => row.system === system).verdict !== "reward";
  replace(button, nearest ? "Show the nearest, " : "Show ", name(clip(system, 40)));
  button.onclick = () => chooseSystem(system);
}
