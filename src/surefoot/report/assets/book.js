// A book: the scores by one measure, on all queries or on those of one segment, with all that is derived from them.
// Books are made when first asked for, and each part of them too: most are never looked at.

const systems = data.systems;
const virtual = new Map(data.virtual.map(({ key, kind }) => [key, kind]));
const ALL_QUERIES = -1;

function floats(base64) {
  const raw = bytes(base64),
    view = new DataView(raw.buffer),
    values = new Float64Array(raw.length / 8);
  for (let i = 0; i < values.length; i++) values[i] = view.getFloat64(8 * i, true);
  return values;
}

function lazy(make) {
  let made;
  return () => (made ??= make());
}

// For each column of segments the queries of each segment, by their numbers.
const segmentRows = data.segments.map(({ segments, of }) =>
  lazy(() => {
    const rows = segments.map(() => []);
    numbers(of).forEach((segment, q) => segment && rows[segment - 1].push(q));
    return rows.map((row) => Uint32Array.from(row));
  }),
);

const books = new Map();

function bookOf(measure, column = ALL_QUERIES, segment = ALL_QUERIES) {
  const key = `${measure} ${column} ${segment} ${state.byTraffic}`;
  if (!books.has(key)) books.set(key, column === ALL_QUERIES ? fullBook(measure, key) : segmentBook(measure, column, segment, key));
  return books.get(key);
}

// How often each query is asked, or null where all count the same.
const traffic = data.counts === null ? null : floats(data.counts);

function weightsOf(rows) {
  // Relative weights of some queries, whose mean is 1; null where each query counts once.
  if (!state.byTraffic) return null;
  const weights = Float64Array.from(rows, (q) => traffic[q]),
    mean = average(weights);
  return weights.map((weight) => weight / mean);
}

function effectiveQueries(weights) {
  return total(weights) ** 2 / totalOf(weights, (weight) => weight * weight);
}

function weightedMean(values, weights) {
  return weights === null ? average(values) : total(values.map((value, q) => value * weights[q])) / values.length;
}

function familyOf(book) {
  // The books whose tests are corrected together: all segments of a column, or the whole alone.
  return book.column === ALL_QUERIES
    ? [book]
    : data.segments[book.column].segments.map((_, segment) => bookOf(book.number, book.column, segment));
}

function fullBook(measure, key) {
  const all = floats(data.measures[measure].scores),
    count = data.queries.length;
  return derived({
    key,
    number: measure,
    column: ALL_QUERIES,
    segment: ALL_QUERIES,
    rows: Uint32Array.from(data.queries.keys()),
    queries: data.queries,
    scores: systems.map((_, i) => all.subarray(i * count, (i + 1) * count)),
    // The mean comes from Python: its rounding decides ties and losses over 20 %.
    mean: floats(data.measures[measure].mean),
    critical: data.critical_value,
    trafficCritical: data.traffic_critical_value,
  });
}

function segmentBook(measure, column, segment, key) {
  const full = bookOf(measure),
    rows = segmentRows[column]()[segment],
    taken = (values) => Float64Array.from(rows, (q) => values[q]);
  return derived({
    key,
    number: measure,
    column,
    segment,
    rows,
    queries: Array.from(rows, (q) => data.queries[q]),
    scores: full.scores.map(taken),
    mean: taken(full.mean),
    critical: data.segments[column].critical_values[segment],
    trafficCritical: data.segments[column].traffic_critical_values[segment],
  });
}

function derived(book) {
  const { scores, queries } = book,
    weights = weightsOf(book.rows);
  return {
    ...book,
    weights,
    effective: weights === null ? queries.length : effectiveQueries(weights),
    trafficShare: weights === null ? null : total(Float64Array.from(book.rows, (q) => traffic[q])) / total(traffic),
    measure: data.measures[book.number].title,
    largest: scores.reduce((most, row) => row.reduce((best, value) => Math.max(best, Math.abs(value)), most), 0),
    negative: data.population.some((row) => scores[row].some((value) => value < 0)),
    means: lazy(() => scores.map((row) => weightedMean(row, weights))),
    geometricMeans: lazy(() =>
      scores.map((row) => Math.exp(weightedMean(row.map((value) => Math.log(Math.max(value, 1e-5))), weights))),
    ),
    // Z_Risk and GeoRisk are not defined for weighted queries.
    shape: lazy(() => (weights === null ? deviations(scores, queries.length) : systems.map(() => null))),
    searched: lazy(() => queries.map((query, q) => `${query} ${queryText(book, q)}`.toLowerCase())),
    comparisons: new Map(),
  };
}

function queryText(book, q) {
  return data.texts.queries?.[book.rows[q]] ?? "";
}

function deviations(scores, count) {
  // Each system's deviations from expectation over the population, those above 0 and those below.
  const shape = systems.map(() => null),
    rows = data.population.map((row) => scores[row]);
  if (rows.some((row) => row.some((value) => value < 0))) return shape;
  const rowSums = rows.map(total),
    all = total(rowSums);
  const share = Float64Array.from({ length: count }, (_, q) =>
    all === 0 ? 0 : total(rows.map((row) => row[q])) / all,
  );
  data.population.forEach((position, i) => {
    const above = [],
      below = [];
    for (let q = 0; q < count; q++) {
      const expected = rowSums[i] * share[q];
      const z = expected > 0 ? (rows[i][q] - expected) / Math.sqrt(expected) : 0;
      (z > 0 ? above : below).push(z);
    }
    shape[position] = { above: total(above), below: total(below) };
  });
  return shape;
}

function perQuery(book, kind) {
  if (kind === "mean") return book.mean;
  const rows = data.population.map((row) => book.scores[row]),
    middle = rows.length / 2;
  return Float64Array.from(book.queries, (_, q) => {
    const values = Float64Array.from(rows, (row) => row[q]).sort();
    if (kind === "max") return values[values.length - 1];
    return rows.length % 2 ? values[Math.floor(middle)] : (values[middle - 1] + values[middle]) / 2;
  });
}

function zRisk(book, i, alpha) {
  const shape = book.shape()[i];
  return shape && shape.above + (1 + alpha) * shape.below;
}

function geoRisk(book, i, alpha) {
  const z = zRisk(book, i, alpha);
  return z === null ? null : Math.sqrt(book.means()[i] * normalCdf(z / book.queries.length));
}
