"""Better, worse or unclear: what tests made at once say by Holm's step-down correction, and from which α on.

As losses weigh more, an outcome changes: up to some α a system is better, from another on it is worse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from surefoot.arrays import Flags, Floats
from surefoot.risk.assessment_data import AtAlpha, Json, Outcome, OutcomeFrom
from surefoot.risk.inference import hall_t, hall_t_with_another, influence_ts, robust_t, two_sided_p
from surefoot.risk.influence import BaselineSums, Influence, InfluenceSums
from surefoot.risk.vectors import blocks, dot
from surefoot.significance import SIGNIFICANCE

P = TypeVar("P", float, float | None)
LAST_SEARCHED_ALPHA = 20.0  # larger ones are of no use
_CODES: tuple[Outcome, Outcome, Outcome] = ("unclear", "better", "worse")  # of the signs 0, 1 and −1
_CELLS = 1 << 15  # tests made at a time, systems × α
TValues: TypeAlias = Callable[[Sequence[Floats], float], Callable[[Floats], Floats]]


def holm(p_values: Sequence[P]) -> list[P]:
    """P-values corrected for their number (Holm, Scand. J. Statist. 1979); absent ones stay absent and do not count.

    >>> holm([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    tested = sorted((p, i) for i, p in enumerate(p_values) if p is not None)
    corrected = list(p_values)
    largest = 0.0
    for position, (p, i) in enumerate(tested):
        largest = max(largest, min(1.0, (len(tested) - position) * p))
        corrected[i] = largest
    return corrected


def outcomes(t: Sequence[float | None], p_values: Sequence[float | None]) -> list[tuple[float | None, Outcome | None]]:
    """Of tests made at once: each p after Holm's correction, and the outcome by it.

    >>> outcomes([3.0, -2.5, -2.1], [0.004, 0.02, 0.04])
    [(0.012, 'better'), (0.04, 'worse'), (0.04, 'worse')]
    """
    return [(p, outcome_of(t_value, p)) for t_value, p in zip(t, holm(p_values), strict=True)]


def outcome_of(t: float | None, p: float | None) -> Outcome | None:
    """What a test says of a system: "better", "worse", or "unclear"; None where there is no test.

    >>> outcome_of(-2.5, 0.01), outcome_of(-2.5, 0.06)
    ('worse', 'unclear')
    """
    if t is None or p is None:
        return None
    return "unclear" if p >= SIGNIFICANCE else "better" if t > 0 else "worse"


def holm_rejects(t: Floats, queries: int) -> Flags:
    """Which of the tests of each row, given as |t| of so many queries, Holm's correction calls more than chance.

    Rows × tests at once, by critical values in place of p-values: with R tests rejected so far, the next is rejected
    where its |t| is above the critical value at level/(tests − R).

    >>> holm_rejects(np.array([[3.0, 2.5, 1.9], [2.3, 2.4, 1.0]]), 100).tolist()
    [[True, True, False], [False, False, False]]
    """
    tests = t.shape[-1]
    critical = np.append(stdtrit(queries - 1, 1 - SIGNIFICANCE / 2 / np.arange(tests, 0, -1)), -np.inf)
    fails = np.sort(t, axis=-1)[..., ::-1] <= critical[:-1]
    rejected = np.where(fails.any(axis=-1), fails.argmax(axis=-1), tests)
    return np.asarray(t > critical[rejected][..., None])


def apply_holm(tests: Sequence[AtAlpha]) -> None:
    """Write into tests made at once what `outcomes` says of them by the robust p, and by the adjusted p alone.

    With weights, by the larger of it and `p_traffic`, or of the adjusted p and its p without another query.
    """
    robust = outcomes(
        [test["t_robust"] for test in tests], [_decisive(test["p_robust"], test.get("p_traffic")) for test in tests]
    )
    adjusted = outcomes(
        [test["t_skewness"] for test in tests], [_decisive(test["p_skewness"], _p_alone(test)) for test in tests]
    )
    for test, (p_holm, outcome), (_, without_extra_query) in zip(tests, robust, adjusted, strict=True):
        test["p_holm"] = p_holm
        if test["outcome"] != "same":  # which needs no test
            test["outcome"], test["outcome_without_extra_query"] = outcome, without_extra_query


def _decisive(p: float | None, by_traffic: float | None) -> float | None:
    return p if p is None or by_traffic is None else max(p, by_traffic)


def _p_alone(test: AtAlpha) -> float | None:
    """With weights, the p of T_Risk by as many degrees of freedom as p_traffic has."""
    t, df = test["t_risk"], test.get("df_traffic")
    return None if t is None or df is None else two_sided_p(t, df + 1)


def set_same(entry: Json, *, outcomes_by_alpha: bool) -> None:
    """The outcome of a system that differs on no query: it needs no test."""
    for test in entry["alpha"].values():
        test["outcome"] = test["outcome_without_extra_query"] = "same"
    if outcomes_by_alpha:
        entry["outcome_by_alpha"] = [{"alpha": 0.0, "outcome": "same"}]


def outcomes_by_alpha(
    differences_by_baseline: Mapping[str, Sequence[Floats]],
    alphas_by_key: Mapping[str, float],
    tests: Mapping[str, list[Json]],
    requested: bool,
    influence: BaselineSums,
) -> list[list[OutcomeFrom] | None]:
    """Where each system's outcome changes; None where it cannot be tested, against several baselines or not wanted."""
    first = next(iter(tests.values()))
    if not requested or len(differences_by_baseline) > 1:
        return [None] * len(first)
    outcomes = {alpha: [test["outcome"] for test in tests[key]] for key, alpha in alphas_by_key.items()}
    return turning_points(
        next(iter(differences_by_baseline.values())),
        [test["t_risk"] is not None for test in first],
        outcomes,
        None if influence is None else next(iter(influence.values())),
    )


def turning_points(
    differences: Sequence[Floats],
    testable: Sequence[bool],
    outcomes_at: Mapping[float, Sequence[Outcome | None]],
    sums: Sequence[InfluenceSums] | None = None,
) -> list[list[OutcomeFrom] | None]:
    """Each system's outcomes by the robust p after Holm's correction, at every α that words can name.

    A system's list begins with its outcome at α = 0, and goes on with each α at which another one starts to hold; None
    for systems that cannot be tested. `outcomes_at` holds the outcomes of all systems at the assessed α; turns never
    contradict them. Sums made once give the test at every α, so that this costs little whatever
    the number of queries. Where these are weighted, `sums` has those of each system.
    """
    rows = [row for row, can_be_tested in enumerate(testable) if can_be_tested]
    turns: list[list[OutcomeFrom] | None] = [None] * len(testable)
    if not rows:
        return turns
    alphas = np.union1d(named_alphas(max(LAST_SEARCHED_ALPHA, *outcomes_at)), list(outcomes_at))
    t_values: TValues = _t_values
    if sums is not None:
        t_values = partial(_t_values_by_influence, sums=[sums[row] for row in rows])
    signs = _signs([differences[row] for row in rows], alphas, t_values)
    for alpha, system_outcomes in outcomes_at.items():
        sign_of = {"better": 1, "worse": -1}
        signs[np.searchsorted(alphas, alpha)] = [sign_of.get(system_outcomes[row] or "", 0) for row in rows]
    for row, system_signs in zip(rows, signs.T, strict=True):
        starts = np.flatnonzero(np.diff(system_signs, prepend=system_signs[0] + 1))
        turns[row] = [{"alpha": float(alphas[at]), "outcome": _CODES[system_signs[at]]} for at in starts.tolist()]
    return turns


def named_alphas(most: float) -> Floats:
    """Every α that three digits can name, from 0 on; below 1 every thousandth.

    >>> named_alphas(20)[[0, 1, 1000, 1001, 1900, -1]].tolist()
    [0.0, 0.001, 1.0, 1.01, 10.0, 20.0]
    """
    parts, unit = [np.arange(1000) / 1000], 100.0
    while 100 / unit <= most:
        parts.append(np.arange(100, 1000) / unit)
        unit /= 10
    alphas = np.concatenate(parts)
    return alphas[alphas <= most]


def _signs(differences: Sequence[Floats], alphas: Floats, t_values: TValues) -> NDArray[np.int64]:
    """α × systems: 1 where a system is better, −1 where it is worse, else 0."""
    unit = max(float(max(part.max(), -part.min())) for row in differences for part in blocks(row))
    queries = len(differences[0])
    t_at = t_values(differences, unit)
    step = max(1, _CELLS // len(differences))
    parts = []
    for start in range(0, len(alphas), step):
        t = t_at(1 + alphas[start : start + step, None])
        parts.append(np.sign(t).astype(np.int64) * holm_rejects(np.abs(t), queries))
    return np.concatenate(parts)


def _t_values(differences: Sequence[Floats], unit: float) -> Callable[[Floats], Floats]:
    """What gives the robust t of every system at each weight 1 + α of losses, from sums over the queries."""
    queries = len(differences[0])
    sums = np.array([_power_sums(row, unit) for row in differences])
    gains, losses = sums[:, :6].reshape(-1, 2, 3).transpose(1, 2, 0) / queries
    lowest, highest = sums[:, 6:].T

    def t_at(weight: Floats) -> Floats:
        # The moments of x_q are polynomials in 1 + α.
        mean, second, third = (gains[i] + weight ** (i + 1) * losses[i] for i in range(3))
        variance = np.maximum(second - mean**2, np.finfo(np.float64).tiny)
        deviation = np.sqrt(variance)
        skewness = (third - mean * (3 * second - 2 * mean**2)) / (variance * deviation)
        return robust_t(
            hall_t(mean / (deviation * np.sqrt(queries / (queries - 1))), skewness, queries),
            *(
                hall_t_with_another(mean / deviation, skewness, queries, np.minimum(end, weight * end) / deviation)
                for end in (lowest, highest)
            ),
        )

    return t_at


def _t_values_by_influence(
    differences: Sequence[Floats], unit: float, sums: Sequence[InfluenceSums]
) -> Callable[[Floats], Floats]:
    """As `_t_values`, where queries have relative weights: the moments of u_q = w̃_q·(x_q − x̄_w) from sums."""
    queries = len(differences[0])

    def t_of(influence: Influence) -> Floats:
        _, t, t_traffic = influence_ts(influence)
        p = two_sided_p(t_traffic, influence.effective)
        # As a t of c − 1 degrees of freedom, since Holm's correction goes by such.
        return np.asarray(np.sign(t) * np.minimum(np.abs(t), -stdtrit(queries - 1, p / 2)))

    return lambda weight: np.stack([t_of(own.of_weight(weight[:, 0])) for own in sums], axis=1)


def _power_sums(differences: Floats, unit: float) -> list[float]:
    """Σδ, Σδ² and Σδ³ over the gains, over the losses, and the extremes; in a unit that keeps powers from vanishing."""
    sums, lowest, highest = np.zeros((2, 3)), np.inf, -np.inf
    for part in blocks(differences):
        for number, side in enumerate((np.maximum(part, 0) / unit, np.minimum(part, 0) / unit)):
            square = side * side
            sums[number] += side.sum(), square.sum(), dot(square, side)
        lowest, highest = min(lowest, part.min()), max(highest, part.max())
    return [*sums.ravel().tolist(), float(lowest / unit), float(highest / unit)]
