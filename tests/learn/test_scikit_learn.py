"""Ranker among scikit-learn's own tools, and without scikit-learn."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import lightgbm as lgb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

import surefoot as sf
from surefoot.errors import ArgumentError

SMALL = {"n_estimators": 4, "num_leaves": 4, "min_data_in_leaf": 5, "num_threads": 1, "history": False}


@pytest.fixture(scope="module")
def data() -> sf.RankingData:
    return sf.demo.letor(queries=30, documents=12, features=5, seed=1)


@pytest.fixture(scope="module")
def qid(data) -> np.ndarray:
    return np.repeat(np.arange(len(data.queries)), data.lengths)


@pytest.fixture(scope="module")
def table(data, qid) -> pd.DataFrame:
    return pd.DataFrame(data.X, columns=["bm25", "page rank", "url: length", "文", "e"]).assign(qid=qid)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def folds_by_hand(data, qid, ranker, scaled: bool = False) -> list[float]:
    """The mean of the measure on each fold, with nothing of scikit-learn's but the folds."""
    result = []
    for train, test in GroupKFold(3).split(data.X, data.y, qid):
        prepare = StandardScaler().fit(data.X[train]).transform if scaled else np.array
        fitted = clone(ranker).fit(prepare(data.X[train]), data.y[train], qid=qid[train])
        fold_data = sf.RankingData(prepare(data.X[test]), data.y[test], qid=qid[test])
        run = fold_data.to_run(fitted.predict(fold_data), "x")
        result.append(float(sf.score(fold_data.qrels(), run, ranker.measure).mean()[0]))
    return result


def test_it_is_a_base_estimator(data, qid) -> None:
    ranker = sf.Ranker(**SMALL)
    assert isinstance(ranker, BaseEstimator)
    with pytest.raises(NotFittedError):
        check_is_fitted(ranker)
    check_is_fitted(ranker.fit(data.X, data.y, qid=qid))
    assert "Ranker" in ranker._repr_html_()
    assert not hasattr(clone(ranker), "booster_")
    assert clone(ranker).get_params() == ranker.get_params()


def test_folds_with_the_queries_as_a_column(data, qid, table) -> None:
    ranker = sf.Ranker(**SMALL)
    result = cross_val_score(ranker, table, data.y, groups=qid, cv=GroupKFold(3))
    assert result.tolist() == folds_by_hand(data, qid, ranker)


def test_folds_with_metadata_routing(data, qid, routing) -> None:
    ranker = sf.Ranker(**SMALL)
    params = {"qid": qid, "groups": qid}
    result = cross_val_score(ranker, data.X, data.y, cv=GroupKFold(3), params=params)
    assert result.tolist() == folds_by_hand(data, qid, ranker)
    piped = cross_val_score(make_pipeline(StandardScaler(), ranker), data.X, data.y, cv=GroupKFold(3), params=params)
    assert piped.tolist() == folds_by_hand(data, qid, ranker, scaled=True)
    scores = cross_val_predict(ranker, data.X, data.y, cv=GroupKFold(3), params=params)
    assert scores.shape == (len(data),)


def test_folds_with_a_baseline(data, qid, routing) -> None:
    ranker = sf.Ranker("u_risk", 5, init="baseline", **SMALL)
    params = {"qid": qid, "groups": qid, "baseline": data.baselines["bm25"]}
    assert len(cross_val_score(ranker, data.X, data.y, cv=GroupKFold(3), params=params)) == 3


def test_a_grid_of_parameters_its_own_and_the_engines(data, table) -> None:
    grid = GridSearchCV(
        sf.Ranker(**SMALL), {"num_leaves": [3, 5], "measure": ["nDCG@5", "AP"]}, cv=GroupKFold(3), error_score="raise"
    )
    grid.fit(table, data.y, groups=table["qid"])
    assert set(grid.best_params_) == {"num_leaves", "measure"}
    assert grid.best_estimator_.get_params()["num_leaves"] == grid.best_params_["num_leaves"]
    assert grid.predict(table).shape == (len(data),)
    assert grid.score(table, data.y) == grid.best_estimator_.score(table, data.y)


def test_a_pipeline_without_routing(data, qid) -> None:
    pipe = make_pipeline(StandardScaler(), sf.Ranker(**SMALL)).fit(data.X, data.y, ranker__qid=qid)
    check_is_fitted(pipe)
    alone = sf.Ranker(**SMALL).fit(StandardScaler().fit_transform(data.X), data.y, qid=qid)
    np.testing.assert_array_equal(pipe.predict(data.X), alone.predict(StandardScaler().fit_transform(data.X)))


