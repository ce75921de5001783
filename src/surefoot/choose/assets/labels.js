// Labels beside points, none over another label or over a point; one that finds no room is left to the tip.

const LETTER = 7, // about as wide as a letter of a chart, in pixels; bold ones are wider
  TALL = 13,
  AWAYS = [9, 14, 26, 40, 56]; // how far from its point a label may lie

const overlap = (one, other) =>
  one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

function labelBox(wide, x, y, across, up, away) {
  // The box of a label on one side of a point; `across` and `up` are -1, 0 or 1.
  const middle = x + across * (away + wide / 2),
    level = y - up * (across ? away : away + TALL / 2);
  return { left: middle - wide / 2, right: middle + wide / 2, top: level - TALL / 2, bottom: level + TALL / 2, middle, level, away };
}

function placeLabels(plot, labels, points) {
  // Labels are { x, y, text, classes, far }, the most important first; points are boxes that stay free. A label that may
  // lie far away gets a line to its point.
  const taken = [...points],
    sides = [[1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [-1, 1], [1, -1], [-1, -1]];
  for (const { x, y, text, classes, far } of labels) {
    const wide = text.length * LETTER * (classes === "recommended" ? 1.15 : 1);
    const boxes = AWAYS.slice(0, far ? AWAYS.length : 1).flatMap((away) => sides.map(([across, up]) => labelBox(wide, x, y, across, up, away)));
    const inside = boxes.filter((box) => box.left >= plot.left && box.right <= plot.width && box.top >= plot.top - 12 && box.bottom <= plot.bottom);
    const free = inside.find((box) => !taken.some((other) => overlap(box, other)));
    if (!free) continue;
    taken.push(free);
    if (free.away > AWAYS[1])
      plot.root.append(svg("line", { class: "leader", x1: x, y1: y, x2: Math.min(free.right, Math.max(free.left, x)), y2: free.level < y ? free.bottom : free.top }));
    plot.root.append(svg("text", { class: `at ${classes}`, x: free.middle, y: free.level + 4, "text-anchor": "middle" }, text));
  }
}
