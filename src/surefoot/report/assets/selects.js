// Lists to choose from, on pages that hold what is shown in `choice`, by the id of each list; the address keeps it.

const usualChoice = { ...choice };

function fillSelect(id, values, words = String) {
  replace(get(id), ...values.map((value) => html("option", { value: String(value) }, visible(words(value)))));
  get(id).value = String(choice[id]);
}

const choiceOf = (id, text) => (typeof usualChoice[id] === "number" ? Number(text) : text);

function onSelect(id, redraw) {
  get(id).addEventListener("change", () => {
    choice[id] = choiceOf(id, get(id).value);
    redraw();
  });
}

function readChoice(id) {
  // What the address says, where the list has it; else what is shown at first.
  const kept = familyState(id),
    known = kept !== null && [...get(id).options].some((option) => option.value === kept);
  choice[id] = known ? choiceOf(id, kept) : usualChoice[id];
  get(id).value = String(choice[id]);
}

function keepChoices(ids) {
  // What is shown at first needs no words in the address.
  keepState(Object.fromEntries(ids.map((id) => [id, choice[id] === usualChoice[id] ? null : choice[id]])));
}

function start(draw) {
  const drawn = () => document.querySelector(".chart")?.clientWidth && draw(); // a page that is not shown has no width
  window.addEventListener("resize", drawn);
  drawn();
}
