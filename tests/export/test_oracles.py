"""Treelite and onnxruntime agree with the learner, and so with what is exported."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.export.models import ranker, rows_of

import surefoot as sf
from surefoot.export.package import read_ensemble
from surefoot.learn.engines.contract import engine_of

pytestmark = pytest.mark.engines("onnx", "onnxruntime", "treelite", "xgboost")


@pytest.fixture(scope="module", params=["lightgbm", "xgboost"])
def engine(request) -> str:
    return request.param


@pytest.fixture(scope="module", params=[False, True], ids=["no NaN", "NaN"])
def model(engine: str, request) -> sf.Ranker:
    return ranker(engine, request.param)


@pytest.mark.parametrize("missing", ["zero", "nan"])
def test_onnxruntime(model: sf.Ranker, missing: str, tmp_path: Path) -> None:
    import onnxruntime

    model.export(tmp_path / "model", to="onnx", missing=missing)
    session = onnxruntime.InferenceSession(tmp_path / "model" / "model.onnx")
    for rows in rows_of(model, True).values():
        seen = np.nan_to_num(rows, nan=0) if missing == "zero" else rows
        result = session.run(None, {"features": rows})[0][:, 0]
        np.testing.assert_allclose(result, model.predict(seen), rtol=0, atol=1e-5)


def test_treelite_reads_the_dump_as_we_do(model: sf.Ranker, tmp_path: Path) -> None:
    import treelite

    text = engine_of(model.engine_).dump(model.booster_, model.best_iteration_)
    (tmp_path / "model.json").write_text(text)
    if model.engine_ == "lightgbm":
        oracle = treelite.frontend.load_lightgbm_model(tmp_path / "model.json")
    else:
        oracle = treelite.frontend.load_xgboost_model(tmp_path / "model.json", format_choice="json")
    trees = read_ensemble(model.engine_, text, model.feature_names_in_)
    for rows in rows_of(model, True).values():
        plain = np.where(np.abs(rows) <= np.float32(1e-35), np.float32(0), rows)  # LightGBM reads these as 0
        rows_as_read = plain.astype(np.float64) if model.engine_ == "lightgbm" else plain
        result = np.ravel(treelite.gtil.predict(oracle, rows_as_read))
        np.testing.assert_allclose(result, model.predict(plain), rtol=0, atol=1e-5)
    assert oracle.num_tree == len(trees)
