// Distributions and sums, to the precision of doubles: what SciPy is to the Python side.

const total = (values) => totalOf(values, (value) => value);

function totalOf(values, of) {
  // Neumaier's sum of a function of the values, so that ten thousand queries lose no digits.
  let sum = 0,
    lost = 0;
  for (let i = 0; i < values.length; i++) {
    const value = of(values[i]),
      next = sum + value;
    lost += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum;
    sum = next;
  }
  return sum + lost;
}

const average = (values) => total(values) / values.length;

function normalCdf(x) {
  const y = Math.abs(x) / Math.SQRT2;
  const tail = y < 2.5 ? (1 - erfSeries(y)) / 2 : erfcFraction(y) / 2;
  return x > 0 ? 1 - tail : tail;
}

function erfSeries(x) {
  // erf x = 2/√π · e^(−x²) · Σ 2ⁿ x^(2n+1) / (2n+1)!!; all terms are positive, so none cancel.
  let term = x,
    sum = x;
  for (let n = 1; term > sum * 1e-17 && n < 200; n++) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

function erfcFraction(x) {
  // Laplace's continued fraction from the far end. The tail keeps its relative precision: GeoRisk takes its root.
  let fraction = 0;
  for (let n = 120; n > 0; n--) fraction = n / 2 / (x + fraction);
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / (x + fraction);
}

function gammaRatio(a) {
  // Γ(a + ½) / Γ(a), by its asymptotic series after stepping a up to where that has converged.
  let factor = 1;
  for (; a < 64; a++) factor *= a / (a + 0.5);
  const i = 1 / a;
  const series = 1 + i * (-1 / 8 + i * (1 / 128 + i * (5 / 1024 + i * (-21 / 32768 + i * (-399 / 262144)))));
  return factor * Math.sqrt(a) * series;
}

function betaFraction(a, b, x) {
  // The continued fraction of the incomplete beta function, by Lentz's method.
  const tiny = 1e-300;
  const guarded = (value) => (Math.abs(value) < tiny ? tiny : value);
  let c = 1,
    d = 1 / guarded(1 - ((a + b) * x) / (a + 1)),
    result = d;
  for (let m = 1; m < 5000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / guarded(1 + even * d);
    c = guarded(1 + even / c);
    result *= c * d;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / guarded(1 + odd * d);
    c = guarded(1 + odd / c);
    result *= c * d;
    if (Math.abs(c * d - 1) < 1e-16) break;
  }
  return result;
}

function twoSidedP(t, df) {
  // P(|T| ≥ |t|) = I_x(df/2, ½) with x = df / (df + t²).
  if (t === 0 || !(df > 1e-9)) return 1;
  const a = df / 2,
    b = 0.5,
    rest = (t * t) / (df + t * t),
    x = df / (df + t * t);
  const logX = x < 0.5 ? Math.log(x) : Math.log1p(-rest), // of few degrees of freedom and a large t, 1 − rest would be 0
    front = (Math.exp(a * logX + b * Math.log(rest)) * gammaRatio(a)) / Math.sqrt(Math.PI);
  return x < (a + 1) / (a + b + 2) ? (front * betaFraction(a, b, x)) / a : 1 - (front * betaFraction(b, a, rest)) / b;
}

function holm(pValues) {
  const tested = pValues
    .map((p, i) => [p, i])
    .filter(([p]) => p !== null)
    .sort((one, other) => one[0] - other[0]);
  const corrected = pValues.map(() => null);
  let largest = 0;
  tested.forEach(([p, i], position) => {
    largest = Math.max(largest, Math.min(1, (tested.length - position) * p));
    corrected[i] = largest;
  });
  return corrected;
}

function differenceOf(value, base, least) {
  // 0 where rounding alone parts the two: up to 1e-12 of the larger. Whole numbers are exact.
  const apart = value - base;
  if (Math.abs(apart) > Math.max(data.rounding * Math.max(Math.abs(value), Math.abs(base)), least)) return apart;
  return least === 0 && Number.isInteger(value) && Number.isInteger(base) ? apart : 0;
}
