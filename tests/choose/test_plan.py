"""What a sweep trains, and which parameters its trials choose."""

from __future__ import annotations

from typing import Any

import pytest

import surefoot as sf
from surefoot.choose.options import PRESETS
from surefoot.choose.plan import SweepPlan, SweepSetting, TrainingJob, best_parameters
from surefoot.choose.sweep import preset_settings as preset
from surefoot.errors import ArgumentError


def plan(**given: Any) -> SweepPlan:
    settings = {
        "objectives": ["u_risk"], "alphas": [1, 5], "seeds": [0], "grid": {}, "tune": "gain",
        "measure": "nDCG@10", "options": {},
    } | given  # fmt: skip
    return SweepPlan.checked(**settings)


def test_gain_comes_first_and_once() -> None:
    names = [setting.name for setting in plan(objectives=["gain", "u_risk", "faro@all", "u_risk"]).settings()]
    assert names == ["gain", "u_risk α=1", "u_risk α=5", "faro@all α=1", "faro@all α=5"]


def test_a_grid_that_is_not_tuned_has_a_row_for_each_setting() -> None:
    grid = {"num_leaves": [4, 8], "n_estimators": [10, 20]}
    settings = plan(grid=grid, tune="none", alphas=[1]).settings()
    assert len(settings) == 2 * 4
    assert settings[0].name == "gain (n_estimators=10, num_leaves=4)"
    jobs = list(plan(grid=grid, tune="none", alphas=[1]).jobs("Fold1", {}))
    assert [dict(job.parameters) for job in jobs] == [dict(setting.parameters) for setting in settings]


def test_trials_grow_the_most_trees_once() -> None:
    tuned = plan(grid={"num_leaves": [4, 8], "n_estimators": [10, 20]}, seeds=[0, 1])
    trials = list(tuned.trials("Fold1"))
    assert len(trials) == 2 * 2
    assert {dict(job.parameters)["n_estimators"] for job in trials} == {20}
    assert {job.setting.name for job in trials} == {"gain"}
    each = plan(grid={"num_leaves": [4, 8]}, tune="objective")
    assert {job.setting.name for job in each.trials("Fold1")} == {"gain", "u_risk α=1", "u_risk α=5"}
    assert not list(plan(grid={"num_leaves": 4}).trials("Fold1"))


def test_the_best_has_the_greatest_mean_over_seeds_and_the_first_wins() -> None:
    tuned = plan(grid={"num_leaves": [4, 8], "n_estimators": [10, 20]}, seeds=[0, 1])
    short = {(4, 0): [0.1, 0.5], (4, 1): [0.6, 0.3], (8, 0): [0.4, 0.2], (8, 1): [0.3, 0.7]}
    reached = {at: [0.9] * 9 + [first] + [0.9] * 9 + [last] for at, (first, last) in short.items()}
    trials = [(job, {"valid": reached[dict(job.parameters)["num_leaves"], job.seed]}) for job in tuned.trials("Fold1")]
    assert best_parameters(tuned, trials) == {"num_leaves": 8, "n_estimators": 20}  # 0.45, not 0.4
    even = [(job, {"valid": [0.5] * 20}) for job, _ in trials]
    assert best_parameters(tuned, even) == {"num_leaves": 4, "n_estimators": 10}
    lost = [
        (job, {"failed": "no tree"} if dict(job.parameters)["num_leaves"] == 8 else result) for job, result in trials
    ]
    assert best_parameters(tuned, lost) == {"num_leaves": 4, "n_estimators": 20}
    assert best_parameters(tuned, [(job, {"failed": "no tree"}) for job, _ in trials]) is None
    early = plan(grid=tuned.grid, seeds=[0, 1], options={"early_stopping_rounds": 5})
    stopped = [
        (job, {"valid": [0.1, 0.8, 0.2] if dict(job.parameters)["num_leaves"] == 8 else [0.5] * 20})
        for job, _ in trials
    ]
    assert best_parameters(early, stopped)["num_leaves"] == 8  # its best tree counts, not its last
    late = [
        (job, {"valid": [0.1] * 15 + [0.8] * 5 if dict(job.parameters)["num_leaves"] == 8 else [0.5] * 20})
        for job, _ in trials
    ]
    assert best_parameters(early, late) == {"num_leaves": 8, "n_estimators": 20}  # ten trees do not reach it


def test_plain_data_there_and_back() -> None:
    tuned = plan(grid={"num_leaves": [4, 8], "monotone_constraints": [[0, 1]]}, options={"num_threads": 1})
    assert SweepPlan.from_dict(tuned.to_dict()) == tuned
    job = TrainingJob("Fold1", SweepSetting("u_risk", 5.0), (("num_leaves", 4),), 3)
    assert TrainingJob.from_dict(job.to_dict()) == job
    assert hash(TrainingJob.from_dict(job.to_dict())) == hash(job)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"objectives": ["risk"]}, "unknown objective 'risk'"),
        ({"objectives": ["gain@all"]}, "unknown objective"),
        ({"alphas": [0, 1]}, "α = 0 is gain alone"),
        ({"alphas": []}, "u_risk needs α"),
        ({"seeds": []}, "seeds is empty"),
        ({"seeds": [-1]}, "a seed"),
        ({"tune": "some"}, "tune is 'some'"),
        ({"alphas": [1, 1.0000001]}, "both appear as 1"),
        ({"grid": {"num_leaves": []}}, "no value for num_leaves"),
        ({"grid": {"n_estimators": [0]}}, "n_estimators"),
        ({"grid": {"num_leaves": [4, 1]}}, "num_leaves is 1"),
        ({"grid": {"foo": [4]}}, "foo"),
        ({"grid": {"learning_rate": ["fast"]}}, "learning_rate is 'fast'"),
        ({"grid": {"alpha": [1]}}, "alpha cannot be in the grid"),
        ({"options": {"measure": "AP"}}, "measure cannot be in the grid"),
        ({"options": {"rule": "third"}}, "rule"),
        ({"measure": "nothing"}, "nothing"),
    ],
)
def test_what_cannot_be_is_rejected_before_anything_is_read(given: dict[str, Any], message: str) -> None:
    with pytest.raises(sf.SurefootError, match=message):
        plan(**given)


def test_presets_are_plans_of_the_papers() -> None:
    for name in PRESETS:
        settings = {key: value for key, value in preset(name).items() if key not in ("learn_baselines", "held_out")}
        checked = plan(**settings)
        assert checked.settings()
    wang = plan(**preset("wang2012"))
    assert (len(wang.combinations()), wang.grid["n_estimators"][-1], wang.tune) == (27, 800, "gain")
    assert plan(**preset("dincer2014")).alphas == (1, 5, 10, 20)
    with pytest.raises(ArgumentError, match="did you mean wang2012"):
        preset("wang2013")


def test_the_rule_is_said() -> None:
    assert plan().rule() == "Parameters were given, not tuned."
    rule = plan(grid={"num_leaves": [4, 8]}).rule()
    assert "num_leaves (4, 8)" in rule
    assert "tuned for gain alone" in rule
    assert "the validation data of each fold" in rule
    assert "not tuned: each setting" in plan(grid={"num_leaves": [4, 8]}, tune="none").rule()
