"""The papers' charts: each shows the assessment's own numbers, and nobody's name breaks one."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib import rcParams
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.figure import Figure
from matplotlib.patches import StepPatch
from typer.testing import CliRunner

import surefoot as sf
from surefoot.cli.commands import application
from surefoot.errors import ArgumentError, DataError, MissingExtraError
from surefoot.report import canvas, charts
from surefoot.risk.inference import critical_value

HOSTILE = [
    "<img src=x onerror=alert(1)>", "</script>", r"$\undefined$", "\u202egnp.exe", "_private_100%_$5", "a & b -->",
    "名前 🦶", "\x00\x1b[31m", "\ud800\uffff", "W" * 300, "new\nline", "-", "",
]  # fmt: skip


@pytest.fixture(scope="module")
def scores() -> sf.Scores:
    made = sf.demo.runs(queries=60, seed=3)
    return sf.score(made.qrels, made.runs, "nDCG@10")


@pytest.fixture(scope="module")
def assessment(scores) -> sf.Assessment:
    return sf.assess(scores, baseline="today", alphas=[0, 5], depth=10)


def matrix(values, systems=None, queries=None) -> sf.Scores:
    values = np.asarray(values, dtype=float)
    return sf.Scores(
        values,
        systems or [f"s{i}" for i in range(len(values))],
        queries or [f"q{i}" for i in range(values.shape[1])],
    )


def marks(axes) -> dict[str, int]:
    """How many queries are marked low and high."""
    low, high = [collection for collection in axes.collections if isinstance(collection, PathCollection)]
    return {"low": len(low.get_offsets()), "high": len(high.get_offsets())}


def bars(axes) -> list[float]:
    """The heights of the queries' bars from left to right."""
    steps = [patch.get_data() for patch in axes.patches if isinstance(patch, StepPatch)]
    heights = {x: y for step in steps for x, y in zip(step.edges, step.values, strict=False)}
    return [heights[x] for x in sorted(heights)]


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[-1].get_texts()]


def test_histogram_counts_every_query_once(scores, assessment) -> None:
    figure = charts.helped_hurt_histogram(assessment, "bold")
    hurt, helped, ties = figure.axes[0].containers
    difference = scores["bold"] - scores["today"]
    assert sum(bar.get_height() for bar in hurt) == (difference < 0).sum()
    assert sum(bar.get_height() for bar in helped) == (difference > 0).sum()
    assert sum(bar.get_height() for bar in (*hurt, *helped, *ties)) == len(scores.queries)
    for bar in hurt:  # each bar holds what lies between its ends
        middle = bar.get_x() + bar.get_width() / 2
        half = bar.get_width() / 0.92 / 2
        inside = (difference > middle - half) & (difference <= middle + half + 1e-9)
        assert bar.get_height() == (inside & (difference < 0)).sum()


def test_histogram_keeps_many_ties_from_flattening_the_rest() -> None:
    a = sf.assess(matrix([[0.5] * 100, [0.5] * 95 + [0.4] * 2 + [0.9] * 3]), baseline="s0")
    figure = charts.helped_hurt_histogram(a)
    assert figure.axes[0].get_ylim()[1] < 10
    assert "95 unchanged" in figure.axes[0].texts[0].get_text()
    assert legend(figure) == ["hurt: 2", "unchanged: 95", "helped: 3"]


def test_query_names_never_stand_on_bars() -> None:
    # Only gains: the corner that names of helped queries would stand in is full of bars.
    values = np.array([[0.0] * 20, [0.1] * 17 + [0.9] * 3])
    figure = charts.query_differences(sf.assess(matrix(values), baseline="s0"))
    assert marks(figure.axes[0])["high"] == 3
    for text in figure.axes[0].texts:
        box = text.get_window_extent(canvas.renderer(figure)).transformed(figure.axes[0].transData.inverted())
        assert box.y1 < 0 or box.y0 > max(bars(figure.axes[0])[: int(box.x1)])


