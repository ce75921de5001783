// Lists to choose from, on pages that hold what is shown in `choice`, by the id of each list.

function fillSelect(id, values, words = String) {
  replace(get(id), ...values.map((value) => html("option", { value: String(value) }, visible(words(value)))));
  get(id).value = String(choice[id]);
}

function onSelect(id, redraw) {
  get(id).addEventListener("change", () => {
    choice[id] = typeof choice[id] === "number" ? Number(get(id).value) : get(id).value;
    redraw();
  });
}

function start(draw) {
  window.addEventListener("resize", draw);
  draw();
  document.documentElement.classList.add("ready");
}
