// The result of a sweep, and what is chosen to be looked at.

const data = JSON.parse(document.getElementById("data").textContent);
const ALL = [...data.baselines.map((row) => ({ ...row, kind: "baseline" })), ...data.rows].map((row, id) => ({ ...row, id }));
const MODELS = ALL.filter((row) => row.kind === "model");
const GAIN = MODELS.find((row) => row.alpha === null);
const CANDIDATES = ALL.slice(data.baselines.length);
const LEARNED = [...new Set(MODELS.filter((row) => row.alpha !== null).map((row) => row.objective))];

function colour(row) {
  if (row.kind !== "model") return "strategy";
  return row.alpha === null ? "gain" : `c${LEARNED.indexOf(row.objective) % 6}`;
}

const choice = {
  part: "test",
  alpha: data.alphas.length ? data.alphas[0] : 1,
  one: (GAIN ?? ALL[0]).id,
  other: (MODELS.find((row) => row.alpha !== null) ?? CANDIDATES[0]).id,
  objective: LEARNED[0] ?? "",
  sort: null,
  down: true,
};