@pytest.mark.parametrize("alpha", [0, 5])
def test_significant_queries_are_those_of_query_scores(scores, assessment, alpha) -> None:
    figure = charts.query_differences(assessment, "bold", alpha=alpha)
    tested = sf.risk.query_scores(scores["bold"], scores["today"], alpha)
    assert marks(figure.axes[0]) == {
        "low": (tested.t_j < -tested.critical).sum(),
        "high": (tested.t_j > tested.critical).sum(),
    }
    np.testing.assert_allclose(bars(figure.axes[0]), np.sort(scores["bold"] - scores["today"]))


def test_small_multiples_show_t_j_and_the_critical_band(scores, assessment) -> None:
    figure = charts.query_differences_by_alpha(assessment, "bold", alphas=[0, 5, 10])
    assert len(figure.axes) == 3
    order = np.argsort(scores["bold"] - scores["today"], kind="stable")
    for axes, alpha in zip(figure.axes, [0, 5, 10], strict=True):
        tested = sf.risk.query_scores(scores["bold"], scores["today"], alpha)
        np.testing.assert_allclose(bars(axes), tested.t_j[order])
        band = next(patch for patch in axes.patches if not isinstance(patch, StepPatch))
        assert band.get_y() + band.get_height() == pytest.approx(critical_value(60))
        assert marks(axes)["low"] == (tested.t_j < -tested.critical).sum()


def test_t_risk_curves_are_t_risk_and_the_band_is_critical(scores, assessment) -> None:
    axes = charts.t_risk_curves(assessment, systems=["bold", "steady"], most=10).axes[0]
    band = axes.patches[0]
    assert (band.get_y(), band.get_y() + band.get_height()) == pytest.approx((-critical_value(60), critical_value(60)))
    curves = [line for line in axes.lines if len(line.get_xdata()) > 2]
    assert len(curves) == 2
    for line, system in zip(curves, ["bold", "steady"], strict=True):
        for alpha, t in list(zip(*line.get_data(), strict=True))[::12]:
            assert t == pytest.approx(sf.t_risk(scores[system], scores["today"], alpha))
    muted = next(collection for collection in axes.collections if isinstance(collection, LineCollection))
    assert len(muted.get_segments()) == 12 - 2 - 1  # all but the two shown and the baseline, which has no T


def test_geo_risk_curves_are_geo_risk_of_the_population(scores) -> None:
    population = ["today", "bold", "steady", "bm25"]
    a = sf.assess(scores, baseline="today", population=population)
    axes = charts.geo_risk_curves(a, systems=["steady"]).axes[0]
    x = scores.values[[scores._row(name) for name in population]]
    for alpha, value in list(zip(*axes.lines[0].get_data(), strict=True))[::12]:
        assert value == pytest.approx(sf.geo_risk(x, alpha)[2])
    assert len(axes.collections[0].get_segments()) == 3


def test_line_charts_show_the_baseline_and_the_best_by_mean(assessment) -> None:
    best = [row["system"] for row in assessment.rows() if row["system"] != "today"][:7]
    assert legend(charts.geo_risk_curves(assessment)) == ["today (baseline)", *best, "4 others"]
    assert legend(charts.t_risk_curves(assessment)) == [*best, "4 others", f"|T| < {critical_value(60):.2f}"]
    assert [axes.get_title("left") for axes in charts.performance_profiles(assessment).axes] == ["today", *best]


def test_profiles_lead_from_expectation_to_score(scores, assessment) -> None:
    axes = charts.performance_profiles(assessment, systems=["bold"]).axes[0]
    order = np.argsort(scores.values.mean(axis=0), kind="stable")
    expectation = sf.risk.expected(scores.values)[1][order]
    np.testing.assert_allclose(axes.lines[0].get_ydata(), expectation)
    ends = {int(s[1, 0]): s[1, 1] for collection in axes.collections for s in collection.get_segments()}
    np.testing.assert_allclose([ends[i + 1] for i in range(60)], scores["bold"][order])


