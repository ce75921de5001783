// All candidates with the papers' columns; the headings sort.

function drawTable(pick, redraw) {
  const cells = data.cells[choice.part],
    marks = data.marks[choice.part];
  const order = [...ALL];
  if (choice.sort !== null) {
    const value = (row) => cells[row.id][choice.sort] ?? -Infinity;
    order.sort((one, other) => (choice.down ? value(other) - value(one) : value(one) - value(other)));
  }
  const heading = (text, number) =>
    html(
      "th",
      { scope: "col", class: "number", "aria-sort": choice.sort === number ? (choice.down ? "descending" : "ascending") : null },
      html("button", { type: "button", click: () => {
        choice.down = choice.sort === number ? !choice.down : true;
        choice.sort = number;
        redraw();
      } }, text),
    );
  replace(get("head"), html("tr", {}, html("th", { scope: "col", class: "name" }, "candidate"), ...data.headings.map(heading)));
  replace(
    get("body"),
    ...order.map((row) =>
      html(
        "tr",
        { class: row.id === choice.one || row.id === choice.other ? "picked" : row.kind === "baseline" ? "baseline" : null },
        html("th", { scope: "row", class: "name" }, html("button", { type: "button", class: "choose", click: () => pick(row.id) }, name(row.name)), html("span", { class: "tag" }, marks[row.id])),
        ...cells[row.id].map((value, number) => html("td", { class: "number" }, cell(value, data.digits[number]))),
      ),
    ),
  );
}

function cell(value, digits) {
  return value === null ? "–" : fixed(value, digits);
}
