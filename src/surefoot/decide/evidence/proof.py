"""What judged queries prove of each condition, as a mean of x within [0, 1] that must be below some m.

A condition's figure is offset + scale·E[x] (see `conditions`), so that it holds just where E[x] < m. In strata x is
multiplied by its query's weight w = π_h·n/n_h and divided by the greatest, and the figure multiplied by that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from surefoot.arrays import Floats
from surefoot.decide.evidence.conditions import ConditionRule
from surefoot.decide.evidence.evidence_data import Method
from surefoot.decide.evidence.judged_queries import JudgedQueries
from surefoot.decide.evidence.traffic import AutomaticJudge
from surefoot.errors import ArgumentError
from surefoot.risk.batches import (
    AIMING_PART,
    BatchBet,
    CountBet,
    batches_of,
    least_by_batches,
    least_count_of_known,
    least_of_known,
)
from surefoot.risk.betting import MANY_QUERIES, anytime_capital, betting_p, check_unit, start_anytime, stratified_p
from surefoot.risk.bounds import COARSE_GRID, GRID, binomial_p, bound_by_grid, bound_by_halving, least_queries
from surefoot.risk.control_variate import ControlVariate, JudgeMoments, anytime_with_judge, judge_moments

_FINE_QUERIES = 2_000  # up to which the search for a bound takes a fine grid


class Proof(NamedTuple):
    """p, which is compared with δ, the bound on the figure that is proved at δ, and whether the two say the same."""

    p: float
    bound: float
    agrees: bool


class JudgeEvidence(NamedTuple):
    """What an automatic judge says in place of x: a of the same draws, and its moments over all traffic."""

    a: Floats
    moments: JudgeMoments

    @property
    def mirrored(self) -> JudgeEvidence:
        """Of 1 − x."""
        return JudgeEvidence(1 - self.a, self.moments.mirrored)


@dataclass(frozen=True)
class ConditionEvidence:
    """What the judged queries say of one condition: x, in betting order, and how its mean becomes the figure.

    `judge` is None without an automatic judge, and with one that says the same of every query, which adds nothing.
    A gate's bets go on from batch to batch: `batches` has their sizes. Guards look once, and have none. `known` is the
    number of queries of the traffic (or of its segment) of which the judged ones are a random sample.
    """

    rule: ConditionRule
    x: Floats
    offset: float
    scale: float
    method: Method
    budget: int | None = None
    judge: JudgeEvidence | None = None
    batches: tuple[int, ...] = ()
    known: int | None = None

    @property
    def m(self) -> float:
        """What the mean of x must be below for the condition to hold."""
        return (self.rule.level - self.offset) / self.scale

    @property
    def observed(self) -> float | None:
        """The figure of the queries that were judged; None where none was."""
        return self.figure(float(self.x.mean())) if len(self.x) else None

    @property
    def judge_weight(self) -> float:
        """λ after all draws, at the condition's level: how much the judge's values count."""
        if self.judge is None:
            return 0.0
        return float(ControlVariate(self.m, self.judge.moments).learn(self.x, self.judge.a))

    @property
    def adjusted_mean(self) -> float:
        """The mean of x, corrected by what the judge says of the draws and of all traffic: x̄ − λ·(ā_n − ā)."""
        if self.judge is None:
            return float(self.x.mean())
        apart = float(self.judge.a.mean()) - float(self.judge.moments.mean)
        return float(self.x.mean()) - self.judge_weight * apart

    @property
    def correlation(self) -> float | None:
        """ρ of x and a over the draws; None where either is the same for all."""
        if self.judge is None or np.ptp(self.x) == 0 or np.ptp(self.judge.a) == 0:
            return None
        return float(np.clip(np.corrcoef(self.x, self.judge.a)[0, 1], -1, 1))

    def without_judge(self, measure: str) -> ConditionEvidence:
        """The same as if there were no automatic judge."""
        method = self.method
        if method == "betting" and self.rule.condition.has_exact_test(measure):
            method = "binomial"
        return replace(self, judge=None, method=method)

    def figure(self, mean: float) -> float:
        """The figure that a mean of x comes to."""
        return self.offset + self.scale * mean

    def least(self, delta: float) -> int | None:
        """The fewest queries that can prove the condition at all; None where none can, or none is known."""
        if self.method == "stratified" or self.judge is not None:
            return None
        if not self.batches or self.method == "anytime" or not 0 < self.m < 1:
            return least_queries(self.m, delta, self.method)
        if self.known is not None:
            exact = self.method == "binomial"
            return (least_count_of_known if exact else least_of_known)(self.m, delta, self.known)
        if self.method == "binomial":
            return least_queries(self.m, AIMING_PART * delta, "binomial")
        return least_by_batches(self.m, delta)


class _Test(NamedTuple):
    """One side of a condition: that it holds, or mirrored, 1 − x against 1 − m, that it fails."""

    evidence: ConditionEvidence
    mirrored: bool
    delta: float

    @property
    def x(self) -> Floats:
        return 1 - self.evidence.x if self.mirrored else self.evidence.x

    @property
    def m(self) -> float:
        return 1 - self.evidence.m if self.mirrored else self.evidence.m

    @property
    def judge(self) -> JudgeEvidence | None:
        judge = self.evidence.judge
        return judge.mirrored if judge is not None and self.mirrored else judge

    @property
    def trivial_bound(self) -> float:
        """The figure's bound where nothing is proved."""
        return self._figure(1.0)

    @property
    def least_level(self) -> float:
        """Where the search for a bound begins: at what was observed, by people or as the judge corrects it."""
        mean = min(max(self.evidence.adjusted_mean, 0.0), 1.0)
        return min(float(self.x.mean()), 1 - mean if self.mirrored else mean)

    def proof(self, p: float, not_refuted: float, refuted: float) -> Proof:
        """p and the figure that is proved, by the largest level that is not refuted and one just above it.

        The two disagree where p refutes the level and yet not all above it, or not the mean that was observed: the
        adaptive bet aims at one level and may miss others. They do too where m is so near 1 that it is rounded to it.
        """
        if p > self.delta:
            return Proof(p, self._figure(max(refuted, min(self.m, 1.0))), True)
        rule, most = self.evidence.rule, self._figure(refuted)
        at_most = rule.condition.at_most != self.mirrored  # what is to be shown: at most the level, or above it
        agrees = (most <= rule.level if at_most else most > rule.level) if self.m >= 1 else not_refuted <= self.m
        return Proof(p, self._figure(min(refuted, self.m) if agrees else refuted), agrees)

    def _figure(self, mean: float) -> float:
        return self.evidence.figure(1 - mean if self.mirrored else mean)


