// Gain by the share of lists re-ranked: the paper's Figures 1 to 3.

function drawCurve(host, rows, words, lines) {
  const full = data.rows[0][choice.part].gain || 1;
  const at = (row) => [100 * row[choice.part].share_reranked, (100 * row[choice.part].gain) / full];
  const shown = rows.filter((row) => at(row)[1] > -60); // a model that ruins everything would hide the others
  const [least, most] = extent(shown.map((row) => at(row)[1]), [0, 100]);
  const plot = frame({
    width: Math.floor(host.clientWidth), height: 360, x: [0, 100], y: [least < 0 ? least - (most - least) * 0.08 : least, most * 1.05],
    xLabel: "% of lists re-ranked →", yLabel: "↑ % of the standard model's gain",
    label: `Gain by share of ${choice.part} lists re-ranked, of ${plural(rows.length, "model", "models")}.`,
  });
  const place = ([x, y]) => [plot.X(x), plot.Y(y)];
  const way = (points, classes) => svg("path", { class: `way ${classes}`, d: linePath(points.map(place)) });
  plot.root.append(way([[0, 0], at(data.rows[0])], "c0 dash"));
  if (data.selective.length)
    plot.root.append(way([[0, 0], ...data.selective.map((one) => [100 * one[choice.part][0], (100 * one[choice.part][1]) / full])], "other dots"));
  if (lines)
    for (const method of METHODS.slice(1))
      plot.root.append(way(shown.filter((row) => row.method === method).map(at), colour(method)));
  for (const row of shown) {
    const [x, y] = place(at(row));
    if (row.name === data.recommended) plot.root.append(svg("circle", { class: "ring", cx: x, cy: y, r: 10.5 }));
    plot.root.append(
      svg("circle", {
        class: `point ${colour(row.method)}`, cx: x, cy: y, r: 5.5, "data-name": visible(words(row)),
        mousemove: (event) => tip.show(event, name(words(row)), ...figuresOf(row)), mouseleave: tip.hide,
      }),
    );
  }
  labelCurve(plot, shown, (row) => place(at(row)));
  const known = METHODS.filter((method) => shown.some((row) => row.method === method));
  const entries = known.map((method) => [`point-mark ${colour(method)}`, data.methods[method]]);
  const hidden = rows.length - shown.length;
  if (hidden) entries.push(["none", `${plural(hidden, "model lies", "models lie")} below the chart`]);
  replace(host, plot.root, legend(...entries));
}

function labelCurve(plot, rows, at) {
  // The model of the headline and the standard one, which all others are shares of.
  const label = (row, text, classes) => ({ x: at(row)[0], y: at(row)[1], text, classes, far: true });
  const best = rows.find((row) => row.name === data.recommended),
    standard = rows.find((row) => row.name === data.rows[0].name);
  const labels = [best && label(best, data.tag, "recommended"), standard && standard !== best && label(standard, "standard", "")];
  const boxes = rows.map((row) => {
    const [x, y] = at(row),
      r = row === best ? 10.5 : 5.5;
    return { left: x - r, right: x + r, top: y - r, bottom: y + r };
  });
  placeLabels(plot, labels.filter(Boolean), boxes);
}

function figuresOf(row) {
  const figures = row[choice.part];
  return [
    `Δ${data.measure} ${signed(100 * figures.gain, 3)}, risk ${fixed(100 * figures.risk, 3)}`,
    `${fixed(100 * figures.share_reranked, 1)} % of lists re-ranked, K-τ ${fixed(100 * figures.tau, 1)}`,
  ];
}
