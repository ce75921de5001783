// Curves of all systems: T_Risk and GeoRisk against α, and scores over queries. One stands out, the rest recede.

const ALPHA_STEPS = 60;
const curveAlphas = Array.from({ length: ALPHA_STEPS + 1 }, (_, i) => (i * MOST_ALPHA) / ALPHA_STEPS);

function drawCurves(view, width, host, curves, options) {
  // One wild system must not flatten the others: as much again as the chosen one and the band take, on either side.
  const full = extent(curves.flat(), options.including),
    near = extent(curves[view.index], options.including);
  const room = options.focus ? near[1] - near[0] : Infinity;
  const range = [Math.max(full[0], near[0] - room), Math.min(full[1], near[1] + room)];
  const plot = frame({
    width,
    height: 300,
    x: [0, MOST_ALPHA],
    y: range,
    yLabel: options.yLabel,
    xLabel: "α",
    label: options.label,
  });
  options.under?.(plot);
  const clipped = svg("g", { "clip-path": `url(#${host.id}-clip)` });
  plot.root.append(
    svg(
      "clipPath",
      { id: `${host.id}-clip` },
      svg("rect", { x: plot.left, y: plot.top, width: plot.right - plot.left, height: plot.bottom - plot.top }),
    ),
    clipped,
  );
  const ordered = systems.map((_, i) => i).sort((a, b) => weight(a) - weight(b));
  function weight(i) {
    return i === view.index ? 2 : i === view.against.own ? 1 : 0;
  }
  for (const i of ordered) {
    const kind = i === view.index ? "chosen" : i === view.against.own ? "reference" : "other";
    const points = curves[i].map((value, k) => (value === null ? null : [plot.X(curveAlphas[k]), plot.Y(value)]));
    if (points.some(Boolean)) clipped.append(svg("path", { class: `curve ${kind}`, d: linePath(points) }));
  }
  const line = svg("g", { class: "alpha" });
  plot.root.append(line);
  replace(
    host,
    plot.root,
    legend(
      ["line chosen", name(clip(view.system, 40))],
      ...(view.against.own >= 0 && options.reference
        ? [["line reference", name(clip(view.baseline, 40)), " (baseline)"]]
        : []),
      ["line other", "other systems"],
      ...(options.legend ?? []),
    ),
  );
  hoverCurves(plot, curves, options);
  return { line, plot };
}

function hoverCurves(plot, curves, options) {
  plot.root.addEventListener("mousemove", (event) => {
    const box = plot.root.getBoundingClientRect(),
      x = event.clientX - box.left,
      y = event.clientY - box.top;
    const k = Math.round(((x - plot.left) / (plot.right - plot.left)) * ALPHA_STEPS);
    let best = null,
      near = 18;
    if (k >= 0 && k <= ALPHA_STEPS) {
      curves.forEach((curve, i) => {
        const far = curve[k] === null ? Infinity : Math.abs(plot.Y(curve[k]) - y);
        if (far < near) {
          near = far;
          best = i;
        }
      });
    }
    if (best === null) tip.hide();
    else
      tip.show(
        event,
        name(clip(systems[best], 60)),
        `${options.yLabel} ${fixed(curves[best][k], 4)} at α = ${short(curveAlphas[k])}`,
      );
  });
  plot.root.addEventListener("mouseleave", tip.hide);
}

const markers = { t: null, geo: null };

function drawTRisk(view, width, host) {
  const curves = view.against.pairs.map((one) => curveAlphas.map((alpha) => quickT(one, alpha))),
    critical = view.book.critical;
  markers.t = null;
  if (critical === null || curves.every((curve) => curve[0] === null)) {
    return replace(host, html("p", { class: "empty" }, "No system has a T_Risk against this baseline."));
  }
  markers.t = drawCurves(view, width, host, curves, {
    yLabel: "robust T_Risk",
    focus: true,
    including: [-critical, critical],
    legend: [["band", `within chance for a single system (|T| < ${fixed(critical, 2)})`]],
    label: `Robust T_Risk of ${plural(systems.length, "system", "systems")} as α goes from 0 to ${short(MOST_ALPHA)}; values within ±${fixed(critical, 2)} are within chance for a single system.`,
    under: (plot) =>
      plot.root.append(
        svg("rect", {
          class: "band",
          x: plot.left,
          width: plot.right - plot.left,
          y: plot.Y(critical),
          height: plot.Y(-critical) - plot.Y(critical),
        }),
        svg("line", { class: "zero", x1: plot.left, x2: plot.right, y1: plot.Y(0), y2: plot.Y(0) }),
      ),
  });
  return markCurves(view);
}