def proofs(
    evidence: Sequence[ConditionEvidence], delta: float, failing_delta: float, *, bounds: bool = True
) -> list[tuple[Proof, Proof]]:
    """Of each condition what is proved: that it holds, at δ, and that it fails, at a share of δ.

    The first bound is the most that risk may be, or the least that gain may be. Conditions on the same queries are
    tested in one pass. Without `bounds`, which simulations can do without, p alone is found.
    """
    tests = [
        _Test(condition_evidence, mirrored, level)
        for condition_evidence in evidence
        for mirrored, level in ((False, delta), (True, failing_delta))
    ]
    proof_of = {at: Proof(1.0, test.trivial_bound, True) for at, test in enumerate(tests) if not len(test.x)}
    for group in _group(tests):
        own = [tests[at] for at in group]
        proof_of |= dict(zip(group, _prove(own) if bounds else _p_alone(own), strict=True))
    return [(proof_of[2 * at], proof_of[2 * at + 1]) for at in range(len(evidence))]


def _p_alone(tests: Sequence[_Test]) -> list[Proof]:
    levels = np.array([[test.m] for test in tests])
    p = _p_of(tests)(levels)[:, 0].tolist()
    return [Proof(own, test.trivial_bound, True) for own, test in zip(p, tests, strict=True)]


