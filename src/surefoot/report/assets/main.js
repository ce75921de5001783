// From the state to what is seen, and from what is done back to the state.

let memo = { key: null, view: null };

function currentView() {
  const book = currentBook(),
    key = [book.key, state.alpha, state.baseline, state.system].join("\u0000");
  if (memo.key !== key) {
    const against = compare(book, state.baseline),
      index = systems.indexOf(state.system),
      one = against.pairs[index];
    const rows = figures(book, state.alpha, state.baseline);
    const view = {
      book,
      alpha: state.alpha,
      baseline: state.baseline,
      system: state.system,
      index,
      against,
      one,
      rows,
      row: rows[index],
      result: test(one, state.alpha),
    };
    memo = { key, view };
  }
  return memo.view;
}

let waiting = false;

function redraw() {
  // However often the slider speaks, once a frame is enough.
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    draw();
  });
}

function draw() {
  const view = currentView();
  drawControls(view);
  drawOutcome(view);
  drawAdvice(view, choose.system);
  drawSegments(view, choose.segment);
  drawTable(view);
  drawCharts(view);
  markCurves(view);
  drawQueries(view, choose.query);
  drawDialog(view);
}

const choose = {
  system(system) {
    state.system = system;
    commit(true);
  },
  baseline(baseline) {
    state.baseline = baseline;
    leaveBaseline();
    commit(true);
  },
  alpha(alpha) {
    if (isAlpha(alpha)) {
      state.alpha = alpha;
      commit(false);
    }
  },
  count(how) {
    state.byTraffic = how === "traffic";
    commit(true);
  },
  measure(measure) {
    state.measure = measure;
    commit(true);
  },
  segment(column, segment) {
    Object.assign(state, { column, segment, query: null });
    commit(true);
  },
  query(q) {
    state.query = q === null ? null : currentBook().queries[q];
    commit(true);
  },
  sort(column) {
    state.reversed = state.sort === column.key ? !state.reversed : false;
    state.sort = column.key;
    commit(false);
  },
};

function commit(step) {
  remember(step);
  redraw();
}

function buildControls() {
  const option = (key, text) => html("option", { value: key }, visible(text));
  get("system").append(...systems.map((system) => option(system, system)));
  get("baseline").append(
    html("optgroup", { label: "Systems" }, ...systems.map((system) => option(system, system))),
    html(
      "optgroup",
      { label: `Per query, of ${plural(data.population.length, "system", "systems")}` },
      ...data.virtual.map(({ key, kind }) => option(key, kind)),
    ),
  );
  buildPickers(choose);
  get("alpha").max = String(MOST_ALPHA);
  get("system").addEventListener("change", (event) => choose.system(systems[event.target.selectedIndex]));
  get("baseline").addEventListener("change", (event) =>
    choose.baseline([...systems, ...virtual.keys()][event.target.selectedIndex]),
  );
  get("alpha").addEventListener("input", (event) => choose.alpha(Number(event.target.value)));
  get("alpha-number").addEventListener("input", (event) => {
    if (event.target.value !== "") choose.alpha(Number(event.target.value));
  });
}

function drawControls(view) {
  get("system").selectedIndex = view.index;
  get("baseline").selectedIndex = [...systems, ...virtual.keys()].indexOf(view.baseline);
  get("alpha").value = String(view.alpha);
  get("alpha").setAttribute(
    "aria-valuetext",
    `α = ${short(view.alpha)}: each loss counts ${short(1 + view.alpha)} times`,
  );
  if (Number(get("alpha-number").value) !== view.alpha || get("alpha-number").value === "")
    get("alpha-number").value = String(view.alpha);
  setText(
    get("alpha-note"),
    view.alpha === 0 ? "losses count as much as gains" : `each loss counts ${short(1 + view.alpha)} times`,
  );
  drawPickers(view);
  document.querySelectorAll("[data-system]").forEach((node) => setText(node, visible(view.system)));
  document.querySelectorAll("[data-baseline]").forEach((node) => setText(node, visible(baselineLabel(view.baseline))));
}

let opener = null;

function drawDialog(view) {
  const dialog = get("query"),
    q = state.query === null ? -1 : view.book.queries.indexOf(state.query);
  if (q < 0) {
    if (dialog.open) dialog.close();
    return;
  }
  drawQuery(view, q);
  if (!dialog.open) {
    opener = document.activeElement;
    tip.hide();
    dialog.showModal();
    get("query-title").focus();
  }
}

function listenToDialog() {
  const dialog = get("query");
  const step = (by) => {
    const order = hurtFirst(currentView().one);
    choose.query(order[order.indexOf(currentBook().queries.indexOf(state.query)) + by] ?? null);
    dialog.scrollTop = 0;
  };
  get("query-close").addEventListener("click", () => choose.query(null));
  get("query-before").addEventListener("click", () => step(-1));
  get("query-after").addEventListener("click", () => step(1));
  // A click beside the dialog lands on the dialog itself.
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) choose.query(null);
  });
  dialog.addEventListener("close", () => {
    if (state.query !== null) choose.query(null);
    if (opener?.isConnected) opener.focus();
  });
}

function start() {
  readAddress();
  buildControls();
  buildTable(choose);
  chart("histogram", (view) => [view.baseline, view.system], drawHistogram);
  chart("differences", (view) => [view.baseline, view.system, view.alpha], drawDifferences);
  chart("multiples", (view) => [view.baseline, view.system], drawMultiples);
  chart("t-risk", (view) => [view.baseline, view.system], drawTRisk);
  chart("geo-risk", (view) => [view.baseline, view.system], drawGeoRisk);
  chart("profiles", (view) => [view.baseline, view.system], drawProfiles);
  chart(
    "plane",
    (view) => [view.baseline, view.system, view.alpha],
    (view, width, host) => drawPlane(view, width, host, choose),
  );
  chart("churn", (view) => [view.baseline, view.system], drawChurn);
  get("churn-figure").hidden = data.measures[0].churn === null;
  listenToDifferences(choose.query);
  listenToQueries(redraw);
  listenToDialog();
  if (data.baselines.length > 1) {
    const several = `The assessment was made against ${data.baselines.join(", ")}.`;
    setText(get("several"), visible(`${several} This page compares with one baseline at a time.`));
    get("several").hidden = false;
  }
  onAddress(() => {
    readAddress();
    redraw();
  });
  new ResizeObserver(redraw).observe(document.body);
  draw();
}

// For tests and curious readers: the figures behind the page, by α and baseline.
Object.defineProperty(window, "surefoot", {
  value: Object.freeze({
    figures: (alpha, baseline, measure = 0) => figures(bookOf(measure), alpha, baseline),
    segments: (alpha, baseline, measure = 0) =>
      data.segments.map(({ column, segments }, at) => ({
        column,
        segments: segments.map((segment, k) => {
          const book = bookOf(measure, at, k);
          return { segment, queries: book.queries.length, systems: figures(book, alpha, baseline) };
        }),
      })),
    turns: (baseline) => compare(bookOf(0), baseline).turns(),
    state: () => ({ ...state }),
    csv: () => csvText(systemLines(currentView())),
    curve: (baseline, system, alphas) => alphas.map((alpha) => quickT(compare(currentBook(), baseline).pairs[systems.indexOf(system)], alpha)),
    costs: (query) => costsOf(pairOf(currentView(), currentBook().queries.indexOf(query), "")),
    queryScores: (alpha, baseline, system) => {
      const one = compare(currentBook(), baseline).pairs[systems.indexOf(system)],
        result = test(one, alpha);
      return currentBook().queries.map((_, q) => queryScore(one, result, q, alpha));
    },
  }),
});

start();
