// The plane of risk and gain: candidates as points, what can be reached as lines.

const SHAPES = {
  model: (x, y, r) => `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`,
  blended: (x, y, r) => `M${x} ${y - r}L${x + r} ${y}L${x} ${y + r}L${x - r} ${y}Z`,
  selective: (x, y, r) => `M${x} ${y - r}L${x + r} ${y + r * 0.8}L${x - r} ${y + r * 0.8}Z`,
  "mean of seeds": (x, y, r) => `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}Z`,
  naïve: (x, y, r) => `M${x - r} ${y - 1.2}h${2 * r}v2.4h${-2 * r}Z`,
};

function drawPlane(host, pick) {
  const width = Math.floor(host.clientWidth),
    curves = data.curves[choice.part];
  const figures = (row) => row[choice.part];
  const points = CANDIDATES.map((row) => [figures(row).risk, figures(row).gain]);
  const xMost = (Math.max(0, ...points.map(([risk]) => risk)) || 1) * 1.06,
    [yLeast, yMost] = extent(points.map(([, gain]) => gain), [0]);
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
  const ordered = [...CANDIDATES].sort((one, other) => (one.kind === "model") - (other.kind === "model"));
  for (const row of ordered) {
    const [x, y] = at([figures(row).risk, figures(row).gain]),
      picked = row.id === choice.one || row.id === choice.other;
    plot.root.append(
      svg("path", {
        class: `candidate ${colour(row)}${picked ? " picked" : ""}`,
        d: (SHAPES[row.kind] ?? SHAPES.model)(x, y, row.kind === "model" ? 6 : 4.5),
        "data-name": visible(row.name),
        click: () => pick(row.id),
        mousemove: (event) => tip.show(event, ...about(row)),
        mouseleave: tip.hide,
      }),
    );
  }
  const entries = LEARNED.map((objective) => [`way-mark c${LEARNED.indexOf(objective) % 6}`, name(objective)]);
  entries.push(["way-mark gain dash", "mixtures of models"], ["way-mark strategy dots", "proportional reduction"]);
  if (curves.selective.length) entries.push(["way-mark strategy", "selective re-ranking, every threshold"]);
  const marks = { blended: "◆", selective: "▲", "mean of seeds": "■", naïve: "–" };
  for (const [kind, mark] of Object.entries(marks))
    if (CANDIDATES.some((row) => row.kind === kind)) entries.push(["none", `${mark} ${kind}`]);
  replace(host, plot.root, legend(...entries));
}

function about(row) {
  const figures = row[choice.part];
  const lines = [
    name(clip(row.name, 60)),
    `${data.measure} ${fixed(figures.mean)}`,
    `gain ${signed(figures.gain)}, risk ${fixed(figures.risk)}, reward ${fixed(figures.reward)}`,
    `${short(figures.wins)} helped, ${short(figures.losses)} hurt, ${short(figures.loss_over_20)} by more than 20 %`,
  ];
  if (figures.deviation) lines.push(`deviation over seeds: ${fixed(figures.deviation.mean)}, of risk ${fixed(figures.deviation.risk)}`);
  return lines;
}