def upper_bounds(evidence: Sequence[ConditionEvidence], delta: float) -> list[float]:
    """The bound on each condition's figure that is proved at δ, taken alone, by a coarser search than that of `proofs`.

    The evidence is of one method, on as many queries each.
    """
    return [proof.bound for proof in _prove([_Test(one, False, delta) for one in evidence], COARSE_GRID)]


def _group(tests: Sequence[_Test]) -> Iterable[list[int]]:
    """Tests of one method on as many queries, which go together."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for at, test in enumerate(tests):
        one = test.evidence
        if len(one.x):
            groups.setdefault((one.method, len(one.x), one.judge is None, one.batches, one.known), []).append(at)
    return groups.values()


def _prove(tests: Sequence[_Test], grid: int | None = None) -> list[Proof]:
    """What each test proves; `grid` is how many levels at a time the search for a bound tries."""
    p_of, deltas = _p_of(tests), np.array([test.delta for test in tests])
    means, m = np.array([(test.least_level, test.m) for test in tests]).T
    at_m: list[Floats] = []

    def p_with_m(levels: Floats) -> Floats:
        """p of the levels; in the first pass that of m, too."""
        if at_m:
            return p_of(levels)
        p = p_of(np.column_stack([levels, m]))
        at_m.append(p[:, -1])
        return p[:, :-1]

    if tests[0].evidence.method in ("betting", "anytime") or tests[0].evidence.batches:
        usual = GRID if len(tests[0].evidence.x) <= _FINE_QUERIES else COARSE_GRID
        bounds = bound_by_grid(p_with_m, means, deltas, grid or usual)
    else:
        bounds = bound_by_halving(p_with_m, means, deltas)
    return [
        test.proof(float(p), float(low), float(high))
        for test, p, low, high in zip(tests, at_m[0], *bounds, strict=True)
    ]


def _p_of(tests: Sequence[_Test]) -> Callable[[Floats], Floats]:
    """p of a matrix of levels, a row for each test."""
    method, n = tests[0].evidence.method, len(tests[0].evidence.x)
    deltas = np.array([[test.delta] for test in tests])
    judges = [test.judge for test in tests if test.judge is not None]
    if method in ("betting", "binomial") and tests[0].evidence.batches:
        return lambda levels: bet_by_batches(tests[0].evidence, [test.x for test in tests], judges, levels, deltas)
    if judges:
        return _p_by_judges(tests, judges, deltas)
    if method == "binomial":
        sums = np.array([[float(test.x.sum())] for test in tests])
        return lambda levels: binomial_p(sums, n, levels)
    if method == "stratified":
        return lambda levels: np.stack([stratified_p(test.x, own) for test, own in zip(tests, levels, strict=True)])
    if method == "betting" and n > MANY_QUERIES:  # a row at a time, in place of a matrix of all
        return lambda levels: np.stack(
            [betting_p(test.x, own, test.delta) for test, own in zip(tests, levels, strict=True)]
        )
    x = np.stack([check_unit(test.x) for test in tests])[:, None]
    if method == "anytime":
        budget = tests[0].evidence.budget or n
        return lambda levels: anytime_capital(x, start_anytime(levels, np.broadcast_to(deltas, levels.shape), budget)).p
    return lambda levels: betting_p(x, levels, deltas)


def _p_by_judges(tests: Sequence[_Test], judges: Sequence[JudgeEvidence], deltas: Floats) -> Callable[[Floats], Floats]:
    """The same of tests that all have an automatic judge, in the anytime form."""
    x, a = np.stack([test.x for test in tests])[:, None], np.stack([judge.a for judge in judges])[:, None]
    moments = JudgeMoments(*np.array([judge.moments for judge in judges]).T[:, :, None])
    budget = tests[0].evidence.budget or x.shape[-1]
    return lambda levels: anytime_with_judge(x, a, moments, levels, np.broadcast_to(deltas, levels.shape), budget).p


def bet_by_batches(
    kind: ConditionEvidence, rows: Sequence[Floats], judges: Sequence[JudgeEvidence], levels: Floats, deltas: Floats
) -> Floats:
    """p of a matrix of levels by the gate's bet, a row for each of the tests, which are of one kind."""
    x = np.stack([check_unit(row) for row in rows])[:, None]
    batches = batches_of(x, kind.batches)
    if kind.method == "binomial":
        count = CountBet.start(levels, deltas, known=kind.known)
        for batch in batches:
            count = count.after(batch)
        return count.p
    bet = BatchBet.start(levels, deltas, known=kind.known)
    if not judges:
        for batch in batches:
            bet = bet.after(batch)
        return bet.p
    variate = ControlVariate(levels, JudgeMoments(*np.array([judge.moments for judge in judges]).T[:, :, None]))
    a = np.stack([judge.a for judge in judges])[:, None]
    for batch, own in zip(batches, batches_of(a, kind.batches), strict=True):
        bet = bet.after(batch, variate, own)
    return bet.p


