// The table of systems: sortable, selectable, downloadable.

const COLUMNS = data.columns.systems;
const SHOWN = COLUMNS.filter(({ shown }) => shown);

const DOZEN = 12;
const table = { rows: [], heads: new Map(), order: "", all: false };

function listedRows(sorted, view) {
  // With many systems a dozen, the chosen one and the baseline; the rest on asking.
  if (table.all || sorted.length <= DOZEN + 2) return sorted;
  return sorted.filter(({ row }, at) => at < DOZEN || row.system === view.system || row.is_baseline);
}

function buildTable(choose) {
  const head = html("tr");
  for (const column of SHOWN) {
    const button = html(
      "button",
      { type: "button", class: "sort", click: () => choose.sort(column) },
      column.heading,
      html("span", { class: "arrow", "aria-hidden": "true" }),
    );
    const cell = html("th", { scope: "col", class: column.key === "system" ? "name" : "number" }, button);
    table.heads.set(column.key, cell);
    head.append(cell);
  }
  get("systems-head").append(head);
  setText(get("systems-more"), `Show all ${count(systems.length)} systems`);
  get("systems-more").addEventListener("click", () => {
    table.all = true;
    redraw();
  });
  table.rows = systems.map((system) => {
    const button = html(
      "button",
      { type: "button", class: "choose", click: () => choose.system(system) },
      name(system),
    );
    const tag = html("span", { class: "tag" });
    const cells = SHOWN.slice(1).map(() => html("td", { class: "number" }));
    const row = html(
      "tr",
      { click: (event) => event.target.closest("button") || choose.system(system) },
      html("th", { scope: "row", class: "name" }, button, tag),
      ...cells,
    );
    return { row, button, tag, cells };
  });
  tableLines.set(get("systems"), () => systemLines(currentView()));
}

function cellText(column, row) {
  const value = row[column.key];
  if (value === null) return "–";
  if (column.probability) return pText(value);
  if (column.counts) return count(value);
  const text = column.signed ? signed(value, column.digits) : fixed(value, column.digits);
  return column.key !== "t_risk" ? text : text + ({ better: " ▲", worse: " ▼" }[row.outcome] ?? " \u2007");
}

function intervalText(row) {
  const ends = row.u_risk_interval;
  return ends === null ? "" : `${CONFIDENCE} interval ${signed(ends[0])} to ${signed(ends[1])}`;
}

function sortedRows(rows) {
  const column = COLUMNS.find(({ key }) => key === state.sort),
    way = column.rising === state.reversed ? -1 : 1;
  const absent = (row) => row[column.key] === null || row[column.key] === undefined;
  const order = (one, other) =>
    column.key === "system"
      ? one.system.localeCompare(other.system, "en", { numeric: true })
      : one[column.key] - other[column.key];
  return rows
    .map((row, i) => ({ row, i }))
    .sort(
      (one, other) =>
        absent(one.row) - absent(other.row) ||
        (absent(one.row) ? 0 : way * order(one.row, other.row)) ||
        one.i - other.i,
    );
}

function drawTable(view) {
  const sorted = sortedRows(view.rows);
  const listed = listedRows(sorted, view);
  const order = listed.map(({ i }) => i).join();
  if (order !== table.order) {
    // Moving a row takes the focus from its button: give it back.
    const focused = document.activeElement;
    get("systems-body").replaceChildren(...listed.map(({ i }) => table.rows[i].row));
    if (focused && focused !== document.activeElement && get("systems-body").contains(focused)) focused.focus();
    table.order = order;
  }
  get("systems-more").hidden = listed.length === sorted.length;
  view.rows.forEach((row, i) => {
    const parts = table.rows[i],
      chosen = row.system === view.system;
    parts.row.classList.toggle("chosen", chosen);
    parts.row.classList.toggle("baseline", row.is_baseline);
    parts.button.setAttribute("aria-pressed", String(chosen));
    setText(parts.tag, row.is_baseline ? "baseline" : chosen ? "shown" : "");
    SHOWN.slice(1).forEach((column, at) => {
      // The baseline beside itself has nothing to gain or lose.
      setText(parts.cells[at], cellText(column, row));
      if (column.key === "u_risk") setTitle(parts.cells[at], intervalText(row));
      if (column.key === "t_risk") parts.cells[at].dataset.tone = outcomeTone(row.outcome);
    });
  });
  for (const [key, cell] of table.heads) {
    const column = COLUMNS.find((one) => one.key === key);
    const rising = column.rising !== state.reversed;
    if (key === state.sort) cell.setAttribute("aria-sort", rising ? "ascending" : "descending");
    else cell.removeAttribute("aria-sort");
    setTitle(cell.querySelector("button"), state.byTraffic ? column.meaning_by_traffic : column.meaning);
    setText(cell.querySelector(".arrow"), key !== state.sort ? "" : rising ? " ↑" : " ↓");
  }
  const best = sorted.length && sorted[0].row;
  setText(get("systems-note"), best ? `Sorted by ${COLUMNS.find(({ key }) => key === state.sort).heading}` : "");
}

function systemLines(view) {
  // All figures at full precision; the columns' names are those of Assessment.to_csv.
  const heads = COLUMNS.map(({ key, at }) => (at ? `${key}@${short(view.alpha)}` : key));
  return [heads, ...sortedRows(view.rows).map(({ row }) => COLUMNS.map(({ key }) => row[key]))];
}
