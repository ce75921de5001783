"""The files beside the model: what a team needs to load, use and check it, under names that may be hostile."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.export.interpreters import interpreter, solr_gaps, strict
from tests.export.models import NAMES, model_of, ranker

import surefoot as sf
from surefoot.export.package import read_ensemble, write_model
from surefoot.export.settings import TARGETS, ExportSettings, model_name
from surefoot.export.targets.table import find_target
from surefoot.export.targets.vespa import expressions

FIXTURES = Path(__file__).parent / "fixtures"
LIGHT = [to for to in TARGETS if to != "onnx"]


@pytest.fixture(scope="module")
def model() -> sf.Ranker:
    return ranker("lightgbm", True, n_estimators=12)


@pytest.mark.parametrize("to", [*LIGHT, pytest.param("onnx", marks=pytest.mark.engines("onnx"))])
@pytest.mark.parametrize("missing", ["zero", "never"])
def test_rows_score_in_the_engine_as_they_say(model, to: str, missing: str, tmp_path: Path) -> None:
    written = model.export(tmp_path / "es", to=to, missing=missing, rows=300)
    assert [path.name for path in written.files] == [
        f"model{find_target(to).ending}",
        *(f"model.{ending}" for ending in find_target(to).all_companions),
    ]
    assert sorted((tmp_path / "es").iterdir()) == sorted(written.files)
    rows = strict((tmp_path / "es" / "model.rows.json").read_bytes())
    matrix = np.array(rows["rows"], np.float32)
    assert matrix.shape == (300, len(NAMES))
    assert rows["features"] == NAMES
    assert np.isnan(matrix).any() == (missing == "zero")
    result = interpreter(to, model_of(tmp_path / "es").read_bytes(), NAMES)(matrix)
    scores = tmp_path / "scores.txt"
    scores.write_text("".join(f"{score!r}\n" for score in result.tolist()))
    script = subprocess.run(
        [sys.executable, tmp_path / "es" / "model.replay.py", tmp_path / "es" / "model.rows.json", scores],
        capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert script.returncode == 0, script.stdout + script.stderr
    report = json.loads(script.stdout)
    assert (report["agree"], report["rows"], report["pairs reversed"]) == (True, 300, 0)
    assert report["farthest"] < 1e-5


def test_rows_meet_the_thresholds(model, tmp_path: Path) -> None:
    """Rows that were easy would not notice an engine that compares otherwise."""
    model.export(tmp_path / "m", to="ranklib", missing="zero", rows=200)
    rows = np.array(json.loads((tmp_path / "m" / "model.rows.json").read_bytes())["rows"], np.float32)
    text = (tmp_path / "m" / "model.xml").read_bytes().decode()
    score = interpreter("ranklib", text.encode(), NAMES)
    expected = score(rows)
    strict_rule = interpreter("elasticsearch-plugin", _with_strict_rule(model, tmp_path), NAMES, "zero")
    assert (np.abs(strict_rule(rows) - expected) > 1e-5).mean() > 0.3


def _with_strict_rule(model: sf.Ranker, folder: Path) -> bytes:
    """The thresholds of x ≤ t in a format that tests x < t."""
    from surefoot.export.ensemble import thresholds_at_most
    from surefoot.export.targets import ltr_plugin

    original = ltr_plugin.thresholds_less_than
    ltr_plugin.thresholds_less_than = thresholds_at_most
    try:
        model.export(folder / "other", to="elasticsearch-plugin", missing="zero", rows=0)
    finally:
        ltr_plugin.thresholds_less_than = original
    return (folder / "other" / "model.json").read_bytes()


def test_without_rows(model, tmp_path: Path) -> None:
    model.export(tmp_path / "es", to="solr", missing="zero", rows=0)
    assert sorted(path.name for path in (tmp_path / "es").iterdir()) == [
        "model.features.json", "model.json", "model.md",
    ]  # fmt: skip


def test_the_same_model_gives_the_same_files(model, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        model.export(tmp_path / folder / "es", to="opensearch", missing="zero")
    for file in (tmp_path / "a" / "es").iterdir():
        assert file.read_bytes() == (tmp_path / "b" / "es" / file.name).read_bytes()


def test_what_was_assumed_is_said(model, tmp_path: Path) -> None:
    report = model.export(tmp_path / "es", to="opensearch", missing="zero")
    guide = (tmp_path / "es" / "model.md").read_text()
    for note in report.notes:
        assert note in guide
    all_notes = " ".join(report.notes)
    assert "means 0 to the model" in all_notes
    assert "3.2 to 3.7" in all_notes
    assert "so that none is below 0" in all_notes
    assert "We did not run it on a cluster" in guide
    report = model.export(tmp_path / "es", to="opensearch", missing="nan", target_version="3.8")
    assert "as NaN in its training data" in report.notes[0]
    assert "3.2 to 3.7" not in " ".join(report.notes)


@pytest.mark.parametrize(("to", "kind"), [("elasticsearch-plugin", "model/xgboost+json"),
                                          ("opensearch", "model/xgboost+json"),
                                          ("ranklib", "model/ranklib")])  # fmt: skip
def test_the_plugins_requests(model, to: str, kind: str, tmp_path: Path) -> None:
    model.export(tmp_path / "es", to=to, missing="zero", name="my-model")
    request = strict((tmp_path / "es" / "model.upload.json").read_bytes())
    assert request["model"]["name"] == "my-model"
    assert request["model"]["model"]["type"] == kind
    assert request["model"]["model"]["definition"].encode() == model_of(tmp_path / "es").read_bytes()
    features = strict((tmp_path / "es" / "model.features.json").read_bytes())
    assert [feature["name"] for feature in features["featureset"]["features"]] == NAMES
    guide = (tmp_path / "es" / "model.md").read_text()
    assert "_ltr/_featureset/my-model-features/_createmodel" in guide
    assert '"sltr": {"model": "my-model"' in guide


def test_elastics_request(model, tmp_path: Path) -> None:
    model.export(tmp_path / "es", to="elasticsearch-native", missing="zero")
    request = strict((tmp_path / "es" / "model.upload.json").read_bytes())
    assert request["definition"] == strict(model_of(tmp_path / "es").read_bytes())
    assert request["input"] == {"field_names": NAMES}
    extractors = request["inference_config"]["learning_to_rank"]["feature_extractors"]
    assert [each["query_extractor"]["feature_name"] for each in extractors] == NAMES
    assert "_ml/trained_models/es" in (tmp_path / "es" / "model.md").read_text()


def test_solrs_feature_store(model, tmp_path: Path) -> None:
    for missing, default in (("zero", {}), ("nan", {"defaultValue": "NaN"})):
        model.export(tmp_path / "s", to="solr", missing=missing)
        features = strict((tmp_path / "s" / "model.features.json").read_bytes())
        assert [feature["name"] for feature in features] == NAMES
        assert all(feature["params"].items() >= default.items() for feature in features)
    assert "schema/model-store" in (tmp_path / "s" / "model.md").read_text()


def test_vespas_profile(model, tmp_path: Path) -> None:
    model.export(tmp_path / "v 1", to="vespa", missing="zero")
    profile = (tmp_path / "v 1" / "model.profile").read_text()
    used = strict((tmp_path / "v 1" / "model.json").read_bytes())["feature_names"]
    assert used == expressions(NAMES)
    assert used[0] == "bm25(title)"
    assert 'lightgbm("v-1.json")' in profile
    assert "rank-profile surefoot_v_1 " in profile
    for name in used[1:]:
        assert f"function {name}() {{" in profile
    assert "line\nbreak" not in profile
    assert all(line.startswith((" ", "rank-profile", "}")) or not line for line in profile.splitlines())


@pytest.mark.parametrize(
    ("name", "stays"),
    [("bm25(title)", True), ("fieldMatch(title).completeness", True), ("attribute(price)", True), ("query(a)", True),
     ("nativeRank", True), ("closeness(field, embedding)", True), ("price", False), ("if", False), ("a b", False),
     ("1 + 1", False), ("bm25(title) + 1", False), ("x) + (y", False), ("", False), ("naïve", False),
     ("bm25(title)\n", False), ("f(g(x))", False), ('f("x")', False), ("log(price)", False), ("max(a,b)", False),
     ("if(1,2,3)", False), ("log10(price)", False), ("attribute(max)", True)],
)  # fmt: skip
def test_names_in_vespas_expressions(name: str, stays: bool) -> None:
    (result,) = expressions([name])
    assert (result == name) == stays
    assert result.isascii()
    assert not set(result) & set(" \n\"'+-*/<>") or stays


def test_a_function_of_vespas_is_filled_in_by_hand(tmp_path: Path) -> None:
    """`log(price)` as a feature's name is not the logarithm of a rank feature called price."""
    train = sf.demo.letor(queries=40, documents=10, features=3, seed=1)
    names = ["log(price)", "max(a,b)", "bm25(title)"]
    data = sf.RankingData(train.X, train.y, group=train.lengths, feature_names=names)
    model = sf.Ranker(n_estimators=5, num_leaves=4, num_threads=1).fit(data)
    model.export(tmp_path / "v", to="vespa", missing="zero")
    profile = (tmp_path / "v" / "model.profile").read_text()
    for name in names[:2]:
        (function,) = expressions([name])
        assert f"function {function}() {{" in profile
        assert name not in (tmp_path / "v" / "model.json").read_text()
    assert "bm25(title)" in (tmp_path / "v" / "model.json").read_text()


