"""The guard: what it shows and proves, and that nobody's file order matters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.decide.guard.guarded import MEASURE, calibrated, fitted, parts, ranker
from tests.report.schemas import check_data

import surefoot as sf
from surefoot.errors import ArgumentError, DataError


def shuffled(data: sf.RankingData, seed: int = 0) -> sf.RankingData:
    return data.select(np.random.default_rng(seed).permutation(len(data.queries)))


def test_it_shows_the_candidate_where_that_is_proved_to_be_safe() -> None:
    certificate, judged = calibrated().certificate_, parts()["judged"]
    assert certificate["threshold"] is not None
    (risk,) = certificate["conditions"]
    assert (risk["name"], risk["bound"], risk["level"]) == ("risk", 0.05, 0.05)
    assert 0 < risk["observed"] < 0.05 < certificate["unguarded"]["risk"]
    assert certificate["queries"] == len(judged.queries)
    assert 0.3 < certificate["gain_kept"] < 1.2
    # The observed figures are those of an assessment of the very lists that are shown.
    shown = calibrated().to_run(judged)
    scores = sf.score(judged.qrels(), [shown, judged.to_run(judged.baselines["bm25"], "bm25")], MEASURE)
    row = {row["system"]: row for row in sf.assess(scores, "bm25").to_dict()["systems"]}["guarded"]
    assert row["risk"] == pytest.approx(certificate["guarded"]["risk"], abs=1e-12)
    assert row["gain"] == pytest.approx(certificate["guarded"]["gain"], abs=1e-12)


def test_the_certificate_holds_on_traffic() -> None:
    traffic = parts()["traffic"]
    runs = [calibrated().to_run(traffic), traffic.to_run(traffic.baselines["bm25"], "bm25")]
    scores = sf.score(traffic.qrels(), runs, MEASURE)
    assert np.maximum(scores["bm25"] - scores["guarded"], 0).mean() <= 0.05


def test_each_query_gets_one_list_or_the_other() -> None:
    c, traffic = calibrated(), parts()["traffic"]
    decisions = c.shown(traffic)
    assert 0 < decisions.shown.mean() < 1
    lists = c._lists(traffic)
    run, candidate, baseline = c.to_run(traffic).to_dict(), lists.candidate.to_dict(), lists.baseline.to_dict()
    for query, takes in zip(decisions.queries, decisions.shown, strict=True):
        assert list(run[query]) == list((candidate if takes else baseline)[query])
    np.testing.assert_array_equal(
        traffic.to_run(c.predict(traffic), "x").ranking.scores, c.to_run(traffic).ranking.scores
    )
    row = decisions.rows()[int(decisions.shown.argmax())]
    assert row["shown"] == "candidate"
    assert "is at least" in row["why"]


def test_the_order_of_queries_changes_nothing() -> None:
    turned = fitted().calibrate(shuffled(parts()["judged"]))
    assert turned.certificate_.to_dict() == calibrated().certificate_.to_dict()
    other = sf.RiskGuard(ranker(), baseline="bm25", risk=0.05).fit_scorer(shuffled(parts()["valid"]))
    same = other.calibrate(parts()["judged"]).certificate_
    assert same["queries"] == 489  # each with a relevant document; trees may differ in last digits, as their sums do


def test_the_certificate_is_plain_data_of_its_schema() -> None:
    for c in (calibrated(), fitted(risk=1e-3).calibrate(parts()["judged"])):
        data = json.loads(c.certificate_.to_json())
        check_data(data, "certificate")
        assert sf.Certificate.from_dict(data).to_dict() == c.certificate_.to_dict()
        assert data["sentence"] in c.certificate_.to_html().replace("&#39;", "'").replace("&#34;", '"')
        assert str(c.certificate_).startswith(data["sentence"])
        assert dict(c.certificate_) == data


def test_the_curve_rises_and_passes_through_what_was_found() -> None:
    curve = calibrated().certificate_["curve"]
    gains = [point["gain"] for point in curve]
    assert gains == sorted(gains)
    at = [point["level"] for point in curve].index({"risk": 0.05})
    assert curve[at]["gain"] == pytest.approx(calibrated().certificate_["guarded"]["gain"], abs=0.01)
    assert "<svg" in calibrated().certificate_.to_html()


def test_too_few_queries_show_the_baseline_and_say_why() -> None:
    few = parts()["judged"].select(np.arange(50))
    c = fitted().calibrate(few)
    assert c.certificate_["least_queries"] == 59
    assert "50 judged queries cannot prove risk at most 0.05" in c.certificate_["reason"]
    assert "at least 59" in c.certificate_["sentence"]
    run = c.to_run(parts()["traffic"])
    baseline = c._lists(parts()["traffic"]).baseline
    assert run.to_dict() == baseline.to_dict()
    assert "only bm25 is shown" in c.shown(parts()["traffic"]).rows()[0]["why"]


def test_a_candidate_that_only_loses_is_not_shown() -> None:
    judged = parts()["judged"]
    worse = sf.RiskGuard(ranker(), baseline="best", risk=0.5, scorer=lambda lists: np.zeros(len(lists.queries)))
    c = worse.calibrate(judged.with_baseline("best", judged.y))
    assert c.threshold_ is None
    assert "the candidate gained nothing" in c.certificate_["reason"]


def test_both_losses_at_once_are_as_safe_as_each() -> None:
    judged = parts()["judged"]
    both = fitted(risk=0.05, share_hurt=0.1).calibrate(judged)
    alone = fitted(risk=None, share_hurt=0.1).calibrate(judged)
    assert [one["name"] for one in both.certificate_["conditions"]] == ["risk", "share_hurt"]
    assert both.threshold_ == max(float(calibrated().threshold_ or 0), float(alone.threshold_ or 0))
    assert "loses on average at most 0.05" in both.certificate_["sentence"]
    assert "at most 10 % of queries" in both.certificate_["sentence"]


@pytest.mark.parametrize(
    "scorer", ["predicted_gain:isotonic", "feature:12", lambda lists: -lists.data.X[lists.data.offsets[:-1], 11]]
)
def test_other_scorers(scorer: Any) -> None:
    c = fitted(scorer=scorer).calibrate(parts()["judged"])
    assert c.certificate_["thresholds_tried"] > 100
    if scorer == "feature:12":  # it hints at queries where the candidate is misled: the lower the better
        assert c.scorer.to_dict() == {"sign": -1}
    assert len(c.shown(parts()["traffic"]).queries) == 300


def test_a_function_needs_no_fitting_and_is_checked() -> None:
    c = sf.RiskGuard(ranker(), baseline="bm25", risk=0.05, scorer=lambda lists: np.arange(len(lists.queries)))
    assert c.calibrate(parts()["judged"]).certificate_["thresholds_tried"] == 489
    wrong = sf.RiskGuard(ranker(), baseline="bm25", scorer=lambda lists: [np.nan] * len(lists.queries))
    with pytest.raises(ArgumentError, match="one finite number"):
        wrong.calibrate(parts()["judged"])


def test_blending_is_part_of_what_is_certified() -> None:
    c = fitted(blend=0.7).calibrate(parts()["judged"])
    assert c.certificate_["unguarded"]["risk"] < calibrated().certificate_["unguarded"]["risk"]
    assert c.certificate_["blend"] == 0.7


def test_a_baseline_by_feature_is_the_baseline_by_name() -> None:
    c = sf.RiskGuard(ranker(), baseline="feature:1", risk=0.05, unanswered="count").fit_scorer(parts()["valid"])
    assert c.calibrate(parts()["judged"]).threshold_ == pytest.approx(calibrated().threshold_)


def test_two_runs_and_judgments() -> None:
    c = calibrated()
    lists = {name: c._lists(parts()[name]) for name in ("valid", "judged", "traffic")}
    whole = {
        side: {k: v for one in lists.values() for k, v in getattr(one, side).to_dict().items()}
        for side in ("candidate", "baseline")
    }
    runs = sf.RiskGuard(
        sf.read_run(whole["candidate"], name="new"), baseline=sf.read_run(whole["baseline"], name="today"),
        risk=0.05, measure=MEASURE, unanswered="count",
    )  # fmt: skip
    runs.fit_scorer(parts()["valid"].qrels()).calibrate(parts()["judged"].qrels())
    isotonic = fitted(scorer="predicted_gain:isotonic").calibrate(parts()["judged"])
    assert runs.certificate_["scorer"] == "predicted_gain:isotonic"
    assert runs.threshold_ == pytest.approx(isotonic.threshold_)
    assert runs.certificate_["guarded"] == pytest.approx(isotonic.certificate_["guarded"])
    run = runs.to_run().to_dict()
    assert len(run) == 1000
    again = runs.to_run((lists["traffic"].candidate, lists["traffic"].baseline), "again")
    assert {q: list(d) for q, d in again.to_dict().items()} == {q: list(run[q]) for q in again.queries}


def test_saved_and_loaded_it_decides_alike(tmp_path: Path) -> None:
    traffic = parts()["traffic"]
    for number, c in enumerate((calibrated(), fitted(scorer="predicted_gain:isotonic").calibrate(parts()["judged"]))):
        c.save(tmp_path / str(number))
        loaded = sf.RiskGuard.load(tmp_path / str(number))
        assert loaded.certificate_.to_dict() == c.certificate_.to_dict()
        np.testing.assert_array_equal(loaded.predict(traffic), c.predict(traffic))
        with pytest.raises(DataError, match="already used to fit the scorer"):
            loaded.calibrate(parts()["valid"])


def test_runs_are_loaded_without_their_runs(tmp_path: Path) -> None:
    lists = calibrated()._lists(parts()["judged"])
    other = calibrated()._lists(parts()["traffic"])
    c = sf.RiskGuard(lists.candidate, baseline=lists.baseline, risk=0.3, scorer="predicted_gain:isotonic")
    half = [dict(list(parts()["judged"].qrels().to_dict().items())[part]) for part in (slice(200), slice(200, None))]
    c.fit_scorer(half[0]).calibrate(half[1]).save(tmp_path / "c")
    loaded = sf.RiskGuard.load(tmp_path / "c")
    assert (
        loaded.to_run((other.candidate, other.baseline)).to_dict()
        == c.to_run((other.candidate, other.baseline)).to_dict()
    )
    with pytest.raises(ArgumentError, match="contains no runs"):
        loaded.to_run()


def test_what_only_the_baseline_shows_is_as_good_as_the_candidates_last() -> None:
    """The predicted gain by hand: documents that the candidate drops are not worthless."""
    from surefoot.decide.guard.list_pair import ListPair
    from surefoot.decide.guard.scorers import PredictedGain
    from surefoot.measures.notation import Measure

    candidate = sf.read_run({"q1": {"a": 0.9, "b": 0.5}, "q2": {"x": 0.4}}, name="new")
    baseline = sf.read_run({"q1": {"c": 2.0, "a": 1.0}, "q2": {"x": 1.0}, "q3": {"y": 1.0}}, name="today")
    lists = ListPair.from_runs(candidate, baseline, None)
    scorer = PredictedGain(Measure.parse("nDCG@10"), None)
    scorer.expected.at = scorer.expected.value = np.array([0.0, 1.0])  # ĝ is the score itself
    first, second = 1.0, 1 / np.log2(3)
    # q1: a from 2 to 1, b new at 2, c (as good as b) gone from 1; ideal 0.9, 0.5, 0.5.
    ideal = 0.9 + 0.5 * second + 0.5 / 2
    expected = (0.9 * (first - second) + 0.5 * second - 0.5 * first) / ideal
    found = dict(zip(lists.queries, scorer.scores(lists), strict=True))
    assert found["q1"] == pytest.approx(expected)
    assert found["q2"] == pytest.approx(0.0)
    assert found["q3"] == pytest.approx(-1.0)  # y, as good as the least of all, is gone
