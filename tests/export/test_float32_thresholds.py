"""Thresholds for every rule of comparison, against the definition tried on the float32 numbers around them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from surefoot.export.ensemble import LARGEST_FLOAT32, before_slack, thresholds_at_most, thresholds_less_than

SLACK = np.float32(1e-6)
THRESHOLDS = st.one_of(
    st.floats(-1e38, 1e38),
    st.floats(-3e-6, 3e-6),
    st.floats(-1e3, 1e3),
    st.floats(-1024, 1024, width=32),
    st.floats(-(2.0**-16), 2.0**-16, width=32),
    st.sampled_from([0.0, -0.0, 1e-35, -1e-35, 1e-6, -1e-6, 2e-45, -(2.0**-13) + 1e-12]),
)


def around(number: float, steps: int = 5) -> np.ndarray:
    """The float32 numbers next to one."""
    result = [np.float32(number)]
    for _ in range(steps):
        result.append(np.nextafter(result[-1], np.float32(np.inf)))
        result.insert(0, np.nextafter(result[0], np.float32(-np.inf)))
    return np.array(result, np.float32)


@given(THRESHOLDS)
def test_features_go_where_they_went(threshold: float) -> None:
    features = around(threshold)
    left = features.astype(np.float64) <= threshold
    np.testing.assert_array_equal(features <= thresholds_at_most([threshold])[0], left)
    np.testing.assert_array_equal(features < thresholds_less_than([threshold])[0], left)


@given(THRESHOLDS)
def test_solrs_sum_is_the_threshold_or_the_next_one_that_can_be_had_below_it(threshold: float) -> None:
    (written,), (total,) = before_slack([threshold])
    intended = thresholds_at_most([threshold])[0]
    assert written + SLACK == total <= intended
    if total < intended:  # no number gives more without going beyond
        sums = around(written, 40) + SLACK
        assert not ((sums > total) & (sums <= intended)).any()
        assert float(intended) - float(total) < max(1.2e-13, 2 * float(np.spacing(np.abs(intended))))
    assert (total >= 0) == (intended >= 0), "0 goes the other way"


def test_beyond_float32() -> None:
    assert thresholds_at_most([1e300, np.inf, -1e300, -np.inf]).tolist() == [
        LARGEST_FLOAT32,
        LARGEST_FLOAT32,
        -LARGEST_FLOAT32,
        -LARGEST_FLOAT32,
    ]
    assert thresholds_less_than([1e300, np.inf]).tolist() == [LARGEST_FLOAT32, LARGEST_FLOAT32]
    written, total = before_slack([1e300, -1e300])
    assert np.isfinite([*written, *total]).all()


def test_ordinary_thresholds_are_had_exactly_in_solr() -> None:
    ordinary = np.random.default_rng(0).gamma(1, 10, 20_000)
    np.testing.assert_array_equal(before_slack(ordinary)[1], thresholds_at_most(ordinary))
