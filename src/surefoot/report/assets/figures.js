// Every figure of a book against a baseline, as surefoot's risk package defines them.

function compare(book, baseline) {
  // Everything about a baseline that no α changes, made once: a slider step then costs one pass over the scores.
  if (!book.comparisons.has(baseline)) {
    const own = systems.indexOf(baseline);
    const vector = own >= 0 ? book.scores[own] : perQuery(book, virtual.get(baseline));
    // A per-query mean carries the rounding of scores that are larger than it, which must make neither a win nor a loss.
    const least = own >= 0 ? 0 : data.rounding * book.largest;
    const pairs = book.scores.map((row) => ({ ...pair(row, vector, least, book.weights), book }));
    book.comparisons.set(baseline, { book, key: baseline, own, vector, pairs, turns: lazy(() => turningPoints(pairs, own)) });
  }
  return book.comparisons.get(baseline);
}

function pair(row, vector, least, weights) {
  const count = row.length,
    difference = new Float64Array(count);
  let wins = 0,
    losses = 0,
    over20 = 0;
  for (let q = 0; q < count; q++) {
    difference[q] = differenceOf(row[q], vector[q], least);
    if (difference[q] > 0) wins++;
    if (difference[q] < 0) losses++;
    if (vector[q] > 0 && difference[q] < -data.over_20 * vector[q]) over20++;
  }
  const gains = difference.filter((value) => value > 0),
    harms = difference.filter((value) => value < 0);
  const sorted = difference.slice().sort();
  if (weights !== null) return { ...weightedPair(difference, vector, weights), sorted, wins, losses, over20 };
  return {
    difference,
    sorted,
    weights: null,
    traffic: null,
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

function weightedPair(difference, vector, weights) {
  // What weights change of a pair, and the sums Σw̃ⁿxᵏ that the curves over α need, of gains and of losses.
  const count = difference.length,
    order = byDifference(difference),
    sum = (of) => totalOf(order, (q) => weights[q] * of(difference[q], vector[q])),
    share = (is) => sum((value, base) => (is(value, base) ? 1 : 0)) / count,
    once = (of) => totalOf(difference, of) / count;
  const powers = (side) =>
    [1, 2, 3].map((n) => [0, 1, 2, 3].map((k) => totalOf(order, (q) => weights[q] ** n * (k ? side(difference[q]) ** k : 1))));
  return {
    difference,
    weights,
    order,
    sortedWeights: Float64Array.from(order, (q) => weights[q]),
    reward: sum((value) => Math.max(value, 0)) / count,
    risk: -sum((value) => Math.min(value, 0)) / count || 0,
    worst: worstOfWeight(difference, weights, order),
    sums: [powers((value) => Math.max(value, 0)), powers((value) => Math.min(value, 0))],
    traffic: {
      lost: share((value) => value < 0),
      over20: share((value, base) => base > 0 && value < -data.over_20 * base),
      gainOnce: once((value) => value),
    },
  };
}

function worstOfWeight(difference, weights, order) {
  // The mean of the worst share of the weight; the last query counts in part.
  let room = data.worst_share * total(weights),
    sum = 0,
    taken = 0;
  for (const q of order) {
    const part = Math.min(weights[q], room);
    if (!(part > 0)) break;
    sum += part * difference[q];
    taken += part;
    room -= part;
  }
  return sum / taken;
}

function byDifference(difference) {
  return Uint32Array.from(difference.keys()).sort((a, b) => difference[a] - difference[b] || a - b);
}

function hurtFirst(one) {
  // Queries from the most hurt to the most helped.
  one.order ??= byDifference(one.difference);
  return one.order;
}

function weigh(value, alpha) {
  return value > 0 ? value : (1 + alpha) * value;
}

function untestable(one, alpha) {
  // Why x_q has no standard error, if it has none.
  const count = one.sorted.length;
  if (count < 2) return "a single query has no standard error";
  const low = weigh(one.sorted[0], alpha),
    high = weigh(one.sorted[count - 1], alpha);
  if (high - low > 16 * Number.EPSILON * (1 + alpha) * one.book.largest) return null;
  return low || high ? "the difference from the baseline is the same on all queries" : "identical to the baseline on every query";
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
    tSkewness: null,
    pSkewness: null,
    tRobust: null,
    pRobust: null,
    tTraffic: null,
    pTraffic: null,
    interval: null,
    reason,
  });
  const reason = untestable(one, alpha);
  if (reason) return absent(reason);
  const weighted = new Float64Array(count);
  for (let q = 0; q < count; q++) weighted[q] = weigh(one.sorted[q], alpha);
  const mean = weightedMean(weighted, one.weights && one.sortedWeights),
    // What each query adds to the mean: its deviation, times its weight.
    influence = one.weights ? weighted.map((x, i) => one.sortedWeights[i] * (x - mean)) : weighted.map((x) => x - mean),
    squares = totalOf(influence, (u) => u * u);
  if (!(squares > 0)) return absent("the difference from the baseline is the same on all queries"); // squares that are too small to be kept
  const traffic = one.weights && trafficTest(one, alpha, mean, squares, total(influence.map((u, i) => one.sortedWeights[i] * u))),
    deviation = Math.sqrt(squares / df),
    se = deviation / Math.sqrt(count),
    unit = Math.sqrt(squares / count);
  const t = mean / se,
    skewness = totalOf(influence, (u) => cube(u / unit)) / count,
    tSkewness = hallT(mean / deviation, skewness, count),
    tRobust = one.weights
      ? robustFrom(tSkewness, tWithAnother(weighted, one.sortedWeights, mean, weighted[tSkewness > 0 ? 0 : df]))
      : robustT(tSkewness, mean / unit, skewness, count, weighted[0] / unit, weighted[df] / unit);
  return {
    t,
    p: twoSidedP(t, df),
    se,
    deviation,
    mean,
    df,
    tSkewness,
    pSkewness: twoSidedP(tSkewness, df),
    tRobust,
    pRobust: twoSidedP(tRobust, df),
    tTraffic: traffic && traffic.t,
    pTraffic: traffic && twoSidedP(traffic.t, one.book.effective - 1),
    interval: traffic ? traffic.interval : [1, -1].map((side) => mean - deviation * hallInverse((side * one.book.critical) / Math.sqrt(count), skewness, count)),
    reason: null,
  };
}

