"""What automatic judges cost and save: false ships with judges of eight kinds, and judgments that they spare people.

    python benchmarks/automatic_judges.py [--samples 200] [--robust FOLDER]

`benchmarks/guarantee.py` runs all of it too. Given traffics are drawn from again and again, end to end through
`judge_next` and `gate`, and decided on at just their true figures: every decision to ship is then false. What the bets
alone do is measured over many more draws. TREC Robust 2003 is looked for in $SUREFOOT_DATA/trec-robust-2003.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import surefoot as sf
from surefoot.decide.evidence.record import read_record
from surefoot.decide.gate import gate as gate_module
from surefoot.measures.worst_case import worst_case_loss
from surefoot.risk.batches import p_of_batch
from surefoot.risk.control_variate import anytime_with_judge, judge_moments

DELTA, MEASURE, ALPHA = 0.05, "RR@10", 2.0
LISTS = [["a", "b", "c", "d"], ["b", "a", "c", "d"], ["c", "b", "a", "d"], ["d", "c", "b", "a"]]
KINDS = ("good", "noisy", "missing half", "independent", "constant", "contrary", "too high", "favours the candidate")
Judgments = dict[str, dict[str, int]]


class JudgedTraffic:
    """Given queries, what people would say of all of them, and judges of eight kinds."""

    def __init__(self, seed: int, queries: int = 400) -> None:
        rng = np.random.default_rng([seed, queries])
        self.ids = [f"{seed}-{number}" for number in range(queries)]
        relevant = rng.choice([*"abcd"], queries, p=[0.55, 0.15, 0.15, 0.15]).tolist()
        self.people: Judgments = {
            query: {document: int(document == one) for document in "abcd"}
            for query, one in zip(self.ids, relevant, strict=True)
        }
        self.chosen = rng.choice(4, queries, p=[0.7, 0.1, 0.1, 0.1])
        self.today = sf.read_run(dict.fromkeys(self.ids, LISTS[0]), "today")
        self.new = sf.read_run({query: LISTS[kind] for query, kind in zip(self.ids, self.chosen, strict=True)}, "new")
        scores = sf.score(self.people, [self.today, self.new], MEASURE)
        self.change = scores["new"] - scores["today"]
        self.judges = {kind: self._judge(kind, rng) for kind in KINDS}

    def _judge(self, kind: str, rng: np.random.Generator) -> Judgments:
        def corrupted(share: float) -> Judgments:
            return {
                query: {one: int(rng.random() < 0.25) if rng.random() < share else grade for one, grade in own.items()}
                for query, own in self.people.items()
            }

        if kind == "good":
            return corrupted(0.1)
        if kind == "noisy":
            return corrupted(0.5)
        if kind == "missing half":
            return {query: own for query, own in corrupted(0.1).items() if rng.random() < 0.5}
        if kind == "independent":
            return corrupted(1.0)
        if kind == "constant":
            return {query: dict.fromkeys("abcd", 1) for query in self.ids}
        if kind == "contrary":
            return {query: {one: 1 - grade for one, grade in own.items()} for query, own in self.people.items()}
        if kind == "too high":
            return {
                query: {one: max(grade, int(rng.random() < 0.4)) for one, grade in own.items()}
                for query, own in corrupted(0.1).items()
            }
        return {
            query: own | {LISTS[shown][0]: 1}
            for (query, own), shown in zip(corrupted(0.1).items(), self.chosen, strict=True)
        }

    def policies(self) -> dict[str, dict[str, Any]]:
        """Each condition at just the true figure: nothing may ship."""
        weighed = np.where(self.change > 0, self.change, (1 + ALPHA) * self.change)
        return {
            "risk": {"risk": float(np.maximum(-self.change, 0).mean())},
            "gain": {"gain": float(self.change.mean())},
            "u_risk": {"u_risk": {"alpha": ALPHA, "above": float(weighed.mean())}},
        }

    def ships(self, kind: str, condition: str, seed: int, draws: int = 60) -> bool:
        """Whether the candidate ships, which is false."""
        return self._decide(kind, condition, draws, seed).decision == "ship"

    def ships_in_batches(
        self, kind: str, condition: str, looks: int = 20, batch: int = 5, seed: int | None = None
    ) -> bool:
        """Whether it ships at any of so many looks; their seeds go on from `seed`, or are fresh."""
        with tempfile.TemporaryDirectory() as folder:
            more = {"budget": looks * batch, "record": Path(folder) / "record.json"}
            seeds = [None if seed is None else seed + look for look in range(looks)]
            return any(self._decide(kind, condition, batch, own, **more).decision == "ship" for own in seeds)

    def _decide(self, kind: str, condition: str, count: int, seed: int | None, **more: Any) -> sf.Decision:
        judge = self.judges[kind]
        to_prove: Any = "risk" if condition == "risk" else "gain"
        draws = sf.judge_next(
            [self.today, self.new], baseline=self.today.name, measure=MEASURE, n=count, to_prove=to_prove, seed=seed,
            automatic=judge, unjudged="zero", record=more.get("record"),
        )  # fmt: skip
        policy, queries = self.policies()[condition], draws.queries
        if more:  # a record has its draws, of which all are judged
            queries = tuple(query for own in read_record(more["record"]).draws for query in own.queries)
        judged = sf.score({query: self.people[query] for query in queries}, [self.today, self.new], MEASURE)
        drawn = {} if more else {"sample": draws}
        return sf.gate(judged, baseline="today", policy=policy, automatic=judge, **drawn, **more)

    def values(self, judgments: Judgments, condition: str) -> tuple[np.ndarray, np.ndarray]:
        """x of each query by these judgments, and its weight: slowly, from their definitions."""
        scores = sf.score(judgments, [self.today, self.new], MEASURE)
        at = dict(zip(scores.queries, (scores["new"] - scores["today"]).tolist(), strict=True))
        change = np.array([at.get(query, 0.0) for query in self.ids])
        forth = dict(zip(self.today.queries, worst_case_loss(self.new, self.today, MEASURE), strict=True))
        back = dict(zip(self.new.queries, worst_case_loss(self.today, self.new, MEASURE), strict=True))
        weight = np.array([forth[query] for query in self.ids])
        if condition != "risk":
            weight = np.maximum(weight, [back[query] for query in self.ids])
        able = weight > 0
        change, weight = change[able], weight[able]
        if condition == "risk":
            return np.clip(np.maximum(-change, 0) / weight, 0, 1), weight
        alpha = 0.0 if condition == "gain" else ALPHA
        weighed = np.where(change > 0, change, (1 + alpha) * change)
        return np.clip((1 - weighed / weight) / (2 + alpha), 0, 1), weight

    def rates(
        self, kind: str, condition: str, runs: int, rng: np.random.Generator, draws: int = 60
    ) -> dict[str, float]:
        """False claims of the bets alone, over many samples: ship, stop, anytime, and the judge in people's place."""
        h, weight = self.values(self.people, condition)
        a, _ = self.values(self.judges[kind], condition)
        chance = weight / weight.sum()
        truth, judge = float(chance @ h), judge_moments(a, weight)
        rows = rng.choice(len(h), (runs, draws), p=chance)
        return {
            "ship": float((p_of_batch(h[rows], truth, DELTA, a[rows], judge) <= DELTA).mean()),
            "stop": float((p_of_batch(1 - h[rows], 1 - truth, DELTA, 1 - a[rows], judge.mirrored) <= DELTA).mean()),
            "anytime": float((anytime_with_judge(h[rows], a[rows], judge, truth, DELTA, draws).p <= DELTA).mean()),
            "substituted": float((p_of_batch(a[rows], truth, DELTA) <= DELTA).mean()),
        }


