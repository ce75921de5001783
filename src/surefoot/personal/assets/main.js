// Everything is drawn again when a choice changes.

function draw() {
  drawCurve(get("chosen"), data.chosen, (row) => [row.label, row.parameters].filter(Boolean).join(", "), false);
  drawCurve(get("all"), data.rows, (row) => row.name, true);
  drawSession();
}

function fillLists() {
  const lists = data.sessions[choice.session]?.lists ?? [];
  fillSelect("list", lists.map((_, number) => number), (number) => `${number + 1}: ${clip(lists[number].query, 40)}`);
}

fillSelect("session", data.sessions.map((_, number) => number), (number) => clip(data.sessions[number].session, 40));
fillSelect("model", MODELS);
fillLists();
onSelect("part", draw);
onSelect("session", () => {
  choice.list = 0;
  fillLists();
  drawSession();
});
onSelect("list", drawSession);
onSelect("model", drawSession);
start(draw);
