// The verdict in plain words; the sentences are those of Assessment.verdict.

function baselineName(baseline) {
  return virtual.has(baseline)
    ? `the per-query ${virtual.get(baseline)} of ${plural(data.population.length, "system", "systems")}`
    : baseline;
}

function baselineLabel(baseline) {
  return virtual.has(baseline) ? `per-query ${virtual.get(baseline)}` : baseline;
}

function weightWords(alpha) {
  return alpha === 0 ? "Gains and losses counted alike" : `With losses counted ${short(1 + alpha)} times`;
}

function headline(row, alpha) {
  // A tone for the badge, and the sentence to remember, as parts around the system's name.
  const times = `${short(1 + alpha)} times`;
  if (row.is_baseline)
    return { tone: "none", badge: "Baseline", before: "", after: " is what the others are compared with" };
  if (row.verdict === "reward") {
    return {
      tone: "helped",
      badge: "Reward prevails",
      before: "",
      after: alpha ? ` helps more than it hurts, even with losses counted ${times}` : " helps more than it hurts",
    };
  }
  if (row.verdict === "risk") {
    return {
      tone: "hurt",
      badge: "Risk prevails",
      before: "",
      after: alpha ? ` hurts more than it helps once losses count ${times}` : " hurts more than it helps",
    };
  }
  if (row.verdict === "inconclusive") {
    return {
      tone: "none",
      badge: "Inconclusive",
      before: "No clear verdict on ",
      after: alpha ? ` with losses counted ${times}` : "",
    };
  }
  return { tone: "none", badge: "No test", before: "Nothing can be said of chance about ", after: "" };
}

function effectParts(row, baseline) {
  const over = name(baselineName(baseline));
  const size = `${fixed(Math.abs(row.gain))} ${visible(data.measure)} on average`;
  const change =
    row.gain > 0
      ? [` gains ${size} over `, over]
      : row.gain < 0
        ? [` loses ${size} to `, over]
        : [" is on average as good as ", over];
  return [
    name(row.system),
    ...change,
    ` and hurts ${count(row.losses)} of ${count(queries.length)} queries, ${count(row.loss_over_20)} of them by more than 20 %. `,
  ];
}

function significanceParts(row, alpha) {
  if (row.t_risk === null) return [`Nothing can be said of chance: ${row.reason}.`];
  const p = row.p_value < 0.0001 ? "p < 0.0001" : `p = ${Number(row.p_value.toPrecision(2))}`;
  const who = {
    reward: "its reward outweighs its risk",
    risk: "its risk outweighs its reward",
    inconclusive: "neither reward nor risk prevails",
  }[row.verdict];
  return [
    `${weightWords(alpha)}, ${who} by more than chance `,
    html("span", { class: "whole" }, `(T_Risk = ${fixed(row.t_risk, 2)}, ${p}).`),
  ];
}

function drawVerdict(view) {
  const { row, alpha, baseline } = view,
    head = headline(row, alpha);
  replace(get("badge"), head.badge);
  get("badge").dataset.tone = head.tone;
  replace(get("headline"), head.before, name(row.system), head.after);
  replace(
    get("effect"),
    ...(row.is_baseline
      ? ["Choose another system, or another baseline, to see what it gains and whom it hurts."]
      : [...effectParts(row, baseline), ...significanceParts(row, alpha)]),
  );
  const figure = (id, text, tone = "") => {
    setText(get(id), text);
    get(id).dataset.tone = tone;
  };
  figure("figure-gain", signed(row.gain), row.gain > 0 ? "helped" : row.gain < 0 ? "hurt" : "");
  figure("figure-helped", count(row.wins), "helped");
  figure("figure-hurt", count(row.losses), "hurt");
  figure("figure-badly", count(row.loss_over_20), "hurt");
  figure("figure-t", fixed(row.t_risk, 2), row.verdict === "risk" ? "hurt" : row.verdict === "reward" ? "helped" : "");
  setText(
    get("figure-p"),
    row.p_value === null ? "no test" : `p ${row.p_value < 0.0001 ? "" : "= "}${pText(row.p_value)}`,
  );
}
