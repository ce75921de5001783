"""Segments: the figures are those of an assessment of their queries alone, corrected for all that are tested."""

from __future__ import annotations

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import ArgumentError
from surefoot.risk.assessment_figures import assessment_data
from surefoot.risk.outcomes import outcome_of

KINDS = {"length": {f"q{i}": "tail" if i % 3 else "head" for i in range(190)}, "language": {"q0": "de", "q1": "de"}}


@pytest.fixture(scope="module")
def scores() -> sf.Scores:
    rng = np.random.default_rng(1)
    base = rng.random(200)
    hurt = np.where(np.arange(200) % 3 > 0, -0.1, 0.15)  # the tail loses
    new = np.clip(base + hurt + rng.normal(0, 0.05, 200), 0, 1)
    return sf.Scores([base, new, rng.random(200)], ["today", "new", "other"], [f"q{i}" for i in range(200)])


def test_each_segment_is_an_assessment_of_its_queries(scores: sf.Scores) -> None:
    options = {"population": ["today", "new"], "worst": 0.2}
    data = assessment_data(scores, "today", [0, 5], segments=KINDS, **options)
    length, language = data["segments"]
    assert (length["column"], length["unassigned"]) == ("length", 10)
    assert [(part["segment"], part["queries"]) for part in length["segments"]] == [("tail", 126), ("head", 64)]
    assert [(part["segment"], part["queries"]) for part in language["segments"]] == [("de", 2)]
    tail = [i for i, query in enumerate(scores.queries) if KINDS["length"].get(query) == "tail"]
    alone = assessment_data(scores._only(tail), "today", [0, 5], **options)["systems"]
    for mine, theirs in zip(length["segments"][0]["systems"], alone, strict=True):
        for key in ("mean", "reward", "risk", "wins", "losses", "loss_over_20", "worst_mean"):
            assert mine[key] == theirs[key]
        for alpha in ("0", "5"):
            for key in ("u_risk", "t_risk", "p_skewness", "p_robust", "u_risk_interval", "z_risk", "geo_risk"):
                assert mine["alpha"][alpha][key] == theirs["alpha"][alpha][key]


def test_p_is_corrected_for_systems_and_segments(scores: sf.Scores) -> None:
    length = assessment_data(scores, "today", [5], segments=KINDS)["segments"][0]
    tests = [entry["alpha"]["5"] for part in length["segments"] for entry in part["systems"]]
    assert [one["p_holm"] for one in tests] == sf.risk.holm([one["p_robust"] for one in tests])
    assert sum(one["p_holm"] is not None for one in tests) == 4  # two systems in two segments
    outcome_of = {part["segment"]: part["systems"][1]["alpha"]["5"]["outcome"] for part in length["segments"]}
    assert outcome_of == {"tail": "worse", "head": "better"}


def test_outcomes_go_by_the_corrected_p_at_every_alpha() -> None:
    rng = np.random.default_rng(9)
    base = rng.random(300)
    scores = sf.Scores([base, base + rng.normal(0.03, 0.1, 300)], ["today", "new"], range(300))
    data = assessment_data(scores, "today", [0, 1], segments={"tenth": {str(i): f"{9 - i % 10}" for i in range(300)}})
    (column,) = data["segments"]
    assert [part["segment"] for part in column["segments"]] == sorted("0123456789")  # equally large: by name
    for alpha in ("0", "1"):
        tests = [part["systems"][1]["alpha"][alpha] for part in column["segments"]]
        assert [one["p_holm"] for one in tests] == sf.risk.holm([one["p_robust"] for one in tests])
        assert [one["outcome"] for one in tests] == [outcome_of(one["t_robust"], one["p_holm"]) for one in tests]
        assert alpha == "1" or any(one["p_robust"] < 0.05 <= one["p_holm"] for one in tests)


def test_segments_of_other_queries_are_rejected(scores: sf.Scores) -> None:
    with pytest.raises(ArgumentError, match="no query has a segment in 'length': the first query is 'q0'"):
        assessment_data(scores, "today", [0], segments={"length": {"x1": "head"}})
    ids = {"id": {f"q{i}": str(i) for i in range(2000)}}
    many = sf.Scores(np.random.default_rng(0).random((2, 2000)), ["a", "b"], [f"q{i}" for i in range(2000)])
    with pytest.raises(ArgumentError, match="2,000 segments; the maximum is 1,000"):
        assessment_data(many, "a", [0], segments=ids)
