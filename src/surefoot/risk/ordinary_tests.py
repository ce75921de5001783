"""The tests that papers usually report beside a mean: paired t, Wilcoxon, sign-flip randomisation and Tukey's HSD.

All are two-sided tests of plain differences (α = 0) to one baseline. The first three are corrected for the number of
systems by Holm's method. HSD is a test of all pairs of systems at once and needs no further correction.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from surefoot.arguments import integer
from surefoot.arrays import Floats, Ints
from surefoot.errors import ArgumentError
from surefoot.progress import steps
from surefoot.risk.assessment_data import AssessmentData, OrdinaryTest, OrdinaryTests
from surefoot.risk.baselines import VIRTUAL_BASELINES, differences, mean_rounding, population_rows, vectors_of_baselines
from surefoot.risk.inference import weighted_test
from surefoot.risk.outcomes import holm
from surefoot.risk.tradeoff import ROUNDING, dense_ranks, difference_of, paired_differences, paired_scores, rounding_of

if TYPE_CHECKING:
    from surefoot.data.types.scores import Scores

DRAWS = 100_000  # of signs, as Smucker et al. (2007) draw them
HSD_DRAWS = 10_000  # of a randomised HSD, each of which permutes the whole matrix
_EXACT_RANKS = 50  # queries that differ, up to which all signs of ranks are counted
_EXACT_SIGNS = 20  # the same for signs of differences: a million sums
_CELLS = 1 << 22  # of draws × queries that are in memory at once


class SignTest(NamedTuple):
    """A statistic with its two-sided p, and whether the p is exact (counted over all signs); None for a t-test."""

    statistic: float
    p: float
    exact: bool | None


def wilcoxon_test(model: ArrayLike, baseline: ArrayLike) -> SignTest | None:
    """Wilcoxon's signed-rank test, zeros ranked by Pratt's rule and then left out (JASA 54, 1959); the sum W+.

    Up to 50 differences that are not 0 its p is exact, ties or not; beyond that by the normal approximation with the
    correction for ties. None where no query differs.

    >>> wilcoxon_test([0.5, 0.4, 0.6, 0.9, 0.2], [0.3, 0.3, 0.5, 0.5, 0.25])
    SignTest(statistic=14.0, p=0.125, exact=True)
    """
    scores, reference = paired_scores(model, baseline)
    return _wilcoxon(difference_of(scores, reference), rounding_of(scores, reference))


def randomisation_test(model: ArrayLike, baseline: ArrayLike, *, draws: int = DRAWS, seed: int = 0) -> SignTest | None:
    """Fisher's randomisation test of the mean difference: signs are flipped at random (Smucker et al., CIKM 2007).

    Up to 20 differences that are not 0 all signs are counted; beyond that `draws` are drawn, and with c of them as
    extreme p = (1 + c)/(1 + draws). None where no query differs.

    >>> randomisation_test([0.5, 0.4, 0.6, 0.9], [0.3, 0.3, 0.5, 0.5]).p
    0.125
    """
    return _randomisation([paired_differences(model, baseline)], integer("draws", draws, 1), integer("seed", seed, 0))[
        0
    ]


class HsdTest(NamedTuple):
    """How far systems are from a reference: for each the studentized range q, and the p of all pairs at once."""

    q: Floats
    p: Floats


def hsd_test(scores: ArrayLike, reference: int) -> HsdTest:
    """Tukey's honestly significant differences of all systems, those with `reference` (Carterette, TOIS 30, 2012).

    q = |m̄_i − m̄_j| / √(MSE / c), MSE of the two-way model score = system + query, with (m − 1)(c − 1) degrees of
    freedom; p is the upper tail of the studentized range of m systems.

    >>> result = hsd_test([[0.5, 0.4, 0.6], [0.3, 0.3, 0.5], [0.9, 0.5, 0.9]], 0)
    >>> result.q.round(3), result.p.round(3)
    (array([0.   , 2.191, 4.382]), array([1.   , 0.363, 0.076]))
    """
    from scipy.stats import studentized_range  # slow to import, and needed here alone

    values, apart = _apart(scores, reference)
    systems, queries = values.shape
    residuals = values - values.mean(axis=1, keepdims=True) - values.mean(axis=0) + values.mean()
    df = (systems - 1) * (queries - 1)
    error = math.sqrt(float(np.square(residuals).sum()) / df / queries) if df else 0.0
    rounding = 64 * np.finfo(np.float64).eps * float(np.abs(values).max(initial=0.0))
    if error <= rounding:
        raise ArgumentError("Tukey's HSD needs systems whose scores differ in more than their means")
    q = apart / error
    p = np.ones(systems)
    compared = q > 0
    p[compared] = studentized_range.sf(q[compared], systems, df)
    return HsdTest(q, np.clip(p, 0.0, 1.0))


def randomised_hsd_test(scores: ArrayLike, reference: int, *, draws: int = HSD_DRAWS, seed: int = 0) -> HsdTest:
    """The randomised HSD: each query's scores are permuted among the systems (Carterette, TOIS 30, 2012, Alg. 1).

    In each draw the largest difference of two means is kept; with c draws at least as large as a pair's difference,
    p = (1 + c)/(1 + draws). `q` is that difference itself.
    """
    values, apart = _apart(scores, reference)
    draws, rng = integer("draws", draws, 1), np.random.default_rng(integer("seed", seed, 0))
    step = max(1, _CELLS // values.size)
    allowed = apart * (1 - ROUNDING) - ROUNDING * float(np.abs(values).max())
    extreme = np.zeros(len(values), dtype=np.int64)
    for start in steps(range(0, draws, step), "Permuting scores"):
        count = min(step, draws - start)
        permuted = rng.permuted(np.broadcast_to(values, (count, *values.shape)), axis=1)
        means = permuted.mean(axis=2)
        extreme += (np.ptp(means, axis=1)[:, None] >= allowed).sum(axis=0)
    return HsdTest(apart, (1 + extreme) / (1 + draws))


def add_ordinary_tests(
    data: AssessmentData, scores: Scores, seed: int = 0, *, randomised_hsd: bool = False, weighted: bool = False
) -> None:
    """Add the tests of each system against the baseline to an assessment.

    `weighted`: whether queries have weights, for which these tests are not made.
    """
    if weighted:
        raise ArgumentError("the usual tests do not take weights of queries; leave out the tests, or the weights")
    if not isinstance(data["baseline"], str):
        raise ArgumentError(
            "the usual tests compare with one baseline, but several are given; name one, or leave them out"
        )
    baseline = data["baseline"]
    against = vectors_of_baselines(scores, baseline, population_rows(scores, data["population"]))
    rows = list(differences(scores, against)[baseline])
    signs = _randomisation(rows, DRAWS, seed)
    least = mean_rounding(scores, baseline)
    ranks = [
        _wilcoxon(row, rounding_of(values, against[baseline], least))
        for row, values in zip(rows, scores.values, strict=True)
    ]
    t_tests = [weighted_test(row, 0.0, scores._largest()) for row in rows]
    hsd, reason = _hsd(scores, baseline, seed, randomised_hsd)
    t_entries = _entries(
        [None if test.t is None or test.p is None else SignTest(test.t, test.p, None) for test in t_tests]
    )
    rank_entries, sign_entries = _entries(ranks), _entries(signs)
    for number, row in enumerate(data["systems"]):
        tests: OrdinaryTests = {
            "t": t_entries[number],
            "wilcoxon": rank_entries[number],
            "randomisation": sign_entries[number],
            "hsd": None,
        }
        if hsd is not None and row["system"] != baseline:
            tests["hsd"] = {"statistic": float(hsd.q[number]), "p_value": float(hsd.p[number])}
        row["tests"] = tests
    data["tests"] = {
        "draws": DRAWS, "seed": seed, "hsd": "randomised" if randomised_hsd else "studentized range",
        "hsd_draws": HSD_DRAWS if randomised_hsd else None, "hsd_systems": len(scores.systems), "hsd_reason": reason,
    }  # fmt: skip


def _hsd(scores: Scores, baseline: str, seed: int, randomised: bool) -> tuple[HsdTest | None, str | None]:
    if baseline in VIRTUAL_BASELINES:
        return None, f"the baseline, the per-query {baseline} of systems, is not a system"
    if min(scores.values.shape) < 2:
        return None, "it needs at least two systems and two queries"
    row = scores._row(baseline)
    if randomised:
        return randomised_hsd_test(scores.values, row, seed=seed), None
    try:
        return hsd_test(scores.values, row), None
    except ArgumentError:
        return None, "the systems differ by the same amount on every query"


def _entries(tests: Sequence[SignTest | None]) -> list[OrdinaryTest | None]:
    """The tests as plain data, with p corrected for their number; None where there is no test."""
    entries: list[OrdinaryTest | None] = [None] * len(tests)
    corrected = holm([None if test is None else test.p for test in tests])
    for number, (test, p_holm) in enumerate(zip(tests, corrected, strict=True)):
        if test is not None:
            entry: OrdinaryTest = {"statistic": test.statistic, "p_value": test.p, "p_holm": p_holm}
            entries[number] = entry if test.exact is None else {**entry, "exact": test.exact}
    return entries


def _apart(scores: ArrayLike, reference: int) -> tuple[Floats, Floats]:
    """The matrix, and how far each system's mean is from that of the reference."""
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 2 or min(values.shape) < 2 or not np.isfinite(values).all():
        raise ArgumentError(
            f"HSD needs a matrix of finite scores, of at least two systems × two queries; found {values.shape}"
        )
    means = values.mean(axis=1)
    return values, np.abs(means - means[reference])