def test_names_in_vespa_stay_different() -> None:
    names = ["price", "feature_1_price", "feature_1", "a b", "a-b"]
    assert len(set(expressions(names))) == len(names)


@pytest.mark.parametrize(
    ("stem", "name"), [("es", "es"), ("Größe 2", "gr-e-2"), ("--", "surefoot"), ("A" * 99, "a" * 64)]
)
def test_a_models_name_from_its_files(stem: str, name: str) -> None:
    assert model_name(stem) == name
    assert ExportSettings.parse("solr", "zero", model_name(stem)).name == name


def test_a_hostile_folder_is_no_part_of_commands(model, tmp_path: Path) -> None:
    model.export(tmp_path / "a;rm $(x) 'y'", to="solr", missing="zero")
    guide = (tmp_path / "a;rm $(x) 'y'" / "model.md").read_text()
    assert "# a-rm-x-y, for solr" in guide
    assert "@model.json" in guide
    assert "$(x)" not in guide


@pytest.mark.parametrize("to", [*LIGHT, pytest.param("onnx", marks=pytest.mark.engines("onnx"))])
@pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])
def test_models_saved_before(engine: str, to: str) -> None:
    """Trees that earlier versions saved, and the scores that their learners gave then."""
    home = FIXTURES / engine
    text = (home / {"lightgbm": "model.txt", "xgboost": "model.json"}[engine]).read_text()
    trees = read_ensemble(engine, text, json.loads((home / "ranker.json").read_text())["fitted"]["feature_names_in_"])
    saved = json.loads((home / "scores.json").read_text())
    rows = np.array(saved["rows"], np.float32)
    missing = "never" if to == "ranklib" else "nan"
    written = write_model(trees, ExportSettings.parse(to, missing, "saved"))
    complete = ~np.isnan(rows).any(axis=1) if to == "ranklib" else np.ones(len(rows), bool)
    if to == "solr":
        thresholds = [trees.threshold[trees.feature == feature] for feature in range(len(NAMES))]
        complete &= ~solr_gaps(written.content, NAMES, thresholds, rows)
    assert complete.sum() > 3
    result = interpreter(to, written.content, trees.names)(rows[complete])
    np.testing.assert_allclose(result, np.array(saved["scores"])[complete], rtol=0, atol=1e-5)


