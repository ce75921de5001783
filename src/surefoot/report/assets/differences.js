// Whom a system hurts: the histogram, the sorted differences, and the same standardised at several α.

const MOST_COLUMNS = 600;

function histogramBins(one) {
  // Equal widths on both sides of 0, and a bin of its own for the queries that stay as they were.
  const most = Math.max(Math.abs(one.sorted[0]), Math.abs(one.sorted[one.sorted.length - 1])) || 1;
  const step = ticks(0, most, 8)[1] ?? most,
    side = Math.max(1, Math.ceil(most / step - 1e-9));
  const counts = new Array(2 * side + 1).fill(0);
  for (const value of one.sorted) {
    const far = value === 0 ? 0 : Math.min(side, Math.max(1, Math.ceil(Math.abs(value) / step - 1e-9)));
    counts[side + Math.sign(value) * far]++;
  }
  return { step, side, counts };
}

function drawHistogram(view, width, host) {
  const { step, side, counts } = histogramBins(view.one),
    most = Math.max(...counts);
  const bars = counts.length,
    height = 300;
  const plot = frame({
    width,
    height,
    x: [-side - 0.5, side + 0.5],
    y: [0, most * 1.12],
    xTicks: [],
    yTicks: ticks(0, most, 4).filter(Number.isInteger),
    yLabel: "queries",
    xLabel: `change in ${clip(view.book.measure, 28)}, up to`,
    label: `Histogram of changes: ${plural(view.row.losses, "query", "queries")} hurt, ${count(view.row.ties)} unchanged, ${count(view.row.wins)} helped.`,
  });
  const gap = Math.min(3, width / bars / 6),
    slot = plot.X(1) - plot.X(0);
  counts.forEach((number, i) => {
    const at = i - side,
      tone = changeTone(at);
    const x = plot.X(at - 0.5) + gap / 2,
      y = plot.Y(number);
    if (!number) return;
    const ends = at < 0 ? [at * step, (at + 1) * step] : [(at - 1) * step, at * step];
    const words = at === 0 ? "no change" : `${signed(ends[0], 2)} to ${signed(ends[1], 2)}`;
    plot.root.append(
      svg("rect", {
        class: `bar ${tone}`,
        x,
        y,
        width: Math.max(1, slot - gap),
        height: plot.bottom - y,
        mousemove: (event) => tip.show(event, words, plural(number, "query", "queries")),
        mouseleave: tip.hide,
      }),
    );
    if (slot > 18)
      plot.root.append(
        svg("text", { class: "value", x: plot.X(at), y: y - 4, "text-anchor": "middle" }, count(number)),
      );
  });
  // The outer edge of each bin, under it: as many as fit, and all as far apart.
  const every = Math.max(1, Math.ceil(44 / slot));
  for (let k = 0; k <= side; k += every) {
    for (const sign of k ? [-1, 1] : [1]) {
      plot.root.append(
        svg(
          "text",
          { class: "tick", x: plot.X(sign * k), y: plot.bottom + 17, "text-anchor": "middle" },
          short(sign * k * step),
        ),
      );
    }
  }
  plot.root.append(svg("line", { class: "zero", x1: plot.left, x2: plot.right, y1: plot.bottom, y2: plot.bottom }));
  replace(host, plot.root);
}

function columnsOf(total) {
  // Where each drawn column starts among the sorted queries: one a query while they fit.
  const columns = Math.min(total, MOST_COLUMNS);
  return Array.from({ length: columns + 1 }, (_, i) => Math.round((i * total) / columns));
}

const cursor = { at: null };

