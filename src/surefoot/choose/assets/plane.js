// The plane of risk and gain: candidates as points, what can be reached as lines.

const SHAPES = {
  model: (x, y, r) => `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`,
  blended: (x, y, r) => `M${x} ${y - r}L${x + r} ${y}L${x} ${y + r}L${x - r} ${y}Z`,
  selective: (x, y, r) => `M${x} ${y - r}L${x + r} ${y + r * 0.8}L${x - r} ${y + r * 0.8}Z`,
  "mean of seeds": (x, y, r) => `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}Z`,
  random: (x, y, r) => `M${x - r} ${y - 1.2}h${2 * r}v2.4h${-2 * r}Z`,
};

function drawPlane(host, pick) {
  const width = Math.floor(host.clientWidth),
    curves = data.curves[choice.part];
  const figures = (row) => row[choice.part];
  const isPicked = (row) => row.id === choice.one || row.id === choice.other;
  const withCross = CANDIDATES.filter((row) => (row === RECOMMENDED || isPicked(row)) && figures(row).interval);
  const reach = (key) => [...CANDIDATES.map((row) => figures(row)[key]), ...withCross.flatMap((row) => figures(row).interval[key])];
  const xMost = (Math.max(0, ...reach("risk")) || 1) * 1.06,
    [yLeast, yMost] = extent(reach("gain"), [0]);
  const plot = frame({
    width,
    height: Math.min(460, Math.max(320, width * 0.5)),
    x: [0, xMost],
    y: [yLeast, yMost * 1.06],
    xLabel: "risk: mean loss →",
    yLabel: "↑ gain: mean change",
    label: `Gain against risk of ${plural(CANDIDATES.length, "candidate", "candidates")} on ${choice.part} queries.`,
  });
  const at = ([risk, gain]) => [plot.X(risk), plot.Y(gain)];
  const way = (path, classes) => svg("path", { class: `way ${classes}`, d: linePath(path.map(at)) });
  const end = Math.min(xMost, (yMost * 1.06) / Math.max(choice.alpha, 1e-9));
  const [endX, endY] = at([end, end * choice.alpha]);
  plot.root.append(
    svg("path", { class: "limit", d: linePath([at([0, 0]), [endX, endY]]) }),
    svg("text", { x: endX - 4, y: Math.min(plot.bottom - 6, Math.max(plot.top + 10, endY - 6)), "text-anchor": "end" }, `gain = ${short(choice.alpha)} · risk`),
  );
  if (curves.proportional) plot.root.append(way(curves.proportional, "strategy thin dots"));
  if (curves.selective.length)
    plot.root.append(way([[0, 0], ...curves.selective.map((one) => [one.risk, one.gain])], "strategy thin"));
  plot.root.append(way(curves.hull, "gain thin dash"));
  for (const objective of LEARNED)
    plot.root.append(way(curves.lines[objective] ?? [], `c${LEARNED.indexOf(objective) % 6}`));
  drawBaseline(plot);
  for (const row of withCross) plot.root.append(cross(plot, row, "shown"));
  const hovered = svg("g");
  plot.root.append(hovered);
  const ordered = [...CANDIDATES].sort((one, other) => (one.kind === "model") - (other.kind === "model"));
  for (const row of ordered) {
    const [x, y] = at([figures(row).risk, figures(row).gain]);
    if (row === RECOMMENDED) plot.root.append(svg("circle", { class: "ring", cx: x, cy: y, r: 11 }));
    plot.root.append(
      svg("path", {
        class: `candidate ${colour(row)}${isPicked(row) ? " picked" : ""}`,
        d: (SHAPES[row.kind] ?? SHAPES.model)(x, y, row.kind === "model" ? 6 : 4.5),
        "data-name": visible(row.name),
        click: () => pick(row.id),
        mouseenter: () => figures(row).interval && !withCross.includes(row) && hovered.replaceChildren(cross(plot, row, "hovered")),
        mousemove: (event) => tip.show(event, ...about(row)),
        mouseleave: () => {
          hovered.replaceChildren();
          tip.hide();
        },
      }),
    );
  }
  labelPoints(plot, at);
  const entries = LEARNED.map((objective) => [`way-mark c${LEARNED.indexOf(objective) % 6}`, name(objective)]);
  entries.push(["way-mark gain dash", "mixtures of models"], ["way-mark strategy dots", "proportional reduction"]);
  if (curves.selective.length) entries.push(["way-mark strategy", "selective re-ranking, every threshold"]);
  if (withCross.length) entries.push(["none", `+ ${CONFIDENCE} interval of gain and of risk`]);
  const marks = { blended: "◆", selective: "▲", "mean of seeds": "■", random: "–" },
    called = { random: "gain alone on a random share of the queries" };
  for (const [kind, mark] of Object.entries(marks))
    if (CANDIDATES.some((row) => row.kind === kind)) entries.push(["none", `${mark} ${called[kind] ?? kind}`]);
  replace(host, plot.root, legend(...entries));
}

