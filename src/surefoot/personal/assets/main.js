// Everything is drawn again when a choice changes.

function draw() {
  drawCurve(get("chosen"), data.chosen, (row) => [row.label, row.parameters].filter(Boolean).join(", "), false);
  drawCurve(get("all"), data.rows, (row) => row.name, true);
  drawSession();
}

function options(id, values, words) {
  replace(get(id), ...values.map((value) => html("option", { value: String(value) }, visible(words(value)))));
  get(id).value = String(choice[id]);
}

function fillLists() {
  const lists = data.sessions[choice.session]?.lists ?? [];
  options("list", lists.map((_, number) => number), (number) => `${number + 1}: ${clip(lists[number].query, 40)}`);
}

options("session", data.sessions.map((_, number) => number), (number) => clip(data.sessions[number].session, 40));
options("model", MODELS, (model) => model);
fillLists();
get("part").addEventListener("change", () => {
  choice.part = get("part").value;
  draw();
});
get("session").addEventListener("change", () => {
  choice.session = Number(get("session").value);
  choice.list = 0;
  fillLists();
  drawSession();
});
get("list").addEventListener("change", () => {
  choice.list = Number(get("list").value);
  drawSession();
});
get("model").addEventListener("change", () => {
  choice.model = get("model").value;
  drawSession();
});
window.addEventListener("resize", draw);
draw();
document.documentElement.classList.add("ready");
