"""Where verdicts turn: the assessment made at either side of each turn says so."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import surefoot as sf


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
