"""Ranker: LightGBM's own trees at α = 0, scikit-learn's manners, stopping, going on, saving, and what is refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import lightgbm as lgb
import numpy as np
import pytest
from sklearn.base import clone

import surefoot as sf
from surefoot.errors import ArgumentError, DataError

SMALL = {"num_leaves": 4, "learning_rate": 0.1, "min_data_in_leaf": 5, "num_threads": 1}


@pytest.fixture(scope="module")
def train() -> sf.RankingData:
    return sf.demo.letor(queries=60, documents=20, features=20, seed=1)


@pytest.fixture(scope="module")
def valid() -> sf.RankingData:
    return sf.demo.letor(queries=30, documents=20, features=20, seed=2)


def without_ids(data: sf.RankingData) -> sf.RankingData:
    return sf.RankingData(data.X, data.y, group=data.lengths, baselines=data.baselines)


def same_trees_as_lightgbm(data: sf.RankingData, k: int, **parameters) -> None:
    """The first five trees of `gain` are those of native lambdarank: structure, and leaf values."""
    ours = sf.Ranker(
        measure=f"nDCG(dcg='exp-log2')@{k}",
        delta_cutoff=None,
        n_estimators=5,
        history=False,
        num_threads=2,
        **parameters,
    ).fit(data)
    native = lgb.train(
        {
            "objective": "lambdarank", "lambdarank_norm": False, "lambdarank_truncation_level": k, "verbosity": -1,
            "deterministic": True, "force_col_wise": True, "num_threads": 2, "seed": 0, **parameters,
        },
        lgb.Dataset(data.X, data.y, group=data.lengths),
        num_boost_round=5,
    )  # fmt: skip
    mine, theirs = ours.booster_.trees_to_dataframe(), native.trees_to_dataframe()
    assert mine["split_feature"].fillna("").tolist() == theirs["split_feature"].fillna("").tolist()
    assert mine["threshold"].fillna(0).tolist() == theirs["threshold"].fillna(0).tolist()
    assert mine["node_index"].tolist() == theirs["node_index"].tolist()
    np.testing.assert_allclose(mine["value"], theirs["value"], atol=1e-4)


@pytest.mark.parametrize("k", [3, 10, 30])
def test_the_same_trees_as_lightgbm_on_generated_data(k: int) -> None:
    data = sf.demo.letor(queries=200, documents=40, features=30, seed=5)
    same_trees_as_lightgbm(without_ids(data), k, num_leaves=16, learning_rate=0.1)


def test_the_same_trees_as_lightgbm_on_mq2008(data) -> None:
    fold = sf.read_letor(data / "mq2008" / "Fold1" / "train.txt")
    same_trees_as_lightgbm(without_ids(fold), 10, num_leaves=8, learning_rate=0.05, min_data_in_leaf=50)
    # Not with feature_fraction: under a custom objective LightGBM draws other features from the same seed.
    same_trees_as_lightgbm(without_ids(fold), 5, num_leaves=31)


def test_alpha_zero_is_gain(train) -> None:
    plain = sf.Ranker(n_estimators=5, **SMALL).fit(train).predict(train)
    for objective in ("u_risk", "saro", "faro"):
        for rule in ("exact", "eq9"):
            same = sf.Ranker(objective, alpha=0, rule=rule, n_estimators=5, **SMALL).fit(train)
            np.testing.assert_array_equal(same.predict(train), plain)


def test_risk_falls_with_alpha() -> None:
    data = sf.demo.letor(queries=300, documents=20, features=20, seed=3)
    risks = [
        sf.Ranker("u_risk", alpha=alpha, n_estimators=30, **SMALL).fit(data).history_["train"]["risk"][-1]
        for alpha in (0, 20)
    ]
    assert risks[1] < 0.8 * risks[0]


def test_history_is_what_evaluation_says(train, valid) -> None:
    measure = "ERR@10"
    r = sf.Ranker("u_risk", alpha=2, measure=measure, n_estimators=7, **SMALL).fit(train, valid=valid)
    for which, data in (("train", train), ("valid", valid)):
        runs = [data.to_run(data.baselines["bm25"], "bm25"), data.to_run(r.predict(data), "model")]
        entry = sf.assess(sf.score(data.qrels(), runs, measure), baseline="bm25").to_dict()["systems"][1]
        history = r.history_[which]
        assert len(history["risk"]) == 7
        assert history["effectiveness"][-1] == pytest.approx(entry["mean"], abs=1e-12)
        assert history["risk"][-1] == pytest.approx(entry["risk"], abs=1e-12)
        assert (history["wins"][-1], history["losses"][-1]) == (entry["wins"], entry["losses"])


def test_manners_of_scikit_learn(train) -> None:
    r = sf.Ranker(objective="u_risk", alpha=5, n_estimators=3, num_leaves=4, learning_rate=0.2)
    assert r.get_params()["num_leaves"] == 4
    copy = clone(r)
    assert copy.get_params() == r.get_params()
    copy.set_params(alpha=1, num_leaves=5)
    assert (copy.alpha, copy.get_params()["num_leaves"]) == (1, 5)
    assert repr(r) == "Ranker(objective='u_risk', alpha=5, n_estimators=3, num_leaves=4, learning_rate=0.2)"
    qid = np.repeat(np.arange(len(train.queries)), train.lengths)
    one = clone(r).fit(train.X, train.y, qid=qid, baseline=train.baselines["bm25"])
    other = clone(r).fit(train.X, train.y, group=train.lengths, baseline=train.baselines["bm25"][:, None])
    np.testing.assert_array_equal(one.predict(train.X), other.predict(train.X))
    assert one.n_features_in_ == train.n_features
    with pytest.raises(ArgumentError, match="has not learned anything"):
        sf.Ranker().predict(train.X)


def test_several_baselines(train) -> None:
    rng = np.random.default_rng(0)
    more = train.with_baseline("other", train.feature(2)).with_baseline("noise", rng.random(len(train)))
    for objective in ("geo_risk", "faro", "u_risk"):
        r = sf.Ranker(objective, alpha=5, n_estimators=4, **SMALL).fit(more)
        assert r.baselines_ == ["bm25", "other", "noise"]
        assert r.history_["train"]["effectiveness"][-1] > r.history_["train"]["effectiveness"][0] - 0.05


def test_start_from_the_baseline(train, valid) -> None:
    r = sf.Ranker("u_risk", alpha=20, init="baseline", n_estimators=1, **(SMALL | {"learning_rate": 1e-6}))
    r.fit(train, valid=valid)
    # A tiny step from the baseline leaves its ranking as it was.
    assert r.history_["valid"]["losses"][-1] <= 1
    assert r.history_["valid"]["risk"][-1] < 0.01
    with pytest.raises(ArgumentError, match="starts from a baseline"):
        r.predict(sf.RankingData(valid.X, valid.y, group=valid.lengths))


@pytest.mark.parametrize("stop_on", ["effectiveness", "u_risk@5", "t_risk@1", "geo_risk@5"])
def test_early_stopping(train, valid, stop_on: str) -> None:
    r = sf.Ranker(
        "u_risk", 5, n_estimators=300, early_stopping_rounds=5, stop_on=stop_on, **(SMALL | {"learning_rate": 0.5})
    )
    r.fit(train, valid=valid)
    grown = len(r.history_["valid"]["risk"])
    assert grown < 300
    assert r.best_iteration_ == grown - 5
    values = r.booster_.predict(valid.X, num_iteration=r.best_iteration_)
    np.testing.assert_array_equal(r.predict(valid), values)


def test_the_same_seed_gives_the_same_model(train) -> None:
    def model(seed: int) -> str:
        r = sf.Ranker("saro", 5, n_estimators=5, feature_fraction=0.5, random_state=seed, **SMALL).fit(train)
        return r.booster_.model_to_string()

    assert model(1) == model(1) != model(2)


def test_saved_and_loaded(train, valid, tmp_path: Path) -> None:
    r = sf.Ranker("u_risk", 5, n_estimators=6, early_stopping_rounds=3, **SMALL).fit(train, valid=valid)
    r.save(tmp_path / "model")
    again = sf.Ranker.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(valid), r.predict(valid))
    assert again.get_params() == r.get_params()
    assert again.history_ == r.history_
    plain = lgb.Booster(model_file=str(tmp_path / "model" / "model.txt"))
    np.testing.assert_array_equal(plain.predict(valid.X), r.predict(valid))
    r.save(tmp_path / "model")  # over an older one
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == ["model.txt", "ranker.json"]


def test_a_ranker_keeps_a_sample_of_its_scores(train, valid, tmp_path: Path) -> None:
    r = sf.Ranker(n_estimators=5, **SMALL).fit(train)
    assert r.score_sample_[0] == r.predict(train).min()
    assert r.score_sample_[-1] == r.predict(train).max()
    r.save(tmp_path / "model")
    again = sf.Ranker.load(tmp_path / "model")
    one, other = (
        sf.score(valid.qrels(), ranker.to_run(valid), "SoftNDCG(sigma=0.1)@5").values for ranker in (r, again)
    )
    np.testing.assert_array_equal(one, other)
    plain = sf.score(valid.qrels(), valid.to_run(r.predict(valid), "x"), "SoftNDCG(sigma=0.1)@5").values
    assert not np.array_equal(one, plain)


def test_a_corrupted_or_hostile_model_folder(train, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    sf.Ranker(n_estimators=3, **SMALL).fit(train).save(folder)
    details, model = (folder / "ranker.json").read_text(), (folder / "model.txt").read_text()

    def refused(message: str) -> None:
        with pytest.raises(DataError, match=message):
            sf.Ranker.load(folder)
        (folder / "ranker.json").write_text(details)
        (folder / "model.txt").write_text(model)

    (folder / "model.txt").write_text(model[: len(model) // 2])
    refused("is not the file that ranker.json was written for")
    (folder / "ranker.json").write_text(details[:100])
    refused("is not JSON")
    (folder / "ranker.json").write_text("[]")
    refused("does not describe a ranker")
    (folder / "ranker.json").write_text(details.replace("surefoot/ranker/1", "surefoot/ranker/9"))
    refused("has schema 'surefoot/ranker/9'")
    (folder / "model.txt").write_text("not a model")
    import hashlib

    false = json.loads(details)
    false["model"]["sha256"] = hashlib.sha256(b"not a model").hexdigest()
    (folder / "ranker.json").write_text(json.dumps(false))
    refused("is not a LightGBM model")
    false = json.loads(details)
    del false["fitted"]["history_"]
    (folder / "ranker.json").write_text(json.dumps(false))
    refused("does not have history_")
    (folder / "model.txt").unlink()
    refused("cannot be read")
    with pytest.raises(DataError, match="is not a folder"):
        sf.Ranker.load(tmp_path / "absent")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"objective": "fame"}, "objective is 'fame'; it must be one of gain, u_risk"),
        ({"alpha": -1}, "alpha is -1"),
        ({"rule": "eq8"}, "rule is 'eq8'"),
        ({"measure": "P@10"}, "P@10 cannot be optimised"),
        ({"measure": "nGCD@10"}, "unknown measure"),
        ({"num_leafs": 5}, "unknown parameter 'num_leafs'; did you mean num_leaf"),
        ({"metric": "ndcg"}, "'metric' cannot be set here"),
        ({"bagging_by_query": True}, "'bagging_by_query' cannot be set here"),
        ({"lambdarank_norm": True}, "weakens α"),
        ({"num_leaves": 5, "max_leaves": 6}, "given twice"),
        ({"n_estimators": 0}, "n_estimators is 0"),
        ({"init": "zero"}, "init is 'zero'"),
        ({"stop_on": "luck"}, "stop_on is 'luck'"),
        ({"early_stopping_rounds": 5}, "needs validation data"),
        ({"sigma": 0}, "sigma is 0"),
    ],
)
def test_bad_parameters(train, parameters, message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        sf.Ranker(**parameters).fit(train)
    assert message in str(caught.value)


def test_bad_data(train, valid) -> None:
    X, y, group = train.X, train.y, train.lengths
    fit = sf.Ranker(n_estimators=2, **SMALL).fit
    with pytest.raises(sf.SurefootError, match="comes again after other queries"):
        fit([[0.0], [1.0], [2.0]], [0, 1, 0], qid=["a", "b", "a"])
    with pytest.raises(sf.SurefootError, match="labels"):
        fit(X, y[:-1], group=group)
    with pytest.raises(sf.SurefootError, match="label is -1"):
        fit([[0.0], [1.0]], [0, -1], qid=["a", "a"])
    with pytest.raises(sf.SurefootError, match="overflow above 31"):
        fit([[0.0], [1.0]], [0, 40], qid=["a", "a"])
    with pytest.raises(sf.SurefootError, match="need whole labels"):
        fit([[0.0], [1.0]], [0, 0.5], qid=["a", "a"])
    with pytest.raises(sf.SurefootError, match="finite score"):
        fit(X, y, group=group, baseline=np.full(len(y), np.nan))
    with pytest.raises(ArgumentError, match="nothing to learn"):
        fit(X, np.ones(len(y)), group=group)
    with pytest.raises(ArgumentError, match="nothing to learn"):
        fit([[0.0], [1.0]], [0, 1], qid=["a", "b"])  # queries of one document
    with pytest.raises(ArgumentError, match="compares with a baseline"):
        sf.Ranker("u_risk", 5, **SMALL).fit(X, y, group=group)
    with pytest.raises(ArgumentError, match="the validation data has 3 features"):
        fit(
            without_ids(train),
            valid=sf.RankingData(valid.X[:, :3], valid.y, group=valid.lengths, baselines=valid.baselines),
        )
    with pytest.raises(ArgumentError, match="has the baselines"):
        fit(train, valid=sf.RankingData(valid.X, valid.y, group=valid.lengths))
    with pytest.raises(ArgumentError, match="labels are missing"):
        fit(X)
    r = fit(train)
    with pytest.raises(ArgumentError, match="trained on 20 features"):
        r.predict(X[:, :3])


def test_linear_gains_take_fractions_and_queries_may_be_long() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((20_001, 3))
    y = np.concatenate([[0.5], (X[1:, 0] > 0.99) * 1.5])
    r = sf.Ranker(measure="nDCG@10", n_estimators=3, num_leaves=4, num_threads=1)
    r.fit(X, y, group=[1, 20_000])
    assert r.history_["train"]["effectiveness"][-1] > 0.5


SCRIPT = """
import sys, time
import surefoot as sf
data = sf.demo.letor(queries=60, documents=20, features=20, seed=1)
r = sf.Ranker("saro", 5, n_estimators=40, checkpoint=sys.argv[1], checkpoint_every=10, feature_fraction=0.5,
              num_leaves=4, estimate="first", num_threads=1)
stays_at = int(sys.argv[3])
r.fit(data, valid=data.select(range(20)), progress=lambda trees, history: time.sleep(3600 * (trees == stays_at)))
r.save(sys.argv[2])
"""


@pytest.mark.heavy
def test_killed_and_gone_on_gives_the_same_model(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(textwrap.dedent(SCRIPT))
    checkpoint = tmp_path / "state.json"

    def command(checkpoint: Path, folder: str, stays_at: int = 0) -> list[str]:
        return [sys.executable, str(script), str(checkpoint), str(tmp_path / folder), str(stays_at)]

    subprocess.run(command(tmp_path / "other.json", "undisturbed"), check=True)
    killed = subprocess.Popen(command(checkpoint, "killed", 14))
    while not checkpoint.exists():
        time.sleep(0.02)
    time.sleep(0.2)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    assert not (tmp_path / "killed").exists()
    assert checkpoint.exists()
    subprocess.run(command(checkpoint, "killed"), check=True)
    assert not checkpoint.exists()
    for name in ("model.txt", "ranker.json"):
        assert (tmp_path / "killed" / name).read_text() == (tmp_path / "undisturbed" / name).read_text()
