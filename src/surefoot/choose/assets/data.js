// The result of a sweep, and what is chosen to be looked at.

const data = JSON.parse(document.getElementById("data").textContent);
const ALL = [...data.baselines.map((row) => ({ ...row, kind: "baseline" })), ...data.rows];
const BY_NAME = new Map(ALL.map((row) => [row.name, row]));
const OBJECTIVES = [...new Set(data.rows.filter((row) => row.kind === "model").map((row) => row.objective))];
const LEARNED = OBJECTIVES.filter((objective) => objective !== "gain");

function colour(row) {
  if (row.kind !== "model") return "strategy";
  return row.objective === "gain" ? "gain" : `c${LEARNED.indexOf(row.objective) % 6}`;
}

const choice = {
  part: "test",
  alpha: data.alphas.length ? data.alphas[0] : 1,
  one: (data.rows.find((row) => row.kind === "model" && row.objective === "gain") ?? data.baselines[0]).name,
  other: (data.rows.find((row) => row.kind === "model" && row.objective !== "gain") ?? data.rows[0]).name,
  objective: LEARNED[0] ?? "gain",
  sort: null,
  down: true,
};