function drawGeoRisk(view, width, host) {
  const curves = systems.map((_, i) => curveAlphas.map((alpha) => geoRisk(view.book, i, alpha)));
  markers.geo = null;
  if (curves.every((curve) => curve[0] === null)) {
    return replace(host, html("p", { class: "empty" }, view.book.weights ? "GeoRisk is not defined for queries that are weighted by traffic." : "GeoRisk needs scores of at least 0; some are negative."));
  }
  markers.geo = drawCurves(view, width, host, curves, {
    yLabel: "GeoRisk",
    including: [],
    reference: true,
    label: `GeoRisk of ${plural(systems.length, "system", "systems")} as α goes from 0 to ${short(MOST_ALPHA)}.`,
  });
  return markCurves(view);
}

function markCurves(view) {
  for (const marker of Object.values(markers)) {
    if (marker) replace(marker.line, alphaLine(marker.plot, view.alpha, MOST_ALPHA));
  }
}

function profileGroups({ queries, mean }) {
  // Queries from the easiest for the population to the hardest, in as many steps as can be seen.
  const order = Uint32Array.from(queries.keys()).sort((a, b) => mean[b] - mean[a] || a - b);
  const steps = Math.min(queries.length, 60);
  return Array.from({ length: steps }, (_, i) =>
    order.subarray(Math.round((i * queries.length) / steps), Math.round(((i + 1) * queries.length) / steps)),
  );
}

function drawProfiles(view, width, host) {
  const { scores, mean, measure } = view.book,
    groups = profileGroups(view.book);
  const smooth = (row) => groups.map((group) => group.reduce((sum, q) => sum + row[q], 0) / group.length);
  const lines = [
    ["other", "mean of the population", smooth(mean)],
    ["reference", null, smooth(view.against.vector)],
    ["chosen", null, smooth(scores[view.index])],
  ];
  const last = groups.length - 1;
  const plot = frame({
    width,
    height: 300,
    x: [0, Math.max(1, last)],
    y: extent(
      lines.flatMap(([, , values]) => values),
      [0],
    ),
    xTicks: [],
    yLabel: clip(measure, 30),
    bottom: 26,
    xLabel: width < 420 ? "queries, from easy to hard" : "queries, from easy to hard for the population",
    label: `Scores over queries of ${visible(view.system)} and ${visible(baselineLabel(view.baseline))}, from the easiest query to the hardest.`,
  });
  for (const [kind, , values] of lines) {
    plot.root.append(
      svg("path", { class: `curve ${kind}`, d: linePath(values.map((value, i) => [plot.X(i), plot.Y(value)])) }),
    );
    if (kind === "chosen") {
      values.forEach((value, i) =>
        plot.root.append(svg("circle", { class: "dot chosen", cx: plot.X(i), cy: plot.Y(value), r: 2.5 })),
      );
    }
  }
  plot.root.addEventListener("mousemove", (event) => {
    const box = plot.root.getBoundingClientRect();
    const at = Math.round(((event.clientX - box.left - plot.left) / (plot.right - plot.left)) * last);
    if (!(at >= 0 && at <= last)) return tip.hide();
    const group = groups[at],
      title = group.length === 1 ? queryTitle(view.book, group[0]) : [`Mean of ${group.length} queries`];
    return tip.show(
      event,
      title,
      [name(clip(view.system, 40)), ` ${fixed(lines[2][2][at])}`],
      [name(clip(baselineLabel(view.baseline), 40)), ` ${fixed(lines[1][2][at])}`],
      `population ${fixed(lines[0][2][at])}`,
    );
  });
  plot.root.addEventListener("mouseleave", tip.hide);
  replace(
    host,
    plot.root,
    legend(
      ["line chosen", name(clip(view.system, 40))],
      ["line reference", name(clip(baselineLabel(view.baseline), 40))],
      ["line other", "mean of the population"],
    ),
  );
}
