"""Where outcomes turn: the assessment made at either side of each turn says so."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import surefoot as sf
from surefoot.report.words import _bands
from surefoot.risk import inference
from surefoot.risk import outcomes as outcomes_module
from surefoot.risk.outcomes import holm_rejects
from surefoot.risk.outcomes import outcomes as holm_outcomes

NAMED_ALPHAS = [
    *(i / 1000 for i in range(1000)),
    *(i / 100 for i in range(100, 1000)),
    *(i / 10 for i in range(100, 201)),
]


def outcomes(scores: sf.Scores, alpha: float) -> dict[str, str | None]:
    data = sf.assess(scores, baseline=scores.systems[0], alphas=[alpha]).to_dict()
    return {entry["system"]: next(iter(entry["alpha"].values()))["outcome"] for entry in data["systems"]}


@pytest.mark.parametrize("seed", range(4))
def test_assessments_on_either_side_agree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    base = rng.random(120)
    others = [np.clip(base + rng.normal(0.02 * shift, 0.1, 120), 0, 1) for shift in range(5)]
    scores = sf.Scores([base, *others], ["today", *"abcde"], range(120))
    systems = sf.assess(scores, baseline="today", alphas=[0]).to_dict()["systems"]
    assert systems[0]["outcome_by_alpha"] is None
    assert sum(len(entry["outcome_by_alpha"]) > 1 for entry in systems[1:]) >= 2
    for entry in systems[1:]:
        turns = entry["outcome_by_alpha"]
        assert turns[0] == {"alpha": 0, "outcome": outcomes(scores, 0)[entry["system"]]}
        for before, turn in pairwise(turns):
            assert outcomes(scores, turn["alpha"])[entry["system"]] == turn["outcome"]
            last = max(alpha for alpha in NAMED_ALPHAS if alpha < turn["alpha"])
            assert outcomes(scores, last)[entry["system"]] == before["outcome"]
        assert outcomes(scores, 20)[entry["system"]] == turns[-1]["outcome"]


def test_turns_up_to_twenty() -> None:
    change = np.where(np.arange(400) % 2, 0.16, -0.01) + np.random.default_rng(0).normal(0, 0.002, 400)
    scores = sf.Scores([np.full(400, 0.5), 0.5 + change], ["today", "new"], range(400))
    turns = sf.assess(scores, "today", alphas=[0]).to_dict()["systems"][1]["outcome_by_alpha"]
    assert [turn["outcome"] for turn in turns] == ["better", "unclear", "worse"]
    assert 10 < turns[1]["alpha"] < 15 < turns[2]["alpha"] < 20


def test_scale_changes_no_turn() -> None:
    values = np.random.default_rng(3).random((2, 80)) + np.array([[0.0], [0.1]])
    plain, large, small = (
        sf.assess(sf.Scores(factor * values, ["a", "b"], range(80)), "a").to_dict()["systems"][1]["outcome_by_alpha"]
        for factor in (1, 1e90, 1e-130)
    )
    assert len(plain) > 1
    assert plain == large == small


def test_several_baselines_have_no_turns() -> None:
    values = np.random.default_rng(3).random((3, 60))
    data = sf.assess(sf.Scores(values, list("abc"), range(60)), ["a", "b"]).to_dict()
    assert all(entry["outcome_by_alpha"] is None for entry in data["systems"])


@given(st.integers(0, 10**6), st.integers(3, 120))
def test_turns_never_contradict_the_outcomes_beside_them(seed: int, queries: int) -> None:
    rng = np.random.default_rng(seed)
    base = rng.random(queries)
    others = [base + rng.normal(0.02 * shift, 0.1, queries) * rng.exponential(size=queries) for shift in range(5)]
    alphas = [0, *np.round(20 * rng.random(3), 5), 37.5]
    data = sf.assess(sf.Scores([base, *others], [*"tabcde"], range(queries)), "t", alphas).to_dict()
    for entry in data["systems"][1:]:
        for alpha in alphas:
            outcome = [turn["outcome"] for turn in entry["outcome_by_alpha"] if turn["alpha"] <= alpha][-1]
            assert outcome == entry["alpha"][f"{alpha:g}"]["outcome"]


def test_a_band_that_no_named_alpha_shows_is_told_where_it_was_assessed() -> None:
    values = np.random.default_rng(3).random((2, 80)) + np.array([[0.0], [0.1]])
    outcomes = {0.0: ["unclear"], 0.0405: ["better"], 5.0: ["worse"]}
    (turns,) = outcomes_module.turning_points(values[1:] - values[:1], [True], outcomes)
    assert turns[1:3] == [{"alpha": 0.0405, "outcome": "better"}, {"alpha": 0.041, "outcome": "unclear"}]


def test_outcomes_that_come_and_go_are_told_as_bands() -> None:
    bands = {0.0: "better", 1.2: "unclear", 1.45: "better", 3.0: "unclear", 9.0: "worse"}
    turns = [{"alpha": alpha, "outcome": outcome} for alpha, outcome in bands.items()]
    assert _bands(turns, "today") == (
        "it is better than today up to α = 1.2; we cannot tell from 1.2 to 1.45; it is better from 1.45 to 3; "
        "we cannot tell from 3 to 9; it is worse from 9 on"
    )
    often = [*turns[:2], *turns[1:4] * 3, turns[-1]]
    assert _bands(often, "today") == (
        "it is better than today up to α = 1.2; this changes several times from 1.2 to 9; it is worse from 9 on"
    )


def test_usual_bands_are_told_shortly() -> None:
    def bands(*outcomes: tuple[float, str]) -> str:
        return _bands([{"alpha": alpha, "outcome": outcome} for alpha, outcome in outcomes], "today")

    better, unclear, worse = (0.0, "better"), (0.697, "unclear"), (6.3, "worse")
    assert bands(better, unclear, worse) == (
        "it is better than today up to α = 0.697, worse from 6.3 on; between, we cannot tell"
    )
    assert bands(better, unclear) == "it is better than today up to α = 0.697; from there on, we cannot tell"
    assert bands((0.0, "unclear"), worse) == "we cannot tell up to α = 6.3; from there on, it is worse than today"


def test_the_sturdy_test_of_sums_is_that_of_the_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    rows = rng.normal(0.03, 0.1, (30, 60)) * rng.exponential(size=(30, 60))
    for alpha in (0.0, 0.5, 5.0, 20.0):
        tests = [sf.t_test(row, np.zeros(60), alpha) for row in rows]
        expected = [outcome for _, outcome in holm_outcomes([t.t_robust for t in tests], [t.p_robust for t in tests])]
        with monkeypatch.context() as patched:
            patched.setattr(outcomes_module, "robust_t", lambda t, worse, better: t)
            (t_values,) = outcomes_module._t_values(rows, 1.0)(np.array([[1 + alpha]]))
        np.testing.assert_allclose(t_values, [t.t_skewness for t in tests], rtol=1e-9)
        signs = outcomes_module._signs(rows, np.array([alpha]), outcomes_module._t_values)[0]
        assert [("unclear", "better", "worse")[sign] for sign in signs] == expected
        assert len(set(expected)) > 1


@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(2, 100))
def test_holm_by_critical_values_is_holm_by_p(seed: int, tests: int, queries: int) -> None:
    t = np.random.default_rng(seed).normal(0, 3, tests)
    expected = [p < 0.05 for p in sf.risk.holm(inference.two_sided_p(t, queries).tolist())]
    assert holm_rejects(np.abs(t)[None], queries)[0].tolist() == expected


@given(st.floats(-5, 5), st.floats(-3, 3), st.integers(2, 10_000))
def test_the_test_of_several_is_that_of_each(T: float, skewness: float, queries: int) -> None:
    t = inference.hall_t(T, skewness, queries)
    assert inference.hall_t(np.array([T]), np.array([skewness]), queries).tolist() == [t]
    assert inference.two_sided_p(np.array([t]), queries).tolist() == [inference.two_sided_p(t, queries)]
