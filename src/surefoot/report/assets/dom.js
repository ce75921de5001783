// Elements, names, numbers and tones. Text from users' files reaches the page as text nodes and attributes only.

// By whole characters ("u"): only then are halves of characters found, and pairs of them left alone.
const CONTROL = new RegExp(data.control, "gu");

function visible(text) {
  return String(text).replace(CONTROL, "\ufffd");
}

// What no line breaks in: a share, and a figure with its sign, as in "95 %", "α = 5" and "risk ≤ 0.03".
const WHOLE = /\d[\d.,]{0,8} %|(?<!\S)(?:\S{1,7} )?[=≤≥<>] [−+]?\d\S{0,8}/gu;

function unbroken(text) {
  // Text as nodes, each part that is to stay whole in an element of its own.
  const nodes = [];
  let from = 0;
  for (const { 0: words, index } of text.matchAll(WHOLE)) {
    const whole = document.createElement("span");
    whole.className = "whole";
    whole.textContent = words;
    nodes.push(text.slice(from, index), whole);
    from = index + words.length;
  }
  return [...nodes, text.slice(from)].filter((part) => part !== "");
}

function contents(node, children) {
  const wraps = node instanceof HTMLElement && node.tagName !== "OPTION";
  return children
    .filter((child) => child !== null && child !== undefined)
    .flatMap((child) => (wraps && typeof child === "string" ? unbroken(child) : [child]));
}

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(key, value);
    else if (value !== null && value !== undefined && value !== false)
      node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...contents(node, children));
  return node;
}

function html(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function name(text, attributes = {}) {
  // A name keeps its own direction of writing, whatever stands around it.
  return html("bdi", attributes, visible(text));
}

function words(text) {
  // A query's text or a document's title, beside its id.
  return text === "" ? null : html("span", { class: "words", title: visible(text) }, name(text));
}

function clip(text, length) {
  const shown = visible(text);
  return shown.length > length ? shown.slice(0, length - 1) + "…" : shown;
}

const get = (id) => document.getElementById(id);

function fixed(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  const text = value.toFixed(digits);
  return Number(text) === 0 ? (0).toFixed(digits) : text.replace("-", "−");
}

function signed(value, digits = 4) {
  const text = fixed(value, digits);
  return value > 0 && Number(text) !== 0 ? "+" + text : text;
}

function count(value) {
  return value.toLocaleString("en-US");
}

function plural(value, one, many) {
  return `${count(value)} ${value === 1 ? one : many}`;
}

function short(value) {
  // A number as people write it: at most six significant digits and no trailing zeros.
  return String(Number(value.toPrecision(6))).replace("-", "−");
}

const CONFIDENCE = `${short(100 * (1 - data.level))} %`; // of intervals

// The tone of colours and marks: of an outcome, and of a change by its sign.
const outcomeTone = (outcome, otherwise = "") => ({ better: "helped", worse: "hurt" })[outcome] ?? otherwise;
const changeTone = (change, otherwise = "same") => (change < 0 ? "hurt" : change > 0 ? "helped" : otherwise);

const roundsTo0 = (p) => p < data.least_p / 2;

function pText(p) {
  return p === null ? "–" : roundsTo0(p) ? `< ${data.least_p}` : p.toFixed(4);
}

function pWords(p, text) {
  return `p ${roundsTo0(p) ? pText(p) : `= ${text}`}`;
}

function setText(node, text) {
  // Leave alone what already says so: screen readers and layout both notice a change.
  if (node.textContent !== text) replace(node, text);
}

function setTitle(node, text) {
  if (node.title !== text) node.title = text;
}

function replace(node, ...children) {
  node.replaceChildren(...contents(node, children));
}
