// The table of systems: sortable, selectable, downloadable.

const COLUMNS = [
  { key: "system", heading: "System", up: true, digits: null, says: "The system; choose one to see its queries below" },
  { key: "mean", heading: "Mean", digits: 4, says: "Mean effectiveness over all queries" },
  {
    key: "gain",
    heading: "Gain",
    digits: 3,
    sign: true,
    says: "Reward minus risk: the mean difference from the baseline",
  },
  { key: "reward", heading: "Reward", digits: 3, says: "Mean improvement, over all queries" },
  { key: "risk", heading: "Risk", digits: 3, up: true, says: "Mean loss, over all queries" },
  { key: "wins", heading: "Helped", digits: 0, says: "Queries better than the baseline" },
  { key: "losses", heading: "Hurt", digits: 0, up: true, says: "Queries worse than the baseline" },
  { key: "ties", heading: "Same", digits: 0, says: "Queries as good as the baseline" },
  {
    key: "loss_over_20",
    heading: "> 20 %",
    digits: 0,
    up: true,
    says: "Queries that lose more than 20 % of the baseline's score",
  },
  {
    key: "worst_mean",
    heading: "Worst",
    digits: 3,
    sign: true,
    says: `Mean difference of the worst ${short(100 * data.worst_share)} % of queries`,
  },
  { key: "u_risk", heading: "U_Risk", at: true, digits: 4, sign: true, says: "Reward minus 1 + α times risk" },
  {
    key: "t_risk",
    heading: "T_Risk",
    at: true,
    digits: 3,
    sign: true,
    says: "U_Risk over its standard error; ▲ reward and ▼ risk beyond chance",
  },
  {
    key: "p_value",
    heading: "p",
    at: true,
    p: true,
    up: true,
    fileOnly: true,
    says: "Two-sided p-value of T_Risk by Student's t, as published; above α = 0 it calls chance a reward too often",
  },
  { key: "p_adjusted", heading: "p adj.", at: true, p: true, up: true, says: "The p-value corrected for skewness (Hall)" },
  {
    key: "p_holm",
    heading: "p Holm",
    at: true,
    p: true,
    up: true,
    says: "The adjusted p-value corrected for the number of systems (Holm); the verdicts go by it",
  },
  {
    key: "z_risk",
    heading: "Z_Risk",
    at: true,
    digits: 3,
    sign: true,
    says: "Weighted deviations from what the population leads one to expect",
  },
  { key: "geo_risk", heading: "GeoRisk", at: true, digits: 4, says: "Effectiveness and robustness in one number" },
];

const SHOWN = COLUMNS.filter((column) => !column.fileOnly);

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
      { type: "button", title: column.says, click: () => choose.sort(column) },
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
  get("download").addEventListener("click", download);
}

function cellText(column, row) {
  const value = row[column.key];
  if (value === null) return "–";
  if (column.p) return pText(value);
  if (column.digits === 0) return count(value);
  const text = column.sign ? signed(value, column.digits) : fixed(value, column.digits);
  return column.key !== "t_risk" ? text : text + ({ reward: " ▲", risk: " ▼" }[row.verdict] ?? " \u2007");
}

function intervalText(row) {
  const ends = row.u_risk_interval;
  return ends === null ? "" : `95 % interval ${signed(ends[0])} to ${signed(ends[1])}`;
}

function sortedRows(rows) {
  const column = COLUMNS.find(({ key }) => key === state.sort),
    way = Boolean(column.up) === state.reversed ? -1 : 1;
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
      if (column.key === "t_risk") parts.cells[at].dataset.tone = { reward: "helped", risk: "hurt" }[row.verdict] ?? "";
    });
  });
  for (const [key, cell] of table.heads) {
    const column = COLUMNS.find((one) => one.key === key);
    const rising = Boolean(column.up) !== state.reversed;
    if (key === state.sort) cell.setAttribute("aria-sort", rising ? "ascending" : "descending");
    else cell.removeAttribute("aria-sort");
    setText(cell.querySelector(".arrow"), key !== state.sort ? "" : rising ? " ↑" : " ↓");
  }
  const best = sorted.length && sorted[0].row;
  setText(get("systems-said"), best ? `Sorted by ${COLUMNS.find(({ key }) => key === state.sort).heading}` : "");
}

function csvField(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = visible(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function tableCsv(view) {
  // The columns' names are those of Assessment.to_csv; figures at full precision.
  const heads = COLUMNS.map(({ key, at }) => (at ? `${key}@${short(view.alpha)}` : key));
  const lines = sortedRows(view.rows).map(({ row }) => COLUMNS.map(({ key }) => csvField(row[key])));
  return [heads, ...lines].map((line) => line.join(",") + "\n").join("");
}

function download() {
  const link = html("a", {
    href: URL.createObjectURL(new Blob([tableCsv(currentView())], { type: "text/csv;charset=utf-8" })),
    download: "surefoot.csv",
  });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
