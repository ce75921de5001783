// The papers' questions, a small chart each: always on test queries, as the answers are.

const SMALL = 220;

function drawAnswers() {
  data.answers.forEach((about, number) => {
    const host = get(`answer-${number}`),
      draw = ANSWERS[about];
    if (draw && GAIN && LEARNED.length) draw(host);
  });
}

const ANSWERS = {
  reduction: (host) => {
    const { risk, gain } = GAIN.test;
    const reduced = (row) => gain * (risk ? Math.min(1, row.test.risk / risk) : 1);
    byAlpha(host, (row) => row.test.gain - reduced(row), "↑ gain beyond proportional reduction", signed, false);
  },
  convergence: (host) => byAlpha(host, (row) => row.convergence.trees, `↑ ${data.round_name} for ${data.reached} of the final effectiveness`, (value) => fixed(value, 1), true),
  distance: (host) => byAlpha(host, (row) => 100 * row.test.bins.share[0], "↑ % of rankings near the baseline's", (value) => `${fixed(value, 1)} %`, true),
  both: bothWays,
};

function byAlpha(host, value, yLabel, words, withGain) {
  // A value at each α, a line for each objective; α = 0 is gain alone.
  const families = LEARNED.map((objective) => [...(withGain ? [GAIN] : []), ...MODELS.filter((row) => row.objective === objective && row.alpha !== null)]);
  const alphas = [...new Set(families.flat().map((row) => row.alpha ?? 0))].sort((a, b) => a - b),
    place = (row) => alphas.indexOf(row.alpha ?? 0);
  const plot = frame({
    width: Math.floor(host.clientWidth), height: SMALL, x: [-0.3, alphas.length - 0.7], y: extent(families.flat().map(value), [0]), xTicks: [],
    xLabel: "α →", yLabel, label: `${yLabel.slice(2)}, by α.`,
  });
  alphas.forEach((alpha, at) => plot.root.append(svg("text", { class: "tick", x: plot.X(at), y: plot.bottom + 17, "text-anchor": "middle" }, alpha === 0 ? "gain alone" : short(alpha))));
  families.forEach((rows, number) => {
    const tone = `c${number % 6}`;
    plot.root.append(svg("path", { class: `way ${tone}`, d: linePath(rows.map((row) => [plot.X(place(row)), plot.Y(value(row))])) }));
    for (const row of rows)
      plot.root.append(
        svg("circle", {
          class: `spot ${row === GAIN ? "gain" : tone}`, cx: plot.X(place(row)), cy: plot.Y(value(row)), r: row === RECOMMENDED ? 7 : 5,
          mousemove: (event) => tip.show(event, name(spoken(row)), words(value(row))), mouseleave: tip.hide,
        }),
      );
  });
  replace(host, plot.root, legend(...LEARNED.map((objective, number) => [`way-mark c${number % 6}`, name(objective)])));
}

function bothWays(host) {
  // Effectiveness by risk; what lies in the band has more of the one and far less of the other.
  const rows = CANDIDATES.filter((row) => row.kind !== "random"),
    most = 1 - data.less_risk;
  const full = GAIN.test,
    at = (row) => [full.risk ? (100 * row.test.risk) / full.risk : 0, row.test.mean];
  const points = rows.map(at),
    [low, high] = extent(points.map(([, mean]) => mean), [full.mean]);
  const plot = frame({
    width: Math.floor(host.clientWidth), height: SMALL, x: [0, Math.max(105, ...points.map(([risk]) => risk)) * 1.03], y: [low, high + (high - low) * 0.15],
    xLabel: "risk, % of the risk of gain alone →", yLabel: `↑ ${data.title}`, label: `${data.title} by risk on test queries.`,
  });
  plot.root.append(
    svg("rect", { class: "region", x: plot.X(0), y: plot.top, width: plot.X(100 * most) - plot.X(0), height: plot.Y(full.mean) - plot.top }),
    svg("text", { x: plot.X(0) + 6, y: plot.top + 14 }, "more, with much less risk"),
  );
  rows.forEach((row, number) => {
    const [x, y] = points[number];
    plot.root.append(
      svg("circle", {
        class: `spot ${colour(row)}`, cx: plot.X(x), cy: plot.Y(y), r: row.kind === "model" ? 5 : 3.5,
        mousemove: (event) => tip.show(event, name(spoken(row)), `${data.title} ${fixed(y)}, ${fixed(x, 0)} % of the risk`), mouseleave: tip.hide,
      }),
    );
  });
  replace(host, plot.root);
}
