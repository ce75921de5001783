// What every page of the family does: the light and the dark look, edges of wide tables, tools of tables and charts.

get("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});

document.querySelectorAll(".scroll, .chart.drawn").forEach(addEdges);
document.querySelectorAll("table.data").forEach(dressTable);
document.querySelectorAll("figure").forEach(dressFigure);
onAddress(() => document.querySelectorAll("table.data").forEach(orderTable));
document.documentElement.classList.add("ready");
