"""Each format, interpreted by its engine's rules, scores as the learner does; each naive conversion does not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.export.interpreters import interpreter, solr_gaps, vespa
from tests.export.models import NAMES, data, model_of, ranker, rows_of, thresholds

import surefoot as sf
from surefoot.errors import ArgumentError
from surefoot.export import package
from surefoot.export.ensemble import LARGEST_FLOAT32, Ensemble, RawTree, thresholds_at_most
from surefoot.export.readers import lightgbm as lightgbm_reader
from surefoot.export.settings import TARGETS
from surefoot.export.targets import ltr_plugin, onnx, ranklib, solr
from surefoot.export.targets import vespa as vespa_target
from surefoot.export.targets.table import find_target

LIGHT = [to for to in TARGETS if to != "onnx"]
ENGINES = ["lightgbm", pytest.param("xgboost", marks=pytest.mark.engines("xgboost"))]
CLOSE = 1e-5
WRONG = r"Not equal to tolerance|reversed"
TRAINED: dict[tuple[str, bool], sf.Ranker] = {}


def trained(engine: str, missing: bool) -> sf.Ranker:
    if (engine, missing) not in TRAINED:
        TRAINED[engine, missing] = ranker(engine, missing)
    return TRAINED[engine, missing]


def exported(model: sf.Ranker, path: Path, to: str, missing: str, **more: Any) -> bytes:
    model.export(path / to, to=to, missing=missing, rows=0, **{"keep_negative": True, **more})
    return model_of(path / to).read_bytes()


def seen(rows: np.ndarray, missing: str) -> np.ndarray:
    """What the model is meant to see."""
    return np.nan_to_num(rows, nan=0) if missing == "zero" else rows


def agree(result: np.ndarray, expected: np.ndarray, close: float = CLOSE) -> None:
    np.testing.assert_allclose(result, expected, rtol=0, atol=close)
    order = np.argsort(-expected, kind="stable")
    falls = np.diff(result[order].astype(np.float64))
    assert (falls <= 2 * close).all()
    clear = np.diff(expected[order]) < -2 * close
    assert (falls[clear] < 0).all(), "a pair is reversed"


def possible(model: sf.Ranker, to: str, text: bytes, missing: bool) -> Iterator[np.ndarray]:
    """Ints of all kinds, without those that Solr's slack leaves no threshold for."""
    for kind, rows in rows_of(model, missing).items():
        gone = solr_gaps(text, NAMES, thresholds(model), rows) if to == "solr" else np.zeros(len(rows), bool)
        assert gone.mean() < (0.01 if kind in ("ordinary", "missing") else 0.8), kind
        yield rows[~gone]


def check(model: sf.Ranker, path: Path, to: str, missing: str, with_missing: bool = True, **more: Any) -> float:
    """The farthest score over all rows."""
    text = exported(model, path, to, missing, **more)
    score = interpreter(to, text, NAMES)
    farthest = 0.0
    for rows in possible(model, to, text, with_missing):
        expected = model.predict(seen(rows, missing))
        result = score(rows)
        agree(result, expected)
        farthest = max(farthest, float(np.abs(result - expected).max()))
    return farthest


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("nan", [False, True], ids=["no NaN", "NaN"])
@pytest.mark.parametrize("to", [*LIGHT, pytest.param("onnx", marks=pytest.mark.engines("onnx"))])
def test_zero(engine: str, nan: bool, to: str, tmp_path: Path) -> None:
    check(trained(engine, nan), tmp_path, to, "zero")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("to", ["elasticsearch-plugin", "opensearch", "elasticsearch-native", "solr", "vespa",
                                pytest.param("onnx", marks=pytest.mark.engines("onnx"))])  # fmt: skip
def test_missing_values(engine: str, to: str, tmp_path: Path) -> None:
    for nan in (False, True):
        check(trained(engine, nan), tmp_path, to, "nan")


@pytest.mark.parametrize("to", ["elasticsearch-plugin", "opensearch", "ranklib", "solr"])
def test_a_lightgbm_model_without_nan_reads_missing_as_zero_anyway(to: str, tmp_path: Path) -> None:
    version = {"elasticsearch-plugin": "1.5.8", "opensearch": "3.1", "solr": "9.1", "ranklib": None}[to]
    model = trained("lightgbm", False)
    text = exported(model, tmp_path, to, "nan", target_version=version)
    score = interpreter(to, text, NAMES, "zero")
    for rows in possible(model, to, text, True):
        agree(score(rows), model.predict(rows))