function drawDifferences(view, width, host) {
  const { one, result, alpha } = view,
    sorted = one.sorted,
    total = sorted.length;
  const { low, high, sure: isSure, atEnds } = significantQueries(one, result, alpha);
  const range = extent([sorted[0], sorted[total - 1]], [0]);
  const plot = frame({
    width,
    height: 300,
    x: [0, total],
    y: range,
    xTicks: [],
    yLabel: `change in ${clip(view.book.measure, 28)}`,
    bottom: 26,
    xLabel:
      width < 420
        ? "from the most hurt to the most helped"
        : `${plural(total, "query", "queries")}, from the most hurt to the most helped`,
    label: `Differences of ${plural(total, "query", "queries")} in order: ${count(low)} significantly hurt, ${count(high)} significantly helped.`,
  });
  const paths = { "hurt sure": "", hurt: "", helped: "", "helped sure": "" };
  const starts = columnsOf(total),
    dots = [];
  const gap = (plot.right - plot.left) / total > 5 ? 1 : 0;
  for (let i = 0; i + 1 < starts.length; i++) {
    const from = starts[i],
      to = starts[i + 1] - 1;
    const value = sorted[from] < 0 ? sorted[from] : sorted[to];
    if (value === 0) continue;
    const sure = isSure(from) || isSure(to);
    const x = plot.X(from),
      end = plot.X(to + 1) - gap;
    paths[changeTone(value) + (sure ? " sure" : "")] +=
      `M${x.toFixed(1)} ${plot.Y(0).toFixed(1)}V${plot.Y(value).toFixed(1)}H${end.toFixed(1)}V${plot.Y(0).toFixed(1)}Z`;
    if (sure && total <= MOST_COLUMNS) dots.push([(x + end) / 2, plot.Y(value), value]);
  }
  for (const [tone, path] of Object.entries(paths))
    if (path) plot.root.append(svg("path", { class: `bar ${tone}`, d: path }));
  for (const [x, y, value] of dots) {
    plot.root.append(
      svg("circle", {
        class: `dot ${changeTone(value)}`,
        cx: x,
        cy: y,
        r: Math.min(4, Math.max(2, width / total / 3)),
      }),
    );
  }
  const bracket = (from, to, words, tone, y) =>
    plot.root.append(
      // With weights the significant queries may be anywhere.
      ...(atEnds ? [svg("path", { class: `bracket ${tone}`, d: `M${plot.X(from)} ${y}H${Math.max(plot.X(to), plot.X(from) + 2)}` })] : []),
      // The corners over the hurt and under the helped queries are always free.
      svg(
        "text",
        {
          class: `said ${tone}`,
          x: from ? plot.right : plot.left + 6,
          y: from ? plot.bottom - 6 : plot.top + 12,
          "text-anchor": from ? "end" : "start",
        },
        words,
      ),
    );
  if (low) bracket(0, low, `▼ ${count(low)} significantly hurt`, "hurt", plot.Y(0) - 4);
  if (high) bracket(total - high, total, `▲ ${count(high)} significantly helped`, "helped", plot.Y(0) + 4);
  const line = svg("line", { class: "now", y1: plot.top, y2: plot.bottom, display: "none" });
  plot.root.append(line);
  differencesPlot.plot = plot;
  differencesPlot.line = line;
  replace(host, plot.root);
  moveCursor(view, cursor.at === null || cursor.at >= total ? null : cursor.at, null);
}

const differencesPlot = { plot: null, line: null };

function queryTitle(book, q) {
  const text = queryText(book, q);
  return ["Query ", name(clip(book.queries[q], 60)), ...(text === "" ? [] : [": ", name(clip(text, 80))])];
}

function describeQuery(view, position) {
  const q = hurtFirst(view.one)[position],
    score = queryScore(view.one, view.result, q, view.alpha);
  return {
    q,
    lines: [
      queryTitle(view.book, q),
      [
        name(clip(baselineLabel(view.baseline), 30)),
        ` ${fixed(view.against.vector[q])} → `,
        name(clip(view.system, 30)),
        ` ${fixed(view.book.scores[view.index][q])}`,
      ],
      [
        `change ${signed(view.one.difference[q])}`,
        score ? `, T_J ${signed(score.tJ, 2)}${score.significant ? ", significant" : ""}` : "",
      ],
    ],
  };
}

function moveCursor(view, position, event) {
  const { plot, line } = differencesPlot,
    host = get("differences");
  cursor.at = position;
  host.setAttribute("aria-valuemax", String(view.book.queries.length));
  if (position === null) {
    line.setAttribute("display", "none");
    host.setAttribute("aria-valuenow", "0");
    host.setAttribute("aria-valuetext", "No query; the arrow keys go through them, Enter opens one");
    return;
  }
  const x = plot.X(position + 0.5),
    words = describeQuery(view, position);
  line.removeAttribute("display");
  line.setAttribute("x1", x);
  line.setAttribute("x2", x);
  host.setAttribute("aria-valuenow", String(position + 1));
  host.setAttribute(
    "aria-valuetext",
    words.lines.map((line) => line.map((part) => part.textContent ?? part).join("")).join("; "),
  );
  if (event) tip.show(event, ...words.lines, html("span", { class: "hint" }, topResults(view.index, view.book.rows[words.q]) ? "click for its results" : "click for every system's score"));
}

