"""Whatever was chosen is saved as one model that ranks, is checked when it is loaded, and says what it cannot do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.choose.candidates import TrainedModels
from surefoot.choose.choice import chosen_ranker, copy_model, select
from surefoot.choose.options import RANKINGS
from surefoot.choose.selection_policy import SelectionPolicy
from surefoot.choose.store import SweepStore
from surefoot.data.types.ranking_data import RankingData
from surefoot.errors import ArgumentError, DataError


@pytest.fixture(scope="module")
def candidates(crossed: tuple[sf.TradeOffs, SweepStore]) -> TrainedModels:
    return TrainedModels(crossed[1])


@pytest.mark.parametrize(
    "name",
    [
        "gain", "u_risk α=5, mean of 2 seeds", "gain blended w=0.3", "u_risk α=5, mean of 2 seeds, blended w=0.7",
        "gain selective 40%", "u_risk α=1, mean of 2 seeds, selective 50%",
    ],
)  # fmt: skip
def test_the_saved_model_has_the_figures(
    crossed: tuple[sf.TradeOffs, SweepStore], candidates: TrainedModels, tmp_path: Path, name: str
) -> None:
    row = next(row for row in crossed[0].rows if row["name"] == name)
    for fold in candidates.folds:
        chosen_ranker(candidates, row, fold)[0].save(tmp_path / fold)
        ranker, test = sf.Ranker.load(tmp_path / fold), crossed[1].source.load(fold).test
        run = ranker.to_run(test.with_baselines_only(["today"]))
        figures = row["folds"][fold].get("first_seed", row["folds"][fold]["test"])
        mean = sf.score(test.qrels(), [run], crossed[1].plan.measure).values[0].mean()
        assert mean == pytest.approx(figures["mean"], abs=1e-12)
        # As it is ranked later: the data does not have the sweep's query feature, or has a column of zeros.
        raw = test.with_features(np.ascontiguousarray(test.X[:, :-1]), None)
        zeros = np.column_stack([raw.X, np.zeros(len(raw))]).astype(np.float32)
        for data in (raw, test.with_features(zeros, None)):
            np.testing.assert_array_equal(ranker.predict(data), ranker.predict(test))
        qid = [query for query, length in zip(raw.queries, raw.lengths, strict=True) for _ in range(length)]
        baseline = {"today": raw.baselines["today"]}
        np.testing.assert_array_equal(ranker.predict(raw.X, qid=qid, baseline=baseline), ranker.predict(test))
    assert [type(one) for one in sf.TradeOffs.read(crossed[1].folder).models(name)] == [sf.Ranker] * 3


def test_a_mean_is_the_mean(crossed: tuple[sf.TradeOffs, SweepStore], tmp_path: Path) -> None:
    trade_offs, store = crossed
    choice = select(trade_offs, SelectionPolicy("max_risk", 1), ("mean of seeds",))
    fold, name, seeds = copy_model(store, choice, tmp_path / "m", "Fold2")
    assert (fold, seeds) == ("Fold2", "seeds 0, 1")
    setting, test = name.partition(", mean")[0], store.source.load("Fold2").test
    each = [sf.TradeOffs.read(store.folder).models(setting, seed=seed)[1].predict(test) for seed in (0, 1)]
    np.testing.assert_allclose(sf.Ranker.load(tmp_path / "m").predict(test), np.mean(each, axis=0), atol=1e-12)


def blend(candidates: TrainedModels, crossed: Any, kind: str = "blended") -> sf.Ranker:
    row = next(row for row in crossed[0].rows if row["kind"] == kind)
    return chosen_ranker(candidates, row, "Fold1")[0]


def test_what_a_blend_cannot_do(crossed: Any, candidates: TrainedModels, tmp_path: Path) -> None:
    for kind, words in (
        ("blended", "blended with its baseline 'today'"),
        ("selective", "used if mean:1 of a query is at most"),
    ):
        ranker = blend(candidates, crossed, kind)
        with pytest.raises(ArgumentError, match=f"this model is {words}.*a search engine can run only its trees"):
            ranker.export(tmp_path / "x.json", to="solr", missing="zero")
        with pytest.raises(ArgumentError, match="only its trees have a mean"):
            sf.average([ranker, ranker])
        test = crossed[1].source.load("Fold1").test
        with pytest.raises(ArgumentError, match="the data does not have that baseline"):
            ranker.predict(test.with_baselines_only(["other"]))
        with pytest.raises(ArgumentError, match="continue only from trees"):
            sf.Ranker(objective="gain").fit(test, init_model=ranker)
    single = sf.TradeOffs.read(crossed[1].folder).models("gain")[0]
    with pytest.raises(ArgumentError, match="last feature of this model is mean:1 of each query"):
        single.export(tmp_path / "x.json", to="solr", missing="zero")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("weight", 2), ("weight", "much"), ("weight", None), ("baseline", 7), ("source", 1), ("more", 1),
        ("aggregate", "mean:1"),
    ],
)  # fmt: skip
def test_a_changed_blend_is_refused(
    crossed: Any, candidates: TrainedModels, tmp_path: Path, key: str, value: Any
) -> None:
    blend(candidates, crossed).save(tmp_path / "m")
    path = tmp_path / "m" / "ranker.json"
    details = json.loads(path.read_text())
    details["fitted"]["combination_"][key] = value
    path.write_text(json.dumps(details))
    with pytest.raises(DataError, match="has a combination_ that is not valid"):
        sf.Ranker.load(tmp_path / "m")


def test_a_baseline_that_is_a_feature_need_not_be_named(tmp_path: Path) -> None:
    sf.demo.letor(queries=30, documents=8, features=5, seed=4).write(tmp_path / "all.txt")
    small = {"grid": {"n_estimators": 3, "num_leaves": 4, "min_data_in_leaf": 5}, "folds": 3, "alphas": [5]}
    result = sf.sweep(tmp_path / "all.txt", tmp_path / "s", baselines=["first=feature:1"], workers=1, **small)
    row = next(row for row in result.rows if row["name"] == "gain blended w=0.4")
    store = SweepStore.read(tmp_path / "s")
    ranker, _ = chosen_ranker(TrainedModels(store), row, "Fold1")
    test: RankingData = store.source.load("Fold1").test
    np.testing.assert_array_equal(ranker.predict(test.with_baselines_only([])), ranker.predict(test))
    choice = select(result, SelectionPolicy("max_risk", 1), RANKINGS, names=["gain random p=0.5", "gain"])
    assert choice.n_candidates == 1


def test_what_is_not_one_ranking_cannot_be_saved(crossed: Any, candidates: TrainedModels) -> None:
    random_rows = next(row for row in crossed[0].rows if row["kind"] == "random")
    with pytest.raises(ArgumentError, match="one of two rankings at random"):
        chosen_ranker(candidates, random_rows, "Fold1")