def test_plane_places_every_system_and_draws_equal_u(assessment) -> None:
    axes = charts.risk_reward_plane(assessment, alpha=2).axes[0]
    places = {tuple(place) for collection in axes.collections for place in collection.get_offsets().tolist()}
    assert places == {(row["risk"], row["reward"]) for row in assessment.rows()}
    for line in axes.lines:
        (x0, x1), (y0, y1) = line.get_data()
        assert y0 - 3 * x0 == pytest.approx(y1 - 3 * x1, abs=1e-9)


def test_names_in_the_plane_do_not_collide() -> None:
    rng = np.random.default_rng(0)
    a = sf.assess(matrix(rng.random((49, 50))), baseline="s0")
    figure = charts.risk_reward_plane(a)
    names = {text.get_text(): text for text in figure.axes[0].texts if text.get_text().startswith("s")}
    assert 10 < len(names) <= 49
    boxes = [canvas._letters(text, canvas.renderer(figure)) for text in names.values()]
    assert not any(one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[:i])
    rows = {row["system"]: (row["risk"], row["reward"]) for row in a.rows()}
    spots = figure.axes[0].transData.transform(list(rows.values()))
    for (name, text), box in zip(names.items(), boxes, strict=True):
        if text.arrow_patch is None:  # without a line to its point, the point is the nearest
            nearest = np.hypot(*(np.clip(spots, box.min, box.max) - spots).T)
            assert nearest[list(rows).index(name)] < nearest.min() + 2


def test_kendall_bins_are_the_assessments(assessment) -> None:
    top, bottom = charts.kendall_bins(assessment, "bold").axes
    churn = assessment.to_dict()["systems"][1]["churn"]
    assert [bar.get_height() for bar in top.containers[0]] == [one["queries"] for one in churn["bins"]]
    assert [bar.get_height() for bar in bottom.containers[0]] == [one["reward"] for one in churn["bins"]]
    assert [bar.get_height() for bar in bottom.containers[1]] == [-one["risk"] for one in churn["bins"]]


def test_kendall_bins_need_rankings(assessment, scores) -> None:
    with pytest.raises(ArgumentError, match="need rankings"):
        charts.kendall_bins(sf.assess(matrix(scores.values), baseline="s0"))
    with pytest.raises(ArgumentError, match="need rankings"):
        charts.kendall_bins(sf.assess(scores, baseline="mean"))


@pytest.mark.parametrize("baseline", ["mean", "median", "max"])
@pytest.mark.heavy
def test_virtual_baselines_have_every_chart_but_kendalls(scores, baseline) -> None:
    a = sf.assess(scores, baseline=baseline)
    for name, chart in charts.CHARTS.items():
        if name != "kendall-bins":
            chart(a, None).draw_without_rendering()


def test_of_several_measures_the_first_is_drawn(scores, tmp_path) -> None:
    other = sf.Scores(scores.values**2, scores.systems, scores.queries, "other", runs=scores.runs, qrels=scores.qrels)
    a = sf.assess([scores, other], baseline="today", alphas=[0, 5], depth=10)
    assert {path.stem for path in charts.write_charts(a, tmp_path, "png")} == set(charts.CHARTS)
    for chart in (charts.query_differences, charts.risk_reward_plane):
        assert scores.measure in chart(a).axes[0].get_title(loc="left")


def test_several_baselines_leave_out_charts_of_one(scores, tmp_path) -> None:
    a = sf.assess(scores, baseline=["today", "bm25"])
    for chart in (charts.helped_hurt_histogram, charts.query_differences, charts.t_risk_curves):
        with pytest.raises(ArgumentError, match="one baseline"):
            chart(a)
    notes: list[str] = []
    written = charts.write_charts(a, tmp_path, ["svg"], note=notes.append)
    assert sorted(path.stem for path in written) == ["geo-risk", "profiles", "risk-reward"]
    assert len(notes) == 5
    assert all("one baseline" in note for note in notes)


