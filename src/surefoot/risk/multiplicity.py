"""Many systems tested at once: Holm's step-down correction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, overload

import numpy as np
from scipy.special import stdtrit

from surefoot.arrays import Flags, Floats
from surefoot.risk.assessment_data import AtAlpha, Outcome
from surefoot.risk.inference import outcome_of, two_sided_p
from surefoot.significance import SIGNIFICANCE

P = TypeVar("P", float, float | None)


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


@overload
def outcomes(t: Sequence[float], p_values: Sequence[float]) -> Sequence[tuple[float, Outcome]]: ...
@overload
def outcomes(
    t: Sequence[float | None], p_values: Sequence[float | None]
) -> Sequence[tuple[float | None, Outcome | None]]: ...
def outcomes(
    t: Sequence[float | None], p_values: Sequence[float | None]
) -> Sequence[tuple[float | None, Outcome | None]]:
    """Of tests made at once: each p after Holm's correction, and the outcome by it.

    >>> outcomes([3.0, -2.5, -2.1], [0.004, 0.02, 0.04])
    [(0.012, 'better'), (0.04, 'worse'), (0.04, 'worse')]
    """
    return [(p, outcome_of(t_value, p)) for t_value, p in zip(t, holm(p_values), strict=True)]


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
