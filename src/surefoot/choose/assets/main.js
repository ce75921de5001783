// Everything is drawn again when a choice changes; a click on a candidate makes it the second of the two.

function pick(candidate) {
  if (candidate !== choice.other) {
    if (ALL[choice.other].kind !== "baseline") choice.one = choice.other;
    choice.other = candidate;
  }
  draw();
}

function draw() {
  for (const id of ["part", "alpha", "one", "other", "objective"]) get(id).value = String(choice[id]);
  drawPlane(get("plane"), pick);
  drawCompare(get("differences"));
  drawTable(pick, draw);
  drawConvergence(get("convergence"));
  drawBins(get("bins"));
}

function fillSelect(id, values, words = String) {
  replace(get(id), ...values.map((value) => html("option", { value: String(value) }, visible(words(value)))));
  get(id).addEventListener("change", () => {
    choice[id] = typeof choice[id] === "number" ? Number(get(id).value) : get(id).value;
    draw();
  });
}

fillSelect("alpha", [...new Set([choice.alpha, ...data.alphas])]);
for (const id of ["one", "other"]) fillSelect(id, ALL.map((row) => row.id), (row) => ALL[row].name);
fillSelect("objective", LEARNED);
get("part").addEventListener("change", () => {
  choice.part = get("part").value;
  draw();
});
window.addEventListener("resize", draw);
draw();
document.documentElement.classList.add("ready");
