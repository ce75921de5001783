"""Categories of tables through fit, save, rank: as each engine splits by them, whatever their order; or refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.learn.trainings import ENGINES

import surefoot as sf
from surefoot.data.hashes import data_hash
from surefoot.errors import ArgumentError, DataError
from surefoot.learn.engines.contract import ModelTextError, engine_of

SMALL: dict[str, dict[str, Any]] = {
    "lightgbm": {"num_leaves": 6, "min_data_in_leaf": 3, "min_data_per_group": 1, "cat_smooth": 1, "num_threads": 1},
    "xgboost": {"engine": "xgboost", "max_depth": 3, "min_child_weight": 0.001, "max_cat_to_onehot": 1, "nthread": 1},
}
KINDS = ["books", "music", "toys", "food", "games", "shoes"]
WORTH = np.array([2.0, 0, 2, 0, 2, 0])


def frame(seed: int, kinds: list[str] = KINDS) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """The even kinds are worth more, which no threshold on their codes finds."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, len(KINDS), 360)
    price = rng.random(360)
    label = np.clip(np.rint(WORTH[kind] + price), 0, 3)
    column = pd.Categorical([KINDS[k] for k in kind], categories=kinds)
    table = pd.DataFrame({"price": price, "kind": column})
    table.loc[::17, "kind"] = np.nan
    return table, label, np.repeat(np.arange(30), 12)


@pytest.mark.parametrize("engine", ENGINES)
def test_through_fit_save_and_rank(engine: str, tmp_path: Path) -> None:
    table, y, qid = frame(1)
    test, test_y, _ = frame(2)
    ranker = sf.Ranker(n_estimators=5, **SMALL[engine]).fit(table, y, qid=qid, valid=(test, test_y, qid))
    assert ranker.categories_ == {"kind": tuple(KINDS)}
    assert ranker.score(test, test_y, qid=qid) > 0.9
    expected = ranker.predict(test)
    turned, _, _ = frame(2, KINDS[::-1])
    for same in (turned, turned[["kind", "price"]], pl.from_pandas(test), pl.from_pandas(turned).to_arrow()):
        np.testing.assert_array_equal(ranker.predict(same), expected)
    with_codes = np.column_stack([test["price"], test["kind"].cat.codes.replace(-1, np.nan)])
    np.testing.assert_array_equal(ranker.predict(with_codes), expected)  # a matrix without names has codes
    ranker.save(tmp_path / "model")
    again = sf.Ranker.load(tmp_path / "model")
    assert {name: tuple(labels) for name, labels in again.categories_.items()} == ranker.categories_
    np.testing.assert_array_equal(again.predict(turned), expected)
    new = test.assign(kind=pd.Categorical(["cars"] * len(test)))
    missing = test.assign(kind=pd.Categorical([None] * len(test), categories=KINDS))
    np.testing.assert_array_equal(ranker.predict(new), ranker.predict(missing))


@pytest.mark.parametrize("engine", ENGINES)
def test_the_engine_splits_by_sets(engine: str) -> None:
    table, y, qid = frame(1)
    ranker = sf.Ranker(n_estimators=3, **SMALL[engine]).fit(table, y, qid=qid)
    text = engine_of(engine).dump(ranker.booster_)
    assert "num_cat=1" in text if engine == "lightgbm" else '"split_type":[1' in text.replace(" ", "")
    numbers = table.assign(kind=table["kind"].cat.codes.replace(-1, np.nan).astype(float))
    plain = sf.Ranker(n_estimators=3, **SMALL[engine]).fit(numbers, y, qid=qid)
    assert (plain.predict(numbers) != ranker.predict(table)).any()


def test_as_lightgbm_itself_has_it() -> None:
    table, y, qid = frame(1)
    by_name = sf.Ranker(n_estimators=3, categorical_feature=["kind"], **SMALL["lightgbm"])
    ranker = sf.Ranker(n_estimators=3, **SMALL["lightgbm"]).fit(table, y, qid=qid)
    coded = table.assign(kind=table["kind"].cat.codes.replace(-1, np.nan).astype(float))
    np.testing.assert_array_equal(by_name.fit(coded, y, qid=qid).predict(coded), ranker.predict(table))
    assert isinstance(ranker.booster_, lgb.Booster)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_mean_of_models_with_categories(engine: str, tmp_path: Path) -> None:
    table, y, qid = frame(1)
    draws = {"feature_fraction": 0.6} if engine == "lightgbm" else {"subsample": 0.6}
    ranker = sf.Ranker(n_estimators=5, n_models=3, **draws, **SMALL[engine]).fit(table, y, qid=qid)
    singles = [
        sf.Ranker(n_estimators=5, random_state=seed, **draws, **SMALL[engine]).fit(table, y, qid=qid)
        for seed in range(3)
    ]
    test, _, _ = frame(2)
    np.testing.assert_allclose(ranker.predict(test), np.mean([one.predict(test) for one in singles], axis=0), atol=2e-6)
    ranker.save(tmp_path)
    np.testing.assert_array_equal(sf.Ranker.load(tmp_path).predict(test), ranker.predict(test))


def test_through_parquet(tmp_path: Path) -> None:
    table, y, qid = frame(1)
    data = sf.RankingData(table, y, qid=qid)
    data.write(tmp_path / "data.parquet")
    again = sf.read_letor(tmp_path / "data.parquet")
    assert again.categories == data.categories == {"kind": tuple(KINDS)}
    np.testing.assert_array_equal(again.X, data.X)
    assert data_hash(again) == data_hash(data)
    assert data.select([0, 1]).categories == data.categories
    with pytest.raises(DataError, match=r"no categories; write a \.parquet"):
        data.write(tmp_path / "data.txt")


def test_what_does_not_fit_is_refused() -> None:
    table, y, qid = frame(1)
    ranker = sf.Ranker(n_estimators=2, **SMALL["lightgbm"]).fit(table, y, qid=qid)
    with pytest.raises(
        ArgumentError, match="feature 'kind' of X is numbers, but in the training data it was a category"
    ):
        ranker.predict(table.assign(kind=1.0))
    plain = sf.Ranker(n_estimators=2, **SMALL["lightgbm"]).fit(table.assign(kind=table["price"]), y, qid=qid)
    with pytest.raises(
        ArgumentError, match="feature 'kind' of X is a category, but in the training data it was numbers"
    ):
        plain.predict(table)
    with pytest.raises(DataError, match="features must be numbers or categories: make it a category"):
        sf.RankingData(table.assign(kind="books"), y, qid=qid)
    twice = table.assign(kind=pd.Categorical([1, "1"] * 180))
    with pytest.raises(DataError, match="two categories that are written '1'"):
        sf.RankingData(twice, y, qid=qid)


@pytest.mark.engines("xgboost")
def test_a_model_text_with_broken_categories_is_refused() -> None:
    table, y, qid = frame(1)
    ranker = sf.Ranker(n_estimators=2, **SMALL["xgboost"]).fit(table, y, qid=qid)
    engine = engine_of("xgboost")
    text = engine.dump(ranker.booster_)
    assert engine.dump(engine.load(text)) == text
    for name, value in (("categories", [5] * 99), ("categories_nodes", [77]), ("categories_segments", [-1]),
                        ("categories_sizes", [2**40]), ("split_type", [2] * 99)):  # fmt: skip
        model = json.loads(text)
        tree = model["learner"]["gradient_booster"]["model"]["trees"][0]
        assert tree["categories_nodes"]
        tree[name] = value[: len(tree[name])] or value
        if name == "categories":
            tree[name] = value
        with pytest.raises(ModelTextError):
            engine.load(json.dumps(model))