@pytest.mark.parametrize(
    ("version", "missing", "knows"),
    [("9.1", "nan", False), ("9.1.9", "nan", False), ("9.2", "nan", True), ("9.10", "nan", True), (None, "nan", True),
     ("9.2", "zero", False), (None, "zero", False)],
)  # fmt: skip
def test_solr_knows_missing_features_from_9_2_on(
    version: str | None, missing: str, knows: bool, tmp_path: Path
) -> None:
    text = exported(trained("lightgbm", False), tmp_path, "solr", missing, target_version=version)
    assert ("isNullSameAsZero" in json.loads(text)["params"]) == knows


@pytest.mark.parametrize(
    ("to", "version", "unset"),
    [("elasticsearch-plugin", "1.5.8", "zero"), ("elasticsearch-plugin", "1.5.9", "missing"),
     ("elasticsearch-plugin", None, "missing"),
     ("opensearch", "3.1", "zero"), ("opensearch", "3.8.0", "missing"), ("opensearch", None, "missing")],
)  # fmt: skip
def test_every_version_of_the_plugins(to: str, version: str | None, unset: str, tmp_path: Path) -> None:
    model = trained("lightgbm", True)
    score = interpreter(to, exported(model, tmp_path, to, "zero", target_version=version), NAMES, unset)
    for rows in rows_of(model, True).values():
        agree(score(rows), model.predict(np.nan_to_num(rows, nan=0)))


def test_opensearch_with_the_bug_where_no_feature_is_ever_missing(tmp_path: Path) -> None:
    model = trained("lightgbm", True)
    score = interpreter(
        "opensearch", exported(model, tmp_path, "opensearch", "never", target_version="3.4"), NAMES, "no"
    )
    for rows in rows_of(model, False).values():
        agree(score(rows), model.predict(rows))
    for missing in ("zero", "nan"):
        with pytest.raises(ArgumentError, match=r"goes to the right at every split.* export to ranklib"):
            exported(model, tmp_path, "opensearch", missing, target_version="3.4")


@pytest.mark.parametrize("nan", [False, True])
def test_doubles_are_exact(nan: bool, tmp_path: Path) -> None:
    model = trained("lightgbm", nan)
    for to, missing in (
        ("elasticsearch-native", "zero"),
        ("elasticsearch-native", "nan"),
        ("vespa", "zero"),
        ("vespa", "nan"),
    ):
        score = interpreter(to, exported(model, tmp_path, to, missing), NAMES)
        for rows in rows_of(model, True).values():
            np.testing.assert_array_equal(score(rows), model.predict(seen(rows, missing)))


def test_vespa_in_float_too(tmp_path: Path) -> None:
    model = trained("lightgbm", True)
    score = vespa(exported(model, tmp_path, "vespa", "nan"), np.float32)
    for rows in rows_of(model, True).values():
        agree(score(rows), model.predict(rows))


def test_numbers_that_lightgbm_reads_as_zero(tmp_path: Path) -> None:
    model = trained("lightgbm", False)
    tiny = np.float32(1e-35)
    around = [-2 * tiny, np.nextafter(-tiny, -1), -tiny, -tiny / 3, 0, tiny / 3, tiny, np.nextafter(tiny, 1), 2 * tiny]
    rows = np.zeros((len(around) * len(NAMES), len(NAMES)), np.float32)
    for feature in range(len(NAMES)):
        rows[feature * len(around) : (feature + 1) * len(around), feature] = around
    assert len(np.unique(model.predict(rows))) > 5, "no threshold is near 0"
    for to in ("elasticsearch-plugin", "ranklib", "elasticsearch-native", "vespa"):
        agree(interpreter(to, exported(model, tmp_path, to, "zero"), NAMES)(rows), model.predict(rows))


def rounded(thresholds: Any) -> np.ndarray:
    """What nearly every converter writes."""
    with np.errstate(over="ignore"):
        return np.clip(
            np.asarray(thresholds).astype(np.float32),
            -LARGEST_FLOAT32,
            LARGEST_FLOAT32,
        )


