"""Choosing honestly: what policies take, how sure that is, and the model that is saved of it."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.choose.candidates import TrainedModels
from surefoot.choose.choice import chosen_ranker, copy_model, select
from surefoot.choose.options import PLAIN_MODELS, RANKINGS
from surefoot.choose.recommendation import pooled
from surefoot.choose.selection_policy import SelectionPolicy
from surefoot.choose.store import SweepStore
from surefoot.data.types.ranking_data import RankingData
from surefoot.errors import ArgumentError, DataError


def row(name: str, gain: float, risk: float, errors: tuple[float, float] = (0.01, 0.001)) -> Any:
    error = dict(zip(("gain", "risk"), errors, strict=True))
    return {"name": name, "folds": {"a": {"valid": {"risk": risk, "gain": gain, "standard_error": error}}}}


GAIN = row("gain", 0.10, 0.02)


def test_more_gain_with_less_risk() -> None:
    rows = [
        GAIN,
        row("safe", 0.09, 0.005),
        row("both", 0.11, 0.0138),
        row("best", 0.12, 0.0139),
        row("bold", 0.2, 0.03),
    ]
    chosen, count = SelectionPolicy("less_risk", 0.3).choose(rows, GAIN, "a")
    assert (chosen["name"], count) == ("best", 2)
    assert SelectionPolicy("less_risk", 0.5, nearest=True).choose(rows, GAIN, "a")[1] == 0


@pytest.mark.parametrize(
    ("policy", "nearest", "words"),
    [
        (
            ("less_risk", 0.5),
            "safe",
            "with so little risk, safe gains most, .0.0900; the gain-only model gains .0.1000",
        ),
        (("less_risk", 0.9), "safe", "a risk of at most 0.0020 is required, and the least is 0.0050 .safe."),
        (("max_risk", 0.001), "safe", "the least risk is 0.0050 .safe."),
    ],
)
def test_what_comes_nearest(policy: Any, nearest: str, words: str) -> None:
    rows = [GAIN, row("safe", 0.09, 0.005), row("both", 0.11, 0.014)]
    with pytest.raises(ArgumentError, match=f"on the validation data of a: .*{words}"):
        SelectionPolicy(*policy).choose(rows, GAIN, "a")
    chosen, count = SelectionPolicy(*policy, nearest=True).choose(rows, GAIN, "a")
    assert (chosen["name"], count) == (nearest, 0)


def test_figures_at_their_level_satisfy_a_policy_and_a_gain_that_is_not_more_does_not() -> None:
    def satisfied(policy: SelectionPolicy, gain: float, risk: float, full: Any = GAIN) -> bool:
        figures = full["folds"]["a"]["valid"]
        return bool(policy.holds(gain, risk, figures["gain"], figures["risk"]))

    assert satisfied(SelectionPolicy("max_risk", 0.02), 0.1, 0.02)
    assert not satisfied(SelectionPolicy("max_risk", 0.02), 0.1, np.nextafter(0.02, 1))
    keep = SelectionPolicy("keep_gain", 0.5)
    assert satisfied(keep, 0.5 * 0.10, 0.02)
    assert not satisfied(keep, np.nextafter(0.5 * 0.10, 0), 0.02)
    assert not satisfied(keep, 0.0, 0.0, row("gain", 0.0, 0.0))  # of no gain nothing can be kept
    more = SelectionPolicy("less_risk", 0.5)
    assert satisfied(more, 0.11, 0.5 * 0.02)
    assert not satisfied(more, 0.11, np.nextafter(0.5 * 0.02, 1))
    assert not satisfied(more, 0.10, 0.0)


def test_a_risk_on_test_data_that_is_the_level_is_not_called_above_it(result: sf.TradeOffs) -> None:
    choice = select(result, SelectionPolicy("max_risk", 1.0))
    for level, said in ((choice.test["risk"], False), (np.nextafter(choice.test["risk"], 0), True)):
        words = replace(choice, policy=SelectionPolicy("max_risk", level)).words
        assert any("its risk is above" in sentence for sentence in words) is said


def test_of_just_the_risk_that_is_required_the_greatest_gain_is_nearest() -> None:
    rows = [GAIN, row("less", 0.05, 0.009), row("just", 0.09, 0.5 * 0.02)]
    assert SelectionPolicy("less_risk", 0.5, nearest=True).choose(rows, GAIN, "a")[0]["name"] == "just"


def test_just_one_standard_error_away_is_within_it() -> None:
    rows = [row("best", 0.5, 0.02, errors=(0.25, 0.001)), row("just", 0.25, 0.01), row("far", 0.2, 0.001)]
    assert SelectionPolicy("max_risk", 0.05, one_se=True).choose(rows, GAIN, "a")[0]["name"] == "just"


def test_one_standard_error() -> None:
    rows = [row("best", 0.12, 0.02), row("near", 0.111, 0.012), row("far", 0.109, 0.001), row("same", 0.115, 0.013)]
    assert SelectionPolicy("max_risk", 0.05, one_se=True).choose(rows, GAIN, "a")[0]["name"] == "near"
    rows = [row("least", 0.08, 0.0100), row("near", 0.09, 0.0110), row("far", 0.2, 0.0112)]
    assert SelectionPolicy("keep_gain", 0.5).choose(rows, GAIN, "a")[0]["name"] == "least"
    assert SelectionPolicy("keep_gain", 0.5, one_se=True).choose(rows, GAIN, "a")[0]["name"] == "near"
    old = {"name": "old", "folds": {"a": {"valid": {"risk": 0.0, "gain": 1.0}}}}
    with pytest.raises(ArgumentError, match="no standard errors; run the sweep again"):
        SelectionPolicy("max_risk", 0.05, one_se=True).choose([old], GAIN, "a")
    for name in ("largest_area", "geo_risk"):
        with pytest.raises(ArgumentError, match=r"one_se works only with max_risk, keep_gain, less_risk"):
            SelectionPolicy(name, 1, one_se=True)


def test_cross_validation_is_chosen_by_where_there_is_some(
    crossed: tuple[sf.TradeOffs, SweepStore], result: Any
) -> None:
    trade_offs = crossed[0]
    policy = SelectionPolicy("less_risk", 0.05, nearest=True)
    choice = select(trade_offs, policy, RANKINGS)
    assert choice.choose_by == "cross-validation"
    gain = next(one for one in trade_offs.rows if one["name"] == "gain")
    for fold, chosen in choice.chosen.items():
        full = gain["folds"][fold]["cross_validation"]
        fit = [
            figures
            for figures in (one["folds"][fold]["cross_validation"] for one in trade_offs.rows if one.get("made_of"))
            if figures["gain"] > full["gain"] and figures["risk"] <= 0.95 * full["risk"]
        ]
        assert choice.n_satisfying[fold] == len(fit)
        if fit:
            mine = chosen["folds"][fold]["cross_validation"]
            assert mine["gain"] == max(figures["gain"] for figures in fit)
    other = select(trade_offs, policy, choose_by="validation")
    assert "on its validation queries" in other.words[0]
    assert "on its training queries, by cross-validation" in choice.words[0]
    with pytest.raises(ArgumentError, match="has no cross-validation; run it again with --choose-by"):
        select(result, policy, choose_by="cross-validation")
    with pytest.raises(ArgumentError, match="choose_by is 'luck'"):
        select(result, policy, choose_by="luck")


def test_the_probability_is_that_of_a_loop_over_resamples(crossed: tuple[sf.TradeOffs, SweepStore]) -> None:
    trade_offs, store = crossed
    policy = SelectionPolicy("less_risk", 0.05, nearest=True)
    choice = select(trade_offs, policy, ("model",), store=store)
    candidates = TrainedModels(store)
    by_name = {one.name: one for one in candidates.models()}
    baseline = candidates.baseline_values("cross_validation")[0, 0]
    for fold, chosen in choice.chosen.items():
        span = candidates.spans("cross_validation")[fold]
        deltas = [
            by_name[name].values["cross_validation"][:, 0, span] - baseline[span] for name in (chosen["name"], "gain")
        ]
        rng, held = np.random.default_rng(3), 0
        for _ in range(1500):
            drawn = rng.integers(0, span.stop - span.start, span.stop - span.start)
            gains = [one[:, drawn].mean() for one in deltas]
            risks = [np.maximum(-one[:, drawn], 0).mean() for one in deltas]
            held += bool(gains[0] > gains[1] and risks[0] <= 0.95 * risks[1])
        assert choice.probability[fold] == pytest.approx(held / 1500, abs=0.05)
    assert any("On new queries, the choice satisfies the policy with a probability of" in line for line in choice.words)
    assert select(trade_offs, policy, ("model",), store=store).to_dict() == choice.to_dict()  # seeded
    assert [fold["probability"] for fold in choice.to_dict()["folds"]] == list(choice.probability.values())
    assert select(trade_offs, SelectionPolicy("largest_area"), store=store).probability == {}


def test_without_its_models_a_result_does_not_say_how_sure_it_is(
    crossed: tuple[sf.TradeOffs, SweepStore], tmp_path: Path
) -> None:
    trade_offs, store = crossed
    policy = SelectionPolicy("max_risk", 1)
    other = SweepStore(store.folder, replace(store.plan, seeds=(0,)), store.source)
    moved = SweepStore(tmp_path, store.plan, store.source)  # nothing is stored there
    shutil.copytree(store.folder / "folds", tmp_path / "folds")
    shutil.copytree(store.folder / "inner", tmp_path / "inner")
    moved.folds = store.folds
    for wrong in (other, moved):
        choice = select(trade_offs, policy, store=wrong)
        assert (choice.probability, choice.interval) == ({}, None)
        assert any("We cannot say how sure this is" in line for line in choice.words)
        with pytest.raises(DataError, match="run the sweep"):
            copy_model(wrong, choice, tmp_path / "m")
    assert select(trade_offs, policy, store=store).unsure is None


def test_what_is_reported_is_what_is_saved(crossed: tuple[sf.TradeOffs, SweepStore]) -> None:
    trade_offs, store = crossed
    choice = select(trade_offs, SelectionPolicy("max_risk", 1), ("model",), store=store)
    each = [chosen["folds"][fold]["first_seed"] for fold, chosen in choice.chosen.items()]
    assert choice.test["mean"] == pytest.approx(sum(one["mean"] * one["queries"] for one in each) / 48)
    assert choice.test != pooled(choice.chosen)
    difference = choice.to_dict()["difference"]
    changed = choice.test["mean"] - choice.to_dict()["gain_only"]["mean"]
    assert difference["mean"][0] <= changed <= difference["mean"][1]


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


def models(result: sf.TradeOffs) -> list[Any]:
    return [row for row in result.rows if row["kind"] in PLAIN_MODELS]


def on(row: Any, fold: str) -> Any:
    return row["folds"][fold]["valid"]


@pytest.mark.heavy
def test_most_gain_with_little_risk_on_each_fold(result: sf.TradeOffs) -> None:
    level = 0.5
    choice = select(result, SelectionPolicy("max_risk", level))
    assert list(choice.chosen) == ["Fold1", "Fold2", "Fold3"]
    for fold, row in choice.chosen.items():
        fit = [one for one in models(result) if on(one, fold)["risk"] <= level]
        assert on(row, fold)["gain"] == max(on(one, fold)["gain"] for one in fit)
        assert choice.n_satisfying[fold] == len(fit)
    assert choice.n_candidates == len(models(result))
    assert "risk of at most 0.5" in choice.words[0]
    assert [one["chosen"] for one in choice.to_dict()["folds"]] == [row["name"] for row in choice.chosen.values()]


def test_choices_are_pooled_over_test_queries(result: sf.TradeOffs) -> None:
    gain = next(row for row in result.rows if row["name"] == "gain")
    alone = pooled(dict.fromkeys(result.to_dict()["folds"], gain))
    for key in ("mean", "gain", "reward", "risk", "wins", "losses", "loss_over_20"):
        assert alone[key] == pytest.approx(gain["test"][key], abs=1e-12), key
    choice = select(result, SelectionPolicy("max_risk", 1), ("mean of seeds",))
    each = [(row["folds"][fold]["test"]) for fold, row in choice.chosen.items()]
    assert choice.test["queries"] == sum(one["queries"] for one in each) == 48
    assert choice.test["risk"] == pytest.approx(sum(one["risk"] * one["queries"] for one in each) / 48)


def test_folds_count_by_their_queries() -> None:
    keys = ("mean", "gain", "reward", "risk", "wins", "losses", "ties", "loss_over_20")
    one, other = (
        {"folds": {fold: {"test": dict.fromkeys(keys, value) | {"queries": queries}}}}
        for fold, value, queries in (("a", 1.0, 30), ("b", 2.0, 10))
    )
    means = pooled({"a": one, "b": other})
    assert (means["risk"], means["mean"], means["wins"], means["queries"]) == (1.25, 1.25, 3.0, 40)


def test_least_risk_that_keeps_the_gain(result: sf.TradeOffs) -> None:
    choice = select(result, SelectionPolicy("keep_gain", 0.3))
    everything = select(result, SelectionPolicy("keep_gain", 0.3), RANKINGS)
    gain = next(row for row in result.rows if row["name"] == "gain")
    for fold, row in choice.chosen.items():
        fit = [one for one in models(result) if on(one, fold)["gain"] >= 0.3 * on(gain, fold)["gain"]]
        assert on(row, fold)["risk"] == min(on(one, fold)["risk"] for one in fit)
        assert on(everything.chosen[fold], fold)["risk"] <= on(row, fold)["risk"]


def test_largest_area_and_highest_geo_risk(result: sf.TradeOffs) -> None:
    area, geo = select(result, SelectionPolicy("largest_area")), select(result, SelectionPolicy("geo_risk", 5))
    for fold in area.chosen:
        assert on(area.chosen[fold], fold)["area"] == max(on(row, fold).get("area", 0) for row in models(result))
        best = max(on(row, fold)["geo_risk"]["5"] for row in models(result))
        assert on(geo.chosen[fold], fold)["geo_risk"]["5"] == best


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (("max_risk", 0.0), "Fold1: the least risk is"),
        (("geo_risk", 3), "the sweep has GeoRisk at α = 0, 1, 5"),
        (("max_risk", -1), "max_risk is -1"),
        (("max_risk", float("nan")), "max_risk is nan"),
        (("keep_gain", 1.5), "at most 1"),
        (("best", 1), "there is no policy 'best'"),
    ],
)
def test_policies_that_nothing_satisfies(result: sf.TradeOffs, policy: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        select(result, SelectionPolicy(*policy))


def test_the_chosen_model_is_copied(result: sf.TradeOffs, store: SweepStore, tmp_path: Path) -> None:
    choice = select(result, SelectionPolicy("max_risk", 1), ("model",))
    fold, name, seeds = copy_model(store, choice, tmp_path / "model")
    assert (fold, name, seeds) == ("Fold1", choice.chosen["Fold1"]["name"], "seed 0")
    test_data = store.source.load("Fold1").test
    ranker = sf.Ranker.load(tmp_path / "model")
    expected = sf.TradeOffs.read(store.folder).models(name)[0].predict(test_data.X)
    np.testing.assert_array_equal(ranker.predict(test_data.X), expected)
    assert copy_model(store, choice, tmp_path / "other", "Fold3")[0] == "Fold3"
    with pytest.raises(ArgumentError, match="there is no fold 'Fold9'"):
        copy_model(store, choice, tmp_path / "none", "Fold9")
    begun = SweepStore(store.folder, replace(store.plan, seeds=(0,)), store.source)
    with pytest.raises(DataError, match="started again"):
        copy_model(begun, choice, tmp_path / "none")
    with pytest.raises(ArgumentError, match="the sweep has no seed 7"):
        sf.TradeOffs.read(store.folder).models("gain", seed=7)
    with pytest.raises(ArgumentError, match="no model 'none' on every fold; it has gain"):
        sf.TradeOffs.read(store.folder).models("none")


def test_of_equal_risk_the_greater_gain_is_chosen() -> None:
    rows = [row("less", 0.10, 0.02), row("more", 0.12, 0.02), row("risky", 0.2, 0.03), row("idle", 0.01, 0.0)]
    chosen, count = SelectionPolicy("keep_gain", 0.5).choose(rows, row("gain", 0.2, 0.05), "a")
    assert (chosen["name"], count) == ("more", 3)
