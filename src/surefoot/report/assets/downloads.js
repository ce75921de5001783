// Files and copies of what is shown: tables as CSV and Markdown, charts as SVG and PNG.

const FORMULA = new RegExp(data.formula, "u");

function fileName(words, ending) {
  const plain = words.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "").slice(0, 60);
  return `surefoot${plain && "-"}${plain}.${ending}`;
}

function saveFile(fileName, content, type) {
  const link = html("a", { href: URL.createObjectURL(new Blob([content], { type })), download: fileName });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function csvField(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const shown = visible(value),
    text = FORMULA.test(shown) ? `'${shown}` : shown; // a spreadsheet would take the name for a formula
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const csvText = (lines) => lines.map((line) => line.map(csvField).join(",") + "\n").join("");

function markdownText([heads, ...lines]) {
  const field = (value) => visible(value ?? "").replace(/([\\|\x60*_[\]<>#&$~])/g, "\\$1").replace(/\s+/g, " ");
  const row = (line) => `| ${line.map(field).join(" | ")} |\n`;
  const isNumber = (column) => lines.length > 0 && lines.every((line) => typeof line[column] === "number" || !line[column]);
  return row(heads) + `|${heads.map((_, column) => (isNumber(column) ? "---:|" : "---|")).join("")}\n` + lines.map(row).join("");
}

async function copyText(text, button) {
  const words = button.textContent;
  const say = (now) => {
    setText(button, now);
    setTimeout(() => setText(button, words), 1500);
  };
  try {
    await navigator.clipboard.writeText(text);
    say("copied");
  } catch {
    // Where the browser does not allow it, the text is there to be copied by hand.
    const area = html("textarea", { readonly: true, "aria-label": "Copy this text" });
    area.value = text;
    const close = html("button", { type: "button", class: "plain", click: () => box.remove() }, "Close");
    const box = html("div", { class: "copied", role: "dialog", "aria-label": "Text to copy" }, area, close);
    (button.closest("dialog") ?? document.body).append(box);
    area.select();
    if (document.execCommand("copy")) {
      box.remove();
      say("copied");
    }
  }
}

const DRAWN = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "stroke-opacity", "opacity",
  "font-family", "font-size", "font-weight", "text-anchor", "display", "paint-order",
];
const GAP = 12;

function withStyle(node) {
  // A copy whose look no longer depends on the page's style.
  const copy = node.cloneNode(false),
    style = getComputedStyle(node);
  copy.removeAttribute("class");
  copy.removeAttribute("style");
  for (const property of DRAWN) copy.setAttribute(property, style.getPropertyValue(property));
  for (const child of node.childNodes) copy.append(child.nodeType === Node.ELEMENT_NODE ? withStyle(child) : child.cloneNode());
  return copy;
}

function pictureOf(figure) {
  // One SVG of a figure's title, its charts where they stand, and its legend.
  const charts = [...figure.querySelectorAll("svg")].filter((one) => one.getBoundingClientRect().width > 0);
  if (!charts.length) return null;
  const boxes = charts.map((one) => one.getBoundingClientRect()),
    left = Math.min(...boxes.map((box) => box.left)),
    top = Math.min(...boxes.map((box) => box.top)),
    width = Math.max(...boxes.map((box) => box.right)) - left + 2 * GAP,
    bottom = Math.max(...boxes.map((box) => box.bottom)) - top + 40;
  const colour = (property) => getComputedStyle(document.documentElement).getPropertyValue(property);
  const { fontFamily, color } = getComputedStyle(figure);
  const text = (x, y, words, size, weight = 400) =>
    svg("text", { x, y, fill: color, "font-family": fontFamily, "font-size": size, "font-weight": weight }, words);
  const root = svg("svg", { xmlns: "http://www.w3.org/2000/svg", width });
  const title = figure.querySelector("figcaption b")?.textContent ?? "";
  root.append(svg("rect", { width: "100%", height: "100%", fill: getComputedStyle(figure).backgroundColor }), text(GAP, 22, title, 15, 650));
  charts.forEach((one, at) => {
    const copy = withStyle(one);
    for (const [key, value] of Object.entries({ x: boxes[at].left - left + GAP, y: boxes[at].top - top + 36, width: boxes[at].width, height: boxes[at].height }))
      copy.setAttribute(key, value);
    if (!one.hasAttribute("viewBox")) copy.setAttribute("viewBox", `0 0 ${boxes[at].width} ${boxes[at].height}`);
    copy.setAttribute("overflow", "visible");
    root.append(copy);
  });
  let height = bottom + GAP;
  for (const entry of figure.querySelectorAll(".legend li")) {
    const mark = entry.querySelector(".mark"),
      look = mark && getComputedStyle(mark),
      hasMark = look && look.display !== "none";
    height += 18;
    if (hasMark) {
      const dashes = { dashed: "5 3", dotted: "2 2" }[look.borderTopStyle] ?? "none",
        pen = { stroke: look.borderTopColor, "stroke-width": look.borderTopWidth, "stroke-dasharray": dashes };
      const shape =
        parseFloat(look.height) < 6
          ? svg("line", { x1: GAP, x2: GAP + 22, y1: height - 4, y2: height - 4, ...pen })
          : svg("rect", { x: GAP + 6, y: height - 9, width: 10, height: 10, rx: look.borderRadius === "50%" ? 5 : 0, fill: look.backgroundColor, ...pen });
      root.append(shape);
    }
    root.append(text(hasMark ? GAP + 30 : GAP, height, entry.textContent.trim(), 12));
  }
  root.setAttribute("height", height + GAP);
  root.setAttribute("viewBox", `0 0 ${width} ${height + GAP}`);
  root.setAttribute("color", colour("--ink"));
  return new XMLSerializer().serializeToString(root);
}

function savePng(fileName, picture) {
  const image = new Image();
  image.onload = () => {
    const canvas = html("canvas", { width: 2 * image.width, height: 2 * image.height });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((content) => content && saveFile(fileName, content, "image/png"));
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(picture)}`;
}

function dressFigure(figure) {
  const words = figure.querySelector("figcaption b")?.textContent ?? figure.querySelector("figcaption")?.textContent ?? "chart";
  const button = (ending, save) =>
    html("button", { type: "button", "aria-label": `Download ${visible(words)} as ${ending.toUpperCase()}`, click: () => {
      const picture = pictureOf(figure);
      if (picture) save(fileName(words, ending), picture);
    } }, ending.toUpperCase());
  figure.prepend(
    html("div", { class: "tools" }, button("svg", (file, picture) => saveFile(file, picture, "image/svg+xml")), button("png", savePng)),
  );
}