def quick_gates() -> None:
    """Nobody looks at how many queries would be needed here."""
    gate_module.queries_needed = lambda *_, **__: None  # type: ignore[attr-defined]


def false_ships(bar: Callable[..., None], samples: int, traffics: int = 3, runs: int = 20_000) -> None:
    """How often a false claim is made, for each kind of judge."""
    quick_gates()
    given = [JudgedTraffic(seed) for seed in range(traffics)]
    rng = np.random.default_rng(5)
    for condition in ("risk", "gain", "u_risk"):
        print(f"  {condition}, {traffics} traffics of 400, the bets alone, {runs:,} runs each (the worst traffic):")
        for kind in KINDS:
            rates = [traffic.rates(kind, condition, runs, rng) for traffic in given]
            worst = {name: max(rate[name] for rate in rates) for name in rates[0]}
            most = DELTA + 3 * math.sqrt(DELTA * (1 - DELTA) / runs)
            print(f"    {kind}: " + ", ".join(f"{name} {rate:.1%}" for name, rate in worst.items()))
            for name in ("ship", "stop", "anytime"):
                bar(f"{condition}, {kind}, {name}", worst[name], most, at_most=True)
    most = DELTA + 3 * math.sqrt(DELTA * (1 - DELTA) / samples)
    for condition in ("risk", "gain", "u_risk"):
        for kind in KINDS:
            rate = np.mean([given[seed % traffics].ships(kind, condition, seed) for seed in range(samples)])
            bar(f"end to end, {condition}, {kind}, {samples} samples", float(rate), most, at_most=True)
    few = max(10, samples // 5)
    most = DELTA + 3 * math.sqrt(DELTA * (1 - DELTA) / few)
    for kind in KINDS:
        rate = np.mean([given[seed % traffics].ships_in_batches(kind, "risk") for seed in range(few)])
        bar(f"end to end, anytime, 20 looks, {kind}, {few} samples", float(rate), most, at_most=True)


def losses_and_judge(rho: float, rng: np.random.Generator, queries: int = 5_000) -> tuple[np.ndarray, ...]:
    """5,000 queries of which 30 % could lose (0.5 on average, so W̄ = 0.15), a risk of 0.01, and a judge at ρ."""
    weight = np.zeros(queries)
    changed = rng.choice(queries, int(0.3 * queries), replace=False)
    weight[changed] = rng.uniform(0.1, 0.9, len(changed))
    able = weight > 0
    w = weight[able]
    lost = rng.permutation(len(w))
    h = np.zeros(len(w))
    h[lost[np.cumsum(w[lost]) <= 0.01 * queries]] = 1.0  # what is lost is all that could be
    other = rng.permutation(h)
    low, high = 0.0, 1.0
    mixed = h
    order = rng.random(len(h))
    for _ in range(40):  # the share of queries of which the judge knows nothing
        share = (low + high) / 2
        mixed = np.where(order < share, other, h)
        low, high = (share, high) if np.corrcoef(h, mixed)[0, 1] > rho else (low, share)
    return h, mixed, w, np.array([weight.mean()])


def draws_to_decide(
    h: np.ndarray, a: np.ndarray | None, weight: np.ndarray, m: float, rng: np.random.Generator, runs: int = 400
) -> int:
    """The least number of draws with which 80 % of runs prove the level."""
    chance = weight / weight.sum()
    rows = rng.choice(len(h), (runs, 1500), p=chance)
    judge = None if a is None else judge_moments(a, weight)

    def decided(n: int) -> float:
        own = rows[:, :n]
        return float((p_of_batch(h[own], m, DELTA, None if a is None else a[own], judge) <= DELTA).mean())

    low, high = 1, 1500
    while high - low > max(1, 0.02 * low):
        middle = (low + high) // 2
        low, high = (low, middle) if decided(middle) >= 0.8 else (middle, high)
    return high


def savings(bar: Callable[..., None]) -> None:
    """People's judgments to prove a risk of 0.01 below 0.02, with judges of several ρ."""
    rng = np.random.default_rng(11)
    print("  people's judgments to prove 0.01 below 0.02 in 80 % of runs (5,000 queries, W̄ = 0.15):")
    found: dict[float, list[int]] = {0.0: []}
    for rho in (0.5, 0.8, 0.95):
        found[rho] = []
        for _ in range(5):
            h, a, weight, could_lose_mean = losses_and_judge(rho, rng)
            m = 0.02 / float(could_lose_mean[0])
            found[rho].append(draws_to_decide(h, a, weight, m, rng))
            found[0.0].append(draws_to_decide(h, None, weight, m, rng))
    alone = float(np.mean(found[0.0]))
    print(f"    alone {alone:.0f}; " + ", ".join(f"ρ = {rho:g}: {np.mean(found[rho]):.0f}" for rho in (0.5, 0.8, 0.95)))
    for rho, most in ((0.5, 1.05), (0.8, 0.75), (0.95, 0.4)):
        bar(f"ρ = {rho:g} needs, of what is needed alone", float(np.mean(found[rho])) / alone, most, at_most=True)


def robust(folder: Path, samples: int = 200) -> None:
    """Ten real runs on 100 topics: judges made by corrupting people's judgments, at three rates, seeded."""
    quick_gates()
    people = sf.read_qrels(folder / "qrels.txt")
    runs = [sf.read_run(file) for file in sorted((folder / "runs").iterdir())]
    scores = sf.score(people, runs, "nDCG@10")
    order = np.argsort(-scores.mean())
    baseline, candidate = (runs[int(order[place])] for place in (1, 0))
    change = scores[candidate.name] - scores[baseline.name]
    risk = float(np.maximum(-change, 0).mean())
    print(f"  {candidate.name} against {baseline.name}: gain {change.mean():.4f}, risk {risk:.4f}, 100 topics")
    graded = people.to_dict()
    for rate in (0.05, 0.2, 0.5):
        rng = np.random.default_rng([2003, int(100 * rate)])
        values = sorted({grade for own in graded.values() for grade in own.values()})
        judge = {
            query: {
                one: float(rng.choice(values)) if rng.random() < rate else grade for one, grade in own.items()
            }
            for query, own in graded.items()
        }  # fmt: skip
        compared = sf.judge_agreement(
            people, automatic=judge, runs=[baseline, candidate], measure="nDCG@10", baseline=baseline.name
        ).to_dict()
        comparison = compared["comparison"]
        saved = comparison["savings"]
        ships = np.zeros(2)
        for seed in range(samples):
            draws = sf.judge_next(
                {"baseline": baseline, "candidate": candidate},
                baseline="baseline",
                measure="nDCG@10",
                n=40,
                seed=seed,
                automatic=judge,
                unjudged="zero",
            )
            own = sf.score({query: graded[query] for query in draws.queries}, [baseline, candidate], "nDCG@10")
            data = sf.gate(
                own, baseline=baseline.name, policy={"risk": 2 * risk}, sample=draws, automatic=judge
            ).to_dict()
            ships += [data["decision"] == "ship", data["automatic"]["without"]["decision"] == "ship"]
        print(
            f"  {rate:.0%} of grades drawn anew: same grade {compared['agreement']:.1%}, weighted κ "
            f"{compared['kappa_quadratic']:.2f}, losses at ρ = {comparison['loss_correlation']:.2f}; to prove "
            f"{saved['level']:.4f}: {saved['alone']} judgments alone, {saved['with_judge']} with the judge; 40 draws "
            f"ship at twice the risk in {ships[0] / samples:.0%}, without it in {ships[1] / samples:.0%}"
        )


def everything(bar: Callable[..., None], samples: int, folder: Path | None) -> None:
    """All of it, one after the other."""
    false_ships(bar, samples)
    savings(bar)
    if folder is not None and folder.is_dir():
        robust(folder)
    else:
        print("TREC Robust 2003 is not there: set $SUREFOOT_DATA")


if __name__ == "__main__":
    from guarantee import MISSED
    from guarantee import bar as kept

    home = Path(os.environ.get("SUREFOOT_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--robust", type=Path, default=home / "trec-robust-2003")
    options = parser.parse_args()
    everything(kept, options.samples, options.robust)
    print(f"Missed: {', '.join(MISSED)}" if MISSED else "All bars are kept")
    sys.exit(1 if MISSED else 0)