def _wilcoxon(difference: Floats, rounding: Floats) -> SignTest | None:
    moved = difference != 0
    count = int(moved.sum())
    if not count:
        return None
    ranks = _doubled_ranks(np.abs(difference), rounding)[moved]
    positive = int(ranks[difference[moved] > 0].sum())
    if count <= _EXACT_RANKS:
        ways = np.zeros(int(ranks.sum()) + 1)  # how many signs give each doubled sum of ranks
        ways[0] = 1
        for rank in ranks.tolist():
            ways[rank:] += ways[: len(ways) - rank].copy()
        low = min(positive, int(ranks.sum()) - positive)
        p = min(1.0, 2 * float(ways[: low + 1].sum()) / 2.0**count)
        return SignTest(positive / 2, p, True)
    half = ranks / 2
    z = (positive / 2 - half.sum() / 2) / math.sqrt(float(np.square(half).sum()) / 4)
    return SignTest(positive / 2, float(2 * ndtr(-abs(z))), False)


def _doubled_ranks(sizes: Floats, rounding: Floats) -> Ints:
    """Twice the rank of each size, from the least; equal ones, up to rounding, share the mean of their ranks."""
    place = dense_ranks(sizes, rounding)
    counts = np.bincount(place)
    last = np.cumsum(counts)
    return np.asarray((2 * last - counts + 1)[place], dtype=np.int64)


