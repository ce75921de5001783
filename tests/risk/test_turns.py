"""Where verdicts turn: the assessment made at either side of each turn says so."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import surefoot as sf
from surefoot.risk import inference, turns


def verdicts(scores: sf.Scores, alpha: float) -> dict[str, str | None]:
    data = sf.assess(scores, baseline=scores.systems[0], alphas=[alpha]).to_dict()
    return {entry["system"]: next(iter(entry["alpha"].values()))["verdict"] for entry in data["systems"]}


@pytest.mark.parametrize("seed", range(4))
def test_assessments_on_either_side_agree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    base = rng.random(120)
    others = [np.clip(base + rng.normal(0.02 * shift, 0.1, 120), 0, 1) for shift in range(5)]
    scores = sf.Scores([base, *others], ["today", *"abcde"], range(120))
    systems = sf.assess(scores, baseline="today", alphas=[0]).to_dict()["systems"]
    assert systems[0]["turns"] is None
    assert sum(len(entry["turns"]) > 1 for entry in systems[1:]) >= 2
    for entry in systems[1:]:
        turns = entry["turns"]
        assert turns[0] == {"alpha": 0, "verdict": verdicts(scores, 0)[entry["system"]]}
        for before, turn in pairwise(turns):
            assert verdicts(scores, turn["alpha"])[entry["system"]] == turn["verdict"]
            assert verdicts(scores, turn["alpha"] - 0.002)[entry["system"]] == before["verdict"]
        assert verdicts(scores, 20)[entry["system"]] == turns[-1]["verdict"]


def test_turns_up_to_twenty() -> None:
    change = np.where(np.arange(400) % 2, 0.16, -0.01) + np.random.default_rng(0).normal(0, 0.002, 400)
    scores = sf.Scores([np.full(400, 0.5), 0.5 + change], ["today", "new"], range(400))
    turns = sf.assess(scores, "today", alphas=[0]).to_dict()["systems"][1]["turns"]
    assert [turn["verdict"] for turn in turns] == ["reward", "inconclusive", "risk"]
    assert 10 < turns[1]["alpha"] < 15 < turns[2]["alpha"] < 20


def test_scale_changes_no_turn() -> None:
    values = np.random.default_rng(3).random((2, 80)) + np.array([[0.0], [0.1]])
    plain, large, small = (
        sf.assess(sf.Scores(factor * values, ["a", "b"], range(80)), "a").to_dict()["systems"][1]["turns"]
        for factor in (1, 1e90, 1e-130)
    )
    assert len(plain) > 1
    assert plain == large == small


def test_several_baselines_have_no_turns() -> None:
    values = np.random.default_rng(3).random((3, 60))
    data = sf.assess(sf.Scores(values, list("abc"), range(60)), ["a", "b"]).to_dict()
    assert all(entry["turns"] is None for entry in data["systems"])


def test_turns_go_by_the_test_of_assessments(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(3).random((2, 80)) + np.array([[0.0], [0.1]])
    differences = values[1:] - values[:1]
    seen: list[np.ndarray] = []

    def watched(T: np.ndarray, skewness: np.ndarray, queries: int) -> np.ndarray:
        seen.append(inference.hall_t(T, skewness, queries))
        return seen[-1]

    monkeypatch.setattr(turns, "hall_t", watched)
    turns.turning_points(differences, [True])
    for k in (0, 7, turns.STEPS):
        expected = sf.t_test(values[1], values[0], k * turns.MOST_ALPHA / turns.STEPS)
        assert seen[k][0] == pytest.approx(expected.t_adjusted, rel=1e-9)
        assert float(inference.two_sided_p(seen[k], 80)[0]) == pytest.approx(expected.p_adjusted, rel=1e-7)


@given(st.floats(-5, 5), st.floats(-3, 3), st.integers(2, 10_000))
def test_the_test_of_several_is_that_of_each(T: float, skewness: float, queries: int) -> None:
    t = inference.hall_t(T, skewness, queries)
    assert inference.hall_t(np.array([T]), np.array([skewness]), queries).tolist() == [t]
    assert inference.two_sided_p(np.array([t]), queries).tolist() == [inference.two_sided_p(t, queries)]
