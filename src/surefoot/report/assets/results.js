// A query's detail: top results side by side with their grades and where each moved, and every system's score.

const results = { ids: null, lists: new Map() };

function documentIds() {
  if (results.ids) return results.ids;
  const { shared, separator, rest } = data.results.ids,
    skips = numbers(shared);
  const ends = separator === null ? rest : skips.length ? rest.split(separator) : [];
  let last = "";
  results.ids = Array.from(skips, (skip, i) => (last = last.slice(0, skip) + ends[i]));
  return results.ids;
}

function listsOf(system) {
  // Unpacked when first asked for: most are never looked at.
  if (!results.lists.has(system)) {
    const packed = data.results.systems[system],
      lengths = numbers(packed.lengths),
      at = new Map();
    let query = 0,
      from = 0,
      k = 0;
    for (const step of numbers(packed.queries)) {
      query += step;
      at.set(query, { from, to: (from += lengths[k++]) });
    }
    const unpacked = {
      at,
      documents: numbers(packed.documents),
      grades: numbers(packed.grades),
      before: null,
      after: null,
      afterAt: null,
    };
    if (packed.before) {
      unpacked.before = numbers(packed.before);
      unpacked.after = numbers(packed.after);
      unpacked.afterAt = new Map();
      const theirs = listsOf(systems.indexOf(data.results.baseline)).at;
      let start = 0;
      for (const q of at.keys()) {
        unpacked.afterAt.set(q, start);
        start += theirs.get(q).to - theirs.get(q).from;
      }
    }
    results.lists.set(system, unpacked);
  }
  return results.lists.get(system);
}

function topResults(system, q) {
  // The results of a system on a query as [{ document, grade }], or null where the page does not hold them.
  if (!data.results || system < 0) return null;
  const lists = listsOf(system),
    span = lists.at.get(q);
  if (!span) return null;
  return Array.from({ length: span.to - span.from }, (_, i) => {
    const level = lists.grades[span.from + i];
    return { document: lists.documents[span.from + i], grade: level ? data.results.levels[level - 1] : null };
  });
}

function otherRanks(system, against, q, mine, theirs) {
  // Where mine stand in their list and theirs in mine: from the runs themselves, or else as far as the lists show.
  const lists = listsOf(system);
  if (systems[against] === data.results.baseline && lists.before) {
    const { from } = lists.at.get(q),
      start = lists.afterAt.get(q);
    return { before: mine.map((_, i) => lists.before[from + i]), after: theirs.map((_, i) => lists.after[start + i]) };
  }
  const rank = (list) => new Map(list.map(({ document }, i) => [document, i + 1]));
  const inTheirs = rank(theirs),
    inMine = rank(mine);
  return {
    before: mine.map(({ document }) => inTheirs.get(document) ?? null),
    after: theirs.map(({ document }) => inMine.get(document) ?? null),
  };
}

function moved(rank, other, is) {
  // null: beyond the lists; 0: nowhere in the other ranking.
  if (other === null)
    return {
      text: is === "before" ? `not in top ${data.results.top}` : "out of the list",
      tone: is === "before" ? "up" : "down",
    };
  if (other === 0) return { text: is === "before" ? "new" : "gone", tone: is === "before" ? "up" : "down" };
  if (other === rank) return { text: "=", tone: "" };
  const up = is === "before" ? rank < other : other < rank;
  return {
    text: is === "before" ? `${up ? "↑" : "↓"} from ${count(other)}` : `${up ? "↑" : "↓"} to ${count(other)}`,
    tone: up ? "up" : "down",
  };
}

function gradeChip(grade) {
  if (grade === null) return html("span", { class: "grade none", title: "not judged" }, "?");
  const best = data.results.levels[data.results.levels.length - 1];
  const step = grade <= 0 || best <= 0 ? 0 : Math.max(1, Math.round((4 * grade) / best));
  return html("span", { class: `grade g${step}`, title: `grade ${short(grade)}` }, short(grade));
}

function resultList(title, list, ranks, is) {
  const ids = documentIds();
  const rows = list.map(({ document, grade }, i) => {
    // Only where relevant results go is good or bad news.
    const where = ranks ? moved(i + 1, ranks[i], is) : { text: "", tone: "" };
    return html(
      "tr",
      {},
      html("td", { class: "rank" }, String(i + 1)),
      html("td", {}, gradeChip(grade)),
      html("td", { class: "document" }, name(ids[document]), words(data.texts.documents?.[document] ?? "")),
      html("td", { class: `moved ${grade > 0 ? where.tone : ""}` }, where.text),
    );
  });
  const head = html(
    "thead",
    {},
    html(
      "tr",
      {},
      ...["#", "grade", "document", is === "before" ? "was" : "now"].map((text) => html("th", { scope: "col" }, text)),
    ),
  );
  return html(
    "section",
    { class: "ranked" },
    html("h3", {}, ...title),
    list.length
      ? html("table", {}, head, html("tbody", {}, ...rows))
      : html("p", { class: "empty" }, "Returned nothing for this query."),
  );
}

function resultsPart(view, q) {
  if (!data.results)
    return html("p", { class: "empty" }, "The scores came without rankings, so there are no results to show.");
  const own = view.book.rows[q],
    mine = topResults(view.index, own),
    theirs = topResults(view.against.own, own);
  if (!mine && !theirs)
    return html(
      "p",
      { class: "empty" },
      "The page holds results for the most hurt and most helped queries only; this is not among them.",
    );
  const both = mine && theirs && view.index !== view.against.own,
    ranks = both ? otherRanks(view.index, view.against.own, own, mine, theirs) : {};
  return html(
    "div",
    { class: "lists" },
    theirs
      ? resultList([name(view.baseline), " (baseline)"], theirs, ranks.after, "after")
      : html(
          "p",
          { class: "empty" },
          virtual.has(view.baseline)
            ? "The per-query baseline is no ranking and has no results of its own."
            : "The baseline's results on this query are not in the page.",
        ),
    mine && view.index !== view.against.own ? resultList([name(view.system)], mine, ranks.before, "before") : null,
  );
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