def _randomisation(rows: Sequence[Floats], draws: int, seed: int) -> list[SignTest | None]:
    """The test of each row of differences; those that need draws share them."""
    tests: dict[int, SignTest | None] = {}
    drawn: list[int] = []
    for number, row in enumerate(rows):
        moved = row[row != 0]
        if not len(moved):
            tests[number] = None
        elif len(moved) <= _EXACT_SIGNS:
            sums = np.abs(np.add.outer(_signed_sums(moved[: len(moved) // 2]), _signed_sums(moved[len(moved) // 2 :])))
            least = abs(float(moved.sum())) - ROUNDING * float(np.abs(moved).sum())
            tests[number] = SignTest(float(row.mean()), float((sums >= least).mean()), True)
        else:
            drawn.append(number)
    if drawn:
        values = np.stack([rows[number] for number in drawn], axis=1)  # queries × systems
        least = np.abs(values.sum(axis=0)) - ROUNDING * np.abs(values).sum(axis=0)
        extreme = np.zeros(len(drawn), dtype=np.int64)
        rng, queries = np.random.default_rng(seed), len(values)
        step = max(1, _CELLS // queries)
        for start in steps(range(0, draws, step), "Flipping signs"):
            count = min(step, draws - start)
            bits = np.frombuffer(rng.bytes(count * -(-queries // 8)), dtype=np.uint8).reshape(count, -1)
            signs = np.unpackbits(bits, axis=1, count=queries).astype(np.float64) * 2 - 1
            extreme += (np.abs(signs @ values) >= least).sum(axis=0)
        for number, count in zip(drawn, extreme.tolist(), strict=True):
            tests[number] = SignTest(float(rows[number].mean()), (1 + count) / (1 + draws), False)
    return [tests[number] for number in range(len(rows))]


def _signed_sums(values: Floats) -> Floats:
    """The sums of the values with every choice of signs."""
    sums = np.zeros(1)
    for value in values.tolist():
        sums = np.concatenate([sums + value, sums - value])
    return sums
