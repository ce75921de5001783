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
  return alpha === 0 ? "If gains and losses count the same" : `If losses count ${short(1 + alpha)} times`;
}

// What prevails for the system that is shown, with a tone.
const BADGES = {
  reward: ["helped", "Reward prevails"],
  risk: ["hurt", "Risk prevails"],
  inconclusive: ["none", "Inconclusive"],
};

function effectParts({ row, baseline, book }) {
  const over = name(baselineName(baseline));
  const size = `${fixed(Math.abs(row.gain))} ${visible(book.measure)} on average`;
  const change =
    row.gain > 0
      ? [` gains ${size} over `, over]
      : row.gain < 0
        ? [` loses ${size} compared with `, over]
        : [" is on average as good as ", over];
  return [
    name(row.system),
    ...change,
    ` and hurts ${count(row.losses)} of ${count(book.queries.length)} queries${ofTraffic(row.traffic_lost)}, ` +
      `${count(row.loss_over_20)} of them by more than 20 %${ofTraffic(row.traffic_lost_over_20)}.${onceWords(row)} `,
    ...gapParts(row, baseline),
  ];
}

function trafficPercent(share) {
  return `${fixed(100 * share, share >= 0.095 ? 0 : 1)} %`;
}

function ofTraffic(share) {
  return share === null ? "" : ` (${trafficPercent(share)} of traffic)`;
}

function onceWords({ gain, gain_once: once }) {
  // What holds if every query counts once, where that is not what traffic says.
  if (once === null) return "";
  if (once * gain > 0) return ` With every query counted once, it ${once > 0 ? "gains" : "loses"} ${fixed(Math.abs(once))}.`;
  const change = once > 0 ? `gains ${fixed(once)}` : once < 0 ? `loses ${fixed(-once)}` : "gains and loses nothing";
  return ` But with every query counted once, it ${change}: frequent and rare queries fare differently.`;
}

function tooFew(book, alpha) {
  if (!book.weights) return fewQueries(book.effective, alpha);
  const { queries, ratio, text, alpha: least } = data.uneven,
    isUneven = book.effective < Math.min(queries, book.queries.length / ratio) && alpha >= least,
    // Of the other cautions, only that for fewer than 50 names more false verdicts than this one.
    cautions = [fewQueries(book.effective, isUneven ? 0 : alpha), isUneven ? text : ""].filter(Boolean);
  if (!cautions.length) return "";
  const effective = book.effective < 100 ? fixed(book.effective, 1) : count(Math.round(book.effective));
  const uneven =
    `The traffic is so uneven that these ${count(book.queries.length)} queries tell only as much as ${effective} queries ` +
    "that are asked equally often.";
  return [uneven, ...cautions].join(" ");
}

function gapParts(row, baseline) {
  // The queries that the system or the baseline lacks: there the figures tell nothing of its ranking.
  if (data.dropped) {
    const several = data.dropped > 1;
    return [`${count(data.dropped)} judged ${several ? "queries" : "query"} that some system lacks ${several ? "are" : "is"} left out. `];
  }
  return [...new Set([row.system, baseline])]
    .filter((system) => data.missing[systems.indexOf(system)] > 0)
    .flatMap((system) => [
      name(system),
      ` lacks ${count(data.missing[systems.indexOf(system)])} of the ${count(data.queries.length)} queries; they score 0. `,
    ]);
}

function significanceParts({ row, alpha, tests }) {
  if (row.t_risk === null) return [`Chance cannot be tested: ${row.reason}.`];
  const { tested, over } = tests;
  const p = `Holm's ${pWords(row.p_holm, Number(Math.max(row.p_holm, data.least_p).toPrecision(2)))}`;
  const whole = (text) => html("span", { class: "whole" }, text);
  const who = {
    reward: "its reward outweighs its risk",
    risk: "its risk outweighs its reward",
    inconclusive: "neither reward nor risk prevails",
  }[row.verdict];
  // Equal systems have U_Risk < 0 at α > 0, rightly: that must not read as if they were worse.
  const once = row.verdict === "risk" && alpha > 0 && row.gain >= 0 ? "; if losses count once, it does not" : "";
  return [
    `${weightWords(alpha)}, ${who} by more than chance `,
    whole(`(T_Risk = ${fixed(row.t_risk, 2)},`),
    " ",
    whole(p),
    `${tested > 1 ? ` over ${tested} ${over}` : ""})${once}.`,
    sturdyWords(row),
  ];
}

const ANOTHER = { reward: "bad as its worst", risk: "good as its best" };

function sturdyWords({ verdict, verdict_adjusted: alone, p_traffic }) {
  // Whether one more query could change the verdict, where there is something to change.
  if (!ANOTHER[alone]) return "";
  const another = `more query as ${ANOTHER[alone]}${p_traffic === null ? "" : ", asked as often as a typical request's query,"}`;
  if (verdict === alone) return ` One ${another} would not change this.`;
  return ` The judged queries alone give the verdict "${alone}", but one ${another} would change it.`;
}

function fewQueries(queries, alpha) {
  // What to say of a verdict at α on so many queries, where they are too few to rely on.
  return data.cautions.find((one) => queries < one.queries && alpha >= one.alpha)?.text ?? "";
}

function drawVerdict(view) {
  const { row } = view,
    [tone, badge] = row.is_baseline ? ["none", "Baseline"] : (BADGES[row.verdict] ?? ["none", "No test"]);
  setText(get("badge"), badge);
  get("badge").dataset.tone = tone;
  replace(
    get("effect"),
    ...(row.is_baseline
      ? ["This is what the others are compared with. Choose another system, or another baseline, to see what it gains and whom it hurts."]
      : [...effectParts(view), ...significanceParts(view), turnedWords(view), sufferingWords(view)]),
  );
  const figure = (id, text, tone = "") => {
    setText(get(id), text);
    get(id).dataset.tone = tone;
  };
  figure("figure-gain", signed(row.gain), changeTone(row.gain, ""));
  figure("figure-helped", count(row.wins), row.wins ? "helped" : "");
  figure("figure-hurt", count(row.losses), row.losses ? "hurt" : "");
  figure("figure-badly", count(row.loss_over_20), row.loss_over_20 ? "hurt" : "");
  figure("figure-u", signed(row.u_risk));
  setText(
    get("figure-u-note"),
    row.u_risk_interval ? `${CONFIDENCE}: ${row.u_risk_interval.map((end) => signed(end, 3)).join(" to ")}` : "no interval",
  );
  figure("figure-t", fixed(row.t_risk, 2), verdictTone(row.verdict));
  setText(
    get("figure-t-note"),
    row.p_holm === null ? "no test" : `Holm's ${pWords(row.p_holm, pText(row.p_holm))}`,
  );
}
