"""The promise in use: whatever the output tells people to do, and whatever else they do, at most δ ships falsely."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks import workflow
from benchmarks.workflow import CELLS, Session, matrix, most, rates

from surefoot.decide.evidence.conditions import ConditionRule
from surefoot.decide.evidence.judged_queries import JudgedQueries
from surefoot.decide.evidence.proof import evidence_of
from surefoot.decide.evidence.record import Record
from surefoot.decide.gate import looks, sample_size
from surefoot.risk.batches import CountBet, p_of_batch

RUNS = 1_000


@pytest.mark.heavy
@pytest.mark.parametrize("cell", CELLS)
def test_at_most_delta_ever_ships_or_stops_falsely(cell: str) -> None:
    shipped, stopped, _ = rates(cell, RUNS)
    assert shipped <= most(RUNS)
    assert stopped <= most(RUNS)
    if cell == "a segment without judgments":
        assert shipped == 0


@pytest.mark.heavy
@pytest.mark.parametrize("cell", ["doubling, risk", "doubling, gain"])
def test_bets_that_begin_anew_at_each_look_fail(cell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The simulation can tell: without what earlier looks left of the capital, far more ship."""
    whole = looks.evidence_of

    def anew(*given: Any) -> Any:
        return whole(*given[:6], [len(given[1])], *given[7:])

    monkeypatch.setattr(looks, "evidence_of", anew)
    assert rates(cell, 300)[0] > most(300)


def test_a_look_costs_little() -> None:
    """Of the code between reading and words; the time itself is in benchmarks/guarantee.py."""
    session, losses = Session(), np.zeros(300)
    for n in (100, 200, 300):
        session.look(matrix(losses[:n]), {"risk": 0.001})
    assert session.looks == 3


@pytest.mark.heavy
@pytest.mark.parametrize(
    "cell", ["look again, graded risk", "look again, gain", "doubling, share hurt", "known traffic, risk"]
)
def test_the_command_line_decides_the_same(
    cell: str, surefoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("surefoot.decide.gate.gate.queries_needed", lambda *_, **__: None)
    decisions: list[tuple[str, str]] = []

    def look(self: Session, scores: Any, policy: dict[str, Any], candidate: str | None = None, **given: Any) -> bool:
        scores.write(tmp_path / "scores.csv")
        options = [f"--{key.replace('_', '-')}={value}" for key, value in {**policy, **given}.items()]
        code, _, err = surefoot(
            "gate", "--scores", "scores.csv", "-m", "nDCG@10", "-b", "today", *options, "-q", "--record",
            f"{len(decisions)}-{id(self)}.json" if not hasattr(self, "file") else self.file,
        )  # fmt: skip
        asked = workflow.ask(scores, candidate, "today", policy, self.record, **workflow.GIVEN | given)
        decision = looks.look_again(asked, self.record).decision
        decisions.append((decision, {0: "ship", 1: "stop", 3: "undecided"}.get(code, err)))
        return decision == "undecided"

    monkeypatch.setattr(Session, "look", look)
    for number in range(20):
        (tmp_path / "record.json").unlink(missing_ok=True)
        monkeypatch.setattr(Session, "file", "record.json", raising=False)
        CELLS[cell](np.random.default_rng([0, number]))
    assert len(decisions) >= 20
    assert all(ours == theirs for ours, theirs in decisions)


# One look of n queries: the ship rates that FORMULAS gives.


@pytest.mark.parametrize(
    ("n", "level", "rate", "draw"),
    [
        (635, 0.02, 0.81, lambda rng, shape: rng.binomial(1, 0.02, shape) * 0.5),
        (257, 0.05, 1.00, lambda rng, shape: rng.binomial(1, 0.2, shape) * rng.uniform(0, 0.25, shape)),
        (363, 0.02, 0.77, lambda rng, shape: rng.binomial(1, 0.1, shape) * 0.1),
        (870, 0.05, 0.83, lambda rng, shape: rng.binomial(1, 0.025, shape) * 1.0),
    ],
)
def test_the_published_ship_rates(n: int, level: float, rate: float, draw: Any) -> None:
    x = draw(np.random.default_rng(1), (2_000, n))
    assert float((p_of_batch(x, level, 0.05) <= 0.05).mean()) == pytest.approx(rate, abs=0.04)


def test_the_published_number_of_counts() -> None:
    x = np.random.default_rng(5).binomial(1, 0.01, (2000, 981)).astype(float)
    assert float((CountBet.start(0.02, 0.05, (2000,)).after(x).p <= 0.05).mean()) == pytest.approx(0.80, abs=0.04)


# How many more queries are said to decide.


def _fresh_share(groups: Any, times: float, monkeypatch: pytest.MonkeyPatch) -> float:
    """The share of other resamples that decide."""
    shares = []
    for seed in range(1, 6):
        monkeypatch.setattr(sample_size, "_SEED", seed)
        shares.append(sample_size._deciding_share(groups, times))
    return float(np.mean(shares))


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("known", [None, 4_000])
def test_queries_needed_decide_in_four_of_five_resamples(
    again: bool, known: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares = []
    for number, (name, level) in enumerate(
        (("risk", 0.03), ("risk", 0.04), ("gain", -0.03), ("share_hurt", 0.12), ("risk", 0.035), ("gain", -0.04))
    ):
        rng = np.random.default_rng(number)
        lost = rng.binomial(1, 0.07, 120) * rng.uniform(0.1, 0.5, 120)
        sample = JudgedQueries(tuple(f"q{n}" for n in range(120)), np.full(120, 0.6), 0.6 - lost + 0.01)
        evidence = [
            evidence_of(ConditionRule(name, level), sample, "nDCG@10", batches=(120,), known=known)  # type: ignore[arg-type]
        ]
        needed = sample_size.queries_needed(evidence, 120, 0.05, again=again)
        more = 0 if needed is None else needed - 120 * again
        # Where a few more decide, or nearly all of the traffic does, one query more or less makes much of a difference.
        if more < 20 or needed > 0.9 * (known or math.inf):
            continue
        groups = sample_size._groups(evidence, 0.05, 1, again)
        shares.append(_fresh_share(groups, more / 120, monkeypatch))
        monkeypatch.setattr(sample_size, "_SEED", 0)
    assert len(shares) >= 3
    assert 0.75 <= np.mean(shares) <= 0.85
    assert all(0.72 <= share <= 0.9 for share in shares)


def test_six_looks_spend_one_level() -> None:
    record, session = Record(), Session()
    session.record = record
    for n in (10, 20, 30):
        session.look(matrix(np.full(n, 0.05)), {"risk": 0.05})
    assert [question.data["number"] for question in record.questions] == [1]
    assert len(record.questions[0].looks) == 3
    assert math.isclose(record.questions[0].data["delta"], 0.04)
