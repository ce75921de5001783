// All systems at once: reward against risk, and how far rankings moved.

function drawPlane(view, width, host, choose) {
  const rows = view.rows.filter((row) => !row.is_baseline),
    slope = 1 + view.alpha;
  const xMost = (Math.max(0, ...rows.map((row) => row.risk)) || 1) * 1.08,
    yMost = (Math.max(0, ...rows.map((row) => row.reward)) || 1) * 1.1;
  const plot = frame({
    width,
    height: 340,
    x: [0, xMost],
    y: [0, yMost],
    xLabel: "risk: mean loss →",
    yLabel: "↑ reward: mean improvement",
    label: `Reward against risk of ${plural(rows.length, "system", "systems")}; above the line reward outweighs risk at α = ${short(view.alpha)}.`,
  });
  // Break-even, reward = (1 + α)·risk, as far as the frame goes.
  const end = Math.min(xMost, yMost / slope);
  const corner = end < xMost ? `L${plot.X(xMost)} ${plot.Y(yMost)}` : "";
  plot.root.append(
    svg("path", {
      class: "under",
      d: `M${plot.X(0)} ${plot.Y(0)}L${plot.X(end)} ${plot.Y(end * slope)}${corner}L${plot.X(xMost)} ${plot.Y(0)}Z`,
    }),
    svg("path", {
      class: "limit",
      d: linePath([
        [plot.X(0), plot.Y(0)],
        [plot.X(end), plot.Y(end * slope)],
      ]),
    }),
    svg("line", { class: "zero", x1: plot.left, x2: plot.left, y1: plot.top, y2: plot.bottom }),
  );
  const own = view.against.own >= 0 ? view.book.means()[view.against.own] : null;
  plot.root.append(
    svg("circle", {
      class: "origin", cx: plot.X(0), cy: plot.Y(0), r: 5.5,
      mousemove: (event) =>
        tip.show(event, name(baselineLabel(view.baseline)), "the baseline: no gain, no risk", own === null ? "" : `mean ${fixed(own)}`),
      mouseleave: tip.hide,
    }),
    svg("text", { class: "origin", x: plot.X(0) + 9, y: plot.Y(0) - 8 }, clip(baselineLabel(view.baseline), 18)),
  );
  const placed = [{ x: plot.X(0), y: plot.Y(0) - 20, w: 9 + 6.6 * Math.min(18, baselineLabel(view.baseline).length), h: 26 }];
  const ordered = [...rows].sort((one, other) => (one.system === view.system) - (other.system === view.system));
  for (const row of ordered) {
    const chosen = row.system === view.system,
      x = plot.X(row.risk),
      y = plot.Y(row.reward);
    const tone = outcomeTone(row.outcome, "same");
    plot.root.append(
      mark(tone, x, y, chosen ? 7 : 5, {
        class: `point ${tone}${chosen ? " chosen" : ""}`,
        click: () => choose.system(row.system),
        mousemove: (event) =>
          tip.show(
            event,
            name(row.system),
            `mean ${fixed(row.mean)}, gain ${signed(row.gain)}`,
            `reward ${fixed(row.reward)}, risk ${fixed(row.risk)}`,
            `U_Risk ${signed(row.u_risk)}, T_Risk ${fixed(row.t_risk, 2)}`,
          ),
        mouseleave: tip.hide,
      }),
    );
  }
  // Names where there is room: the chosen one always, then the others while they collide with nothing.
  const dots = rows.map((row) => ({ row, x: plot.X(row.risk) - 6, y: plot.Y(row.reward) - 6, w: 12, h: 12 }));
  for (const row of ordered.reverse()) {
    const text = clip(row.system, 18),
      chosen = row.system === view.system,
      places = labelPlaces(plot.X(row.risk), plot.Y(row.reward), text.length * 6.6);
    const inside = (box) =>
      box.x >= plot.left + 2 && box.x + box.w <= plot.right + 8 && box.y >= plot.top - 4 && box.y + box.h <= plot.bottom - 2;
    const free = (box) =>
      inside(box) &&
      !placed.some((other) => overlap(box, other)) &&
      !dots.some((other) => other.row !== row && overlap(box, other));
    const box = places.find(free) ?? (chosen ? (places.find(inside) ?? null) : null);
    if (!box) continue;
    placed.push(box);
    plot.root.append(
      svg("text", { class: chosen ? "label chosen" : "label", x: box.at, y: box.y + 11, "text-anchor": box.anchor }, text),
    );
  }
  replace(
    host,
    plot.root,
    legend(
      ["shape helped", "▲ reward beyond chance"],
      ["shape same", "● within chance"],
      ["shape hurt", "▼ risk beyond chance"],
      ["ring", "the baseline"],
      ["line limit", "reward = (1 + α) · risk"],
    ),
  );
}

function labelPlaces(x, y, wide) {
  // Beside the point, right and left, then above and below it, then at its corners.
  return [
    { x: x + 9, y: y - 7, at: x + 9, anchor: "start" },
    { x: x - 9 - wide, y: y - 7, at: x - 9, anchor: "end" },
    { x: x - wide / 2, y: y - 22, at: x, anchor: "middle" },
    { x: x - wide / 2, y: y + 8, at: x, anchor: "middle" },
    { x: x + 6, y: y - 19, at: x + 6, anchor: "start" },
    { x: x - 6 - wide, y: y - 19, at: x - 6, anchor: "end" },
    { x: x + 6, y: y + 5, at: x + 6, anchor: "start" },
    { x: x - 6 - wide, y: y + 5, at: x - 6, anchor: "end" },
  ].map((place) => ({ ...place, w: wide, h: 14 }));
}

