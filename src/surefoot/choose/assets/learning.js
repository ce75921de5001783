// How models learn, and how far their rankings move, by α.

function family() {
  return [...(GAIN ? [GAIN] : []), ...MODELS.filter((row) => row.alpha !== null && row.objective === choice.objective)];
}

const tone = (number) => (number === 0 ? "gain" : `c${(number - 1) % 6}`);
const called = (row) => (row.alpha === null ? "gain alone" : `α = ${short(row.alpha)}`);

function drawConvergence(host) {
  const rows = family(),
    curves = rows.map((row) => row.convergence.effectiveness),
    longest = Math.max(...curves.map((curve) => curve.length));
  const plot = frame({
    width: Math.floor(host.clientWidth),
    height: 300,
    x: [0, longest],
    y: extent(curves.flat()),
    xLabel: `${data.round_name} →`,
    yLabel: `↑ ${data.measure} on training data`,
    label: `Training effectiveness after each tree, ${choice.objective} by α.`,
  });
  curves.forEach((curve, number) => {
    const reached = rows[number].convergence.trees,
      level = curve[Math.min(curve.length, Math.max(1, Math.round(reached))) - 1];
    plot.root.append(
      svg("path", { class: `way ${tone(number)}`, d: linePath(curve.map((value, tree) => [plot.X(tree + 1), plot.Y(value)])) }),
      svg("circle", {
        class: `reached ${tone(number)}`, cx: plot.X(reached), cy: plot.Y(level), r: 4.5,
        mousemove: (event) => tip.show(event, called(rows[number]), `${fixed(reached, 1)} ${data.round_name} to ${data.reached} of the final value`),
        mouseleave: tip.hide,
      }),
    );
  });
  replace(host, plot.root, legend(...rows.map((row, number) => [`way-mark ${tone(number)}`, `${called(row)}: ${fixed(row.convergence.trees, 1)} ${data.round_name}`])));
}

function drawBins(host) {
  const rows = family().filter((row) => row[choice.part].bins),
    width = Math.floor(host.clientWidth);
  const panel = (key, title, digits) => {
    const lists = rows.map((row) => row[choice.part].bins[key]),
      count = lists[0].length;
    const plot = frame({
      width, height: 190, x: [0, 1], y: extent(lists.flat(), [0]), xLabel: "Kendall distance →", yLabel: `↑ ${title}`,
      label: `${title} by Kendall distance to the baseline, ${choice.objective} by α.`,
    });
    const slot = 1 / count,
      each = (slot * 0.86) / lists.length;
    lists.forEach((list, number) =>
      list.forEach((value, bin) => {
        const left = plot.X(bin * slot + slot * 0.07 + number * each),
          top = plot.Y(Math.max(value, 0));
        plot.root.append(
          svg("rect", {
            class: `step ${tone(number)}`, x: left, y: top, width: Math.max(1, plot.X(each) - plot.X(0) - 0.5), height: plot.Y(0) - top,
            mousemove: (event) => tip.show(event, called(rows[number]), `distance ${short(bin * slot)} to ${short((bin + 1) * slot)}: ${title} ${fixed(value, digits)}`),
            mouseleave: tip.hide,
          }),
        );
      }),
    );
    return plot.root;
  };
  replace(host, panel("share", "share of queries", 3), panel("reward", "reward", 4), legend(...rows.map((row, number) => [`way-mark ${tone(number)}`, called(row)])));
}
