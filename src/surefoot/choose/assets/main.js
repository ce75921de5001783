// Everything is drawn again when a choice changes; a click on a candidate makes it the second of the two.

const SELECTS = ["part", "alpha", "one", "other", "objective"];

function pick(candidate) {
  if (candidate !== choice.other) {
    if (ALL[choice.other].kind !== "baseline") choice.one = choice.other;
    choice.other = candidate;
  }
  draw();
}

function draw() {
  for (const id of SELECTS) get(id).value = String(choice[id]);
  keepChoices(SELECTS);
  drawPlane(get("plane"), pick);
  drawCompare(get("differences"));
  drawTable(pick);
  drawAnswers();
  drawConvergence(get("convergence"));
  drawBins(get("bins"));
}

fillSelect("alpha", [...new Set([choice.alpha, ...data.alphas])]);
for (const id of ["one", "other"]) fillSelect(id, ALL.map((row) => row.id), (row) => ALL[row].name);
fillSelect("objective", LEARNED);
for (const id of SELECTS) onSelect(id, draw);
SELECTS.forEach(readChoice);
onAddress(() => {
  SELECTS.forEach(readChoice);
  draw();
});
start(draw);
