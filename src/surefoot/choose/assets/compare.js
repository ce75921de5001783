// Two candidates on the same test queries: the difference of each query, from the most hurt to the most helped.

const MOST = 15; // queries on each side

function drawCompare(host) {
  const one = ALL[choice.one],
    other = ALL[choice.other];
  const differences = other.per_query.map((value, query) => ({ query, value: value - one.per_query[query] }));
  differences.sort((a, b) => a.value - b.value);
  const helped = differences.filter(({ value }) => value > 0).length,
    hurt = differences.filter(({ value }) => value < 0).length;
  const weight = (query) => (data.counts ? data.counts[query] : 1); // how often it is asked
  const total = differences.reduce((sum, { query }) => sum + weight(query), 0);
  const mean = differences.reduce((sum, { query, value }) => sum + weight(query) * value, 0) / total;
  replace(
    get("compare-note"),
    "On test queries, ", name(spoken(other)), ` changes ${plural(helped + hurt, "query", "queries")} compared with `, name(spoken(one)),
    `: ${count(helped)} helped, ${count(hurt)} hurt. The mean change${data.counts ? ", weighted by traffic," : ""} is ${signed(mean)}.`,
  );
  const tall = host.clientWidth > 480; // as the table beside it
  const plot = frame({
    width: Math.floor(host.clientWidth), height: tall ? 460 : 300, x: [0, differences.length], y: extent(differences.map(({ value }) => value), [0]),
    xLabel: "queries, most hurt first →", yLabel: "↑ difference", label: "Difference of the two on each test query, in order.",
  });
  const step = Math.max(1, Math.ceil(differences.length / 1500));
  for (let i = 0; i < differences.length; i += step) {
    const { query, value } = differences[i];
    if (value === 0) continue;
    plot.root.append(
      svg("rect", {
        class: `bar sure ${value > 0 ? "helped" : "hurt"}`, x: plot.X(i), width: Math.max(0.6, plot.X(i + step) - plot.X(i)),
        y: Math.min(plot.Y(0), plot.Y(value)), height: Math.abs(plot.Y(value) - plot.Y(0)),
        mousemove: (event) => tip.show(event, ["query ", name(data.names[query])], `${signed(value)}: ${fixed(one.per_query[query])} to ${fixed(other.per_query[query])}`),
        mouseleave: tip.hide,
      }),
    );
  }
  replace(host, plot.root);
  const worst = differences.slice(0, MOST).filter(({ value }) => value < 0),
    best = differences.slice(-MOST).filter(({ value }) => value > 0).reverse();
  const line = ({ query, value }) =>
    html("tr", {}, html("th", { scope: "row", class: "name" }, name(data.names[query])), html("td", { class: "number" }, fixed(one.per_query[query])),
      html("td", { class: "number" }, fixed(other.per_query[query])), html("td", { class: "number", "data-tone": value > 0 ? "helped" : "hurt" }, signed(value)));
  replace(get("queries-head"), html("tr", {}, ...["query", one.name, other.name, "difference"].map((text, number) => html("th", { scope: "col", class: number ? "number" : "name" }, name(text)))));
  replace(get("queries-body"), ...worst.map(line), ...best.map(line));
  dressTable(get("queries"));
}
