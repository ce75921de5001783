"""What a guarantee costs: how often it is broken, how much of the gain is kept, and how long calibrating takes.

    python benchmarks/guarantee.py [--calibrations 1000] [--samples 500] [--mq2008 FOLDER] [--robust FOLDER]

Traffics that are given are sampled again and again, plainly, by draws and in batches, and decided on at just their
true risk: every decision to ship is then false. The same is done with automatic judges of eight kinds, and how many
people's judgments these spare is measured, on TREC Robust 2003 too (`automatic_judges.py`). On generated data the
truth is known: of 40,000 queries n are drawn again and again to calibrate on, and all say what then happens. On
MQ2008 the test queries are halved again and again, one half to calibrate on and the other to look at; gate and
blending weight are chosen on validation queries alone. MQ2008 is looked for in $SUREFOOT_DATA/mq2008. Prints each bar
with the figure measured; exit code 1 where one is missed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import stdtrit

import automatic_judges
import surefoot as sf
import workflow
from surefoot.decide.evidence.conditions import ConditionRule
from surefoot.decide.evidence.judged_queries import betting_order
from surefoot.decide.evidence.proof import ConditionEvidence
from surefoot.decide.gate import gate as gate_module
from surefoot.decide.guard.list_pair import ListPair, row_ranks
from surefoot.decide.guard.scorers import make_scorer
from surefoot.decide.guard.thresholds import Calibration, find_threshold
from surefoot.learn.simple_rankers import regression_trees

MEASURE = sf.Measure.parse("nDCG(dcg='exp-log2')@10")
LEVEL, DELTA = 0.02, 0.05
MISSED: list[str] = []


def bar(what: str, found: float, bound: float, at_most: bool, form: str = "{:.1%}") -> None:
    """Print a figure beside what it is held to."""
    kept = found <= bound if at_most else found >= bound
    if not kept:
        MISSED.append(what)
    sign = "at most" if at_most else "at least"
    print(f"  {'ok    ' if kept else 'MISSED'} {what}: {form.format(found)} ({sign} {form.format(bound)})", flush=True)


@dataclass
class RewardOverRisk:
    """A scorer of the user's own: predicted reward over predicted risk, from what a query's lists look like."""

    models: list[Any] = field(default_factory=list)

    def fit(self, lists: ListPair, differences: Any) -> RewardOverRisk:
        """Two small regressions, on queries whose differences are known."""
        seen = self._data(lists)
        small = {
            "num_leaves": 8,
            "learning_rate": 0.07,
            "min_data_in_leaf": 30,
            "feature_fraction": 0.5,
            "num_threads": 1,
        }
        sides = (np.maximum(differences, 0), np.maximum(-differences, 0))
        self.models = [regression_trees(seen.with_labels(side), trees=60, **small) for side in sides]
        return self

    def __call__(self, lists: ListPair) -> Any:
        """The ratio; the higher, the more is gained for what is risked."""
        reward, risk = (model.predict(self._data(lists)) for model in self.models)
        return reward / np.maximum(risk, 1e-3)

    @staticmethod
    def _data(lists: ListPair) -> sf.RankingData:
        data = lists.data
        assert data is not None
        starts, lengths = data.offsets[:-1], data.lengths
        both = [data.standardised(each) for each in (lists.scores, lists.reference)]
        columns = [
            np.maximum.reduceat(data.X, starts, axis=0),
            np.add.reduceat(data.X, starts, axis=0) / lengths[:, None],
        ]
        for scores in (lists.scores, lists.reference):
            first = (row_ranks(data, scores) <= 3)[:, None]
            columns.append(np.add.reduceat(data.X * first, starts, axis=0) / np.minimum(lengths, 3)[:, None])
        columns += [(np.add.reduceat(both[0] * both[1], starts) / lengths)[:, None]]
        X = np.ascontiguousarray(np.column_stack(columns), dtype=np.float32)
        return sf.RankingData(X, np.zeros(len(X)), group=np.ones(len(X), dtype=np.int64))


def calibrate(scores: Any, differences: Any, level: float) -> float:
    """The threshold that the guard would take; infinite where it shows the baseline alone."""
    order = betting_order([str(number) for number in range(len(scores))])
    loss = np.maximum(-differences[order], 0)
    evidence = ConditionEvidence(ConditionRule("risk", level), loss, 0.0, 1.0, "betting")
    made = Calibration(scores[order], differences[order], np.ones(len(order)), (evidence,), DELTA)
    least = made.least()
    if least is not None and len(made) < least:
        return np.inf
    found = find_threshold(made, made.scores)
    return np.inf if found.threshold is None else found.threshold


def generated(calibrations: int) -> None:
    """40,000 generated queries, n of which calibrate."""
    began = time.perf_counter()
    data = sf.demo.letor(queries=48_000, documents=24, features=36, misleading=0.1, seed=1)
    train, valid, all_ = (data.select(np.arange(*part)) for part in ((0, 3000), (3000, 8000), (8000, 48_000)))
    ranker = sf.Ranker("gain", n_estimators=100, num_leaves=16, learning_rate=0.1, min_data_in_leaf=30).fit(train)
    parts = [ListPair.from_ranker(ranker, part, "bm25", None) for part in (valid, all_)]
    seen = [lists.effectiveness(part.qrels(), MEASURE) for lists, part in zip(parts, (valid, all_), strict=True)]
    differences = [one.candidate - one.baseline for one in seen]
    scores, truth = RewardOverRisk().fit(parts[0], differences[0])(parts[1]), differences[1]
    order = np.argsort(-scores, kind="stable")
    sorted_scores, count = -scores[order], len(truth)
    risks = np.concatenate([[0.0], np.cumsum(np.maximum(-truth[order], 0))]) / count
    gains = np.concatenate([[0.0], np.cumsum(truth[order])]) / count
    known = gains[risks <= LEVEL].max() / gains[-1]
    print(
        f"Generated: {count:,} queries, gain {gains[-1]:.4f}, risk {risks[-1]:.4f}; knowing the truth keeps "
        f"{known:.1%} at {LEVEL:g} ({time.perf_counter() - began:.0f} s)"
    )
    rng = np.random.default_rng(7)
    kept: dict[int, float] = {}
    for n, times in ((300, calibrations), (1000, calibrations), (5000, max(1, calibrations // 20))):
        draws = [rng.integers(count, size=n) for _ in range(times)]
        thresholds = np.array([calibrate(scores[draw], truth[draw], LEVEL) for draw in draws])
        at = np.searchsorted(sorted_scores, -thresholds, side="right")
        broken, kept[n] = float((risks[at] > LEVEL).mean()), float(gains[at].mean() / gains[-1])
        print(f"  n = {n:,}, {times:,} calibrations: broken {broken:.1%}, gain kept {kept[n]:.1%}")
        bar(f"n = {n:,}: broken", broken, 0.065, at_most=True)
    bar("n = 300: gain kept", kept[300], 0.65, at_most=False)
    bar("n = 1,000: gain kept", kept[1000], 0.84, at_most=False)


def mq2008(folder: Path, halves: int = 200) -> None:
    """Test queries halved; gate and blending weight by validation queries."""
    folds = []
    for home in sorted(folder.glob("Fold*")):
        read = (sf.read_letor(home / f"{name}.txt") for name in ("train", "vali", "test"))
        train, valid, test = (one.with_baseline("bm25", one.feature(25)) for one in read)
        settings = {"n_estimators": 120, "num_leaves": 8, "min_data_in_leaf": 50, "learning_rate": 0.05}
        folds.append((sf.Ranker("gain", **settings, feature_fraction=0.7).fit(train), valid, test))

    def scored(gate: str, blend: float | None, valid_only: bool) -> tuple[Any, Any]:
        """Gate scores and differences over all folds, of validation queries (by the other half's gate) or of test."""
        found = []
        for ranker, valid, test in folds:
            odd = np.arange(len(valid.queries)) % 2 == 1
            pairs = [(valid.select(odd), valid.select(~odd)), (valid.select(~odd), valid.select(odd))]
            for fit, see in pairs if valid_only else [(valid, test)]:
                both = [ListPair.from_ranker(ranker, part, "bm25", blend) for part in (fit, see)]
                one = make_scorer(gate, MEASURE, "lightgbm")
                known = both[0].effectiveness(fit.qrels(), MEASURE)
                one.fit(both[0], fit.qrels(), known.candidate - known.baseline)
                seen = both[1].effectiveness(see.qrels(), MEASURE)
                found.append((one.scores(both[1]), seen.candidate - seen.baseline))
        return np.concatenate([each[0] for each in found]), np.concatenate([each[1] for each in found])

    def gain_within(scores: Any, differences: Any, level: float) -> float:
        order = np.argsort(-scores, kind="stable")
        risk = np.cumsum(np.maximum(-differences[order], 0)) / len(order)
        return float((np.cumsum(differences[order])[risk <= level] / len(order)).max(initial=0.0))

    plain = scored("predicted_gain", None, valid_only=False)[1]
    print(f"MQ2008: {len(plain):,} test queries, gain {plain.mean():.4f}, risk {np.maximum(-plain, 0).mean():.4f}")
    choices = [
        (gate, blend) for gate in ("predicted_gain", "predicted_gain:isotonic") for blend in (None, 0.9, 0.8, 0.7)
    ]
    aim = LEVEL / 2  # what is left of the level once few queries have to prove it
    gate, blend = max(choices, key=lambda choice: gain_within(*scored(*choice, valid_only=True), aim))
    print(f"  chosen on validation queries: {gate}, blending weight {blend or 1:g}")
    scores, differences = scored(gate, blend, valid_only=False)
    rng = np.random.default_rng(3)
    rows = []
    for _ in range(halves):
        order = rng.permutation(len(scores))
        half, other = order[: len(order) // 2], order[len(order) // 2 :]
        threshold = calibrate(scores[half], differences[half], LEVEL)
        shown = scores[other] >= threshold
        rows.append(
            (
                np.maximum(-differences[other], 0) @ shown / len(other),
                differences[other] @ shown / len(other),
                shown.mean(),
            )
        )
    risk, gain, shown = np.array(rows).T
    print(
        f"  {halves} halves of {len(scores) // 2}: risk of the other half {risk.mean():.4f} (above {LEVEL:g} in "
        f"{(risk > LEVEL).mean():.1%}), gain {gain.mean():.4f}, {gain.mean() / plain.mean():.0%} of the model's own, "
        f"candidate shown to {shown.mean():.0%}"
    )
    bar("MQ2008: other half above the level", float((risk > LEVEL).mean()), 0.065, at_most=True)


LISTS = [["a", "b", "c", "d"], ["b", "a", "c", "d"], ["c", "b", "a", "d"], ["d", "c", "b", "a"]]


class Traffic:
    """Given queries with a relevant document each, mostly the one that today shows first and the candidate lower."""

    def __init__(self, seed: int, queries: int) -> None:
        rng = np.random.default_rng([seed, queries])
        ids = [f"{seed}-{number}" for number in range(queries)]
        relevant = rng.choice([*"abcd"], queries, p=[0.55, 0.15, 0.15, 0.15]).tolist()
        self.qrels = {query: {document: 1} for query, document in zip(ids, relevant, strict=True)}
        chosen = rng.choice(4, queries, p=[0.7, 0.1, 0.1, 0.1])
        self.today = sf.read_run(dict.fromkeys(ids, LISTS[0]), "today")
        self.new = sf.read_run({query: LISTS[kind] for query, kind in zip(ids, chosen, strict=True)}, "new")
        scores = sf.score(self.qrels, [self.today, self.new], "RR@10")
        self.risk = float(np.maximum(scores["today"] - scores["new"], 0).mean())

    def ships(self, queries: Any, **options: Any) -> bool:
        """Whether the candidate ships at a level that is just its true risk, which is false."""
        judged = sf.score({query: self.qrels[query] for query in queries}, [self.today, self.new], "RR@10")
        return sf.gate(judged, baseline="today", policy={"risk": self.risk}, **options).decision == "ship"

    def plain(self, seed: int) -> bool:
        """Two fifths of the queries, at most 150, judged once each."""
        size = min(150, 2 * len(self.qrels) // 5)
        return self.ships(np.random.default_rng(seed).choice([*self.qrels], size, replace=False).tolist())

    def drawn(self, seed: int) -> bool:
        """Sixty draws of what could be lost."""
        draws = sf.judge_next([self.today, self.new], baseline=self.today.name, measure="RR@10", n=60, seed=seed)
        return self.ships(draws.queries, sample=draws)

    def batches(self, seed: int) -> bool:
        """Four batches of 25 draws with seeds of their own, looked at after each."""
        with tempfile.TemporaryDirectory() as folder:
            record = Path(folder) / "record.json"
            for _ in range(4):
                sf.judge_next([self.today, self.new], baseline=self.today.name, measure="RR@10", n=25, record=record)
                if self.ships(self.qrels, budget=100, record=record):
                    return True
        return False


def fixed_traffics(samples: int, traffics: int = 20) -> None:
    """Traffic that is given, sampled again and again, through `judge_next` and `gate`."""
    gate_module.queries_needed = lambda *_, **__: None  # type: ignore[assignment]  # nobody looks at it here
    spread = np.sqrt(DELTA * (1 - DELTA) / samples)
    for size in (200, 1000):
        given = [Traffic(seed, size) for seed in range(traffics)]
        for kind in ("plain", "drawn", "batches"):
            times = samples if kind != "batches" else samples // 4
            rates = [np.mean([getattr(one, kind)(seed) for seed in range(times)]) for one in given]
            worst = float(stdtrit(1e6, 1 - 0.00135 / traffics))  # three standard errors, of the worst of many
            most = DELTA + worst * spread * np.sqrt(samples / times)
            print(f"  {traffics} traffics of {size:,}, {kind}, {times} samples each: {np.mean(rates):.1%} on average")
            bar(
                f"{size:,} queries, {kind}: the worst traffic ships falsely",
                float(max(rates)),
                float(most),
                at_most=True,
            )


def workflows(runs: int) -> None:
    """What users do after the output: false ships and stops, ever, of each way of working."""
    for cell in workflow.CELLS:
        shipped, stopped, looks = workflow.rates(cell, runs)
        bar(f"{cell}: ever ships falsely ({looks:.1f} looks)", shipped, workflow.most(runs), at_most=True)
        bar(f"{cell}: ever stops falsely", stopped, workflow.most(runs), at_most=True)


def timed() -> None:
    """Calibrating, judgments and runs already in memory."""
    for n, most in ((5_000, 1.0), (50_000, 10.0)):
        rng = np.random.default_rng(n)
        data = sf.RankingData(
            np.zeros((10 * (n + 500), 1), np.float32), rng.choice(3, 10 * (n + 500), p=[0.7, 0.2, 0.1]),
            group=np.full(n + 500, 10),
        )  # fmt: skip
        new, old = (
            data.to_run(data.y + rng.normal(0, spread, len(data)), name) for spread, name in ((1, "new"), (2, "old"))
        )
        qrels = [data.select(part).qrels() for part in (np.arange(500), np.arange(500, n + 500))]
        guard = sf.RiskGuard(new, baseline=old, risk=0.1, measure="nDCG@10").fit_scorer(qrels[0])
        took = []
        for _ in range(3):  # the least of three: other programs only ever add
            began, worked = time.perf_counter(), time.process_time()
            guard.calibrate(qrels[1])
            took.append((time.perf_counter() - began, time.process_time() - worked))
        elapsed, busy = min(took)
        bar(
            f"seconds to calibrate on {n:,} queries ({busy:.2f} of a processor)",
            elapsed,
            most,
            at_most=True,
            form="{:.2f}",
        )


def main(arguments: argparse.Namespace) -> int:
    """Everything, one after the other."""
    steps: list[Callable[[], None]] = [
        timed,
        lambda: fixed_traffics(arguments.samples),
        lambda: workflows(arguments.workflows),
        lambda: automatic_judges.everything(bar, arguments.samples, arguments.robust),
        lambda: generated(arguments.calibrations),
    ]
    if arguments.mq2008 is not None and arguments.mq2008.is_dir():
        steps.append(lambda: mq2008(arguments.mq2008))
    else:
        print("MQ2008 is not there: name its folder with --mq2008, or set $SUREFOOT_DATA")
    for step in steps:
        step()
    print(f"Missed: {', '.join(MISSED)}" if MISSED else "All bars are kept")
    return 1 if MISSED else 0


if __name__ == "__main__":
    home = Path(os.environ.get("SUREFOOT_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calibrations", type=int, default=1000)
    parser.add_argument("--samples", type=int, default=500, help="of each given traffic")
    parser.add_argument("--workflows", type=int, default=4000, help="runs of each way of working with the gate")
    parser.add_argument("--mq2008", type=Path, default=home / "mq2008")
    parser.add_argument("--robust", type=Path, default=home / "trec-robust-2003")
    sys.exit(main(parser.parse_args()))
