// A query's detail: top results of both systems side by side, and every system's score.

function resultsPart(view, q) {
  if (!data.results)
    return html("p", { class: "empty" }, "The scores came without rankings, so there are no results to show.");
  const own = view.against.own,
    { mine, theirs } = pairOfResults(view.index, own, view.book.rows[q]);
  if (!mine && !theirs)
    return html(
      "p",
      { class: "empty" },
      "The page holds results for the most hurt and most helped queries only; this is not among them.",
    );
  const noList = virtual.has(view.baseline)
    ? "The per-query baseline is no ranking and has no results of its own."
    : "The baseline's results on this query are not in the page.";
  return rankingsPair(pairOf(view, q, noList));
}

function pairOf(view, q, noList) {
  // What rankings.js draws of a query: the baseline's list, or why there is none, and the list of the system shown.
  const own = view.against.own,
    { mine, theirs } = pairOfResults(view.index, own, view.book.rows[q]),
    { scores, number } = view.book;
  return {
    left: theirs ? { title: [name(view.baseline), " (baseline)"], results: theirs, score: scores[own][q] } : noList,
    right: mine && view.index !== own ? { title: [name(view.system)], results: mine, score: scores[view.index][q] } : null,
    terms: data.measures[number].terms,
    top: data.results.top,
    best: data.results.levels.at(-1),
  };
}

function scoresPart(view, q) {
  const { scores } = view.book;
  const most = Math.max(1e-12, ...scores.map((row) => Math.abs(row[q])));
  const order = systems.map((_, i) => i).sort((a, b) => scores[b][q] - scores[a][q] || a - b);
  return html(
    "table",
    { class: "everyone" },
    html("caption", {}, "Every system's score on this query"),
    html(
      "tbody",
      {},
      ...order.map((i) => {
        const bar = html("div", { class: "meter" });
        bar.style.width = `${Math.max(0, (100 * scores[i][q]) / most)}%`;
        const kind = i === view.index ? "chosen" : i === view.against.own ? "reference" : "";
        return html(
          "tr",
          { class: kind },
          html("th", { scope: "row" }, name(systems[i]), i === view.against.own ? " (baseline)" : ""),
          html("td", { class: "track" }, bar),
          html("td", { class: "number" }, fixed(scores[i][q])),
        );
      }),
    ),
  );
}

function drawQuery(view, q) {
  const score = queryScore(view.one, view.result, q, view.alpha),
    order = hurtFirst(view.one);
  const change = view.one.difference[q],
    tone = changeTone(change);
  replace(get("query-title"), "Query ", name(view.book.queries[q]));
  setText(get("query-text"), visible(queryText(view.book, q)));
  replace(
    get("query-summary"),
    html(
      "span",
      { class: `change ${tone}` },
      `${change < 0 ? "▼ hurt " : change > 0 ? "▲ helped " : "unchanged "}${signed(change)}`,
    ),
    " ",
    name(baselineLabel(view.baseline)),
    ` ${fixed(view.against.vector[q])} → `,
    name(view.system),
    ` ${fixed(view.book.scores[view.index][q])}. `,
    score
      ? html(
          "span",
          {
            title:
              "T_R is the weighted change over its standard deviation; T_J is the same after the mean change is taken away, and significant beyond the limits in brackets",
          },
          `At α = ${short(view.alpha)}: T_R ${signed(score.tR, 2)}, T_J ${signed(score.tJ, 2)}, ${score.significant ? "significant" : "not significant"} (±${fixed(view.book.critical, 2)}).`,
        )
      : "",
  );
  replace(get("query-body"), resultsPart(view, q), scoresPart(view, q));
  const position = order.indexOf(q);
  get("query-before").disabled = position === 0;
  get("query-after").disabled = position === order.length - 1;
}
