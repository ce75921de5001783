"""Many systems tested at once: Holm's step-down correction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, overload

from surefoot.risk.inference import verdict_of
from surefoot.risk.plain_data import AtAlpha, Verdict

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
def verdicts(t: Sequence[float], p_values: Sequence[float]) -> Sequence[tuple[float, Verdict]]: ...
@overload
def verdicts(
    t: Sequence[float | None], p_values: Sequence[float | None]
) -> Sequence[tuple[float | None, Verdict | None]]: ...
def verdicts(
    t: Sequence[float | None], p_values: Sequence[float | None]
) -> Sequence[tuple[float | None, Verdict | None]]:
    """Of tests made at once: each p after Holm's correction, and the verdict by it.

    >>> verdicts([3.0, -2.5, -2.1], [0.004, 0.02, 0.04])
    [(0.012, 'reward'), (0.04, 'risk'), (0.04, 'risk')]
    """
    return [(p, verdict_of(one, p)) for one, p in zip(t, holm(p_values), strict=True)]


def correct(tests: Sequence[AtAlpha]) -> None:
    """Write into tests made at once what `verdicts` says of them."""
    found = verdicts([test["t_adjusted"] for test in tests], [test["p_adjusted"] for test in tests])
    for test, (p_holm, verdict) in zip(tests, found, strict=True):
        test["p_holm"], test["verdict"] = p_holm, verdict
