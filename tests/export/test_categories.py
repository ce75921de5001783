"""Splits by categories in every format: as the learner splits, for codes, for numbers between them, and for none."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.export.interpreters import interpreter
from tests.export.models import model_of
from tests.export.test_exact import LIGHT
from tests.learn.test_categories import ENGINES, KINDS, SMALL, frame

import surefoot as sf
from surefoot.export.ensemble import LEAF, RawTree
from surefoot.export.readers.categories import CategorySplit, without_categories

NAMES = ["price", "kind"]
KNOWS_MISSING = {"elasticsearch-plugin", "opensearch", "elasticsearch-native", "solr", "vespa", "onnx"}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("to", [*LIGHT, pytest.param("onnx", marks=pytest.mark.engines("onnx"))])
def test_every_format_scores_as_the_learner_does(engine: str, to: str, tmp_path: Path) -> None:
    table, y, qid = frame(1)
    model = sf.Ranker(n_estimators=6, **SMALL[engine]).fit(table, y, qid=qid)
    for missing in ("nan", "never", "zero") if to in KNOWS_MISSING else ("never", "zero"):
        done = model.export(tmp_path / to, to=to, missing=missing, name="m", keep_negative=True)
        assert any(note.startswith("Feature kind is a category") and "0 for books" in note for note in done.notes)
        score = interpreter(to, model_of(tmp_path / to).read_bytes(), NAMES)
        rows = json.loads((tmp_path / to / "model.rows.json").read_text(encoding="utf-8"))
        matrix = np.array([[np.nan if value is None else value for value in row] for row in rows["rows"]], np.float32)
        np.testing.assert_allclose(score(matrix), rows["scores"], rtol=0, atol=rows["tolerance"])
        codes = [*range(len(KINDS) + 2), *([np.nan] if missing == "nan" else [])]
        plain = np.array([(price, code) for price in (0.1, 0.5, 0.9) for code in codes], np.float32)
        np.testing.assert_allclose(score(plain), model.predict(plain), rtol=0, atol=1e-5)


@given(
    st.frozensets(st.integers(0, 12), min_size=1), st.booleans(), st.booleans(), st.booleans(),
    st.lists(st.one_of(st.floats(-3, 15, width=32), st.just(float("nan"))), min_size=1),
)  # fmt: skip
def test_a_chain_of_thresholds_is_the_set(
    codes: frozenset[int], member_left: bool, missing_left: bool, below_one: bool, numbers: list[float]
) -> None:
    """Against the rule itself; the set's split is above a plain one."""
    below = -1.0 if below_one else float(np.nextafter(np.float32(0), np.float32(-1)))
    split = CategorySplit(codes, member_left, missing_left, below)
    tree = RawTree(
        np.array([0, 0, LEAF, LEAF, LEAF]), np.array([0.0, 4.5, 0, 0, 0]), np.array([False, True, False, False, False]),
        np.array([1, 3, LEAF, LEAF, LEAF]), np.array([2, 4, LEAF, LEAF, LEAF]), np.array([0.0, 0, 10, 20, 30]),
    )  # fmt: skip
    chain = without_categories(tree, {0: split})
    for number in numbers:
        if np.isnan(number):
            left = missing_left
        else:
            member = number > below and int(number) in codes
            left = member == member_left
        expected = 10.0 if not left else 20.0 if np.isnan(number) or number <= 4.5 else 30.0
        node = 0
        while chain.left[node] != LEAF:
            goes_left = bool(chain.missing_left[node]) if np.isnan(number) else number <= chain.threshold[node]
            node = int(chain.left[node] if goes_left else chain.right[node])
        assert chain.value[node] == expected