function cross(plot, row, classes) {
  // How far gain and risk may lie from the point, over resampled queries; within the chart.
  const { gain, risk, interval } = row[choice.part];
  const within = (value, low, high) => Math.min(high, Math.max(low, value));
  const x = (value) => within(plot.X(value), plot.left, plot.right).toFixed(1),
    y = (value) => within(plot.Y(value), plot.top, plot.bottom).toFixed(1);
  const [left, right] = interval.risk.map(x),
    [bottom, top] = interval.gain.map(y);
  return svg("path", { class: `interval ${classes} ${colour(row)}`, d: `M${left} ${y(gain)}H${right}M${x(risk)} ${bottom}V${top}`, "data-of": visible(row.name) });
}

function drawBaseline(plot) {
  plot.root.append(
    svg("rect", {
      class: "origin", x: plot.X(0) - 5, y: plot.Y(0) - 5, width: 10, height: 10,
      mousemove: (event) => tip.show(event, ["the baseline, ", name(data.baselines[0].name)], "gain 0, risk 0"), mouseleave: tip.hide,
    }),
  );
}

function labelPoints(plot, at) {
  // The recommended model first, then gain alone, the better strategy, and each model with its α.
  const place = (row) => at([row[choice.part].risk, row[choice.part].gain]);
  const box = (row) => {
    const [x, y] = place(row),
      r = row === RECOMMENDED ? 11 : row.kind === "model" ? 6 : 3;
    return { left: x - r, right: x + r, top: y - r, bottom: y + r };
  };
  const label = (row, text, far = true, classes = colour(row)) => ({ x: place(row)[0], y: place(row)[1], text: visible(text), classes, far });
  const labels = [];
  if (RECOMMENDED) labels.push(label(RECOMMENDED, spoken(RECOMMENDED), true, "recommended"));
  if (GAIN && GAIN !== RECOMMENDED) labels.push(label(GAIN, spoken(GAIN)));
  const strategy = CANDIDATES.find((row) => row.name === data.strategy);
  if (strategy) labels.push(label(strategy, strategy.name));
  labels.push({ x: plot.X(0), y: plot.Y(0), text: clip(data.baselines[0].name, 24), classes: "strategy", far: true });
  for (const row of MODELS) if (row.alpha !== null && row !== RECOMMENDED) labels.push(label(row, `α ${short(row.alpha)}`, false));
  placeLabels(plot, labels, CANDIDATES.map(box));
}

function spoken(row) {
  return row.name === "gain" ? "gain alone" : row.name.replace("α=", "α = ");
}

function about(row) {
  const figures = row[choice.part];
  const lines = [
    name(row.name),
    `${data.measure} ${fixed(figures.mean)}`,
    `gain ${signed(figures.gain)}, risk ${fixed(figures.risk)}, reward ${fixed(figures.reward)}`,
    `${short(figures.wins)} helped, ${short(figures.losses)} hurt, ${short(figures.loss_over_20)} by more than 20 %`,
  ];
  if (figures.interval) {
    const { gain, risk } = figures.interval;
    lines.push(`${CONFIDENCE} intervals: gain ${signed(gain[0])} to ${signed(gain[1])}, risk ${fixed(risk[0])} to ${fixed(risk[1])}`);
  }
  if (figures.deviation) lines.push(`deviation over seeds: ${fixed(figures.deviation.mean)}, of risk ${fixed(figures.deviation.risk)}`);
  return lines;
}