function cube(x) {
  return x * x * x; // x ** 3 is a call of pow, many times slower
}

function hallT(T, skewness, count) {
  // Hall's transformation takes the skewness out of T = x̄/s: h(T) = T + γT²/3 + γ²T³/27 + γ/(6c).
  const bend = skewness / 3;
  return Math.sqrt(count) * (T * (1 + bend * T + (bend * T) ** 2 / 3) + skewness / (6 * count));
}

function hallInverse(h, skewness, count) {
  // T of h: 3/γ·(∛(1 + γy) − 1), written so that γ = 0 needs no case of its own.
  const y = h - skewness / (6 * count),
    root = Math.cbrt(1 + skewness * y);
  return (3 * y) / (root * root + root + 1);
}

function robustT(t, mean, skewness, count, lowest, highest) {
  // What one more query as bad as the worst, or as good as the best, would leave of Hall's t; in units of √mean((x − x̄)²).
  return robustFrom(t, hallTWithAnother(mean, skewness, count, t > 0 ? lowest : highest));
}

function tWithAnother(x, weights, mean, value) {
  // Hall's t with one more query of the mean weight, which is 1.
  const count = x.length + 1,
    moved = (mean * x.length + value) / count,
    influence = Float64Array.from({ length: count }, (_, i) => (i < x.length ? weights[i] * (x[i] - moved) : value - moved)),
    squares = totalOf(influence, (u) => u * u),
    unit = Math.sqrt(squares / count);
  return hallT(moved / Math.sqrt(squares / (count - 1)), totalOf(influence, (u) => cube(u / unit)) / count, count);
}

function robustFrom(t, another) {
  return t > 0 ? Math.max(0, Math.min(t, another)) : Math.min(0, Math.max(t, another));
}

function hallTWithAnother(mean, skewness, count, value) {
  // Hall's t of count values and one more, from the sums of squared and cubed deviations of all of them.
  const apart = value - mean,
    squares = count + (apart * apart * count) / (count + 1),
    cubes = count * skewness - (3 * apart * count) / (count + 1) + (cube(apart) * count * (count - 1)) / (count + 1) ** 2,
    moved = mean + apart / (count + 1);
  return hallT(moved / Math.sqrt(squares / count), (cubes / (count + 1)) / (squares / (count + 1)) ** 1.5, count + 1);
}

