// Kinds of queries: a table of what the chosen system does to each, and pickers of the measure and of one segment.

const SEGMENTS_SHOWN = 20;
const EACH_ONCE = "Each query counts once here. What follows was said of queries that are weighted by traffic.";
const segmentList = { order: "hurt", all: false };
const SEGMENT_ORDERS = {
  hurt: (one, other) => one.row.u_risk - other.row.u_risk,
  large: (one, other) =>
    state.byTraffic ? other.book.trafficShare - one.book.trafficShare : other.row.queries - one.row.queries,
  given: () => 0,
};

function onSegments(view) {
  // The chosen system on each segment of each column.
  return data.segments.flatMap(({ column, segments }, at) =>
    familyRows(bookOf(view.book.number, at, 0), view.alpha, view.baseline).map((rows, k) => {
      const book = bookOf(view.book.number, at, k);
      const row = { ...rows[view.index], mean: book.means()[view.index], queries: book.queries.length };
      return { column, segment: segments[k], book, row };
    }),
  );
}

function drawSegments(view, chooseSegment) {
  if (!data.segments.length) return;
  const rows = onSegments(view).sort(SEGMENT_ORDERS[segmentList.order]),
    shown = segmentList.all ? rows : rows.slice(0, SEGMENTS_SHOWN);
  const focused = document.activeElement?.closest?.("#segments-body button")?.dataset.segment;
  replace(get("segments-body"), ...shown.map((one) => segmentRow(view, one, chooseSegment)));
  if (focused) [...get("segments-body").querySelectorAll("button")].find((one) => one.dataset.segment === focused)?.focus();
  get("segments-more").hidden = shown.length === rows.length;
  dressTable(get("segments"));
  setText(get("segments-more"), `Show all ${count(rows.length)} segments`);
}

function segmentRow(view, one, chooseSegment) {
  const chosen = one.book.key === view.book.key;
  return html(
    "tr",
    { class: chosen ? "chosen" : null },
    html(
      "th",
      { scope: "row", class: "name" },
      html(
        "button",
        {
          type: "button",
          class: "choose",
          "data-segment": one.book.key,
          "aria-pressed": String(chosen),
          title: chosen ? "Show all queries again" : "Show these queries alone",
          click: () => (chosen ? chooseSegment(null, null) : chooseSegment(one.column, one.segment)),
        },
        html("span", { class: "kind" }, name(one.column), " "),
        name(one.segment),
      ),
      html("span", { class: "tag" }, chosen ? "shown" : ""),
    ),
    ...data.columns.segments.map((column) =>
      html("td", { class: "number", "data-tone": column.key === "t_risk" ? outcomeTone(one.row.outcome) : null }, cellText(column, one.row)),
    ),
  );
}

function buildPickers(choose) {
  const option = (value, text) => html("option", { value }, visible(text));
  get("measure-pick").append(...data.measures.map(({ measure, title }) => option(measure, title)));
  get("measure-label").hidden = data.measures.length < 2;
  get("measure-pick").addEventListener("change", (event) =>
    choose.measure(data.measures[event.target.selectedIndex].measure),
  );
  get("count-label").hidden = data.counts === null;
  get("count-by").addEventListener("change", (event) => choose.count(event.target.value));
  const places = data.segments.flatMap(({ column, segments }) => segments.map((segment) => [column, segment]));
  get("segment").append(
    option("", "all"),
    ...data.segments.map(({ column, segments }) =>
      html("optgroup", { label: visible(column) }, ...segments.map((segment) => option(segment, segment))),
    ),
  );
  get("segment-label").hidden = get("segments-section").hidden = !data.segments.length;
  get("segment").addEventListener("change", (event) =>
    choose.segment(...(places[event.target.selectedIndex - 1] ?? [null, null])),
  );
  get("segments-head").append(
    html("th", { scope: "col", class: "name" }, "segment"),
    ...data.columns.segments.map(({ heading, meaning }) => html("th", { scope: "col", class: "number", title: meaning }, heading)),
  );
  get("segments-order").addEventListener("change", (event) => {
    segmentList.order = event.target.value;
    redraw();
  });
  get("segments-more").addEventListener("click", () => {
    segmentList.all = true;
    redraw();
  });
}

function drawPickers(view) {
  const { book } = view;
  get("measure-pick").selectedIndex = book.number;
  get("count-by").value = state.byTraffic ? "traffic" : "queries";
  get("segment").selectedIndex =
    book.column === ALL_QUERIES
      ? 0
      : 1 + book.segment + data.segments.slice(0, book.column).reduce((sum, { segments }) => sum + segments.length, 0);
  const within = book.column === ALL_QUERIES ? "" : ` of ${data.segments[book.column].column} ${state.segment}`;
  setText(
    get("measure"),
    visible(
      `${book.measure} · ${plural(systems.length, "system", "systems")} · ${plural(book.queries.length, "query", "queries")}${within}${state.byTraffic ? ", weighted by traffic" : ""}`,
    ),
  );
  const known = data.measures[book.number].notes,
    notes = data.counts === null || state.byTraffic ? known : [EACH_ONCE, ...known];
  if (get("notes").childElementCount !== notes.length || get("notes").dataset.book !== book.key) {
    replace(get("notes"), ...notes.map((note) => html("li", {}, visible(note))));
    get("notes").dataset.book = book.key;
  }
}