def evidence_of(
    rule: ConditionRule, sample: JudgedQueries, measure: str, could_lose_mean: float = 1.0, budget: int | None = None,
    judge: AutomaticJudge | None = None, batches: Sequence[int] = (), known: int | None = None,
) -> ConditionEvidence:  # fmt: skip
    """A condition's x for the sample's queries, or those of its segment, and what an automatic judge says of them."""
    chosen = slice(None) if rule.segment is None else sample.members[rule.segment]
    candidate, baseline = sample.candidate[chosen], sample.baseline[chosen]
    if rule.segment is not None:
        sizes = (int(own.sum()) for own in batches_of(sample.members[rule.segment], batches or [len(sample)]))
        batches = tuple(size for size in sizes if size) if batches else ()
    condition, drawn_by = rule.condition, 1.0 if sample.drawn_by is None else sample.drawn_by[chosen]
    x, offset, scale = condition.bounded_mean(candidate, baseline, rule.alpha, drawn_by, could_lose_mean)
    if sample.stratum_weight is not None and rule.segment is None:
        greatest = float(sample.stratum_weight.max())
        return ConditionEvidence(rule, x * (sample.stratum_weight / greatest), offset, scale * greatest, "stratified")
    by_judge = None if judge is None else _judge_evidence(rule, sample, could_lose_mean, judge)
    if budget is not None:
        return ConditionEvidence(rule, x, offset, scale, "anytime", budget, by_judge)
    # Losses of 0 or 1 have an exact test, which needs fewer queries.
    method: Method = "binomial" if by_judge is None and condition.has_exact_test(measure) else "betting"
    return ConditionEvidence(rule, x, offset, scale, method, None, by_judge, tuple(batches), known)


def _judge_evidence(
    rule: ConditionRule, sample: JudgedQueries, could_lose_mean: float, judge: AutomaticJudge
) -> JudgeEvidence | None:
    """a of the draws, and over all traffic; None where the judge says the same of every query that could be drawn."""
    if sample.automatic_baseline is None or sample.automatic_candidate is None or sample.drawn_by is None:
        raise ArgumentError("an automatic judge needs queries that were drawn with it")
    by_weight = rule.condition.bounded_mean
    a = by_weight(sample.automatic_candidate, sample.automatic_baseline, rule.alpha, sample.drawn_by, could_lose_mean).x
    able = judge.weights > 0
    weights = judge.weights[able]
    everywhere = by_weight(judge.candidate[able], judge.baseline[able], rule.alpha, weights, could_lose_mean).x
    moments = judge_moments(everywhere, judge.chances[able])
    return None if moments.variance == 0 else JudgeEvidence(check_unit(a), moments)
