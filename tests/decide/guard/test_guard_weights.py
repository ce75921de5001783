"""Calibrating on queries that are not like traffic, and batch by batch."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.workflow import Traffic
from tests.decide.guard.guarded import MEASURE, calibrated, fitted, parts

import surefoot as sf
from surefoot.decide.evidence.judged_queries import JudgedQueries, betting_order
from surefoot.decide.evidence.record import read_record
from surefoot.decide.guard.calibration import ScoredQueries, calibration_of
from surefoot.errors import ArgumentError, DataError
from surefoot.risk.betting import anytime_capital, start_anytime
from surefoot.risk.bounds import least_queries


def test_drawn_queries_prove_more_with_fewer_judgments(tmp_path: Path) -> None:
    c, traffic = fitted(blend=0.2, risk=0.02), parts()["judged"]
    lists = c._lists(traffic)
    draws = sf.judge_next(
        [lists.baseline, lists.candidate], baseline=lists.baseline.name, measure=MEASURE, n=150, seed=0
    )
    c.calibrate(traffic, sample=draws)
    certificate = c.certificate_
    assert certificate["queries"] == 150
    assert certificate["sample"]["kind"] == "draws"
    assert certificate["least_queries"] < 150
    plain = fitted(blend=0.2, risk=0.02).calibrate(traffic.select(np.arange(150))).certificate_
    assert certificate["guarded"]["gain"] > 2 * plain["guarded"]["gain"]
    draws.write(tmp_path / "draws.json")
    again = fitted(blend=0.2, risk=0.02).calibrate(traffic, sample=tmp_path / "draws.json").certificate_
    assert again.to_dict() == certificate.to_dict()
    # Their losses are divided by W already: the greatest of all traffic scales them no more.
    bounded = fitted(blend=0.2, risk=0.02).calibrate(traffic, sample=draws, unlabelled=traffic).certificate_
    assert bounded["largest_loss"] < 0.7
    assert (bounded["thresholds_proved"], bounded["least_queries"]) == (
        certificate["thresholds_proved"],
        certificate["least_queries"],
    )
    # Weighted figures are about those of all the traffic.
    whole = fitted(blend=0.2, risk=0.02).calibrate(traffic).certificate_["unguarded"]
    assert certificate["unguarded"]["risk"] == pytest.approx(whole["risk"], abs=0.01)


def test_strata_are_weighed_by_their_shares() -> None:
    judged = parts()["judged"]
    strata = {query: "head" if number % 5 else "tail" for number, query in enumerate(judged.queries)}
    like = fitted(risk=0.08).calibrate(judged, sample=sf.Strata(strata, {"head": 0.8, "tail": 0.2})).certificate_
    plain = fitted(risk=0.08).calibrate(judged).certificate_
    assert like["sample"]["strata"] == [
        {"stratum": "head", "share": 0.8, "queries": 400},
        {"stratum": "tail", "share": 0.2, "queries": 100},
    ]
    assert like["unguarded"] == pytest.approx(plain["unguarded"])
    assert 0 < like["thresholds_proved"] <= plain["thresholds_proved"]
    turned = fitted(risk=0.08).calibrate(judged, sample=sf.Strata(strata, {"head": 0.1, "tail": 0.9})).certificate_
    assert turned["thresholds_proved"] < like["thresholds_proved"]  # few queries stand for much


def test_a_smaller_greatest_loss_proves_more() -> None:
    settings = {"risk": 0.01, "blend": 0.2}
    plain = fitted(**settings).calibrate(parts()["judged"]).certificate_
    bounded = fitted(**settings).calibrate(parts()["judged"], unlabelled=parts()["judged"]).certificate_
    assert bounded["largest_loss"] < 0.7
    assert bounded["least_queries"] < plain["least_queries"]
    assert bounded["thresholds_proved"] > plain["thresholds_proved"]


def test_a_record_lowers_delta_for_every_further_scorer(tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    uses = []
    for scorer in ("predicted_gain:isotonic", "feature:12", "predicted_gain:isotonic"):
        certificate = fitted(scorer=scorer).calibrate(parts()["judged"], record=record).certificate_
        uses.append((certificate["record"]["number"], round(certificate["delta"], 4)))
    assert uses == [(1, 0.04), (2, 0.0061), (1, 0.04)]  # the same again is no new use
    kept = read_record(record).questions
    assert [one.number for one in kept] == [1, 2]
    assert certificate["record"] == {
        "question": 1, "number": 1, "delta_requested": 0.05, "sha256": kept[0].hashes[0]
    }  # fmt: skip
    assert f"1 of record {kept[0].hashes[0][:12]}, at 0.04 of δ = 0.05" in certificate.to_text()
    assert "question 2 about these queries" in " ".join(
        fitted(scorer="feature:12").calibrate(parts()["judged"], record=record).certificate_["assumptions"]
    )


def test_draws_of_a_record_calibrate(tmp_path: Path) -> None:
    record, traffic = tmp_path / "record.json", Traffic(3)
    qrels, runs = traffic.qrels, traffic.runs
    for seed in (1, 2):
        draws = sf.judge_next(
            [runs[0], runs[1]], baseline=runs[0].name, measure="RR@10", n=40, seed=seed, record=record
        )

    def certified(judged: Any, **given: Any) -> sf.Certificate:
        made = sf.RiskGuard(runs[1], baseline=runs[0], risk=0.3, measure="RR@10", scorer=lists_moved)
        return made.calibrate(judged, record=record, **given).certificate_

    certificate = certified(qrels)
    assert (certificate["queries"], certificate["sample"]["kind"]) == (80, "draws")
    assert certificate["record"]["number"] == 1
    missing = next(query for query in draws.queries)
    with pytest.raises(DataError, match="drawn queries have no judgments"):
        certified({query: graded for query, graded in qrels.items() if query != missing})
    with pytest.raises(ArgumentError, match="a record holds the draws itself"):
        certified(qrels, sample=draws)
    other = sf.RiskGuard(runs[0], baseline=runs[0], risk=0.3, measure="RR@10", scorer=lists_moved)
    with pytest.raises(DataError, match="were drawn for other rankings"):
        other.calibrate({query: qrels[query] for query in draws.queries}, record=record)
    strata = dict.fromkeys(draws.queries, "all")
    with pytest.raises(DataError, match="were drawn for other rankings"):
        certified({query: qrels[query] for query in draws.queries}, sample=sf.Strata(strata, {"all": 1.0}))
    counts = {query: 1.0 + number % 7 for number, query in enumerate(qrels)}
    more = {"measure": "RR@10", "n": 30, "seed": 3, "traffic": counts, "record": record}
    sf.judge_next([runs[0], runs[1]], baseline=runs[0].name, **more)
    by_traffic = certified(qrels)  # draws by traffic have another W̄: they are not put together with those without
    assert (by_traffic["queries"], by_traffic["sample"]["by_traffic"]["total"]) == (30, sum(counts.values()))


def lists_moved(lists: Any) -> Any:
    return np.ones(len(lists.queries))


def test_batches_open_thresholds_as_the_bets_say(tmp_path: Path) -> None:
    judged = parts()["judged"]
    c = fitted(budget=500)
    bounds = [0, 100, 250, 500]
    open_ = []
    for start, end in pairwise(bounds):
        c.update(judged.select(np.arange(start, end)))
        open_.append(c.certificate_["thresholds_proved"])
        c.save(tmp_path / "c")  # a guard that was saved meanwhile goes on alike
        c = sf.RiskGuard.load(tmp_path / "c")
    assert open_ == sorted(open_)
    assert 0 < open_[-1] <= c.certificate_["thresholds_tried"]
    assert c.certificate_["method"] == "anytime betting"
    assert c.certificate_["queries"] == 500
    # Slowly: each threshold's bet on each query, in order of arrival and within a batch by hash.
    lists = c._lists(judged)
    scores = c.scorer.scores(lists)
    known = lists.effectiveness(judged.qrels(), c.settings.measure)
    loss = np.maximum(known.baseline - known.candidate, 0)
    order = np.concatenate([start + betting_order(judged.queries[start:end]) for start, end in pairwise(bounds)])
    assert c._thresholds is not None
    x = (loss * (scores >= c._thresholds[::-1, None]))[:, order]
    p = anytime_capital(x, start_anytime(0.05, 0.05, 500, (len(x),))).p
    passed = next((number for number, one in enumerate(p) if one > 0.05), len(p))
    assert passed == c.certificate_["thresholds_proved"]


def test_no_query_counts_twice() -> None:
    judged = parts()["judged"]
    c = fitted(budget=500).update(judged.select(np.arange(100)))
    before = c.certificate_.to_dict()
    with pytest.raises(DataError, match="in an earlier batch"):
        c.update(judged.select(np.arange(99, 200)))
    assert c.certificate_.to_dict() == before
    few = fitted().update(judged.select(np.arange(20))).certificate_
    assert few["least_queries"] == least_queries(0.05, 0.05, "anytime") > least_queries(0.05, 0.05)
    assert f"at least {few['least_queries']} are needed" in few["reason"]


def test_losses_can_be_watched_together_in_batches() -> None:
    c = fitted(risk=0.08, share_hurt=0.3).update(parts()["judged"])
    alone = fitted(risk=0.08).update(parts()["judged"])
    assert c.certificate_["thresholds_proved"] <= alone.certificate_["thresholds_proved"]
    assert calibrated().certificate_["method"] == "betting"


def test_drawn_queries_are_bet_on_in_the_order_of_drawing() -> None:
    """Copies side by side would let a bet know what comes next."""
    judged = JudgedQueries(("a", "b", "c"), np.array([0.2, 0.2, 0.2]), np.array([0.1, 0.2, 0.3]))
    scored = ScoredQueries(judged, np.arange(3.0))
    draws = sf.judge_next(
        {"today": {"a": ["y"], "b": ["y"], "c": ["y"]}, "new": {"a": ["x"], "b": ["x"], "c": ["x"]}},
        baseline="today",
        measure="P@1",
        n=40,
    )
    settings = sf.RiskGuard({"a": ["x"]}, baseline={"a": ["y"]}, measure="P@1").settings
    _, sample, weighing = calibration_of(scored, settings, draws, 1.0)
    assert list(sample.queries) == draws.to_dict()["sequence"]
    assert (weighing["draws"], weighing["could_lose_mean"]) == (40, 1.0)