def test_score_is_the_mean_of_the_measure(data, qid) -> None:
    ranker = sf.Ranker(measure="ERR@10", n_estimators=3, num_threads=1).fit(data)
    expected = sf.score(data.qrels(), ranker.to_run(data), "ERR@10").mean()[0]
    assert ranker.score(data) == expected == pytest.approx(ranker.history_["train"]["effectiveness"][-1], abs=1e-12)
    assert 0 < ranker.score(data.X, data.y, group=data.lengths) == ranker.score(data.X, data.y, qid=qid)
    with pytest.raises(ArgumentError, match="qid"):
        ranker.score(data.X, data.y)
    with pytest.raises(ArgumentError, match="labels are missing"):
        ranker.score(data.X, qid=qid)


@pytest.mark.parametrize("criterion", ["u_risk@5", "t_risk@5", "geo_risk@5", "effectiveness"])
def test_score_on_every_criterion(data, qid, criterion: str) -> None:
    """As the risk room has it, from the scores that evaluation gives."""
    two = data.with_baseline("second", data.feature(2).astype(float))
    for given in (data, two):
        ranker = sf.Ranker(measure="nDCG@5", score_on=criterion, **SMALL).fit(given)
        runs = [ranker.to_run(given), *(given.to_run(scores, name) for name, scores in given.baselines.items())]
        values = sf.score(given.qrels(), runs, "nDCG@5").values
        mean = values[1:].mean(axis=0)
        expected = {
            "effectiveness": lambda values=values: values[0].mean(),
            "u_risk@5": lambda values=values, mean=mean: sf.u_risk(values[0], mean, 5),
            "t_risk@5": lambda values=values, mean=mean: sf.t_risk(values[0], mean, 5),
            "geo_risk@5": lambda values=values: sf.geo_risk(values, 5)[0],
        }[criterion]()
        assert ranker.score(given) == pytest.approx(expected, abs=1e-12)
        scores = np.stack(list(given.baselines.values()), axis=1)
        assert ranker.score(data.X, data.y, qid=qid, baseline=scores) == pytest.approx(expected, abs=1e-12)
    if criterion != "effectiveness":
        with pytest.raises(ArgumentError, match=f"score_on='{criterion}' compares with a baseline; give one"):
            ranker.score(data.X, data.y, qid=qid)


def test_a_grid_over_alpha_that_does_not_ignore_risk(data, qid, routing) -> None:
    base = data.baselines["bm25"]
    ranker = sf.Ranker("u_risk", score_on="u_risk@10", **SMALL)
    grid = GridSearchCV(ranker, {"alpha": [0, 10]}, cv=GroupKFold(3), error_score="raise")
    grid.fit(data.X, data.y, qid=qid, baseline=base, groups=qid)
    for place, alpha in enumerate([0, 10]):
        for fold, (train, test) in enumerate(GroupKFold(3).split(data.X, data.y, qid)):
            fitted = clone(ranker).set_params(alpha=alpha)
            fitted.fit(data.X[train], data.y[train], qid=qid[train], baseline=base[train])
            expected = fitted.score(data.X[test], data.y[test], qid=qid[test], baseline=base[test])
            assert grid.cv_results_[f"split{fold}_test_score"][place] == expected
    assert grid.best_estimator_.baselines_ == ["baseline"]


def test_without_routing_one_line_says_how(data, qid) -> None:
    grid = GridSearchCV(sf.Ranker(**SMALL), {"num_leaves": [3, 5]}, cv=GroupKFold(3), error_score="raise")
    with pytest.raises(ArgumentError, match=r"first call sklearn.set_config.enable_metadata_routing=True."):
        grid.fit(data.X, data.y, qid=qid, baseline=data.baselines["bm25"], groups=qid)


@pytest.mark.parametrize("engine", ["lightgbm", pytest.param("xgboost", marks=pytest.mark.engines("xgboost"))])
def test_monotone_constraints_by_name(data, table, engine: str) -> None:
    small = SMALL if engine == "lightgbm" else {"engine": "xgboost", "n_estimators": 4, "max_depth": 3, "nthread": 1}
    named = sf.Ranker(monotone_constraints={"url: length": -1, "bm25": 1}, **small).fit(table, data.y)
    listed = sf.Ranker(monotone_constraints=[1, 0, -1, 0, 0], **small).fit(table, data.y)
    np.testing.assert_array_equal(named.predict(table), listed.predict(table))
    free = sf.Ranker(**small).fit(table, data.y)
    assert (free.predict(table) != named.predict(table)).any()
    rows = np.repeat(data.X[:1], 50, axis=0)
    rows[:, 0] = np.linspace(data.X[:, 0].min(), data.X[:, 0].max(), 50)
    assert (np.diff(named.predict(rows)) >= 0).all()
    assert clone(named).get_params()["monotone_constraints"] == {"url: length": -1, "bm25": 1}
    numbered = sf.Ranker(monotone_constraints={"feature_1": 1}, **small).fit(data)
    assert (np.diff(numbered.predict(rows)) >= 0).all()
    with pytest.raises(ArgumentError, match="names the feature 'bm26', but the data does not have it"):
        sf.Ranker(monotone_constraints={"bm26": 1}, **small).fit(table, data.y)
    with pytest.raises(ArgumentError, match="monotone_constraints, value 1, is 7"):
        sf.Ranker(monotone_constraints={"bm25": 7}, **small).fit(table, data.y)