@pytest.mark.parametrize("engine", ["lightgbm", pytest.param("xgboost", marks=pytest.mark.engines("xgboost"))])
def test_rankers_saved_before_load_and_export(engine: str, tmp_path: Path) -> None:
    again = sf.Ranker.load(FIXTURES / engine)
    saved = json.loads((FIXTURES / engine / "scores.json").read_text())
    rows = np.array(saved["rows"], np.float32)
    np.testing.assert_allclose(again.predict(rows), saved["scores"], rtol=0, atol=1e-6)
    again.export(tmp_path / "es", to="elasticsearch-native", missing="nan", keep_negative=True)
    result = interpreter("elasticsearch-native", model_of(tmp_path / "es").read_bytes(), NAMES)(rows)
    np.testing.assert_allclose(result, saved["scores"], rtol=0, atol=1e-6)


def test_base_scores() -> None:
    """XGBoost writes a number, or since 3.1 a list of one; it is added to every score, and last."""
    text = (FIXTURES / "xgboost" / "model.json").read_text()
    for written in ("5E-1", "[5E-1]"):
        model = json.loads(text)
        model["learner"]["learner_model_param"]["base_score"] = written
        trees = read_ensemble("xgboost", json.dumps(model), NAMES)
        assert trees.constant == 0.5
        assert [len(nodes) for nodes in trees.trees()][-1] == 1
        plain = read_ensemble("xgboost", text, NAMES)
        rows = np.zeros((3, len(NAMES)), np.float32)
        scores = [
            interpreter(
                "elasticsearch-native",
                write_model(each, ExportSettings.parse("elasticsearch-native", "nan", "m")).content,
                NAMES,
            )(rows)
            for each in (trees, plain)
        ]
        np.testing.assert_allclose(scores[0], scores[1] + 0.5)