@pytest.mark.parametrize(
    "values",
    [
        [[0.5], [0.7]],
        [[0.5, 0.2, 0.1], [0.5, 0.2, 0.1]],
        [[0.5, 0.2], [0.6, 0.3]],
        [[0, 0], [0, 0]],
        [[0.5, 0.2]],
        [[1e-9, 2e-9], [2e-9, 1e-9]],
        [[1e6, 2e6], [2e6, 1e6]],
    ],
    ids=["one query", "identical", "alike everywhere", "all zero", "baseline alone", "tiny", "huge"],
)
@pytest.mark.heavy
def test_degenerate_data_still_draws(values, tmp_path) -> None:
    a = sf.assess(matrix(values), baseline="s0")
    written = charts.write_charts(a, tmp_path, ["svg", "png"])
    assert len(written) == 14
    assert all(path.stat().st_size > 1000 for path in written)


def test_negative_scores_have_no_geo_risk_but_the_rest(tmp_path) -> None:
    a = sf.assess(matrix([[-0.5, 0.2, 0.1], [0.6, -0.3, 0.4]]), baseline="s0")
    notes: list[str] = []
    assert len(charts.write_charts(a, tmp_path, "png", note=notes.append)) == 6
    assert [note.split()[2] for note in notes] == ["geo-risk", "kendall-bins"]


@pytest.mark.heavy
def test_hostile_names_are_plain_text(tmp_path) -> None:
    rng = np.random.default_rng(1)
    values = rng.random((len(HOSTILE), len(HOSTILE)))
    values[1, 0] += 3  # a significant query, so that one is named
    scores = sf.Scores(values, HOSTILE, HOSTILE, measure=r"$\frac{<b>&_")
    a = sf.assess(scores, baseline=HOSTILE[1])
    for system in HOSTILE:
        charts.query_differences(a, system)  # measures its own text, and so lays it out
    written = charts.write_charts(a, tmp_path, ("svg", "pdf"), system=HOSTILE[0])
    assert len(written) == 14
    for path in written:
        if path.suffix == ".svg":
            tree = ElementTree.fromstring(path.read_text())
            assert not [element for element in tree.iter() if element.tag.endswith(("img", "script"))]
    drawn = text_of(tmp_path / "geo-risk.svg")
    shown = [name for name in legend(charts.geo_risk_curves(a)) if name]
    assert all(any(name in text for text in drawn) for name in shown)
    assert any("<img src=x" in text for text in text_of(tmp_path / "helped-hurt.svg"))
    assert "\u202e" not in "".join(path.read_text() for path in tmp_path.glob("*.svg"))


def text_of(path: Path) -> list[str]:
    tree = ElementTree.fromstring(path.read_text())
    return ["".join(element.itertext()) for element in tree.iter() if element.tag.endswith("}text")]


def test_dollar_and_underscore_survive_in_legends() -> None:
    names = [r"$\undefined$", "_hidden", "100%"]
    a = sf.assess(sf.Scores([[0.1, 0.4], [0.2, 0.3], [0.5, 0.1]], names, ["a", "b"]), baseline="100%")
    figure = charts.geo_risk_curves(a)
    assert sorted(legend(figure)) == sorted([r"$\undefined$", "_hidden", "100% (baseline)"])


@pytest.mark.heavy
def test_same_bytes_every_time(tmp_path) -> None:
    made = sf.demo.runs(queries=12)
    for folder in ("one", "two"):
        a = sf.assess(sf.score(made.qrels, made.runs[:3], "nDCG@10"), baseline="today")
        charts.write_charts(a, tmp_path / folder, "svg")
        for ending in charts.CHART_FORMATS:
            charts.save_chart(charts.performance_profiles(a), tmp_path / folder / f"alone.{ending}")
    names = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert len(names) == 8 + 3
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name


