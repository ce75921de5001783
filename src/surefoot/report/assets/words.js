// A system in plain words; the sentences are those of Assessment.in_words.

function baselineName(baseline) {
  return virtual.has(baseline)
    ? `the per-query ${virtual.get(baseline)} of ${plural(data.population.length, "system", "systems")}`
    : baseline;
}

function baselineLabel(baseline) {
  return virtual.has(baseline) ? `per-query ${virtual.get(baseline)}` : baseline;
}

// The outcome of the system that is shown, with a tone.
const BADGES = {
  better: ["helped", "Better"],
  worse: ["hurt", "Worse"],
  same: ["none", "Same"],
  unclear: ["none", "Unclear"],
};

const SAME_SCORES = "has the same scores as";

function effectParts({ row, baseline, book }) {
  const gaps = gapParts(row, baseline);
  if (row.outcome === "same") return [name(row.system), ` ${SAME_SCORES} `, name(baselineName(baseline)), " on every query. ", ...gaps];
  const worse = getWorse(row, book),
    badly = row.losses ? `, ${count(row.loss_over_20)} of them by more than 20 %${ofTraffic(row.traffic_loss_over_20)}` : "";
  return [
    name(row.system),
    ` ${changeWords(row, book)} on average. ${asSentence(worse)}${badly}.${onceWords(row)} `,
    ...gaps,
  ];
}

function changeWords({ gain }, book) {
  const measure = visible(book.measure);
  return gain === 0 ? `neither gains nor loses ${measure}` : `${gain > 0 ? "gains" : "loses"} ${fixed(Math.abs(gain))} ${measure}`;
}

function getWorse({ losses, traffic_losses }, book) {
  if (!losses) return "no query gets worse";
  return `${count(losses)} of ${count(book.queries.length)} queries ${losses === 1 ? "gets" : "get"} worse${ofTraffic(traffic_losses)}`;
}

function asSentence(words) {
  return words[0].toUpperCase() + words.slice(1);
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
    // Of the other cautions, only that for fewer than 50 names more false outcomes than this one.
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

const HERE = { better: "it is better", worse: "it is worse", unclear: "we cannot tell" };

function significanceParts(view) {
  // What that means at α, and at which other α it means something else.
  const { row, alpha, baseline } = view;
  if (row.outcome === "same") return [];
  if (row.t_risk === null) return [`No test says whether that is chance: ${row.reason}.`];
  const over = name(baselineName(baseline)),
    p = html("span", { class: "whole" }, pWords(row.p_holm, Number(Math.max(row.p_holm, data.least_p).toPrecision(2)))),
    at = `at α = ${short(alpha)}`,
    turns = turnsOf(view);
  if (turns !== null && turns.length > 1) {
    const what = row.gain > 0 ? "Whether that is worth it" : "What that means";
    return [`${what} depends on α: `, ...bandParts(turns, over), `. (Here α = ${short(alpha)}: ${HERE[row.outcome]}, `, p, `.)${robustWords(row)}`];
  }
  const most = short(Math.max(MOST_ALPHA, alpha));
  if (row.outcome === "unclear")
    return ["We cannot tell whether it is better or worse than ", over, ` ${at} (`, p, `)${turns === null ? "" : `, nor at any other α up to ${most}`}.${robustWords(row)}`];
  // Equal systems have U_Risk < 0 at α > 0, rightly: that must not read as if they were worse.
  const once = row.outcome === "worse" && alpha > 0 && row.gain >= 0 ? "; if losses count once, it is not" : "",
    always = turns === null ? once : `, and at every other α up to ${most}`;
  return [`${asSentence(HERE[row.outcome])} than `, over, ` ${at} (`, p, `)${always}.${robustWords(row)}`];
}

const ANOTHER = { better: "bad as its worst", worse: "good as its best" };

function robustWords({ outcome, outcome_without_extra_query: alone, p_traffic }) {
  // Whether one more query could change the outcome, where there is something to change.
  if (!ANOTHER[alone]) return "";
  const another = `more query as ${ANOTHER[alone]}${p_traffic === null ? "" : ", asked as often as a typical request's query,"}`;
  if (outcome === alone) return ` One ${another} would not change this.`;
  return ` The judged queries alone say that it is ${alone}, but one ${another} would change that.`;
}

function fewQueries(queries, alpha) {
  // What to say of an outcome at α on so many queries, where they are too few to rely on.
  return data.cautions.find((one) => queries < one.queries && alpha >= one.alpha)?.text ?? "";
}

function drawOutcome(view) {
  const { row } = view,
    [tone, badge] = row.is_baseline ? ["none", "Baseline"] : (BADGES[row.outcome] ?? ["none", "No test"]);
  setText(get("badge"), badge);
  get("badge").dataset.tone = tone;
  replace(
    get("effect"),
    ...(row.is_baseline
      ? ["This is what the others are compared with. Choose another system, or another baseline, to see what it gains and whom it hurts."]
      : [...effectParts(view), ...significanceParts(view), sufferingWords(view)]),
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
  figure("figure-t", fixed(row.t_risk, 2), outcomeTone(row.outcome));
  setText(
    get("figure-t-note"),
    row.p_holm === null ? "no test" : pWords(row.p_holm, pText(row.p_holm)),
  );
}
