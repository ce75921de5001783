"""What a guard refuses: everything that would make its certificate untrue."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.decide.guard.guarded import MEASURE, calibrated, fitted, parts, ranker

import surefoot as sf
from surefoot.data.hashes import seal
from surefoot.errors import ArgumentError, DataError


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"risk": 0}, "risk is 0; it must be above 0"),
        ({"risk": 1.0}, "below 1"),
        ({"risk": "0.02"}, "'0.02'"),
        ({"share_hurt": 2}, "share_hurt is 2"),
        ({"risk": None}, "give what may be lost"),
        ({"delta": 0.7}, "delta is 0.7"),
        ({"delta": float("nan")}, "delta is nan"),
        ({"scorer": "kendall"}, "scorer is 'kendall'"),
        ({"scorer": "feature:x"}, "scorer is 'feature:x'"),
        ({"blend": 0}, "blend is 0"),
        ({"blend": 1.5}, "blend is 1.5"),
        ({"budget": 0}, "budget is 0"),
        ({"measure": "DCG@10"}, "no maximum"),
        ({"baseline": 3}, "use the name of a baseline in the data"),
    ],
)
def test_impossible_settings(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        sf.RiskGuard(ranker(), **({"baseline": "bm25"} | settings))


def test_queries_that_the_model_was_trained_on() -> None:
    with pytest.raises(DataError, match="200 of the 200 judged queries were already used to train"):
        fitted().calibrate(parts()["train"])
    with pytest.raises(DataError, match="used to train or validate the model"):
        fitted().update(parts()["train"])
    stopped = sf.Ranker("gain", n_estimators=3, num_threads=1).fit(parts()["train"], valid=parts()["valid"])
    c = sf.RiskGuard(stopped, baseline="bm25", scorer=lambda lists: np.zeros(len(lists.queries)))
    with pytest.raises(DataError, match="used to train or validate the model"):
        c.calibrate(parts()["valid"])


def test_queries_that_the_scorer_was_fitted_on() -> None:
    with pytest.raises(DataError, match="already used to fit the scorer, such as query '201'"):
        fitted().calibrate(parts()["valid"])


def test_nothing_judged() -> None:
    judged = parts()["judged"]
    with pytest.raises(DataError, match="no document of these queries is judged relevant"):
        fitted().calibrate(judged.with_labels(np.zeros(len(judged))))
    lists = calibrated()._lists(judged)
    runs = sf.RiskGuard(lists.candidate, baseline=lists.baseline)
    with pytest.raises(DataError, match="none of the queries is judged"):
        runs.fit_scorer({"other": {"d": 1}})


def test_what_comes_too_early_or_twice() -> None:
    unfitted = sf.RiskGuard(ranker(), baseline="bm25")
    with pytest.raises(ArgumentError, match="call fit_scorer first"):
        unfitted.calibrate(parts()["judged"])
    with pytest.raises(ArgumentError, match="call fit_scorer first"):
        unfitted.update(parts()["judged"])
    with pytest.raises(ArgumentError, match="nothing is proved yet"):
        fitted().to_run(parts()["traffic"])
    with pytest.raises(ArgumentError, match="is already calibrated"):
        fitted().calibrate(parts()["judged"]).update(parts()["traffic"])
    with pytest.raises(ArgumentError, match="already works in batches"):
        fitted().update(parts()["judged"]).calibrate(parts()["traffic"])
    with pytest.raises(ArgumentError, match="not learned anything"):
        sf.RiskGuard(sf.Ranker(), baseline="bm25")


def test_data_of_another_kind() -> None:
    with pytest.raises(ArgumentError, match="needs RankingData"):
        calibrated().to_run({"q": {"d": 1.0}})
    with pytest.raises(ArgumentError, match="has no baseline 'bm26'"):
        sf.RiskGuard(ranker(), baseline="bm26").fit_scorer(parts()["valid"])
    with pytest.raises(ArgumentError, match="no feature 99"):
        sf.RiskGuard(ranker(), baseline="feature:99").fit_scorer(parts()["valid"])
    lists = calibrated()._lists(parts()["judged"])
    with pytest.raises(ArgumentError, match="needs a baseline run"):
        sf.RiskGuard(lists.candidate)
    for scorer in ("feature:3", "predicted_gain:regression"):
        with pytest.raises(ArgumentError, match="features, but runs have none"):
            sf.RiskGuard(lists.candidate, baseline=lists.baseline, scorer=scorer)


@pytest.mark.parametrize(
    ("shares", "strata", "said"),
    [
        ({"a": 0.5, "b": 0.4}, "both", "sum to 0.9"),
        ({"a": 1.5, "b": -0.5}, "both", "share of stratum 'a' is 1.5"),
        ({"a": 0.5, "b": 0.5}, "one", "no judged query belongs to 'b'"),
        ({"a": 1.0}, "both", "no share of traffic is given for 'b'"),
    ],
)
def test_strata_that_do_not_fit(shares: Any, strata: str, said: str) -> None:
    queries = parts()["judged"].queries
    kinds = {"both": {q: "ab"[i % 2] for i, q in enumerate(queries)}, "one": dict.fromkeys(queries, "a")}
    with pytest.raises(sf.SurefootError, match=said):
        fitted().calibrate(parts()["judged"], sample=sf.Strata(kinds[strata], shares))


def test_draws_that_do_not_fit() -> None:
    c, judged = fitted(), parts()["judged"]
    lists = c._lists(judged)
    draws = sf.judge_next([lists.baseline, lists.candidate], baseline=lists.baseline.name, measure=MEASURE, n=200)
    with pytest.raises(DataError, match="could lose"):
        fitted(blend=0.5).calibrate(judged, sample=draws)  # other lists than those that were drawn from
    with pytest.raises(DataError, match="have no judgments"):
        c.calibrate(judged.select(np.arange(50)), sample=draws)
    with pytest.raises(ArgumentError, match="share_hurt cannot be proved"):
        fitted(share_hurt=0.1).calibrate(judged, sample=draws)
    with pytest.raises(DataError, match="the guard is for P@5"):
        sf.RiskGuard(ranker(), "bm25", measure="P@5", scorer=lambda one: np.zeros(500)).calibrate(judged, sample=draws)
    gain = sf.judge_next(
        [lists.baseline, lists.candidate], baseline=lists.baseline.name, measure=MEASURE, n=200, to_prove="gain"
    )
    with pytest.raises(ArgumentError, match="draw for risk"):
        c.calibrate(judged, sample=gain)


def test_losses_beyond_what_the_traffic_allows() -> None:
    judged = parts()["judged"]
    worst = calibrated()._lists(judged).worst_case(sf.Measure.parse(MEASURE))
    tame = judged.select(np.argsort(np.where(worst > 0, worst, 1))[:3])
    with pytest.raises(DataError, match="but the computed maximum is"):
        fitted().calibrate(judged, unlabelled=tame)


def test_a_function_cannot_be_saved(tmp_path: Path) -> None:
    c = sf.RiskGuard(ranker(), baseline="bm25", scorer=lambda lists: np.zeros(len(lists.queries)))
    with pytest.raises(ArgumentError, match="there is nothing to save"):
        c.save(tmp_path / "c")
    with pytest.raises(ArgumentError, match="a function, which cannot be saved"):
        c.calibrate(parts()["judged"]).save(tmp_path / "c")
    assert not (tmp_path / "c").exists()


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    calibrated().save(tmp_path / "c")
    return tmp_path / "c"


@pytest.mark.parametrize("number", [60.0, True, "60", None])
def test_a_scorer_whose_number_of_trees_is_none(saved: Path, number: Any) -> None:
    data = json.loads((saved / "guard.json").read_text())
    learned = data["scorer"]["learned"]
    assert learned["trees"] == 60
    learned["trees"] = number
    (saved / "guard.json").write_text(json.dumps(seal(data)))
    with pytest.raises(DataError, match="do not match its settings"):
        sf.RiskGuard.load(saved)


@pytest.mark.parametrize("name", ["guard.json", "ranker/model.txt", "ranker/ranker.json"])
def test_files_that_were_changed(saved: Path, name: str) -> None:
    text = (saved / name).read_text()
    assert "0.05" in text
    (saved / name).write_text(text.replace("0.05", "0.06", 1))
    with pytest.raises(DataError, match=r"was changed|is not the ranker that was certified"):
        sf.RiskGuard.load(saved)


def test_files_that_are_gone(saved: Path) -> None:
    (saved / "ranker" / "model.txt").unlink()
    with pytest.raises(DataError, match="is not the ranker that was certified"):
        sf.RiskGuard.load(saved)
    (saved / "guard.json").unlink()
    with pytest.raises(DataError, match=r"guard\.json"):
        sf.RiskGuard.load(saved)
    with pytest.raises(DataError, match="not a folder"):
        sf.RiskGuard.load(saved / "nowhere")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema": "surefoot/other/1"}, "does not describe a guard"),
        ({"certificate": "0"}, "is not the certificate of this guard"),
        ({"scorer": {"name": "predicted_gain:isotonic", "learned": {"at": [2, 1], "value": [1, 2]}}}, "isotonic map"),
        ({"scorer": {"name": "feature:1", "learned": {"sign": 7}}}, "sign is 7"),
        ({"scorer": {"name": "predicted_gain:regression", "learned": {}}}, "damaged or incomplete"),
        ({"scorer": {"name": "eval", "learned": {}}}, "scorer is 'eval'"),
        ({"settings": {}}, "damaged or incomplete"),
        ({"settings": 3}, "damaged or incomplete"),
        ({"thresholds": [None]}, "thresholds|damaged or incomplete"),
        ({"scorer_queries": 3}, "damaged or incomplete"),
        ({"baseline": 3}, "damaged or incomplete"),
    ],
)
def test_files_that_are_wrong_though_their_hash_fits(saved: Path, change: dict[str, Any], said: str) -> None:
    data = json.loads((saved / "guard.json").read_text())
    (saved / "guard.json").write_text(json.dumps(seal(data | change)))
    with pytest.raises(DataError, match=said):
        sf.RiskGuard.load(saved)


def test_certificates_that_were_changed(tmp_path: Path) -> None:
    calibrated().certificate_.write(tmp_path / "c.json")
    assert sf.Certificate.read(tmp_path / "c.json")["queries"] == 500
    data = json.loads((tmp_path / "c.json").read_text())
    (tmp_path / "c.json").write_text(json.dumps(data | {"risk": 0.01}))
    with pytest.raises(DataError, match="was changed after surefoot wrote it"):
        sf.Certificate.read(tmp_path / "c.json")
    for wrong in ({**data, "curve": 3}, {name: value for name, value in data.items() if name != "reason"}):
        (tmp_path / "c.json").write_text(json.dumps(seal(wrong)))
        with pytest.raises(DataError, match=r"damaged or incomplete|curve is 3; expected a list"):
            sf.Certificate.read(tmp_path / "c.json")


def test_a_linear_ranker_is_refused_with_the_way() -> None:
    from surefoot.learn.simple_rankers import LinearRanker

    linear = LinearRanker(np.ones(12), (0,), (0.5,))
    with pytest.raises(ArgumentError, match=r"is a LinearRanker, .* give two runs: RiskGuard\(data\.to_run"):
        sf.RiskGuard(linear, baseline="bm25")
    judged = parts()["judged"]
    runs = judged.to_run(linear.predict(judged), "new"), judged.to_run(judged.baselines["bm25"], "today")
    c = sf.RiskGuard(*runs, risk=0.3, scorer=lambda lists: np.ones(len(lists.queries)))
    assert c.calibrate(judged.qrels()).certificate_["queries"] == 489
