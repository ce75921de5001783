"""Draws of queries to judge: as likely as they could lose, the same whatever the file's order, and safe on disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.data.hashes import lists_hash, seal
from surefoot.decide.evidence.draws import Draws
from surefoot.decide.evidence.judge_next import judge_next
from surefoot.errors import ArgumentError, DataError
from surefoot.measures.worst_case import worst_case_loss

TODAY = {f"q{number}": ["a", "b", "c"] for number in range(8)}
NEW = TODAY | {"q1": ["b", "a", "c"], "q2": ["a", "c", "b"], "q3": ["d", "e", "f"]}


def draw(**given: Any) -> Draws:
    return judge_next({"today": TODAY, "new": NEW}, baseline="today", **{"measure": "nDCG@3"} | given)


def test_draws_are_in_proportion_to_what_could_be_lost() -> None:
    found = draw(n=20_000, seed=3)
    weights = dict(zip(TODAY, worst_case_loss(NEW, TODAY, "nDCG@3"), strict=True))
    assert found.queries == ("q1", "q2", "q3")
    np.testing.assert_allclose(found.could_lose, [weights[query] for query in found.queries])
    assert found.could_lose_mean == pytest.approx(sum(weights.values()) / 8)
    assert found.could_lose_largest == 1.0
    shares = found.could_lose / found.could_lose.sum()
    np.testing.assert_allclose(found.times / 20_000, shares, atol=4 * 0.5 / np.sqrt(20_000))


def test_the_weighted_losses_have_the_mean_of_all_traffic() -> None:
    """Why the weights are right: W̄·mean(loss/W) over the draws is about the mean loss over all queries."""
    qrels = {query: {"a": 1, "c": 1} for query in TODAY}
    scores = sf.score(qrels, {"new": NEW, "old": TODAY}, "nDCG@3")
    loss = np.maximum(scores["old"] - scores["new"], 0)
    found = draw(n=50_000)
    at = [scores.queries.index(query) for query in found.queries]
    estimate = found.could_lose_mean * np.repeat(loss[at] / found.could_lose, found.times).mean()
    assert estimate == pytest.approx(loss.mean(), abs=0.003)


def test_drawing_for_gain_sees_what_could_be_gained() -> None:
    more = TODAY | {"q1": ["a", "b", "c", "d"]}  # nothing can be lost, something gained
    with pytest.raises(DataError, match="nothing to judge"):
        judge_next({"today": TODAY, "more": more}, baseline="today", measure="nDCG@4", n=5)
    assert judge_next(
        {"today": TODAY, "more": more}, baseline="today", measure="nDCG@4", n=5, to_prove="gain"
    ).queries == ("q1",)


def test_the_order_of_files_changes_nothing() -> None:
    turned = judge_next(
        {"today": dict(reversed(TODAY.items())), "new": dict(reversed(NEW.items()))},
        baseline="today",
        measure="nDCG@3",
        n=50,
        seed=1,
    )
    assert turned.to_dict() == draw(n=50, seed=1).to_dict()
    assert turned.to_dict() != draw(n=50, seed=2).to_dict()


def test_the_sequence_is_that_of_the_draws() -> None:
    found = draw(n=30, seed=7)
    weights = np.array(
        [dict(zip(found.queries, found.could_lose, strict=True)).get(query, 0.0) for query in sorted(TODAY)]
    )
    drawn = np.random.default_rng(7).choice(8, size=30, p=weights / weights.sum())
    assert found.to_dict()["sequence"] == [sorted(TODAY)[place] for place in drawn]
    assert found.draws == 30
    assert found.times.tolist() == [found.to_dict()["sequence"].count(query) for query in found.queries]


def test_every_draw_has_a_seed_of_its_own() -> None:
    seeds = {draw(n=5).seed for _ in range(5)}
    assert len(seeds) == 5
    seed = seeds.pop()
    again, more = (draw(n=n, seed=seed).to_dict()["sequence"] for n in (5, 8))
    assert more[:5] == again  # why a seed that was seen is refused


def test_draws_are_read_back_as_they_were(tmp_path: Path) -> None:
    found = draw(n=30, seed=5)
    found.write(tmp_path / "draws.json")
    assert Draws.read(tmp_path / "draws.json").to_dict() == found.to_dict()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"could_lose_mean": 0.9}, "was changed"),
        ({"schema": "surefoot/other/1"}, "does not contain draws"),
    ],
)
def test_changed_files_are_refused(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    _write(
        tmp_path / "draws.json",
        dict(draw(n=9).to_dict()) | change,
    )
    with pytest.raises(DataError, match=said):
        Draws.read(tmp_path / "draws.json")


def _row(**change: Any) -> dict[str, Any]:
    return {"query": "q1", "times": 9, "could_lose": 0.5} | change


NINE = {"sequence": ["q1"] * 9}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (NINE | {"queries": [_row(could_lose=-0.5)]}, r"queries\[0\].could_lose is -0.5; expected above 0"),
        (NINE | {"queries": [_row(could_lose=1.5)]}, "could_lose is 1.5; expected at most 1"),
        (NINE | {"queries": [_row(could_lose=True)]}, "could_lose is True; expected a number"),
        ({"queries": [_row(times=5), _row(times=4)]}, "'q1' twice"),
        (NINE | {"queries": [_row(times=0)]}, "times is 0; expected at least 1"),
        (NINE | {"queries": [_row(times=8)]}, "do not add up"),
        ({"queries": [_row()], "sequence": ["q1"] * 8}, "do not add up"),
        ({"queries": [_row()], "sequence": ["q1"] * 8 + ["q7"]}, "sequence with other queries"),
        ({"queries": [_row()], "sequence": "q1"}, "sequence is 'q1'; expected a list"),
        ({"queries": [_row(query=3)]}, "query is 3; expected text"),
        ({"queries": []}, "expected a list of at least 1"),
        ({"queries": [{}]}, r"queries\[0\].query is missing; draw again"),
        ({"queries": 3}, "queries is 3; expected a list"),
        (NINE | {"queries": [_row()], "could_lose_largest": 0.4, "could_lose_mean": 0.1}, "more than the largest"),
        (NINE | {"queries": [_row()], "could_lose_mean": 0.0}, "could_lose_mean is 0.0; expected above 0"),
        ({"to_prove": "fun"}, "to_prove is 'fun'; expected 'risk' or 'gain'"),
        ({"candidate": {"name": "x"}}, "candidate.sha256 is missing"),
        ({"baseline": {"name": "x", "sha256": "1"}}, "baseline.sha256 is '1'"),
        ({"measure": "DCG@3"}, "no maximum"),
    ],
)
def test_wrong_files_are_refused_though_their_hash_fits(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    _write(
        tmp_path / "draws.json",
        seal(dict(draw(n=9).to_dict()) | change),
    )
    with pytest.raises(sf.SurefootError, match=said):
        Draws.read(tmp_path / "draws.json")


def test_draws_of_other_runs_measures_or_lists_are_refused() -> None:
    found = draw(n=9)
    new, today = sf.read_run(NEW), sf.read_run(TODAY)
    found._check_runs(new, today, "nDCG@3")
    with pytest.raises(DataError, match="another candidate"):
        found._check_runs(today, today, "nDCG@3")
    with pytest.raises(DataError, match="another baseline"):
        found._check_runs(new, new, "nDCG@3")
    with pytest.raises(DataError, match="for nDCG@3"):
        found._check_runs(new, today, "P@3")
    found._check_could_lose(found.could_lose + 1e-15)
    with pytest.raises(DataError, match="other rankings"):
        found._check_could_lose(found.could_lose / 2)


def test_all_that_was_drawn_must_be_judged() -> None:
    found = draw(n=50, seed=1)
    assert found._places(["q3", "q2", "q1"]).tolist() == [2, 1, 0]
    with pytest.raises(DataError, match="1 of the 3 drawn queries have no judgments"):
        found._places(["q1", "q2"])


@pytest.mark.parametrize("n", [0, -3, 2.5, "many"])
def test_impossible_numbers_are_refused(n: Any) -> None:
    with pytest.raises(ArgumentError, match="n is"):
        draw(n=n)


def test_a_run_is_told_by_its_lists_alone() -> None:
    scored = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 1.0}}
    again = {"q2": {"a": 9.0}, "q1": {"b": 1.0, "a": 7.0}}
    assert lists_hash(sf.read_run(scored)) == lists_hash(sf.read_run(again, name="other"))
    assert lists_hash(sf.read_run(scored)) != lists_hash(sf.read_run({**again, "q1": {"b": 8.0, "a": 7.0}}))


def _write(path: Path, data: Any) -> None:
    path.write_text(json.dumps(data), encoding="utf-8")
