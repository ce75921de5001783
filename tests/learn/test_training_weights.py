"""Weights of queries in learning, against slow and obvious loops, and against repeated queries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.learn.trainings import StoppedError, stop_at

import surefoot as sf
from surefoot.data.hashes import data_hash
from surefoot.data.reading.traffic import by_query
from surefoot.errors import ArgumentError, DataError
from surefoot.learn.criteria import Criterion, history_figures
from surefoot.learn.lambdas import Lambdas
from surefoot.learn.measured_queries import MeasuredQueries
from surefoot.learn.objectives import Objective
from surefoot.learn.training_weights import weighted_sets

SMALL: dict[str, Any] = {
    "n_estimators": 6, "num_leaves": 4, "min_data_in_leaf": 5, "num_threads": 1, "measure": "nDCG@5",
}  # fmt: skip
ENGINES = [
    pytest.param({}, id="lightgbm"),
    pytest.param(
        {"engine": "xgboost", "num_leaves": None, "min_data_in_leaf": None, "num_threads": None, "nthread": 1},
        id="xgboost",
        marks=pytest.mark.engines("xgboost"),
    ),
]
WEIGHTS = st.lists(st.floats(0.01, 1000), min_size=12, max_size=12)


@pytest.fixture(scope="module")
def data() -> sf.RankingData:
    return sf.demo.letor(queries=40, documents=12, features=6, seed=3)


def ranker(**more: Any) -> sf.Ranker:
    return sf.Ranker(**{name: value for name, value in (SMALL | more).items() if value is not None})


def repeated(data: sf.RankingData, counts: list[int]) -> sf.RankingData:
    """Every query as often as it counts, under names of its own."""
    rows, qid = [], []
    for number, count in enumerate(counts):
        span = range(int(data.offsets[number]), int(data.offsets[number + 1]))
        for copy in range(count):
            rows += span
            qid += [f"{data.queries[number]} {copy}"] * len(span)
    baselines = {name: scores[rows] for name, scores in data.baselines.items()}
    return sf.RankingData(data.X[rows], data.y[rows], qid=qid, baselines=baselines)


def lambdas(data: sf.RankingData, objective: Objective, weights: Any = None) -> Lambdas:
    measured = MeasuredQueries.from_data(data, "nDCG@5", 1)
    baselines = np.stack([measured.values(scores) for scores in data.baselines.values()])
    relative = None if weights is None else np.asarray(weights, dtype=np.float64) / np.mean(weights)
    return Lambdas(objective, measured, baselines, weights=relative)


@settings(max_examples=20, deadline=None)
@given(weights=WEIGHTS, seed=st.integers(0, 5), name=st.sampled_from(["gain", "u_risk", "saro", "faro", "regression"]))
def test_gradients_are_multiplied_by_relative_weights(weights: list[float], seed: int, name: str) -> None:
    data = sf.demo.letor(queries=12, documents=6, features=4, seed=seed)
    scores = np.random.default_rng(seed).normal(size=len(data))
    alpha = 0.0 if name in ("gain", "regression") else 5.0
    weighted = lambdas(data, Objective(name, alpha), weights)
    got = weighted(scores)
    plain = lambdas(data, Objective(name, alpha))
    if name in ("saro", "faro"):
        mean = sum(weights) / len(weights)
        plain(scores)
        difference = plain.values - plain.baselines[0]
        x = [d if d > 0 else (1 + alpha) * d for d in difference]
        c = sum(w / mean for w in weights)
        squares = sum(w / mean * each**2 for w, each in zip(weights, x, strict=True))
        total = sum(w / mean * each for w, each in zip(weights, x, strict=True))
        s_x = ((squares - total**2 / c) / (c - 1)) ** 0.5
        plain.s_x = s_x
    expected = plain(scores)
    factor = np.repeat(np.array(weights) / np.mean(weights), data.lengths)
    for mine, other in zip(got, expected, strict=True):
        assert mine.dtype == np.float32
        np.testing.assert_allclose(mine, other * factor, rtol=3e-4 if name in ("saro", "faro") else 1e-6, atol=1e-7)


@settings(max_examples=20, deadline=None)
@given(counts=st.lists(st.integers(1, 5), min_size=10, max_size=10), seed=st.integers(0, 5))
@pytest.mark.parametrize("name", ["gain", "u_risk", "saro"])
def test_integer_weights_are_repeated_queries_up_to_the_mean_weight(name: str, counts: list[int], seed: int) -> None:
    data = sf.demo.letor(queries=10, documents=6, features=4, seed=seed)
    scores = np.random.default_rng(seed).normal(size=len(data))
    objective = Objective(name, 0.0 if name == "gain" else 5.0)
    weighted, _ = lambdas(data, objective, counts)(scores)
    many = repeated(data, counts)
    rows = np.concatenate([
        np.arange(data.offsets[number], data.offsets[number + 1]) for number, n in enumerate(counts) for _ in range(n)
    ])  # fmt: skip
    single, _ = lambdas(many, objective)(scores[rows])
    summed = np.zeros(len(data))
    np.add.at(summed, rows, single.astype(np.float64))
    # s_x has c − 1 for a divisor, and repeating queries makes c larger: saro is the same up to order 1/c.
    tolerance = {"rtol": 1e-5, "atol": 1e-6} if name != "saro" else {"rtol": 0.2, "atol": 0.05}
    np.testing.assert_allclose(weighted * np.mean(counts), summed, **tolerance)


@settings(max_examples=30, deadline=None)
@given(weights=WEIGHTS, alpha=st.sampled_from([0.0, 5.0]), seed=st.integers(0, 9))
def test_criteria_with_weights_are_those_of_a_slow_loop(weights: list[float], alpha: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values, baseline = rng.random(12), rng.random(12)
    w = [each / (sum(weights) / 12) for each in weights]
    x = [d if d > 0 else (1 + alpha) * d for d in (values - baseline)]
    mean = sum(a * b for a, b in zip(weights, x, strict=True)) / sum(weights)
    u = [a * (b - mean) for a, b in zip(w, x, strict=True)]
    centre = sum(u) / 12
    se = (sum((each - centre) ** 2 for each in u) / 11) ** 0.5 / 12**0.5
    relative = np.array(w)
    for text, expected in (
        ("effectiveness", sum(a * b for a, b in zip(weights, values, strict=True)) / sum(weights)),
        (f"u_risk@{alpha:g}", mean),
        (f"t_risk@{alpha:g}", mean / se),
    ):
        got = Criterion.parse(text)(values, baseline[None], weights=relative)
        assert got == pytest.approx(expected, rel=1e-9, abs=1e-12)
    figures = history_figures(values, baseline[None], weights=relative)
    loss = sum(a * max(0, b - v) for a, b, v in zip(weights, baseline, values, strict=True)) / sum(weights)
    assert figures["risk"] == pytest.approx(loss)
    assert figures["losses"] == (values < baseline).sum()


def test_t_risk_of_weighted_queries_without_spread_is_0() -> None:
    criterion = Criterion.parse("t_risk@5")
    assert criterion(np.full(4, 0.6), np.full((1, 4), 0.5), weights=np.array([0.5, 1.5, 1.0, 1.0])) == 0.0


@pytest.mark.parametrize("more", ENGINES)
@pytest.mark.parametrize("objective", ["gain", "saro"])
def test_equal_weights_give_the_same_files(
    data: sf.RankingData, tmp_path: Path, more: dict[str, Any], objective: str
) -> None:
    chosen = more | {"objective": objective, "alpha": 5 if objective == "saro" else None}
    train, valid = data.select(range(30)), data.select(range(30, 40))
    ranker(**chosen).fit(train, valid=valid).save(tmp_path / "plain")
    for number, weights in enumerate((
        np.full(30, 0.3), np.full(len(train), 7), dict.fromkeys(data.queries, 1e15), dict.fromkeys(data.queries, 0.1),
    )):  # fmt: skip
        folder = tmp_path / str(number)
        ranker(**chosen).fit(train, valid=valid, sample_weight=weights).save(folder)
        for file in sorted((tmp_path / "plain").iterdir()):
            assert (folder / file.name).read_bytes() == file.read_bytes()


@pytest.mark.parametrize("more", ENGINES)
def test_scaled_weights_change_nothing_and_unequal_ones_do(data: sf.RankingData, more: dict[str, Any]) -> None:
    weights = np.random.default_rng(0).integers(1, 50, len(data.queries)).astype(float)
    one, other, plain = (
        ranker(objective="u_risk", alpha=5, **more).fit(data, sample_weight=each)
        for each in (weights, 4 * weights, None)
    )
    np.testing.assert_array_equal(one.predict(data), other.predict(data))
    assert one.history_ == other.history_
    assert not np.array_equal(one.predict(data), plain.predict(data))
    effective = weights.sum() ** 2 / (weights**2).sum()
    assert one.traffic_ == pytest.approx(
        {"queries": 40, "effective_queries": effective, "left_out": 0, "traffic_share": 1.0}
    )
    assert plain.traffic_ is None


def test_weights_per_document_and_by_id_are_those_per_query(data: sf.RankingData) -> None:
    weights = np.random.default_rng(1).integers(1, 9, len(data.queries)).astype(float)
    by_id = dict(zip(data.queries, weights.tolist(), strict=True))
    expected = ranker().fit(data, sample_weight=weights).predict(data)
    for form in (np.repeat(weights, data.lengths), by_id, {"query": list(by_id), "count": list(by_id.values())}):
        np.testing.assert_array_equal(ranker().fit(data, sample_weight=form).predict(data), expected)
    carried = ranker().fit(data.with_traffic(by_id))
    np.testing.assert_array_equal(carried.predict(data), expected)
    X, y = data.X, data.y
    arrays = ranker().fit(X, y, group=data.lengths, sample_weight=weights)
    np.testing.assert_array_equal(arrays.predict(X), expected)


def test_the_order_of_queries_does_not_change_weighted_sums(data: sf.RankingData) -> None:
    by_id = {query: 1.0 + number for number, query in enumerate(data.queries)}
    mixed = data.select(np.random.default_rng(2).permutation(len(data.queries)))
    one = ranker(objective="u_risk", alpha=5).fit(data, sample_weight=by_id)
    other = ranker(objective="u_risk", alpha=5).fit(mixed, sample_weight=by_id)
    first = {name: values[0] for name, values in one.history_["train"].items()}
    assert {name: values[0] for name, values in other.history_["train"].items()} == pytest.approx(first, rel=1e-6)


def test_queries_without_traffic_are_left_out(data: sf.RankingData) -> None:
    traffic = {query: 1.0 + number for number, query in enumerate(data.queries[:30])} | {"elsewhere": 535.0}
    fitted = ranker().fit(data, sample_weight=traffic)
    kept = data.select(range(30))
    expected = ranker().fit(kept, sample_weight=np.arange(1, 31))
    np.testing.assert_array_equal(fitted.predict(data), expected.predict(data))
    assert fitted.traffic_ is not None
    assert (fitted.traffic_["queries"], fitted.traffic_["left_out"]) == (30, 10)
    assert fitted.traffic_["traffic_share"] == pytest.approx(465 / 1000)
    equal = ranker().fit(data, sample_weight=dict.fromkeys(data.queries[:30], 2))
    np.testing.assert_array_equal(equal.predict(data), ranker().fit(kept).predict(data))
    assert equal.traffic_ == {"queries": 30, "effective_queries": 30.0, "left_out": 10, "traffic_share": 1.0}


def test_early_stopping_goes_by_the_weights_of_validation_queries(data: sf.RankingData) -> None:
    train, valid = data.select(range(25)), data.select(range(25, 40))
    traffic = {query: float(1 + number**2) for number, query in enumerate(data.queries)}
    fitted = ranker(stop_on="u_risk@5", n_estimators=12, early_stopping_rounds=3).fit(
        train, valid=valid, sample_weight=traffic
    )
    weights = np.array([traffic[query] for query in valid.queries])
    baseline = MeasuredQueries.from_data(valid, "nDCG@5", 1)
    difference = baseline.values(fitted.predict(valid)) - baseline.values(valid.baselines["bm25"])
    x = np.where(difference > 0, difference, 6 * difference)
    assert fitted.best_score_ == pytest.approx(float(weights @ x / weights.sum()))
    assert fitted.score(valid, sample_weight=traffic) == pytest.approx(
        float(weights @ baseline.values(fitted.predict(valid)) / weights.sum())
    )


def test_a_killed_training_with_weights_goes_on_and_no_other_does(data: sf.RankingData, tmp_path: Path) -> None:
    weights = np.arange(1.0, 41.0)
    state = tmp_path / "state.json"
    parameters = {"objective": "saro", "alpha": 5, "estimate": "first", "checkpoint_every": 2}
    whole = ranker(**parameters).fit(data, sample_weight=weights)

    with pytest.raises(StoppedError):
        ranker(**parameters, checkpoint=state).fit(data, sample_weight=weights, progress=stop_at(5))
    for others in (None, weights[::-1]):
        with pytest.raises(DataError, match="the training data"):
            ranker(**parameters, checkpoint=state).fit(data, sample_weight=others)
    resumed = ranker(**parameters, checkpoint=state).fit(data, sample_weight=weights)
    np.testing.assert_array_equal(resumed.predict(data), whole.predict(data))
    assert resumed.history_ == whole.history_


def test_weights_are_saved_averaged_and_on_the_card(data: sf.RankingData, tmp_path: Path) -> None:
    traffic = {query: float(1 + number) for number, query in enumerate(data.queries[:35])}
    fitted = ranker(n_models=2, feature_fraction=0.5).fit(data, sample_weight=traffic)
    fitted.save(tmp_path / "model")
    loaded = sf.Ranker.load(tmp_path / "model")
    assert loaded.traffic_ == fitted.traffic_
    assert fitted.traffic_ is not None
    card = fitted.card(data.with_traffic(traffic))
    assert "35 queries count by their traffic, as much as" in card
    assert "5 queries without traffic were left out" in card
    assert "weighted by traffic" in card
    other = ranker().fit(data)
    assert sf.average([other, ranker().fit(data)]).traffic_ is None
    assert "traffic" not in other.card(data)


@pytest.mark.parametrize("more", [{"objective": "geo_risk", "alpha": 5}, {"stop_on": "geo_risk@5"}])
def test_georisk_is_refused_with_weights_and_says_why(data: sf.RankingData, more: dict[str, Any]) -> None:
    train, valid = data.select(range(30)), data.select(range(30, 40))
    traffic = {query: float(1 + number) for number, query in enumerate(data.queries)}
    with pytest.raises(ArgumentError, match=r"geo_risk.*weights of queries: GeoRisk expects.*use u_risk"):
        ranker(**more).fit(train, valid=valid, sample_weight=traffic)
    ranker(**more).fit(train, valid=valid, sample_weight=dict.fromkeys(traffic, 3))
    judged = ranker(score_on="geo_risk@5").fit(train)
    with pytest.raises(ArgumentError, match="score_on='geo_risk@5' cannot be used with weights"):
        judged.score(valid, sample_weight=traffic)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 2.0], r"has shape \(2,\); give one number for each of the 40 queries"),
        (np.full(40, np.nan), "the weight of query '1' is nan"),
        (np.full(40, -1), "the weight of query '1' is -1; it must be 0, or a number from 1e-15"),
        (np.full(40, 1e16), r"is 1e\+16; it must be 0, or a number from 1e-15 to 1e\+15"),
        (np.zeros(40), "every weight in sample_weight is 0"),
        (["many"] * 40, "a value that is not a number"),
        ({"another": 3}, "no query has traffic"),
        ("missing.csv", "missing.csv"),
    ],
)
def test_bad_weights_are_refused(data: sf.RankingData, weights: Any, message: str) -> None:
    with pytest.raises(sf.SurefootError, match=message):
        ranker().fit(data, sample_weight=weights)


def test_weights_that_differ_within_a_query_are_refused_with_the_query(data: sf.RankingData) -> None:
    weights = np.ones(len(data))
    weights[int(data.offsets[3])] = 2
    with pytest.raises(ArgumentError, match=f"documents of query '{data.queries[3]}' have different weights, 2"):
        ranker().fit(data, sample_weight=weights)
    with pytest.raises(ArgumentError, match="has weights of its own"):
        ranker().fit(data.with_traffic(np.arange(1, 41)), sample_weight=np.ones(40))
    with pytest.raises(ArgumentError, match="the validation data: no query has traffic"):
        ranker().fit(data.select([0, 1]), valid=data.select([2]), sample_weight={"1": 1, "2": 5})


def test_weights_identify_data_unless_they_are_equal(data: sf.RankingData) -> None:
    assert data_hash(data.with_traffic(np.full(40, 2))) == data_hash(data)
    assert data_hash(data.with_traffic(np.arange(1, 41))) != data_hash(data)
    assert data.with_traffic(np.arange(1, 41)).with_traffic(None).traffic is None
    weights = data.with_traffic(np.arange(1, 41)).select([5, 2]).traffic
    assert weights is not None
    assert weights.tolist() == [6.0, 3.0]


def test_the_mean_weight_is_that_of_all_machines() -> None:
    data = sf.demo.letor(queries=4, documents=3, features=2, seed=0)
    parts = [data.select([0, 1]).with_traffic([1, 1]), data.select([2, 3]).with_traffic([3, 3])]
    sums: list[Any] = []

    def first(local: Any) -> Any:  # the sums of the other machine, as an all-reduce would add them
        sums.append(local)
        other = [[1.0, 2.0, 6.0], [2.0, 2 * 1.5**2]][len(sums) - 1]
        return local + np.array(other)

    (machine,) = weighted_sets([parts[0]._weighting], first)
    assert machine.relative is not None  # though its own weights are equal
    assert machine.relative.tolist() == [0.5, 0.5]
    assert machine.effective == pytest.approx(8**2 / 20)


def test_learners_that_would_ignore_weights_refuse_them(data: sf.RankingData) -> None:
    from surefoot.learn.simple_rankers import adarank, feature_selection, regression_trees

    weighted = data.with_traffic(np.arange(1, 41))
    for learn in (adarank, feature_selection, regression_trees):
        with pytest.raises(ArgumentError, match="cannot learn from weights of queries yet; use Ranker"):
            learn(weighted)


def test_a_series_with_numbers_as_its_index_goes_by_query_id_or_is_refused(data: sf.RankingData) -> None:
    small = data.select(np.arange(4))
    numbered = sf.RankingData(small.X, small.y, qid=np.repeat([7, 3, 12, 5], small.lengths))
    assert numbered.queries == ("7", "3", "12", "5")

    def weights(values: Any, index: Any = None) -> Any:
        found = numbered.with_traffic(pd.Series(values, index=index)).traffic
        return None if found is None else found.tolist()

    assert weights([1.0, 2.0, 3.0, 4.0], [3, 5, 7, 12]) == [3, 1, 4, 2]
    assert weights([1.0, 2.0], [3, 5]) == [1, 2]  # the others are not asked
    assert weights([1.0, 2.0, 3.0, 4.0]) == [1, 2, 3, 4]
    by_document = np.repeat([1.0, 2.0, 3.0, 4.0], small.lengths)
    assert weights(by_document, np.arange(len(by_document)) + 100) == [1, 2, 3, 4]  # rows of a larger frame
    assert weights(by_document, np.repeat([7, 3, 12, 5], small.lengths)) == [1, 2, 3, 4]
    counted = sf.RankingData(small.X, small.y, qid=np.repeat([0, 1, 2, 3], small.lengths))
    plain = pd.Series([1.0, 2.0, 3.0, 4.0])
    assert by_query(plain, counted.queries, counted.lengths) is plain  # not traffic, which validation data would need
    for index, found in (([1, 2, 3, 4], "has '1', which is no query"), ([3, 3, 5, 7], "names a query twice")):
        with pytest.raises(ArgumentError, match=found):
            weights([1.0, 2.0, 3.0, 4.0], index)