def test_importances(data, table) -> None:
    ranker = sf.Ranker(**(SMALL | {"n_estimators": 30}), early_stopping_rounds=3).fit(data, valid=data.select([0, 1]))
    trees = ranker.booster_.trees_to_dataframe()
    used = trees[(trees["tree_index"] < ranker.best_iteration_) & trees["split_feature"].notna()]
    for kind, expected in (("split", used.groupby("split_feature").size()),
                           ("gain", used.groupby("split_feature")["split_gain"].sum())):  # fmt: skip
        result = ranker.set_params(importance_type=kind).feature_importances_
        np.testing.assert_allclose(result, [expected.get(f"Column_{i}", 0) for i in range(5)], rtol=1e-5)
    with pytest.raises(ArgumentError, match="importance_type is 'weight'; it must be 'split' or 'gain'"):
        sf.Ranker(importance_type="weight").fit(data)
    with pytest.raises(ArgumentError, match="has not learned"):
        _ = sf.Ranker().feature_importances_
    assert SelectFromModel(sf.Ranker(**SMALL)).fit(table, data.y).get_support().any()


def test_queries_as_a_column_of_any_table(data, qid, table) -> None:
    expected = sf.Ranker(**SMALL).fit(data.X, data.y, qid=qid).predict(data.X)
    for each in (table, pl.DataFrame(table), pl.LazyFrame(table), pa.table(table)):
        ranker = sf.Ranker(**SMALL).fit(each, data.y)
        assert ranker.feature_names_in_ == list(table.columns[:-1])
        np.testing.assert_array_equal(ranker.predict(each), expected)
        np.testing.assert_array_equal(ranker.predict(table.drop(columns="qid")), expected)
        with pytest.raises(ArgumentError, match="X has a column 'qid', but you also gave the queries separately"):
            sf.Ranker(**SMALL).fit(each, data.y, qid=qid)
    based = sf.Ranker("u_risk", 5, init="baseline", **SMALL).fit(table, data.y, baseline=data.baselines["bm25"])
    np.testing.assert_array_equal(
        based.predict(table, baseline=data.baselines["bm25"]),
        based.predict(data.X, qid=qid, baseline=data.baselines["bm25"]),
    )


def test_the_saved_text_names_an_objective_and_the_features(data, table, tmp_path: Path) -> None:
    ranker = sf.Ranker("u_risk", 5, early_stopping_rounds=2, **(SMALL | {"n_estimators": 20}))
    ranker.fit(table, data.y, baseline=data.baselines["bm25"],
               valid=(sf.RankingData(table, data.y), data.baselines["bm25"]))  # fmt: skip
    ranker.save(tmp_path / "model")
    text = (tmp_path / "model" / "model.txt").read_text(encoding="utf-8")
    assert text.count("\nobjective=lambdarank\n") == text.count("\n[objective: lambdarank]\n") == 1
    plain = lgb.Booster(model_file=tmp_path / "model" / "model.txt")
    np.testing.assert_array_equal(plain.predict(data.X), ranker.predict(data.X))
    assert plain.feature_name() == ["bm25", "page_rank", "url__length", "文", "e"]
    assert plain.dump_model()["objective"] == "lambdarank"
    again = sf.Ranker.load(tmp_path / "model")
    assert again.feature_names_in_ == ["bm25", "page rank", "url: length", "文", "e"]
    again.save(tmp_path / "again")  # the same again, to the byte
    assert (tmp_path / "again" / "model.txt").read_text(encoding="utf-8") == text


def test_without_scikit_learn(tmp_path: Path) -> None:
    script = """
import sys
sys.modules["sklearn"] = None  # as if it were not installed
import surefoot as sf
data = sf.demo.letor(queries=20, documents=10, features=4, seed=1)
r = sf.Ranker(n_estimators=2, num_leaves=4, num_threads=1).fit(data)
r.set_params(num_leaves=5).get_params()
r.save(sys.argv[1])
assert sf.Ranker.load(sys.argv[1]).score(data) == r.score(data) > 0
print(repr(r), len(r.feature_importances_))
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "m")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["Ranker(n_estimators=2,", "num_leaves=5,", "num_threads=1)", "4"]
