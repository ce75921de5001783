// Every `table.data`: a click on a heading sorts it, two buttons take it away as CSV and Markdown, and its box shows edges.
// A page that draws its rows again calls `dressTable` after it; one that knows more than it shows sets `tableLines`.

const tableLines = new WeakMap(); // for a table a function that gives all its lines, the headings first
const givenOrder = new WeakMap(); // for a table its rows as they were drawn

function cellWords(cell) {
  // The text of a cell without what is drawn or said only to some.
  const parts = [],
    walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  while (walker.nextNode())
    if (!walker.currentNode.parentElement.closest("[aria-hidden=true], svg")) parts.push(walker.currentNode.data.trim());
  return parts.filter(Boolean).join(" ");
}

function cellValue(cell) {
  // A number where the cell begins with one, else its text; null where it says nothing.
  if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
  const words = cellWords(cell);
  if (words === "" || words === "–") return null;
  const number = cell.tagName === "TD" && /^[<>≤≥≈]?\s*([+−-]?[\d,]*\.?\d+(?:e[+−-]?\d+)?)(?![\w.])/u.exec(words);
  return number ? Number(number[1].replaceAll(",", "").replaceAll("−", "-")) : words;
}

function exportedCell(cell) {
  // As the table shows it; a cell that is a number and nothing else is one in the file too.
  const words = cellWords(cell);
  if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
  return /^[+−-]?[\d,]*\.?\d+$/.test(words) && cell.tagName === "TD" ? cellValue(cell) : words;
}

function linesOf(table) {
  const heads = [...table.querySelectorAll("thead tr:last-child > *")].map(cellWords);
  const rows = [...table.tBodies].flatMap((body) => [...body.rows]);
  return [...(heads.length ? [heads] : []), ...rows.map((row) => [...row.cells].map(exportedCell))];
}

const headingsOf = (table) => [...table.querySelectorAll("thead tr:last-child > th")];
const sortKey = (table) => `sort.${table.id || [...document.querySelectorAll("table.data")].indexOf(table) + 1}`;

function tableOrder(table) {
  // [column, falling] as the address has it, or null.
  const parts = /^(-?)(\d+)$/.exec(familyState(sortKey(table)) ?? "");
  return parts && Number(parts[2]) < headingsOf(table).length ? [Number(parts[2]), parts[1] === "-"] : null;
}

function turnOrder(table, column) {
  // The first click sorts (numbers from the largest, unless the heading says `data-rising`), the next turns it, the third gives the first order back.
  const order = tableOrder(table),
    values = givenOrder.get(table).flatMap(([, rows]) => rows.map((row) => row.cells[column] && cellValue(row.cells[column])));
  const falls = values.some((value) => typeof value === "number") && !("rising" in headingsOf(table)[column].dataset);
  const next = order?.[0] !== column ? falls : order[1] === falls ? !falls : null;
  familyState(sortKey(table), next === null ? null : `${next ? "-" : ""}${column}`);
  orderTable(table);
  table.dispatchEvent(new Event("order")); // for a page that shows a part of its rows
}

function orderTable(table) {
  const order = tableOrder(table);
  const byValue = (one, other) => {
    const [a, b] = [one, other].map((row) => row.cells[order[0]] ? cellValue(row.cells[order[0]]) : null);
    if (a === null || b === null) return (a === null) - (b === null);
    const both = typeof a === "number" && typeof b === "number";
    return (order[1] ? -1 : 1) * (both ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));
  };
  for (const [body, rows] of givenOrder.get(table)) body.append(...(order ? rows.slice().sort(byValue) : rows));
  headingsOf(table).forEach((head, column) => {
    const mine = order?.[0] === column;
    if (mine) head.setAttribute("aria-sort", order[1] ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
    const arrow = head.querySelector(".arrow");
    if (arrow) setText(arrow, mine ? (order[1] ? " ↓" : " ↑") : "");
  });
}

function dressTable(table) {
  if (!givenOrder.has(table)) addTools(table);
  givenOrder.set(table, [...table.tBodies].map((body) => [body, [...body.rows]]));
  if (table.classList.contains("fixed")) return; // a page with an order of its own
  headingsOf(table).forEach((head, column) => {
    if (head.querySelector("button") || !head.textContent.trim()) return;
    const button = html("button", { type: "button", class: "sort", click: () => turnOrder(table, column) }, ...head.childNodes);
    button.append(html("span", { class: "arrow", "aria-hidden": "true" }));
    head.append(button);
  });
  orderTable(table);
}

function addTools(table) {
  const box = table.closest(".scroll") ?? table,
    label = table.caption?.textContent || box.getAttribute("aria-label") || get(box.getAttribute("aria-labelledby"))?.textContent || "table";
  const lines = () => (tableLines.get(table) ?? (() => linesOf(table)))();
  const tools = html(
    "div", { class: "tools" },
    html("button", { type: "button", "aria-label": `Download ${visible(label)} as CSV`, click: () => saveFile(fileName(label, "csv"), csvText(lines()), "text/csv;charset=utf-8") }, "CSV"),
    html("button", { type: "button", "aria-label": `Copy ${visible(label)} as Markdown`, click: (event) => copyText(markdownText(lines()), event.currentTarget) }, "Markdown"),
  );
  const outside = box.closest(".edges") ?? box,
    above = outside.previousElementSibling;
  if (above?.matches(".row")) above.append(tools);
  else outside.before(tools);
}

function addEdges(box) {
  const edges = html("div", { class: "edges" });
  box.before(edges);
  edges.append(box);
  const look = () => {
    edges.classList.toggle("before", box.scrollLeft > 1);
    edges.classList.toggle("after", box.scrollLeft + box.clientWidth < box.scrollWidth - 1);
  };
  box.addEventListener("scroll", look, { passive: true });
  const watch = new ResizeObserver(look);
  watch.observe(box);
  for (const table of box.querySelectorAll("table")) watch.observe(table);
}
