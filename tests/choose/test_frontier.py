"""The plane of risk and gain, against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.choose.frontier import (
    RiskGainPoint,
    last_alpha,
    mixture_hull,
    proportional_gain,
    reranking_area,
    selective_curve,
    undominated,
)
from surefoot.errors import ArgumentError

COORDINATE = st.integers(0, 12).map(lambda number: number / 4)
POINTS = st.lists(st.builds(RiskGainPoint, COORDINATE, st.integers(-6, 12).map(lambda number: number / 4)), max_size=9)


def reachable(points: list[RiskGainPoint], risk: float) -> float:
    """The most gain that mixing any two of the points, or the baseline, reaches with at most that risk."""
    known = [RiskGainPoint(0.0, 0.0), *points]
    best = 0.0
    for one in known:
        for other in known:
            for share in np.linspace(0, 1, 401):
                if share * one.risk + (1 - share) * other.risk <= risk + 1e-12:
                    best = max(best, share * one.gain + (1 - share) * other.gain)
    return best


@given(POINTS, st.integers(0, 16).map(lambda number: number / 4))
def test_no_mixture_lies_above_the_hull(points: list[RiskGainPoint], risk: float) -> None:
    hull = mixture_hull(points)
    assert set(hull) <= {RiskGainPoint(0.0, 0.0), *points}
    height = float(np.interp(risk, [point.risk for point in hull], [point.gain for point in hull]))
    assert height >= reachable(points, risk) - 1e-9
    assert height <= reachable(points, risk) + 0.05  # mixtures were tried in steps


@given(POINTS)
def test_the_hull_rises_and_bends_down(points: list[RiskGainPoint]) -> None:
    risks, gains = (np.array(column) for column in zip(*mixture_hull(points), strict=True))
    assert (np.diff(risks) > 0).all()
    assert (np.diff(gains) > 0).all()
    assert (np.diff(np.diff(gains) / np.diff(risks)) < 0).all()


@given(POINTS)
def test_undominated(points: list[RiskGainPoint]) -> None:
    best = undominated(points)
    for number, point in enumerate(points):
        better = [o for o in points if o != point and o.risk <= point.risk and o.gain >= point.gain]
        assert (number in best) == (not better)


def test_lines_and_areas() -> None:
    full = RiskGainPoint(0.02, 0.06)
    assert proportional_gain(full, 0.01) == pytest.approx(0.03)
    assert proportional_gain(RiskGainPoint(0.0, 0.5), 0.0) == 0.5
    assert last_alpha(full) == pytest.approx(3)
    assert last_alpha(RiskGainPoint(0.0, 0.5)) == float("inf")
    assert reranking_area(0.5, 0.1, 1.0, 0.1) == pytest.approx(0.075)
    with pytest.raises(ArgumentError, match="the full model's must not be smaller"):
        reranking_area(0.7, 0.1, 0.6, 0.2)
    with pytest.raises(ArgumentError, match="not a point"):
        mixture_hull([RiskGainPoint(-0.1, 0.2)])


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 3)), min_size=1, max_size=12))
def test_the_selective_curve_is_that_of_each_threshold(pairs: list[tuple[int, int]]) -> None:
    differences, feature = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    thresholds, risk, gain = selective_curve(differences, feature)
    assert thresholds.tolist() == sorted(set(feature))
    for at, threshold in enumerate(thresholds):
        used = np.where(feature <= threshold, differences, 0.0)
        assert gain[at] == pytest.approx(used.mean())
        assert risk[at] == pytest.approx(np.maximum(-used, 0).mean())