def test_a_column_wide_with_fonts_embedded_and_settings_untouched(assessment, tmp_path) -> None:
    had_pyplot = "matplotlib.pyplot" in sys.modules
    settings = [name for name in rcParams if name != "backend"]  # to ask for the backend is to load pyplot
    before = [rcParams[name] for name in settings]
    figure = charts.risk_reward_plane(assessment)
    assert figure.get_figwidth() == 3.33
    assert charts.risk_reward_plane(assessment, width=7).get_figwidth() == 7
    charts.save_chart(figure, tmp_path / "plane.pdf")
    pdf = (tmp_path / "plane.pdf").read_bytes()
    assert b"/FontFile2" in pdf  # TrueType
    assert b"/Type3" not in pdf
    assert b"/CreationDate" not in pdf
    assert [rcParams[name] for name in settings] == before
    assert ("matplotlib.pyplot" in sys.modules) == had_pyplot


@pytest.mark.parametrize("width", [0, -1, 1000, float("nan")])
def test_impossible_widths_are_refused(assessment, width) -> None:
    with pytest.raises(ArgumentError, match="width"):
        charts.helped_hurt_histogram(assessment, width=width)


def test_mistakes_are_told(assessment, tmp_path) -> None:
    with pytest.raises(ArgumentError, match="'gif'"):
        charts.write_charts(assessment, tmp_path, ["gif"])
    with pytest.raises(ArgumentError, match="nobody"):
        charts.write_charts(assessment, tmp_path, system="nobody")
    with pytest.raises(ArgumentError, match="nobody"):
        charts.t_risk_curves(assessment, systems=["nobody"])
    with pytest.raises(ArgumentError, match="no system"):
        charts.geo_risk_curves(assessment, systems=[])
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be made"):
        charts.write_charts(assessment, tmp_path / "file", ["png"])
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.heavy
def test_thousands_of_queries_stay_small_files(tmp_path) -> None:
    rng = np.random.default_rng(2)
    a = sf.assess(matrix(rng.random((3, 5000))), baseline="s0")
    written = charts.write_charts(a, tmp_path, ["svg"], note=lambda _: None)
    assert max(path.stat().st_size for path in written) < 1_500_000


def test_missing_matplotlib_says_how_to_get_it(assessment, monkeypatch, tmp_path) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r'pip install "surefoot\[plots\]"'):
        charts.helped_hurt_histogram(assessment)
    with pytest.raises(MissingExtraError):
        assessment.charts(tmp_path)
    result = CliRunner().invoke(
        application(), ["evaluate", "--scores", "absent.csv", "-b", "a", "--figures", str(tmp_path / "figures")]
    )
    assert isinstance(result.exception, MissingExtraError)  # before the scores are even looked for
    assert not list(tmp_path.iterdir())


@pytest.mark.heavy
def test_command_writes_charts_and_keeps_its_output_clean(scores, tmp_path) -> None:
    small = sf.Scores(scores.values[:3, :9], scores.systems[:3], scores.queries[:9])
    small.write(tmp_path / "scores.csv")
    command = ["evaluate", "--scores", str(tmp_path / "scores.csv"), "-b", "today", "--figures", str(tmp_path / "f")]
    result = CliRunner().invoke(application(), [*command, "--csv", "-"])
    assert result.exit_code == 0
    assert result.stdout.startswith("system,")
    assert "figures" not in result.stdout
    assert f"Wrote 21 charts to {tmp_path / 'f'}/" in result.stderr
    assert "kendall-bins is left out" in result.stderr
    assert len(list((tmp_path / "f").iterdir())) == 21
    quiet = CliRunner().invoke(application(), [*command, "--quiet"])
    assert (quiet.exit_code, quiet.stdout, quiet.stderr) == (0, "", "")
