"""Networks as ONNX, in onnxruntime, and for Vespa."""

from __future__ import annotations

import json

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import ArgumentError

pytestmark = pytest.mark.neural


@pytest.fixture(scope="module")
def data() -> sf.RankingData:
    return sf.demo.letor(queries=15, documents=10, features=5, seed=1)


def in_onnxruntime(file, X):
    import onnxruntime

    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    return session.run(None, {"features": X})[0][:, 0]


@pytest.mark.parametrize("missing", ["zero", "nan", "never"])
@pytest.mark.parametrize("options", [{}, {"n_models": 3}, {"attention": 2}, {"attention": 1, "n_models": 2}])
def test_onnx_gives_the_same_scores(data, tmp_path, options, missing) -> None:
    model = sf.NeuralRanker(epochs=2, hidden=(8, 4), device="cpu", **options).fit(data)
    exported = model.export(tmp_path / "net", to="onnx", missing=missing)
    assert [file.name for file in exported.files] == [
        "model.onnx", "model.features.json", "model.rows.json", "model.replay.py", "model.md"
    ]  # fmt: skip
    rows = json.loads((tmp_path / "net" / "model.rows.json").read_text())
    X = np.array([[np.nan if value is None else value for value in row] for row in rows["rows"]], np.float32)
    assert np.isnan(X).any() == (missing != "never")
    assert np.abs(in_onnxruntime(tmp_path / "net" / "model.onnx", X) - rows["scores"]).max() < 1e-5
    real = data.X.copy()
    real[::4, 0] = np.nan
    read = np.nan_to_num(real, nan=0.0) if missing == "zero" else real
    first = slice(0, int(data.offsets[1]))
    expected = model.predict(read[first], group=[data.lengths[0]])
    assert np.abs(in_onnxruntime(tmp_path / "net" / "model.onnx", real[first]) - expected).max() < 1e-5


def test_vespa_has_a_profile_beside_the_onnx_file(data, tmp_path) -> None:
    named = data.with_features(data.X, ["bm25(title)", "price", "nativeRank", "age", "log(price)"])
    model = sf.NeuralRanker(epochs=1, hidden=(4,), device="cpu").fit(named)
    model.export(tmp_path / "my-net", to="vespa", missing="nan")
    profile = (tmp_path / "my-net" / "model.profile").read_text()
    assert "file: models/my-net.onnx" in profile
    assert "onnx-model my_net {" in profile
    assert 'input "features": features_of_document' in profile
    assert "tensor<float>(d0[1],d1[5])" in profile
    assert "expression: sum(onnx(my_net).score)" in profile
    assert "function feature_2_price()" in profile
    assert "function bm25" not in profile
    assert "models/my-net.onnx" in (tmp_path / "my-net" / "model.md").read_text()
    rows = json.loads((tmp_path / "my-net" / "model.rows.json").read_text())
    X = np.array([[np.nan if value is None else value for value in row] for row in rows["rows"]], np.float32)
    assert np.abs(in_onnxruntime(tmp_path / "my-net" / "model.onnx", X) - rows["scores"]).max() < 1e-5


def test_what_a_target_cannot_take(data, tmp_path) -> None:
    model = sf.NeuralRanker(epochs=1, hidden=(4,), attention=1, device="cpu").fit(data)
    with pytest.raises(ArgumentError, match="which takes trees; give onnx or vespa"):
        model.export(tmp_path / "net", to="solr", missing="zero")
    with pytest.raises(ArgumentError, match="one at a time"):
        model.export(tmp_path / "net", to="vespa", missing="zero")
    assert not list(tmp_path.iterdir())
