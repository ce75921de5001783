// The score matrix and every figure of it, as surefoot's risk package defines them.

const data = JSON.parse(document.getElementById("data").textContent);
const systems = data.systems,
  queries = data.queries;
const scores = (() => {
  const all = floats(data.scores);
  return systems.map((_, i) => all.subarray(i * queries.length, (i + 1) * queries.length));
})();
const virtual = new Map(data.virtual.map(({ key, kind }) => [key, kind]));
const largest = scores.reduce((most, row) => row.reduce((best, value) => Math.max(best, Math.abs(value)), most), 0);

function bytes(base64) {
  const text = atob(base64),
    found = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) found[i] = text.charCodeAt(i);
  return found;
}

function floats(base64) {
  const raw = bytes(base64),
    view = new DataView(raw.buffer),
    values = new Float64Array(raw.length / 8);
  for (let i = 0; i < values.length; i++) values[i] = view.getFloat64(8 * i, true);
  return values;
}

function perQuery(kind) {
  // The mean comes from Python: its rounding decides ties and losses over 20 %.
  if (kind === "mean") return floats(data.mean);
  const rows = data.population.map((row) => scores[row]),
    middle = rows.length / 2;
  return Float64Array.from(queries, (_, q) => {
    const values = Float64Array.from(rows, (row) => row[q]).sort();
    if (kind === "max") return values[values.length - 1];
    return rows.length % 2 ? values[Math.floor(middle)] : (values[middle - 1] + values[middle]) / 2;
  });
}

// What needs neither baseline nor α: means, and deviations from expectation over the population.
const means = scores.map(average);
const geometricMeans = scores.map((row) => Math.exp(average(row.map((value) => Math.log(Math.max(value, 1e-5))))));
const negative = data.population.some((row) => scores[row].some((value) => value < 0));
const shape = systems.map(() => null);
if (!negative) {
  const rows = data.population.map((row) => scores[row]);
  const rowSums = rows.map(total),
    all = total(rowSums);
  const share = Float64Array.from(queries, (_, q) => (all === 0 ? 0 : total(rows.map((row) => row[q])) / all));
  data.population.forEach((position, i) => {
    const above = [],
      below = [];
    for (let q = 0; q < queries.length; q++) {
      const expected = rowSums[i] * share[q];
      const z = expected > 0 ? (rows[i][q] - expected) / Math.sqrt(expected) : 0;
      (z > 0 ? above : below).push(z);
    }
    shape[position] = { above: total(above), below: total(below) };
  });
}

function zRisk(i, alpha) {
  return shape[i] && shape[i].above + (1 + alpha) * shape[i].below;
}

function geoRisk(i, alpha) {
  return shape[i] && Math.sqrt(means[i] * normalCdf(zRisk(i, alpha) / queries.length));
}

const comparisons = new Map();

function compare(baseline) {
  // Everything about a baseline that no α changes, made once: a slider step then costs one pass over the scores.
  if (!comparisons.has(baseline)) {
    const own = systems.indexOf(baseline);
    const vector = own >= 0 ? scores[own] : perQuery(virtual.get(baseline));
    // A per-query mean carries rounding, which must make neither a win nor a loss of a tie.
    const rounding = own >= 0 ? 0 : data.rounding;
    comparisons.set(baseline, { key: baseline, own, vector, pairs: scores.map((row) => pair(row, vector, rounding)) });
  }
  return comparisons.get(baseline);
}

function pair(row, vector, rounding) {
  const count = row.length,
    difference = new Float64Array(count);
  let wins = 0,
    losses = 0,
    over20 = 0;
  for (let q = 0; q < count; q++) {
    difference[q] = row[q] - vector[q];
    if (Math.abs(difference[q]) <= rounding) difference[q] = 0;
    if (difference[q] > 0) wins++;
    if (difference[q] < 0) losses++;
    if (vector[q] > 0 && difference[q] < -0.2 * (1 + 1e-9) * vector[q]) over20++;
  }
  const gains = difference.filter((value) => value > 0),
    harms = difference.filter((value) => value < 0);
  const sorted = difference.slice().sort();
  return {
    difference,
    sorted,
    wins,
    losses,
    over20,
    reward: total(gains) / count,
    risk: -total(harms) / count || 0,
    worst: average(sorted.subarray(0, Math.max(1, Math.floor(data.worst_share * count * (1 + 1e-12))))),
    // Sums for the curves over α, where x̄, Σx² and Σx³ are polynomials in 1 + α.
    squares: [total(gains.map((value) => value ** 2)), total(harms.map((value) => value ** 2))],
    cubes: [total(gains.map((value) => value ** 3)), total(harms.map((value) => value ** 3))],
    order: null,
  };
}

function hurtFirst(one) {
  // Queries from the most hurt to the most helped.
  one.order ??= Uint32Array.from(queries.keys()).sort((a, b) => one.difference[a] - one.difference[b] || a - b);
  return one.order;
}

function weigh(value, alpha) {
  return value > 0 ? value : (1 + alpha) * value;
}

