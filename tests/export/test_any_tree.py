"""Trees of any thresholds, features on them, beside them and missing: every format decides as the definition does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.export.interpreters import interpreter, solr_gaps

from surefoot.export.ensemble import LEAF, Ensemble, RawTree
from surefoot.export.package import write_model
from surefoot.export.settings import ExportSettings

NAMES = ["a", "b"]
THRESHOLDS = st.one_of(
    st.floats(-1e3, 1e3),
    st.floats(-1e-5, 1e-5),
    st.floats(-1e37, 1e37),
    st.floats(-1024, 1024, width=32),
    st.sampled_from([0.0, 1e300, np.inf, -1e300, 1e-35, -1e-35, 16777216.5, 0.1, -0.1]),
)


@st.composite
def trees(draw: st.DrawFn) -> RawTree:
    """A tree, whose nodes stand in an order that a learner might have left, with nodes that nothing leads to."""
    splits = draw(st.integers(0, 4))
    feature, left, right = [LEAF], [LEAF], [LEAF]
    for _ in range(splits):
        leaf = draw(st.sampled_from([node for node, child in enumerate(left) if child == LEAF]))
        feature[leaf] = draw(st.integers(0, 1))
        left[leaf], right[leaf] = len(left), len(left) + 1
        feature += [LEAF] * 2
        left += [LEAF] * 2
        right += [LEAF] * 2
    nodes = len(left)
    places = [0, *draw(st.permutations(range(1, nodes + 1)))]  # one more than there are
    there = np.array(places[:nodes])
    moved = {name: np.full(nodes + 1, LEAF) for name in ("feature", "left", "right")}
    moved["feature"][there] = feature
    moved["left"][there] = [LEAF if child == LEAF else there[child] for child in left]
    moved["right"][there] = [LEAF if child == LEAF else there[child] for child in right]
    numbers = st.lists(st.floats(-2, 2, width=32), min_size=nodes + 1, max_size=nodes + 1)
    return RawTree(
        moved["feature"],
        np.array(draw(st.lists(THRESHOLDS, min_size=nodes + 1, max_size=nodes + 1))),
        np.array(draw(st.lists(st.booleans(), min_size=nodes + 1, max_size=nodes + 1))),
        moved["left"],
        moved["right"],
        np.array(draw(numbers)),
    )


def score(tree: RawTree, row: np.ndarray) -> float:
    """The definition, one node after the other."""
    node = 0
    while tree.left[node] != LEAF:
        x = float(row[tree.feature[node]])
        goes_left = tree.missing_left[node] if np.isnan(x) else x <= tree.threshold[node]
        node = tree.left[node] if goes_left else tree.right[node]
    return float(tree.value[node])


def rows_on(grown: list[RawTree]) -> np.ndarray:
    """Features on every threshold and one float32 to either side, 0 and missing; in pairs with each other."""
    with np.errstate(over="ignore"):
        known = np.concatenate([tree.threshold for tree in grown]).astype(np.float32)
    known = np.append(known[np.abs(known) < 1e37], np.float32(0))
    ends = (np.nextafter(known, np.float32(end)) for end in (np.inf, -np.inf))
    values = np.unique(np.concatenate([known, *ends, np.array([0, np.nan, 1e30, -1e30], np.float32)]))
    random = np.random.default_rng(len(values))
    return np.stack([np.tile(values, 3), random.choice(values, 3 * len(values))], axis=1)


@pytest.mark.parametrize("to", ["elasticsearch-plugin", "ranklib", "elasticsearch-native", "solr", "vespa"])
@pytest.mark.parametrize("missing", ["zero", "nan"])
@settings(max_examples=15)
@given(grown=st.lists(trees(), min_size=1, max_size=3))
def test_every_format(to: str, missing: str, grown: list[RawTree]) -> None:
    ensemble = Ensemble.from_trees(NAMES, grown)
    rows = rows_on(grown)
    if to == "ranklib":
        missing = "zero"
    text = write_model(ensemble, ExportSettings.parse(to, missing, "any")).content
    if to == "solr":
        thresholds = [ensemble.threshold[ensemble.feature == feature] for feature in range(2)]
        thresholds = [known[np.abs(known) < 1e38] for known in thresholds]
        rows = rows[~solr_gaps(text, NAMES, thresholds, rows)]
    seen = np.nan_to_num(rows, nan=0) if missing == "zero" else rows
    expected = [sum(score(tree, row) for tree in grown) for row in seen]
    np.testing.assert_allclose(interpreter(to, text, NAMES)(rows), expected, rtol=0, atol=1e-6)
