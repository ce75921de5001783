// All candidates with the papers' columns, on the part of the queries that is looked at.

function drawTable(pick) {
  const cells = data.cells[choice.part],
    marks = data.marks[choice.part];
  if (!get("head").rows.length) {
    const heading = (text) => html("th", { scope: "col", class: "number" }, text);
    replace(get("head"), html("tr", {}, html("th", { scope: "col", class: "name" }, "candidate"), ...data.headings.map(heading)));
  }
  replace(
    get("body"),
    ...ALL.map((row) =>
      html(
        "tr",
        { class: row.id === choice.one || row.id === choice.other ? "picked" : row.kind === "baseline" ? "baseline" : null },
        html("th", { scope: "row", class: "name" }, html("button", { type: "button", class: "choose", click: () => pick(row.id) }, name(row.name)), html("span", { class: "tag" }, row === RECOMMENDED ? `${data.tag} ` : "", marks[row.id])),
        ...cells[row.id].map((value, number) => html("td", { class: "number", "data-value": value }, cell(value, data.digits[number]))),
      ),
    ),
  );
  dressTable(get("candidates"));
}

function cell(value, digits) {
  return value === null ? "–" : fixed(value, digits);
}