function test(one, alpha) {
  // T_Risk of x_q = f_α(δ_q): mean over standard error, or the reason why there is none.
  const count = one.sorted.length,
    df = count - 1;
  const absent = (reason) => ({
    t: null,
    p: null,
    se: null,
    deviation: null,
    mean: null,
    df,
    tAdjusted: null,
    pAdjusted: null,
    interval: null,
    reason,
  });
  if (count < 2) return absent("a single query has no standard error");
  const low = weigh(one.sorted[0], alpha),
    high = weigh(one.sorted[count - 1], alpha);
  if (high - low <= 16 * Number.EPSILON * (1 + alpha) * largest) {
    return absent(
      low === 0 && high === 0
        ? "identical to the baseline on every query"
        : "all queries differ from the baseline alike",
    );
  }
  const weighted = new Float64Array(count);
  for (let q = 0; q < count; q++) weighted[q] = weigh(one.sorted[q], alpha);
  const mean = average(weighted),
    centred = weighted.map((x) => x - mean),
    squares = total(centred.map((x) => x * x));
  const deviation = Math.sqrt(squares / df),
    se = deviation / Math.sqrt(count),
    unit = Math.sqrt(squares / count);
  const t = mean / se,
    skewness = total(centred.map((x) => (x / unit) ** 3)) / count,
    tAdjusted = hallT(mean / deviation, skewness, count);
  return {
    t,
    p: twoSidedP(t, df),
    se,
    deviation,
    mean,
    df,
    tAdjusted,
    pAdjusted: twoSidedP(tAdjusted, df),
    interval: [1, -1].map((side) => mean - deviation * hallInverse(side, skewness, count)),
    reason: null,
  };
}

function hallT(T, skewness, count) {
  // Hall's transformation takes the skewness out of T = x̄/s: h(T) = T + γT²/3 + γ²T³/27 + γ/(6c).
  const bend = skewness / 3;
  return Math.sqrt(count) * (T * (1 + bend * T + (bend * T) ** 2 / 3) + skewness / (6 * count));
}

function hallInverse(side, skewness, count) {
  // T whose h is ± the critical value over √c: 3/γ·(∛(1 + γy) − 1), written so that γ = 0 needs no case of its own.
  const y = (side * data.critical_value) / Math.sqrt(count) - skewness / (6 * count),
    root = Math.cbrt(1 + skewness * y);
  return (3 * y) / (root * root + root + 1);
}

function adjustedCurve(one, alphas) {
  // t_adjusted against α from sums made once; precise enough to draw.
  const count = one.sorted.length;
  return alphas.map((alpha) => {
    const mean = one.reward - (1 + alpha) * one.risk;
    const second = (one.squares[0] + (1 + alpha) ** 2 * one.squares[1]) / count;
    const third = (one.cubes[0] + (1 + alpha) ** 3 * one.cubes[1]) / count;
    const variance = second - mean * mean;
    if (test(one, alpha).t === null || !(variance > 0)) return null;
    const skewness = (third - 3 * mean * second + 2 * mean ** 3) / variance ** 1.5;
    return hallT(mean / Math.sqrt((variance * count) / (count - 1)), skewness, count);
  });
}

function queryScore(one, found, q, alpha) {
  // T_R and T_J of a query; significant where T_J leaves ± the critical value.
  if (found.deviation === null) return null;
  const x = weigh(one.difference[q], alpha),
    tJ = (x - found.mean) / found.deviation;
  return { tR: x / found.deviation, tJ, significant: Math.abs(tJ) > data.critical_value };
}

function significantEnds(one, found, alpha) {
  // x_q rises with δ_q, so the significant queries are the two ends of the sorted differences: how many at each.
  if (found.deviation === null) return [0, 0];
  const count = one.sorted.length;
  const score = (i) => (weigh(one.sorted[i], alpha) - found.mean) / found.deviation;
  let low = 0,
    high = 0;
  while (low < count && score(low) < -data.critical_value) low++;
  while (high < count && score(count - 1 - high) > data.critical_value) high++;
  return [low, high];
}

function ratio(part, whole) {
  return whole > 0 ? part / whole : null;
}

function figures(alpha, baseline) {
  // One row a system, keyed as the assessment's JSON.
  const against = compare(baseline);
  const rows = systems.map((system, i) => {
    const one = against.pairs[i],
      found = test(one, alpha);
    return {
      system,
      is_baseline: i === against.own,
      mean: means[i],
      geometric_mean: geometricMeans[i],
      gain: one.reward - one.risk,
      reward: one.reward,
      risk: one.risk,
      wins: one.wins,
      losses: one.losses,
      ties: queries.length - one.wins - one.losses,
      loss_over_20: one.over20,
      reward_over_risk: ratio(one.reward, one.risk),
      risk_over_reward: ratio(one.risk, one.reward),
      wins_over_losses: ratio(one.wins, one.losses),
      losses_over_wins: ratio(one.losses, one.wins),
      worst_mean: one.worst,
      u_risk: one.reward - (1 + alpha) * one.risk,
      t_risk: found.t,
      p_value: found.p,
      t_adjusted: found.tAdjusted,
      p_adjusted: found.pAdjusted,
      u_risk_interval: found.interval,
      p_holm: null,
      df: found.df,
      se: found.se,
      verdict: null,
      reason: found.reason,
      z_risk: zRisk(i, alpha),
      geo_risk: geoRisk(i, alpha),
      z_reason: negative ? "some scores are negative" : shape[i] ? null : "not in the population",
    };
  });
  holm(rows.map((row) => row.p_adjusted)).forEach((p, i) => {
    rows[i].p_holm = p;
    rows[i].verdict = p === null ? null : p >= 0.05 ? "inconclusive" : rows[i].t_adjusted > 0 ? "reward" : "risk";
  });
  return rows;
}