function quickT(one, alpha) {
  // The robust t from sums made once: precise enough to draw, and to tell outcomes.
  if (one.weights) return quickWeightedT(one, alpha);
  const count = one.sorted.length;
  const mean = one.reward - (1 + alpha) * one.risk;
  const second = (one.squares[0] + (1 + alpha) ** 2 * one.squares[1]) / count;
  const third = (one.cubes[0] + (1 + alpha) ** 3 * one.cubes[1]) / count;
  const variance = second - mean * mean;
  if (untestable(one, alpha) || !(variance > 0)) return null;
  const unit = Math.sqrt(variance),
    skewness = (third - 3 * mean * second + 2 * cube(mean)) / cube(unit),
    t = hallT(mean / (unit * Math.sqrt(count / (count - 1))), skewness, count);
  return robustT(t, mean / unit, skewness, count, weigh(one.sorted[0], alpha) / unit, weigh(one.sorted[count - 1], alpha) / unit);
}

function trafficTest(one, alpha, mean, squares, cross) {
  // The t of the mean, also with one more query as bad as the worst, or as good as the best, of the weight of a typical
  // request's query. From Σu² and Σw̃u; the interval of U leaves out 0 exactly where this test rejects.
  const count = one.sorted.length,
    weight = count / one.book.effective,
    sum = count + weight,
    reach = one.book.trafficCritical;
  const [worse, better] = [one.sorted[0], one.sorted[count - 1]].map((end) => {
    const apart = weigh(end, alpha) - mean,
      step = (weight * apart) / sum,
      all = squares - step * (2 * cross - step * count * weight) + (weight * (apart - step)) ** 2;
    return { mean: mean + step, se: Math.sqrt((all * (count + 1)) / count) / sum };
  });
  const here = { mean, se: Math.sqrt(squares / count / (count - 1)) },
    t = mean / here.se,
    ends = (side, other) => [here, other].map(({ mean, se }) => mean + side * reach * se);
  return {
    t: robustFrom(t, t > 0 ? worse.mean / worse.se : better.mean / better.se),
    interval: reach === null ? null : [Math.min(...ends(-1, worse)), Math.max(...ends(1, better))],
  };
}

function decisiveP(p, byTraffic) {
  return p === null || byTraffic === null ? p : Math.max(p, byTraffic);
}

const ROUNDING = 1e-13; // of Σw̃²x²; a Σu² below that is none

function sumAt(one, alpha, n, k) {
  // Σw̃ⁿxᵏ, from those of gains and of losses.
  const [gains, losses] = one.sums;
  return k ? gains[n - 1][k] + (1 + alpha) ** k * losses[n - 1][k] : gains[n - 1][0];
}

function quickWeightedT(one, alpha) {
  // The same of influence values u = w̃·(x − x̄): Σu² and Σu³ are polynomials in x̄ and in the sums Σw̃ⁿxᵏ.
  if (untestable(one, alpha)) return null;
  const count = one.sorted.length;
  const hall = (value) => {
    const another = value === null ? 0 : 1,
      c = count + another,
      s = (n, k) => sumAt(one, alpha, n, k) + (another ? value ** k : 0);
    const mean = s(1, 1) / c,
      squares = Math.max(s(2, 2) - 2 * mean * s(2, 1) + mean * mean * s(2, 0), ROUNDING * s(2, 2)),
      cubes = s(3, 3) - 3 * mean * s(3, 2) + 3 * mean * mean * s(3, 1) - cube(mean) * s(3, 0);
    return squares > 0 ? hallT(mean / Math.sqrt(squares / (c - 1)), cubes / c / (squares / c) ** 1.5, c) : null;
  };
  const t = hall(null);
  return t === null ? null : robustFrom(t, hall(weigh(one.sorted[t > 0 ? 0 : count - 1], alpha)));
}

function queryScore(one, result, q, alpha) {
  // T_R and T_J of a query; significant where T_J leaves ± the critical value.
  if (result.deviation === null) return null;
  const x = weigh(one.difference[q], alpha),
    weight = one.weights ? one.weights[q] : 1,
    tJ = (weight * (x - result.mean)) / result.deviation;
  return { tR: (weight * x) / result.deviation, tJ, significant: Math.abs(tJ) > one.book.critical };
}

