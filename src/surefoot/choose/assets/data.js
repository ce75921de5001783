// The rows of a sweep, and what is chosen to be looked at: at first the recommended model against gain alone.

const ALL = [...data.baselines.map((row) => ({ ...row, kind: "baseline" })), ...data.rows].map((row, id) => ({ ...row, id }));
const MODELS = ALL.filter((row) => row.kind === "model");
const GAIN = MODELS.find((row) => row.alpha === null);
const CANDIDATES = ALL.slice(data.baselines.length);
const LEARNED = [...new Set(MODELS.filter((row) => row.alpha !== null).map((row) => row.objective))];
const RECOMMENDED = CANDIDATES.find((row) => row.name === data.recommended);
const FIRST = RECOMMENDED && RECOMMENDED !== GAIN ? RECOMMENDED : (MODELS.find((row) => row.alpha !== null) ?? CANDIDATES[0]);

function colour(row) {
  if (row.kind !== "model") return "strategy";
  return row.alpha === null ? "gain" : `c${LEARNED.indexOf(row.objective) % 6}`;
}

const choice = {
  part: "test",
  alpha: data.alphas.length ? data.alphas[0] : 1,
  one: (GAIN ?? ALL[0]).id,
  other: FIRST.id,
  objective: RECOMMENDED && LEARNED.includes(RECOMMENDED.objective) ? RECOMMENDED.objective : (LEARNED[0] ?? ""),
};
