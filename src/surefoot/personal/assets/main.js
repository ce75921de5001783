// Everything is drawn again when a choice changes.

const SELECTS = ["part", "session", "model"];

// The session that is shown at first opens at the list where most moved, others at their first.
const firstList = () => (choice.session === usualChoice.session ? usualChoice.list : 0);

function draw() {
  keepChoices(SELECTS);
  familyState("list", choice.list === firstList() ? null : choice.list);
  drawCurve(get("chosen"), data.chosen, (row) => [data.names[row.label], row.parameters].filter(Boolean).join(", "), false);
  drawCurve(get("all"), data.rows, (row) => row.name, true);
  drawSession();
}

function fillLists() {
  const lists = data.sessions[choice.session]?.lists ?? [];
  fillSelect("list", lists.map((_, number) => number), (number) => `${number + 1}: ${lists[number].query}`);
}

function readChoices() {
  SELECTS.forEach(readChoice);
  choice.list = firstList();
  fillLists();
  if (familyState("list") !== null) readChoice("list");
}

function showAll(open) {
  for (const one of document.querySelectorAll("#methods tbody tr, #lines > div")) one.hidden = !open && one.dataset.rest === "true";
  get("more").setAttribute("aria-expanded", String(open));
  setText(get("more"), open ? "Show the first methods only" : `Show all ${count(data.chosen.length)} methods`);
  familyState("methods", open ? "all" : null);
}

fillSelect("session", data.sessions.map((_, number) => number), (number) => data.sessions[number].session);
fillSelect("model", MODELS, (model) => data.names[model]);
readChoices();
onSelect("part", draw);
onSelect("session", () => {
  choice.list = firstList();
  fillLists();
  draw();
});
onSelect("list", draw);
onSelect("model", draw);
onAddress(() => {
  readChoices();
  draw();
});
if (get("more")) {
  for (const one of document.querySelectorAll("#methods tbody tr[hidden], #lines > div[hidden]")) one.dataset.rest = "true";
  get("more").addEventListener("click", () => showAll(get("more").getAttribute("aria-expanded") !== "true"));
  if (familyState("methods") === "all") showAll(true);
}
get("known").addEventListener("click", () => {
  const shown = get("orders").classList.toggle("with-known");
  get("known").setAttribute("aria-pressed", String(shown));
});
start(draw);
