// The queries hurt most: each leads to its two rankings, side by side. The address keeps which one is open.

const hurtQuery = { at: -1 }; // the number of the one that is open

function drawHurtQuery(at) {
  const [baseline, candidate] = data.systems,
    [before, after] = data.scores.map((row) => row[at]),
    { mine, theirs } = pairOfResults(1, 0, at);
  replace(get("query-title"), "Query ", name(data.queries[at]));
  setText(get("query-text"), visible(data.texts.queries[at]));
  replace(
    get("query-summary"),
    html("b", { "data-tone": "hurt" }, `▼ hurt ${signed(after - before)}`),
    " ", name(baseline), ` ${fixed(before)} → `, name(candidate), ` ${fixed(after)}`,
  );
  const pair = rankingsPair({
    left: { title: [name(baseline), " (baseline)"], results: theirs, score: before },
    right: { title: [name(candidate)], results: mine, score: after },
    terms: data.terms,
    top: data.results.top,
    best: data.results.levels.at(-1),
  });
  replace(get("query-body"), pair);
  get("query-before").disabled = at === 0;
  get("query-after").disabled = at === data.queries.length - 1;
}

function followHurtQuery() {
  const dialog = get("query");
  if (hurtQuery.at < 0) {
    if (dialog.open) dialog.close();
    return;
  }
  drawHurtQuery(hurtQuery.at);
  if (!dialog.open) {
    dialog.showModal();
    get("query-title").focus();
  }
  dialog.scrollTop = 0;
}

function chooseHurtQuery(at) {
  hurtQuery.at = at;
  keepState({ query: at < 0 ? null : data.queries[at] }, true);
  followHurtQuery();
}

function readHurtQuery() {
  const query = familyState("query");
  hurtQuery.at = query === null ? -1 : data.queries.indexOf(query);
  followHurtQuery();
}

get("hurt").addEventListener("click", (event) => {
  const button = event.target.closest("button[data-place]");
  if (button) chooseHurtQuery(Number(button.dataset.place));
});
get("query-close").addEventListener("click", () => chooseHurtQuery(-1));
get("query-before").addEventListener("click", () => chooseHurtQuery(hurtQuery.at - 1));
get("query-after").addEventListener("click", () => chooseHurtQuery(hurtQuery.at + 1));
get("query").addEventListener("click", (event) => {
  // A click beside the dialog lands on the dialog itself.
  if (event.target === get("query")) chooseHurtQuery(-1);
});
get("query").addEventListener("close", () => {
  // The Escape key closes it too.
  if (hurtQuery.at >= 0) chooseHurtQuery(-1);
});
onAddress(readHurtQuery);
readHurtQuery();
