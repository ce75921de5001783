// Two rankings of one query side by side: lines between documents that moved, grades, and what each move cost.

const MOST_LOSSES = 5;
const MOST_GAINS = 3;

function termsOf(results, { kind, gains, cutoff }) {
  // What each result adds to the measure, up to a factor that both lists share; `gains` are [grade, gain].
  const worth = new Map(gains);
  let reach = 1,
    relevant = 0;
  return results.map(({ grade }, i) => {
    const gain = (cutoff !== null && i >= cutoff) || grade === null ? 0 : (worth.get(grade) ?? 0);
    if (kind === "dcg") return gain / Math.log2(i + 2);
    if (kind === "err") {
      const term = (reach * gain) / (i + 1);
      reach *= 1 - gain;
      return term;
    }
    if (!gain) return 0;
    relevant++;
    if (kind === "ap") return relevant / (i + 1);
    return kind === "rr" ? (relevant === 1 ? 1 / (i + 1) : 0) : 1;
  });
}

function costsOf({ left, right, terms, top }) {
  // For each document what its move changed in the measure, the largest loss first; null where the lists do not say.
  const whole = ({ results }) => results.length < top || (terms?.cutoff ?? Infinity) <= top;
  if (!terms || !whole(left) || !whole(right)) return null;
  const [theirs, mine] = [left, right].map((side) => termsOf(side.results, terms)),
    sum = (values) => values.reduce((all, value) => all + value, 0);
  const factor = sum(theirs) > 0 ? left.score / sum(theirs) : sum(mine) > 0 ? right.score / sum(mine) : 0;
  const byDocument = new Map();
  const add = (side, values, sign, key) =>
    side.results.forEach((one, i) => {
      const known = byDocument.get(one.document) ?? { ...one, from: null, to: null, cost: 0 };
      byDocument.set(one.document, { ...known, [key]: i + 1, [`${key}Other`]: one.other, cost: known.cost + sign * factor * values[i] });
    });
  add(left, theirs, -1, "from");
  add(right, mine, 1, "to");
  return [...byDocument.values()].filter(({ cost }) => Math.abs(cost) >= 5e-5).sort((one, other) => one.cost - other.cost);
}

function costWords({ from, to, fromOther, toOther }, top) {
  const first = `the first ${count(top)}`;
  if (to === null) return fromOther ? `fell from ${from} to ${count(fromOther)}` : fromOther === 0 ? `was ${from}, is gone` : `fell from ${from} out of ${first}`;
  if (from === null) return toOther ? `rose from ${count(toOther)} to ${to}` : toOther === 0 ? `is new at ${to}` : `rose to ${to} from beyond ${first}`;
  return from === to ? `stays at ${to}, below others` : `${to > from ? "fell" : "rose"} from ${from} to ${to}`;
}

function costList(pair) {
  const costs = costsOf(pair);
  if (!costs?.length) return null;
  const losses = costs.filter(({ cost }) => cost < 0),
    gains = costs.filter(({ cost }) => cost > 0).reverse();
  const shown = [...losses.slice(0, MOST_LOSSES), ...gains.slice(0, MOST_GAINS)],
    rest = costs.length - shown.length;
  const line = (one) =>
    html("li", {}, name(one.id), ` ${costWords(one, pair.top)}: `, html("b", { "data-tone": changeTone(one.cost) }, signed(one.cost)));
  const caption = html("li", { class: "small" }, "What moves of judged documents changed in the measure, the largest losses first");
  return html("ul", { class: "costs" }, caption, ...shown.map(line), rest ? html("li", { class: "small" }, `and ${plural(rest, "smaller change", "smaller changes")}`) : null);
}

function movedWords(rank, other, is, top) {
  // null: beyond the lists; 0: nowhere in the other ranking.
  const tone = is === "before" ? "up" : "down";
  if (other === null) return { text: is === "before" ? `not in top ${top}` : "out of the list", tone };
  if (other === 0) return { text: is === "before" ? "new" : "gone", tone };
  if (other === rank) return { text: "=", tone: "" };
  const up = is === "before" ? rank < other : other < rank;
  return { text: `${up ? "↑" : "↓"} ${is === "before" ? "from" : "to"} ${count(other)}`, tone: up ? "up" : "down" };
}

function gradeChip(grade, best) {
  if (grade === null) return html("span", { class: "grade none", title: "not judged" }, "?");
  const step = grade <= 0 || best <= 0 ? 0 : Math.max(1, Math.round((4 * grade) / best));
  return html("span", { class: `grade g${step}`, title: `grade ${short(grade)}` }, short(grade));
}

function rankedList({ title, results }, is, { top, best, both }) {
  const rows = results.map(({ id, text, grade, other }, i) => {
    // Only where relevant results go is good or bad news.
    const where = both ? movedWords(i + 1, other, is, top) : { text: "", tone: "" };
    return html(
      "tr", {},
      html("td", { class: "rank" }, String(i + 1)),
      html("td", {}, gradeChip(grade, best)),
      html("td", { class: "document" }, name(id), words(text)),
      html("td", { class: `moved ${grade > 0 ? where.tone : ""}` }, where.text),
    );
  });
  const heads = ["#", "grade", "document", is === "before" ? "was" : "now"];
  const head = html("thead", {}, html("tr", {}, ...heads.map((text) => html("th", { scope: "col" }, text))));
  return html(
    "section", { class: "ranked" },
    html("h3", {}, ...title),
    results.length ? html("table", {}, head, html("tbody", {}, ...rows)) : html("p", { class: "empty" }, "Returned nothing for this query."),
  );
}

function drawLinks(links, left, right, { left: theirs, right: mine }) {
  // From each document's row on the left to its row on the right, where both are shown.
  const rows = (side) => [...side.querySelectorAll("tbody tr")].map((row) => row.getBoundingClientRect()),
    [from, to] = [rows(left), rows(right)],
    box = links.getBoundingClientRect();
  if (!box.width || !from.length || !to.length) return;
  links.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
  const place = new Map(mine.results.map(({ document }, i) => [document, i])),
    middle = (one) => one.top + one.height / 2 - box.top;
  const lines = theirs.results.flatMap(({ document, grade }, i) => {
    const j = place.get(document);
    if (j === undefined) return [];
    const tone = grade > 0 && j !== i ? (j < i ? "up" : "down") : "";
    return [svg("line", { class: tone, x1: 2, x2: box.width - 2, y1: middle(from[i]), y2: middle(to[j]) })];
  });
  replace(links, ...lines.sort((one, other) => (one.getAttribute("class") > "") - (other.getAttribute("class") > "")));
}

function rankingsPair({ left, right, terms = null, top, best }) {
  // Each side is { title: [parts], results: [{ document, id, text, grade, other }], score }, or a text that says why there is none, or null.
  // `terms` is what Python's measure_terms gives, `best` the highest grade there is.
  const isList = (side) => side !== null && typeof side !== "string",
    both = isList(left) && isList(right),
    pair = { left, right, terms, top, best, both };
  const side = (one, is) => (isList(one) ? rankedList(one, is, pair) : one === null ? null : html("p", { class: "empty" }, one));
  const [one, other] = [side(left, "after"), side(right, "before")];
  if (!both) return html("div", { class: "pair alone" }, one, other);
  const links = svg("svg", { class: "links", "aria-hidden": "true", preserveAspectRatio: "none" });
  new ResizeObserver(() => drawLinks(links, one, other, pair)).observe(one);
  return html("div", {}, costList(pair), html("div", { class: "pair" }, one, links, other));
}