def test_dart_weights() -> None:
    model = json.loads((FIXTURES / "xgboost" / "model.json").read_text())
    plain = read_ensemble("xgboost", json.dumps(model), NAMES)
    booster = model["learner"]["gradient_booster"]
    weights = np.linspace(0.2, 1.5, len(plain)).tolist()
    model["learner"]["gradient_booster"] = {"name": "dart", "gbtree": booster, "weight_drop": weights}
    weighed = read_ensemble("xgboost", json.dumps(model), NAMES)
    for weight, nodes, before in zip(weights, weighed.trees(), plain.trees(), strict=True):
        leaves = [(node.value, old.value) for node, old in zip(nodes, before, strict=True) if node.is_leaf]
        np.testing.assert_allclose([new for new, _ in leaves], [weight * old for _, old in leaves], rtol=1e-6)


def test_a_tree_of_one_leaf() -> None:
    text = (FIXTURES / "lightgbm" / "model.txt").read_text()
    head, trees = text.split("\n\n", 1)
    stump = "Tree=0\nnum_leaves=1\nnum_cat=0\nsplit_feature=\nleaf_value=0.25\nis_linear=0\nshrinkage=1\n\n\n"
    result = read_ensemble("lightgbm", f"{head}\n\n{stump}{trees}", NAMES)
    assert [node.value for node in next(result.trees())] == [0.25]


@pytest.mark.heavy
@pytest.mark.engines("onnx")
def test_a_thousand_trees_in_five_seconds(tmp_path: Path) -> None:
    import time

    large = ranker("lightgbm", True, n_estimators=1000, num_leaves=31, learning_rate=0.02)
    for to in TARGETS:
        start = time.process_time()  # other programs may be busy
        large.export(tmp_path / to, to=to, missing="zero" if to == "ranklib" else "nan")
        took = time.process_time() - start
        print(f"{to}: {took:.2f} s")
        assert took < 5
        interpreter(to, model_of(tmp_path / to).read_bytes(), NAMES)