function significantQueries(one, result, alpha) {
  // Of the sorted differences: T_J of each, how many are significantly hurt and helped, and whether one is.
  const count = one.sorted.length,
    critical = one.book.critical;
  if (result.deviation === null) return { score: () => 0, low: 0, high: 0, sure: () => false, atEnds: true };
  const weight = (i) => (one.weights ? one.sortedWeights[i] : 1),
    score = (i) => (weight(i) * (weigh(one.sorted[i], alpha) - result.mean)) / result.deviation;
  let low = 0,
    high = 0;
  if (one.weights) {
    for (let i = 0; i < count; i++) {
      if (score(i) < -critical) low++;
      if (score(i) > critical) high++;
    }
  } else {
    // x_q rises with δ_q, so they are the two ends.
    while (low < count && score(low) < -critical) low++;
    while (high < count && score(count - 1 - high) > critical) high++;
  }
  const sure = one.weights ? (i) => Math.abs(score(i)) > critical : (i) => i < low || i >= count - high;
  return { score, low, high, sure, atEnds: !one.weights };
}

function ratio(part, total) {
  return total > 0 ? part / total : null;
}

function outcomeOf(t, p) {
  return p === null ? null : p >= data.level ? "unclear" : t > 0 ? "better" : "worse";
}

function compared(book, alpha, baseline) {
  // What a book's systems gain and risk: a row for each, keyed as the assessment's JSON, not corrected for their number.
  const against = compare(book, baseline);
  return systems.map((system, i) => {
    const one = against.pairs[i],
      result = test(one, alpha);
    return {
      system,
      is_baseline: i === against.own,
      gain: one.reward - one.risk,
      reward: one.reward,
      risk: one.risk,
      wins: one.wins,
      losses: one.losses,
      ties: book.queries.length - one.wins - one.losses,
      loss_over_20: one.over20,
      traffic_losses: one.traffic && one.traffic.lost,
      traffic_loss_over_20: one.traffic && one.traffic.over20,
      gain_once: one.traffic && one.traffic.gainOnce,
      reward_over_risk: ratio(one.reward, one.risk),
      risk_over_reward: ratio(one.risk, one.reward),
      wins_over_losses: ratio(one.wins, one.losses),
      losses_over_wins: ratio(one.losses, one.wins),
      worst_mean: one.worst,
      u_risk: one.reward - (1 + alpha) * one.risk,
      t_risk: result.t,
      p_value: result.p,
      t_skewness: result.tSkewness,
      p_skewness: result.pSkewness,
      t_robust: result.tRobust,
      p_robust: result.pRobust,
      t_traffic: result.tTraffic,
      p_traffic: result.pTraffic,
      df_traffic: result.tTraffic === null ? null : Math.max(0, book.effective - 1),
      u_risk_interval: result.interval,
      df: result.df,
      se: result.se,
      reason: result.reason,
    };
  });
}

const families = new Map(); // the last rows of each measure and column

function familyRows(book, alpha, baseline) {
  // The rows of each book of a family, with Holm's correction and outcomes over all of them.
  const family = `${book.number} ${book.column} ${state.byTraffic}`,
    key = `${alpha} ${baseline}`;
  if (families.get(family)?.key !== key) {
    const rows = familyOf(book).map((one) => compared(one, alpha, baseline)),
      all = rows.flat();
    holm(all.map((row) => decisiveP(row.p_robust, row.p_traffic))).forEach((p, i) => {
      all[i].p_holm = p;
      all[i].outcome = outcomeOf(all[i].t_robust, p);
    });
    // The same without another query.
    const alone = ({ t_risk, df_traffic }) => (df_traffic === null ? null : twoSidedP(t_risk, df_traffic));
    holm(all.map((row) => decisiveP(row.p_skewness, alone(row)))).forEach((p, i) => (all[i].outcome_without_extra_query = outcomeOf(all[i].t_skewness, p)));
    for (const row of all) if (isSame(row)) row.outcome = row.outcome_without_extra_query = "same";
    families.set(family, { key, rows });
  }
  return families.get(family).rows;
}

function figures(book, alpha, baseline) {
  // One row per system, keyed as the assessment's JSON.
  const rows = familyRows(book, alpha, baseline)[Math.max(0, book.segment)];
  return rows.map((row, i) => ({
    ...row,
    mean: book.means()[i],
    geometric_mean: book.geometricMeans()[i],
    z_risk: zRisk(book, i, alpha),
    geo_risk: geoRisk(book, i, alpha),
    z_risk_reason: book.weights ? "Z_Risk and GeoRisk are not defined for queries that are weighted by traffic" : book.negative ? "some scores are negative" : book.shape()[i] ? null : "not in the population",
  }));
}