@pytest.mark.parametrize(
    ("to", "module", "name"),
    [("elasticsearch-plugin", ltr_plugin, "thresholds_less_than"), ("ranklib", ranklib, "thresholds_at_most"),
     ("vespa", vespa_target, "thresholds_less_than"),
     pytest.param("onnx", onnx, "thresholds_at_most", marks=pytest.mark.engines("onnx"))],
)  # fmt: skip
def test_thresholds_that_are_not_rounded_for_the_rule_fail(to, module, name, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(module, name, rounded)
    with pytest.raises(AssertionError, match=WRONG):
        check(trained("lightgbm", False), tmp_path, to, "zero")


@pytest.mark.engines("onnx", "xgboost")
@pytest.mark.parametrize(("to", "module"), [("ranklib", ranklib), ("onnx", onnx)])
def test_xgboosts_thresholds_as_they_stand_fail_where_rules_differ(to, module, tmp_path, monkeypatch) -> None:
    def as_they_stand(thresholds: Any) -> np.ndarray:  # x < t, taken for x ≤ t
        return np.nextafter(thresholds.astype(np.float32), np.float32(np.inf))

    monkeypatch.setattr(module, "thresholds_at_most", as_they_stand)
    with pytest.raises(AssertionError, match=WRONG):
        check(trained("xgboost", False), tmp_path, to, "zero")


def test_solr_without_its_slack_fails(tmp_path: Path, monkeypatch) -> None:
    model = trained("lightgbm", False)
    rows = np.concatenate(list(possible(model, "solr", exported(model, tmp_path, "solr", "zero"), False)))
    monkeypatch.setattr(
        solr,
        "before_slack",
        lambda t: (thresholds_at_most(t), thresholds_at_most(t)),
    )
    score = interpreter("solr", exported(model, tmp_path, "solr", "zero"), NAMES)
    with pytest.raises(AssertionError, match=WRONG):
        agree(score(rows), model.predict(rows))


@pytest.mark.parametrize(
    "to",
    [
        "elasticsearch-plugin",
        "elasticsearch-native",
        "vespa",
        "solr",
        pytest.param("onnx", marks=pytest.mark.engines("onnx")),
    ],
)
def test_default_left_as_it_stands_fails(to: str, tmp_path: Path, monkeypatch) -> None:
    read = lightgbm_reader.read

    def copied(text: str, names: Any) -> Ensemble:
        trees = read(text, names)
        flags = np.zeros(len(trees.feature), bool)
        flags[trees.is_split] = True  # LightGBM writes so for all splits that saw no NaN
        return trees.with_missing(flags)

    assert "decision_type=2" in trained("lightgbm", False).booster_.model_to_string()
    monkeypatch.setattr(lightgbm_reader, "read", copied)
    with pytest.raises(AssertionError, match=WRONG):
        check(trained("lightgbm", False), tmp_path, to, "nan")


@pytest.mark.parametrize("to", [to for to in LIGHT if not find_target(to).negative_scores])
@pytest.mark.parametrize("engine", ENGINES)
def test_no_score_is_below_zero_where_such_are_refused(to: str, engine: str, tmp_path: Path) -> None:
    model = trained(engine, True)
    plain = interpreter(to, exported(model, tmp_path, to, "zero"), NAMES)
    text = exported(model, tmp_path, to, "zero", keep_negative=False)
    raised_above_zero = interpreter(to, text, NAMES)
    for rows in possible(model, to, text, False):
        assert plain(rows).min() < 0 <= raised_above_zero(rows).min()
        shift = raised_above_zero(rows).astype(np.float64) - model.predict(rows)
        assert np.ptp(shift) < CLOSE
        agree(raised_above_zero(rows) - shift[0], model.predict(rows))


def test_the_lift_is_the_least_possible_score(tmp_path: Path) -> None:
    model = trained("lightgbm", False)
    trees = package.read_ensemble("lightgbm", model.booster_.model_to_string(), NAMES)
    least = sum(min(node.value for node in nodes if node.is_leaf) for nodes in trees.trees())
    assert least < 0
    assert -least <= trees.raised_above_zero().constant - trees.constant <= -least + 1e-5


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=60), st.sampled_from([0.0, 0.5, -0.5, 30.0]))
@example([-1.1050272935947135e-35], -0.5)  # a base that would hide it in a sum
def test_the_lift_is_enough_however_an_engine_rounds(leaves: list[float], base: float) -> None:
    end = np.array([-1])
    stumps = [RawTree(end, np.zeros(1), np.zeros(1, bool), end, end, np.array([leaf])) for leaf in leaves]
    trees = Ensemble.from_trees(["x"], stumps, base)
    raised_above_zero = trees.raised_above_zero()
    assert raised_above_zero.constant >= trees.constant  # a base that is enough is kept
    for dtype in (np.float32, np.float64):
        total = dtype(0)
        for nodes in raised_above_zero.trees():
            total += dtype(nodes[0].value)
        assert total >= 0
        plain = sum(leaves) + base
        assert total <= max(plain, 0) + 1e-4


def test_early_stopping_is_honoured(tmp_path: Path) -> None:
    valid = data(False, seed=77, queries=10)
    model = sf.Ranker(n_estimators=60, early_stopping_rounds=50, num_leaves=12, min_data_in_leaf=4, num_threads=1)
    model.fit(data(False), valid=valid)
    assert model.best_iteration_ < model.booster_.num_trees()
    result = interpreter("elasticsearch-native", exported(model, tmp_path, "elasticsearch-native", "zero"), NAMES)(
        valid.X
    )
    np.testing.assert_array_equal(result, model.predict(valid))
