// What every page of the family does: the light and the dark look, figures that no line breaks in, edges of wide tables,
// tools of tables and charts.

get("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});

function keepWhole(root) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT),
    texts = [];
  while (walker.nextNode()) texts.push(walker.currentNode);
  for (const text of texts) if (!text.parentElement.closest("svg, code, option")) text.replaceWith(...unbroken(text.data));
}

keepWhole(get("main-content"));
document.querySelectorAll(".scroll").forEach(addEdges);
document.querySelectorAll("table.data").forEach(dressTable);
document.querySelectorAll("figure").forEach(dressFigure);
onAddress(() => document.querySelectorAll("table.data").forEach(orderTable));
document.documentElement.classList.add("ready");
