// The queries as a list: what the charts show, for reading, searching and the keyboard.

const PAGE = 10;
const list = { words: "", order: "hurt", shown: PAGE, drawn: null };

function listedQueries(view) {
  const hurt = hurtFirst(view.one);
  const order =
    list.order === "hurt" ? hurt : list.order === "helped" ? hurt.slice().reverse() : Uint32Array.from(view.book.rows.keys());
  const words = list.words.trim().toLowerCase(),
    listed = words ? order.filter((q) => view.book.searched()[q].includes(words)) : order;
  const byHeading = tableOrder(get("queries"));
  if (!byHeading) return listed;
  // A heading sorts all queries, not only those that are listed so far.
  const [column, falling] = byHeading,
    value = (q) => queryCells(view, q)[column],
    compare = (one, other) => (typeof one === "string" ? one.localeCompare(other, "en", { numeric: true }) : one - other);
  return listed
    .map((q) => q)
    .sort((one, other) => (falling ? -1 : 1) * compare(value(one), value(other)));
}

function queryCells(view, q) {
  // A query's cells as values, in the order of the headings; the third is drawn from the second.
  const change = view.one.difference[q],
    score = queryScore(view.one, view.result, q, view.alpha);
  return [view.book.queries[q], change, change, view.against.vector[q], view.book.scores[view.index][q], score?.tJ ?? 0, score?.significant ? 1 : 0, ...(traffic ? [traffic[view.book.rows[q]]] : [])];
}

function queryLines(view) {
  // All queries that are listed, shown or not, at full precision.
  const heads = ["query", "text", "change", baselineLabel(view.baseline), view.system, "T_J", "significant", ...(traffic ? ["traffic"] : [])];
  const line = (q) => {
    const [query, change, , ...rest] = queryCells(view, q);
    return [query, queryText(view.book, q), change, ...rest];
  };
  return [heads, ...Array.from(listedQueries(view), line)];
}

function drawQueries(view, openQuery) {
  // Rows that stay keep the focus, also while a query's detail lies over them.
  const key = JSON.stringify([view.book.key, view.alpha, view.baseline, view.system, list.words, list.order, list.shown, tableOrder(get("queries"))]);
  if (key === list.drawn) return;
  list.drawn = key;
  const { queries } = view.book,
    listed = listedQueries(view),
    shown = listed.subarray(0, list.shown);
  const most = Math.max(Math.abs(view.one.sorted[0]), Math.abs(view.one.sorted[queries.length - 1])) || 1;
  setText(
    get("queries-note"),
    listed.length === queries.length
      ? `${plural(queries.length, "query", "queries")}`
      : `${count(listed.length)} of ${plural(queries.length, "query", "queries")}`,
  );
  // Keep the focus where it was while the slider moves and numbers change.
  const focused = document.activeElement?.closest?.("#queries-body button")?.dataset.q;
  replace(get("queries-body"), ...Array.from(shown, (q) => queryRow(view, q, most, openQuery)));
  if (focused)
    get("queries-body")
      .querySelector(`button[data-q="${Number(focused)}"]`)
      ?.focus();
  dressTable(get("queries"));
  get("queries-more").hidden = listed.length <= list.shown;
  get("queries-none").hidden = listed.length > 0;
}

function queryRow(view, q, most, openQuery) {
  const change = view.one.difference[q],
    score = queryScore(view.one, view.result, q, view.alpha);
  const tone = changeTone(change),
    bar = svg(
      "svg",
      { class: "spark", viewBox: "-50 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("rect", {
        class: `bar ${tone}`,
        x: Math.min(0, (50 * change) / most),
        width: Math.abs((50 * change) / most),
        y: 1,
        height: 8,
      }),
      svg("line", { class: "zero", x1: 0, x2: 0, y1: 0, y2: 10, "vector-effect": "non-scaling-stroke" }),
    );
  return html(
    "tr",
    {},
    html(
      "th",
      { scope: "row", class: "name" },
      html(
        "button",
        { type: "button", class: "choose", "data-q": q, click: () => openQuery(q) },
        name(view.book.queries[q]),
      ),
      words(queryText(view.book, q)),
    ),
    html("td", { class: "number", "data-tone": tone }, signed(change)),
    html("td", { class: "sparks" }, bar),
    html("td", { class: "number" }, fixed(view.against.vector[q])),
    html("td", { class: "number" }, fixed(view.book.scores[view.index][q])),
    html("td", { class: "number" }, score ? signed(score.tJ, 2) : "–"),
    html(
      "td",
      { class: "significance" },
      score?.significant
        ? html(
            "span",
            { class: `tag ${changeTone(score.tJ)}` },
            score.tJ < 0 ? "▼ significant" : "▲ significant",
          )
        : "",
    ),
    ...(traffic ? [html("td", { class: "number" }, short(traffic[view.book.rows[q]]))] : []),
  );
}

function listenToQueries(redraw) {
  if (traffic) get("queries").querySelector("thead tr").append(html("th", { scope: "col", class: "number", title: "How often the query is asked" }, "Traffic"));
  tableLines.set(get("queries"), () => queryLines(currentView()));
  get("queries").addEventListener("order", redraw);
  get("search").addEventListener("input", () => {
    list.words = get("search").value;
    list.shown = PAGE;
    redraw();
  });
  get("queries-order").addEventListener("change", () => {
    list.order = get("queries-order").value;
    familyState("sort.queries", null);
    list.shown = PAGE;
    redraw();
  });
  get("queries-more").addEventListener("click", () => {
    list.shown += 5 * PAGE;
    redraw();
  });
}
