"""Charts and words of an assessment by traffic: its own weighted figures, and nothing that has none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import ArgumentError, DataError
from surefoot.report import charts
from surefoot.risk.inference import weighted_t_values


@pytest.fixture(scope="module")
def assessment() -> sf.Assessment:
    made = sf.demo.runs(queries=60, seed=3)
    scores = sf.score(made.qrels, made.runs, "nDCG@10")
    traffic = {query: float(i % 9 + 1) ** 3 for i, query in enumerate(scores.queries)}
    return sf.assess(scores, baseline="today", alphas=[0, 5], depth=10, traffic=traffic)


def legend(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_t_risk_curves_are_those_of_traffic(assessment: sf.Assessment) -> None:
    axes = charts.t_risk_curves(assessment, systems=["bold"]).axes[0]
    (curve,) = [line for line in axes.lines if len(line.get_xdata()) > 2]
    alphas, values = np.asarray(curve.get_xdata()), np.asarray(curve.get_ydata())
    tests = next(row["alpha"] for row in assessment.to_dict()["systems"] if row["system"] == "bold")
    assert [values[0], values[alphas == 5][0]] == pytest.approx([tests[alpha]["t_risk"] for alpha in ("0", "5")])
    assert "by traffic" in axes.get_title(loc="left")


def test_marks_of_queries_go_by_weighted_t_j(assessment: sf.Assessment) -> None:
    scores = assessment.scores
    difference = scores["bold"] - scores["today"]
    tested = weighted_t_values(difference, 0.0, scores._largest(), scores._relative_weights)
    plain = weighted_t_values(difference, 0.0, scores._largest())
    assert tested is not None
    assert plain is not None
    low = int((tested.t_j < -tested.critical).sum())
    assert low != int((plain.t_j < -plain.critical).sum())  # the example can tell them apart
    figure = charts.query_differences(assessment, "bold")
    assert f"significantly low: {low}" in legend(figure)
    assert "by traffic" in figure.axes[0].get_title(loc="left").replace("\n", " ")
    panels = charts.query_differences_by_alpha(assessment, "bold", alphas=[0])
    assert panels.axes[0].get_title(loc="left").startswith(f"α = 0: {low} low")
    assert "by traffic" in panels.get_suptitle()


def test_what_weights_do_not_define_is_left_out_with_a_note(assessment: sf.Assessment, tmp_path: Path) -> None:
    said: list[str] = []
    written = charts.write_charts(assessment, tmp_path / "charts", "svg", note=said.append)
    assert "geo-risk.svg" not in [path.name for path in written]
    assert said == ["the chart geo-risk is left out: GeoRisk is not defined for queries that are weighted by traffic"]
    profiles = charts.performance_profiles(assessment)
    assert not any(len(axes.collections) for axes in profiles.axes)
    assert legend(profiles) == ["score (by traffic, no score is expected)"]


def test_equal_traffic_changes_no_chart(assessment: sf.Assessment) -> None:
    scores = sf.Scores(assessment.scores.values, assessment.scores.systems, assessment.scores.queries)
    equal = sf.assess(scores, "today", [0], traffic=dict.fromkeys(scores.queries, 3))
    assert charts.geo_risk_curves(equal).axes
    assert "traffic" not in charts.t_risk_curves(equal).axes[0].get_title(loc="left")


def test_words_speak_of_traffic(assessment: sf.Assessment) -> None:
    text = " ".join(assessment.to_text(width=300).split())
    assert "worst 5 % of traffic" in text
    assert "share of traffic whose ranking changed" in text
    scores = assessment.scores
    assert repr(scores) == "<Scores nDCG@10: 12 systems × 60 queries, weighted by traffic>"
    assert "Means are weighted by traffic." in scores._repr_html_()
    plain = sf.Scores(scores.values, scores.systems, scores.queries)
    assert "worst 5 % of queries" in " ".join(sf.assess(plain, "today").to_text(width=300).split())
    equal = plain.with_traffic(dict.fromkeys(plain.queries, 2))
    assert "traffic" not in repr(equal) + equal._repr_html_()


def test_measures_with_different_weights_are_refused() -> None:
    values, systems, queries = [[0.5, 0.25], [0.75, 0.0]], ["today", "new"], ["q1", "q2"]
    plain = sf.Scores(values, systems, queries, "AP")
    weighted = sf.Scores(values, systems, queries, "RR").with_traffic({"q1": 3, "q2": 1})
    other = sf.Scores(values, systems, queries, "P@5").with_traffic({"q1": 3, "q2": 2})
    for pair in ([plain, weighted], [weighted, plain]):
        with pytest.raises(ArgumentError, match="RR is weighted by traffic and AP is not"):
            sf.assess(pair, "today")
    with pytest.raises(ArgumentError, match="different traffic: query 'q2' counts 1 and 2"):
        sf.assess([weighted, other], "today")


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        (None, "per_query.counts is absent"),
        ([1.0], "per_query.counts is a list of 1; expected one number for each of the 2 queries"),
        (7, "per_query.counts is no list"),
        ([1.0, "x"], r"per_query.counts\[1\] is 'x'; expected a number"),
        ([1.0, -1.0], "per_query.counts has a number that is not above 0"),
    ],
)
def test_wrong_counts_of_a_stored_assessment_are_refused(counts: Any, message: str) -> None:
    scores = sf.Scores([[0.5, 0.25], [0.75, 0.0]], ["today", "new"], ["q1", "q2"])
    data = sf.assess(scores, "today", traffic={"q1": 3, "q2": 1}).to_dict(per_query=True)
    assert sf.Assessment.from_dict(data).scores._relative_weights is not None
    block = {name: value for name, value in data["per_query"].items() if name != "counts"}
    if counts is not None:
        block["counts"] = counts
    with pytest.raises(DataError, match=message):
        sf.Assessment.from_dict({**data, "per_query": block})


def test_equal_weights_do_not_hinder_the_usual_tests(assessment: sf.Assessment) -> None:
    scores = sf.Scores(assessment.scores.values[:3], assessment.scores.systems[:3], assessment.scores.queries)
    baseline = scores.systems[0]
    equal = sf.assess(scores, baseline, tests=True, traffic=dict.fromkeys(scores.queries, 2.0))
    plain = sf.assess(scores, baseline, tests=True)
    assert [row["tests"] for row in equal.rows()] == [row["tests"] for row in plain.rows()]
    with pytest.raises(ArgumentError, match="the usual tests do not take weights"):
        sf.assess(assessment.scores, "today", tests=True)