function listenToDifferences(openQuery) {
  const host = get("differences");
  const at = (event) => {
    const { plot } = differencesPlot,
      box = host.querySelector("svg").getBoundingClientRect();
    const share = (event.clientX - box.left - plot.left) / (plot.right - plot.left);
    const total = currentView().book.queries.length;
    return Math.min(total - 1, Math.max(0, Math.floor(share * total)));
  };
  host.addEventListener("mousemove", (event) => moveCursor(currentView(), at(event), event));
  host.addEventListener("mouseleave", () => {
    tip.hide();
    moveCursor(currentView(), null, null);
  });
  host.addEventListener("click", (event) => openQuery(hurtFirst(currentView().one)[at(event)]));
  host.addEventListener("blur", () => {
    tip.hide();
    moveCursor(currentView(), null, null);
  });
  host.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
    const view = currentView(),
      last = view.book.queries.length - 1;
    let next = null;
    if (step) next = cursor.at === null ? (step > 0 ? 0 : last) : Math.min(last, Math.max(0, cursor.at + step));
    else if (event.key === "Home") next = 0;
    else if (event.key === "End") next = last;
    else if (event.key === "Enter" && cursor.at !== null) return openQuery(hurtFirst(view.one)[cursor.at]);
    else return undefined;
    event.preventDefault();
    const box = host.getBoundingClientRect();
    return moveCursor(view, next, { clientX: box.left + differencesPlot.plot.X(next + 0.5), clientY: box.top + 60 });
  });
}

function drawMultiples(view, width, host) {
  const alphas = data.panel_alphas,
    across = width > 720 ? 4 : width > 250 ? 2 : 1,
    panel = Math.floor((width - (across - 1) * 16) / across);
  const results = alphas.map((alpha) => test(view.one, alpha)),
    total = view.one.sorted.length;
  if (results.some(({ deviation }) => deviation === null))
    return replace(
      host,
      html("p", { class: "empty" }, `Nothing to standardise: ${results.find(({ reason }) => reason).reason}.`),
    );
  const known = alphas.map((alpha, k) => significantQueries(view.one, results[k], alpha)),
    score = (i, k) => known[k].score(i),
    all = Array.from(view.one.sorted.keys());
  const range = extent(
    alphas.flatMap((_, k) => (known[k].atEnds ? [score(0, k), score(total - 1, k)] : all.map((i) => score(i, k)))),
    [-view.book.critical, view.book.critical],
  );
  const starts = columnsOf(total)
    .slice(0, -1)
    .concat(total - 1);
  return replace(
    host,
    ...alphas.map((alpha, k) => {
      const { low, high, atEnds } = known[k];
      const words = `${count(low)} hurt, ${count(high)} helped`;
      const plot = frame({
        width: panel,
        height: 170,
        x: [0, Math.max(1, total - 1)],
        y: range,
        xTicks: [],
        yTicks: ticks(...range, 4),
        bottom: 12,
        top: 10,
        left: 34,
        right: 4,
        label: `Standardised differences at α = ${alpha}: ${words} significantly.`,
      });
      const area = (tone, from, to) => {
        const inside = starts.filter((i) => i >= from && i <= to).map((i) => [plot.X(i), plot.Y(score(i, k))]);
        if (!inside.length) return;
        const half = (plot.right - plot.left) / Math.max(2, total) / 2;
        const level = plot.Y(Math.sign(score(from, k)) * view.book.critical);
        const wide = [
          [inside[0][0] - half, inside[0][1]],
          ...inside,
          [inside[inside.length - 1][0] + half, inside[inside.length - 1][1]],
        ];
        plot.root.append(
          svg("path", {
            class: `area ${tone}`,
            d: `${linePath([[wide[0][0], level], ...wide, [wide[wide.length - 1][0], level]])}Z`,
          }),
        );
      };
      if (atEnds && low) area("hurt", 0, low - 1);
      if (atEnds && high) area("helped", total - high, total - 1);
      for (const sign of [-1, 1]) {
        plot.root.append(
          svg("line", {
            class: "limit",
            x1: plot.left,
            x2: plot.right,
            y1: plot.Y(sign * view.book.critical),
            y2: plot.Y(sign * view.book.critical),
          }),
        );
      }
      plot.root.append(
        svg("path", { class: "curve plain", d: linePath(starts.map((i) => [plot.X(i), plot.Y(score(i, k))])) }),
      );
      const box = html("div", { class: "panel" }, html("p", {}, html("b", {}, `α = ${alpha}`), ` ${words}`), plot.root);
      box.style.width = `${panel}px`;
      return box;
    }),
  );
}
