"""What a ranker is asked for: α that must be given, criteria that need a baseline, parameters without effect, seeds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lightgbm.basic import _ConfigAliases
from sklearn.base import clone

import surefoot as sf
from surefoot.errors import ArgumentError
from surefoot.learn.criteria import Criterion
from surefoot.learn.engines.lightgbm.parameters import ACCEPTED, REJECTED, check_parameters
from surefoot.learn.estimator import score_sample

SMALL: dict[str, Any] = {"n_estimators": 3, "num_leaves": 4, "min_data_in_leaf": 5, "num_threads": 1}


@pytest.mark.parametrize("objective", ["u_risk", "saro", "faro", "geo_risk"])
def test_a_risk_objective_needs_alpha(train, objective: str) -> None:
    with pytest.raises(ArgumentError, match=r"needs alpha, such as alpha=5: each loss .* 1 \+ α times"):
        sf.Ranker(objective, **SMALL).fit(train)
    assert sf.Ranker(objective, alpha=0, **SMALL).fit(train).best_iteration_ == 3
    assert clone(sf.Ranker(objective)).alpha is None


def test_gain_needs_no_alpha(train) -> None:
    assert sf.Ranker(**SMALL).fit(train).alpha is None


def test_an_alpha_in_other_clothes(train) -> None:
    plain = sf.Ranker("saro", 2, **SMALL).fit(train).predict(train)
    for alpha in ("2", np.float32(2), np.array(2), 2):
        np.testing.assert_array_equal(sf.Ranker("saro", alpha, **SMALL).fit(train).predict(train), plain)


@pytest.mark.parametrize("stop_on", ["u_risk@5", "t_risk@1", "geo_risk@0"])
def test_a_risk_criterion_needs_a_baseline(train, valid, stop_on: str) -> None:
    bare, bare_valid = (sf.RankingData(data.X, data.y, group=data.lengths) for data in (train, valid))
    with pytest.raises(ArgumentError, match="compares with a baseline"):
        sf.Ranker(stop_on=stop_on, **SMALL).fit(bare, valid=bare_valid)
    with pytest.raises(ArgumentError, match="compares with a baseline"):
        Criterion.parse(stop_on)(np.array([0.5]), None)
    assert sf.Ranker(stop_on=stop_on, **SMALL).fit(train, valid=valid).best_score_ is not None


@pytest.mark.parametrize("stop_on", ["u_risk", "geo_risk", "effectiveness@5", "u_risk@", "u_risk@x"])
def test_a_criterion_says_its_alpha(stop_on: str) -> None:
    with pytest.raises(ArgumentError):
        Criterion.parse(stop_on)


def test_every_parameter_of_lightgbm_is_taken_or_rejected_with_a_reason() -> None:
    known = set(_ConfigAliases._get_all_param_aliases())
    assert not set(ACCEPTED) & set(REJECTED)
    assert known <= set(ACCEPTED) | set(REJECTED)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("seed", "give random_state"),
        ("bagging_seed", "give random_state"),
        ("label_gain", "`measure` decides the gains"),
        ("eval_at", "LightGBM's metrics are not used"),
        ("is_unbalance", "would have no effect"),
        ("boost_from_average", "would have no effect"),
        ("output_model", "LightGBM's own command line"),
        ("forcedsplits_filename", "or a checkpoint would not have its content"),
        ("num_machines", "this trains on one"),
        ("pred_early_stop", "Ranker.predict decides it"),
    ],
)
def test_parameters_without_effect(train, name: str, reason: str) -> None:
    with pytest.raises(ArgumentError, match=reason):
        sf.Ranker(**SMALL, **{name: 1}).fit(train)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("num_leaves", [1, 131_073, -5, 2.5, "x", None, [3], True, float("nan"), 10**400, "１０"]),
        ("learning_rate", [0, -1, 1e308, float("inf"), "fast", None]),
        ("max_bin", [1, 2**31]),
        ("num_threads", [-2, 100_000, 2**31, "x"]),
        ("min_data_in_leaf", [-1, "many"]),
        ("bagging_fraction", [0, 2, -0.5]),
        ("feature_fraction", [0, 1.5]),
        ("lambda_l2", [-1, 1e308]),
        ("boosting", ["rf", "random", 5]),
        ("data_sample_strategy", ["x", None]),
        ("device_type", ["tpu"]),
        ("extra_trees", ["maybe", 2, None]),
        ("monotone_constraints", [[1], "x", [2, 0, 0, 0, 0, 0], {"no such": 1}]),
        ("max_bin_by_feature", [[10], [1] * 6]),
        ("feature_contri", [[0.5], [-1] * 6]),
        ("interaction_constraints", [[[99]], "x", 5, [], "[0,"]),
        ("categorical_feature", [99, "name:a", -1, [0, 0]]),
        ("verbosity", ["x"]),
    ],
)
def test_values_out_of_range_name_the_parameter(train, name: str, values: list[Any]) -> None:
    for value in values:
        with pytest.raises(ArgumentError, match=name):
            sf.Ranker(**(SMALL | {name: value})).fit(train)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"bagging_fraction": 0.5}, "no effect without bagging_freq"),
        ({"force_col_wise": True, "force_row_wise": True}, "cannot both be"),
        ({"data_sample_strategy": "goss", "top_rate": 0.9, "other_rate": 0.9}, "add up"),
        ({"boosting": "goss", "data_sample_strategy": "bagging"}, "cannot both be"),
        ({"boosting": "dart", "checkpoint": "x"}, "cannot continue from a checkpoint"),
    ],
)
def test_parameters_that_do_not_go_together(train, tmp_path: Path, monkeypatch, parameters, message: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ArgumentError, match=message):
        sf.Ranker(**(SMALL | parameters)).fit(train)


def test_lists_as_a_command_line_writes_them() -> None:
    changed = {"monotone_constraints": "1,0,-1", "interaction_constraints": "[0,1],[2]", "categorical_feature": "0,2"}
    assert check_parameters(changed, features=3) == {
        "monotone_constraints": [1, 0, -1],
        "interaction_constraints": [[0, 1], [2]],
        "categorical_feature": [0, 2],
    }


def test_categories_and_constraints_have_an_effect(train) -> None:
    X = np.array(train.X)
    X[:, 0] = np.array([5, 0, 3, 1, 4])[train.y.astype(int)]  # a category tells the label, its number does not
    plain, *changed = (
        sf.Ranker(**SMALL, **extra).fit(X, train.y, group=train.lengths).predict(X)
        for extra in ({}, {"categorical_feature": [0]}, {"monotone_constraints": [-1, 0, 0, 0, 0, 0]})
    )
    for other in changed:
        assert not np.array_equal(other, plain)


def test_scores_that_are_not_finite() -> None:
    with pytest.raises(ArgumentError, match="not finite"):
        score_sample(np.array([1.0, np.nan]))


def test_no_split_can_be_made(train) -> None:
    for X, y, group in (
        (np.ones((40, 3)), np.arange(40) % 2, [20, 20]),
        ([[0.0, 1.0], [1.0, 0.0], [0.5, 2.0], [3.0, 1.0]], [0, 1, 0, 1], [2, 2]),
    ):
        with pytest.raises(ArgumentError, match="no tree can be grown"):
            sf.Ranker().fit(X, y, group=group)
    for changed in ({"min_sum_hessian_in_leaf": 1e30}, {"min_gain_to_split": 1e30}, {"min_data_in_leaf": 10**9}):
        with pytest.raises(ArgumentError, match="no tree can be grown"):
            sf.Ranker(**(SMALL | changed)).fit(train)


def test_seeds(train) -> None:
    def model(seed: Any) -> sf.Ranker:
        return sf.Ranker(random_state=seed, feature_fraction=0.5, **SMALL).fit(train)

    for seed in (np.int64(3), np.uint8(3)):
        np.testing.assert_array_equal(model(seed).predict(train), model(3).predict(train))
    drawn = model(None)
    assert drawn.get_params()["random_state"] is None
    assert 0 <= drawn.random_state_ < 2**31
    np.testing.assert_array_equal(model(drawn.random_state_).predict(train), drawn.predict(train))
    assert model(2**31 - 1).random_state_ == 2**31 - 1
    for seed in (-1, 2**31, 1.5, "x", True, np.random.RandomState(0), np.random.default_rng(0)):
        with pytest.raises(ArgumentError, match="random_state is"):
            model(seed)


def test_a_ranker_with_numbers_of_numpy_is_saved(train, tmp_path: Path) -> None:
    r = sf.Ranker("u_risk", np.float32(2), random_state=np.int64(1), **(SMALL | {"num_leaves": np.int32(4)})).fit(train)
    r.save(tmp_path / "m")
    assert sf.Ranker.load(tmp_path / "m").get_params()["num_leaves"] == 4
