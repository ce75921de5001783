// What every chart shares: scales, axes, a tip, and drawing to the width there is.

function apart([low, high]) {
  // The ends of an axis, apart by more than rounding: values that are all one, or nearly so, stand in its middle.
  if (!Number.isFinite(low) || !Number.isFinite(high)) return [0, 1];
  const size = Math.max(Math.abs(low), Math.abs(high)),
    least = Math.max(size * 1e-9, 1e-290); // below it a step between ticks has no digits left
  if (high - low > least) return [low, high];
  return size > 1e-280 ? [low - size / 2, high + size / 2] : [low - 0.5, high + 0.5];
}

function ticks(from, to, intervals = 5) {
  const [low, high] = apart([from, to]),
    rough = high / intervals - low / intervals, // the difference itself may be beyond all numbers
    power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough * 0.999) ?? 10);
  const first = Math.ceil(low / step - 1e-9),
    count = Math.min(100, Math.floor(high / step + 1e-9) - first + 1);
  return Array.from({ length: Math.max(0, count) }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

function extent(values, including = []) {
  let low = Infinity,
    high = -Infinity;
  for (const value of [...including, ...values]) {
    if (value === null) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return apart([low, high]);
}

function frame({
  width,
  height,
  x,
  y,
  xTicks,
  yTicks,
  xLabel,
  yLabel,
  left = 48,
  bottom = 40,
  top = 26,
  right = 14,
  label,
}) {
  // An empty chart: axes, grid and the scales to draw in it. Labels stand level, above the y axis and below the x axis.
  const share = (value, [low, high]) => (value / 2 - low / 2) / (high / 2 - low / 2); // halves, so that nothing overflows
  const [across, up] = [apart(x), apart(y)];
  const X = (value) => left + share(value, across) * (width - left - right);
  const Y = (value) => height - bottom - share(value, up) * (height - top - bottom);
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label });
  for (const at of yTicks ?? ticks(...up)) {
    root.append(
      svg("line", { class: at === 0 ? "zero" : "grid", x1: left, x2: width - right, y1: Y(at), y2: Y(at) }),
      svg(
        "text",
        { class: "tick", x: left - 7, y: Y(at) + 4, "text-anchor": "end" },
        Math.abs(at) < 1000 ? short(at) : count(at),
      ),
    );
  }
  for (const at of xTicks ?? ticks(...across, Math.max(2, width / 90))) {
    root.append(svg("text", { class: "tick", x: X(at), y: height - bottom + 17, "text-anchor": "middle" }, short(at)));
  }
  if (yLabel) root.append(svg("text", { class: "axis", x: 4, y: 12 }, yLabel));
  if (xLabel)
    root.append(svg("text", { class: "axis", x: width - right, y: height - 5, "text-anchor": "end" }, xLabel));
  return { root, X, Y, left, right: width - right, top, bottom: height - bottom, width, height };
}

function linePath(points) {
  // Points are [x, y], null where the line breaks.
  let path = "",
    pen = "M";
  for (const point of points) {
    if (!point) {
      pen = "M";
      continue;
    }
    path += `${pen}${point[0].toFixed(1)} ${point[1].toFixed(1)}`;
    pen = "L";
  }
  return path;
}

const tip = {
  show(event, ...lines) {
    const box = get("tip");
    replace(box, ...lines.map((line) => html("div", {}, ...[line].flat())));
    box.hidden = false;
    const { innerWidth } = window,
      rect = box.getBoundingClientRect();
    const left = Math.min(Math.max(8, event.clientX + 14), innerWidth - rect.width - 8);
    const above = event.clientY - rect.height - 14;
    box.style.left = `${left}px`;
    box.style.top = `${above > 8 ? above : event.clientY + 18}px`;
  },
  hide() {
    get("tip").hidden = true;
  },
};

const charts = [];

function chart(id, needs, draw) {
  // `needs` names what the chart depends on: it is drawn again only when that, or its width, has changed.
  charts.push({ host: get(id), needs, draw, drawn: null });
}

function drawCharts(view) {
  for (const one of charts) {
    const width = Math.floor(one.host.clientWidth);
    if (!width) continue;
    const key = JSON.stringify([width, view.book.key, ...one.needs(view)]);
    if (key === one.drawn) continue;
    one.drawn = key;
    one.draw(view, width, one.host);
  }
}

function alphaLine(plot, alpha, most) {
  if (alpha > most) return null;
  return svg(
    "g",
    {},
    svg("line", { class: "now", x1: plot.X(alpha), x2: plot.X(alpha), y1: plot.top, y2: plot.bottom }),
    svg(
      "text",
      {
        class: "now",
        x: plot.X(alpha) + (alpha > most * 0.85 ? -5 : 5),
        y: plot.top + 9,
        "text-anchor": alpha > most * 0.85 ? "end" : "start",
      },
      `α = ${short(alpha)}`,
    ),
  );
}

function legend(...entries) {
  // Entries are [class of the mark, words]; names among them keep their direction.
  return html(
    "ul",
    { class: "legend" },
    ...entries.map(([mark, ...words]) =>
      html("li", {}, html("span", { class: `mark ${mark}`, "aria-hidden": "true" }), html("span", {}, ...words)),
    ),
  );
}
