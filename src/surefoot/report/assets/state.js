// What is shown (α, baseline, system, measure, segment, query, order of the table), kept in the address so that a link shows the same.

const state = { alpha: 0, baseline: "", system: "", query: null, sort: "mean", reversed: false };
Object.assign(state, { measure: data.measures[0].measure, column: null, segment: null, byTraffic: data.counts !== null });
const MOST_ALPHA = Math.max(data.most_alpha, ...data.alphas);
const isAlpha = (alpha) => alpha >= 0 && alpha <= data.largest_alpha;

function readAddress() {
  const parameters = addressParts();
  const alpha = parameters.has("alpha") ? Number(parameters.get("alpha")) : NaN;
  const among = (key, known, otherwise) => (parameters.has(key) && known(parameters.get(key)) ? parameters.get(key) : otherwise);
  state.byTraffic = data.counts !== null && parameters.get("count") !== "queries";
  state.alpha = isAlpha(alpha) && parameters.get("alpha").trim() !== "" ? alpha : data.start.alpha;
  state.baseline = among("baseline", (key) => systems.includes(key) || virtual.has(key), data.start.baseline);
  state.system = among("system", (key) => systems.includes(key), data.start.system);
  state.measure = among("measure", (key) => data.measures.some(({ measure }) => measure === key), data.measures[0].measure);
  const columns = data.segments.filter(({ column }) => column === parameters.get("column"));
  state.segment = among("segment", (key) => columns.some(({ segments }) => segments.includes(key)), null);
  state.column = state.segment === null ? null : parameters.get("column");
  state.query = among("query", (key) => currentBook().queries.includes(key), null);
  state.sort = among("sort", (key) => SHOWN.some((column) => column.key === key), "mean");
  state.reversed = parameters.get("order") === "reversed";
  if (!parameters.has("system")) leaveBaseline();
}

function currentBook() {
  const measure = data.measures.findIndex((one) => one.measure === state.measure);
  if (state.segment === null) return bookOf(measure);
  const column = data.segments.findIndex((one) => one.column === state.column);
  return bookOf(measure, column, data.segments[column].segments.indexOf(state.segment));
}

function leaveBaseline() {
  // A system beside itself shows nothing: take the best other one.
  if (state.system !== state.baseline || systems.length < 2) return;
  const means = currentBook().means();
  const others = systems.map((_, i) => i).filter((i) => systems[i] !== state.baseline);
  state.system = systems[others.reduce((best, i) => (means[i] > means[best] ? i : best))];
}

function remember(step) {
  // What the page shows by itself is left out of the address, but for α and the two systems.
  keepState(
    {
      alpha: state.alpha,
      baseline: state.baseline,
      system: state.system,
      measure: state.measure === data.measures[0].measure ? null : state.measure,
      count: data.counts === null || state.byTraffic ? null : "queries",
      column: state.column,
      segment: state.segment,
      query: state.query,
      sort: state.sort === "mean" && !state.reversed ? null : state.sort,
      order: state.reversed ? "reversed" : null,
    },
    step,
  );
}