function overlap(one, other) {
  return one.x < other.x + other.w && other.x < one.x + one.w && one.y < other.y + other.h && other.y < one.y + one.h;
}

function mark(tone, x, y, r, attributes) {
  // A shape beside the colour: triangles up and down, and a circle.
  if (tone === "same") return svg("circle", { cx: x, cy: y, r, ...attributes });
  const way = tone === "helped" ? -1 : 1,
    h = r * 1.25;
  return svg("path", {
    d: `M${x} ${y + way * h}L${x + h} ${y - way * h * 0.75}L${x - h} ${y - way * h * 0.75}Z`,
    ...attributes,
  });
}

function drawChurn(view, width, host) {
  const churn = data.measures[view.book.number].churn,
    known = churn?.systems[view.index] ?? null;
  if (churn === null) return undefined;
  if (view.book.column !== ALL_QUERIES)
    return replace(host, html("p", { class: "empty" }, "The distances are known for all queries together only."));
  if (data.counts !== null && !state.byTraffic)
    return replace(host, html("p", { class: "empty" }, "The distances are known by traffic only."));
  if (view.baseline !== churn.baseline || view.index === view.against.own || known === null) {
    return replace(
      host,
      html(
        "p",
        { class: "empty" },
        "Rankings were compared with those of ",
        name(churn.baseline),
        " only; choose it as baseline, and another system, to see the distances.",
      ),
    );
  }
  const depth = known.depth === null ? "" : ` in the first ${count(known.depth)} results`;
  const facts = html(
    "p",
    { class: "fact" },
    `${fixed(100 * known.share_reranked, 1)} % of the ${state.byTraffic ? "traffic is" : "queries are"} re-ranked${depth}` +
      (known.mean_tau === null ? "" : `; mean τ ${fixed(known.mean_tau, 3)}`) +
      (known.left_out
        ? `; ${plural(known.left_out, "query", "queries")} with fewer than two results in common left out.`
        : "."),
  );
  if (known.bins.every((bin) => bin.queries === 0)) return replace(host, facts);
  const bins = known.bins,
    last = bins.length - 1,
    most = Math.max(1, ...bins.map((bin) => bin.queries));
  const half = { width, x: [-0.5, last + 0.5], xTicks: [], bottom: 12 };
  const queriesPlot = frame({
    ...half,
    height: 150,
    y: [0, most * 1.15],
    yLabel: "queries",
    yTicks: ticks(0, most, 3).filter(Number.isInteger),
    label: `Queries by Kendall distance from the baseline's ranking: ${bins.map((bin) => bin.queries).join(", ")} in ${bins.length} bins from 0 to 1.`,
  });
  const up = Math.max(0, ...bins.map((bin) => bin.reward)) || 1,
    down = -Math.max(up / 4, ...bins.map((bin) => bin.risk));
  const riskPlot = frame({
    ...half,
    height: 170,
    y: [down, up],
    yLabel: "reward (up), risk (down)",
    bottom: 34,
    yTicks: ticks(down, up, 4),
    xLabel: "Kendall distance from the baseline's ranking",
    label: `Reward and risk by Kendall distance: ${bins.map((bin) => `${fixed(bin.reward)} and ${fixed(bin.risk)}`).join("; ")}.`,
  });
  bins.forEach((bin, i) => {
    const words = [
      `distance ${short(bin.distance[0])} to ${short(bin.distance[1])}`,
      plural(bin.queries, "query", "queries"),
      `reward ${fixed(bin.reward)}, risk ${fixed(bin.risk)}`,
    ];
    const hover = { mousemove: (event) => tip.show(event, ...words), mouseleave: tip.hide };
    const bar = (plot, tone, from, to) =>
      plot.root.append(
        svg("rect", {
          class: `bar ${tone}`,
          x: plot.X(i - 0.38),
          width: plot.X(i + 0.38) - plot.X(i - 0.38),
          y: Math.min(plot.Y(from), plot.Y(to)),
          height: Math.abs(plot.Y(from) - plot.Y(to)),
          ...hover,
        }),
      );
    bar(queriesPlot, "same", 0, bin.queries);
    bar(riskPlot, "helped", 0, bin.reward);
    bar(riskPlot, "hurt", 0, -bin.risk);
    if (bin.queries)
      queriesPlot.root.append(
        svg(
          "text",
          { class: "value", x: queriesPlot.X(i), y: queriesPlot.Y(bin.queries) - 4, "text-anchor": "middle" },
          count(bin.queries),
        ),
      );
    if (i % 2 === 0 || i === last)
      riskPlot.root.append(
        svg(
          "text",
          { class: "tick", x: riskPlot.X(i === last ? last + 0.5 : i - 0.5), y: riskPlot.bottom + 15, "text-anchor": "middle" },
          short(bin.distance[i === last ? 1 : 0]),
        ),
      );
  });
  return replace(host, facts, queriesPlot.root, riskPlot.root);
}
