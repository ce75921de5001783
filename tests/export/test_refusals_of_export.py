"""What no search engine can run, or what one cannot be told, is refused with the reason, and nothing is written."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.export.models import NAMES, OF_ENGINE, SMALL, data, ranker

import surefoot as sf
from surefoot.errors import ArgumentError, DataError
from surefoot.export.ensemble import Ensemble, RawTree
from surefoot.export.package import read_ensemble, write_model
from surefoot.export.settings import ExportSettings

FIXTURES = Path(__file__).parent / "fixtures"
LIGHTGBM = (FIXTURES / "lightgbm" / "model.txt").read_text()
XGBOOST = (FIXTURES / "xgboost" / "model.json").read_text()


@pytest.fixture(scope="module")
def with_nan() -> sf.Ranker:
    return ranker("lightgbm", True, n_estimators=5)


def refused(model: sf.Ranker, folder: Path, message: str, **options: Any) -> None:
    settings = {"to": "elasticsearch-plugin", "missing": "zero"} | options
    with pytest.raises(ArgumentError, match=message):
        model.export(folder / "model", **settings)
    assert list(folder.iterdir()) == []


def train(**parameters: Any) -> sf.Ranker:
    return sf.Ranker(**(SMALL | OF_ENGINE["lightgbm"] | {"n_estimators": 4} | parameters)).fit(data(False))


def test_a_model_that_starts_from_its_baseline(tmp_path: Path) -> None:
    based = data(False).with_baseline("today", data(False).X[:, 0])
    model = sf.Ranker(init="baseline", **(SMALL | OF_ENGINE["lightgbm"])).fit(based)
    refused(model, tmp_path, "starts from its baseline's scores")


def test_nothing_learned(tmp_path: Path) -> None:
    refused(sf.Ranker(), tmp_path, "has not learned anything yet")


def test_zero_as_missing(tmp_path: Path) -> None:
    refused(train(zero_as_missing=True), tmp_path, "treats 0 as a missing value")


def test_linear_leaves(tmp_path: Path) -> None:
    refused(train(linear_tree=True), tmp_path, "linear leaves")


def changed(change: Callable[[dict[str, Any]], None]) -> str:
    model = json.loads(XGBOOST)
    change(model["learner"])
    return json.dumps(model)


def first_tree(learner: dict[str, Any]) -> dict[str, Any]:
    return learner["gradient_booster"]["model"]["trees"][0]


OTHER_MODELS: list[tuple[str, str, str, str]] = [
    ("a random forest", "lightgbm", LIGHTGBM.replace("tree_sizes=", "average_output\ntree_sizes="), "random forest"),
    ("linear XGBoost", "xgboost", changed(lambda m: m["gradient_booster"].update(name="gblinear")), "has no trees"),
    ("probabilities", "xgboost", changed(lambda m: m["objective"].update(name="binary:logistic")), "plain sum"),
    ("several scores", "xgboost", changed(lambda m: m["learner_model_param"].update(num_target="2")), "several scores"),
    ("several bases", "xgboost", changed(lambda m: m["learner_model_param"].update(base_score="[1E0,2E0]")),
     "base_score"),
    ("categories", "xgboost", changed(lambda m: first_tree(m)["split_type"].__setitem__(0, 1)), "have no categories"),
    ("many leaves in one", "xgboost", changed(lambda m: first_tree(m)["tree_param"].update(size_leaf_vector="3")),
     "contain several numbers"),
    ("a circle", "xgboost", changed(lambda m: first_tree(m)["left_children"].__setitem__(0, 0)), "form a tree"),
    ("a child beyond", "xgboost", changed(lambda m: first_tree(m)["left_children"].__setitem__(0, 999)), "form a tree"),
    ("half a split", "xgboost", changed(lambda m: first_tree(m)["right_children"].__setitem__(0, -1)), "form a tree"),
    ("no such feature", "xgboost", changed(lambda m: first_tree(m)["split_indices"].__setitem__(0, 99)), "among the"),
    ("an infinite leaf", "xgboost",
     changed(lambda m: first_tree(m).update(split_conditions=[1e39] * len(first_tree(m)["split_conditions"]))),
     "too large for float32"),
    ("no trees", "xgboost", changed(lambda m: m["gradient_booster"]["model"].update(trees=[])), "0 trees"),
    ("nothing", "xgboost", "{}", "not a model as XGBoost saves it"),
    ("no JSON", "xgboost", "tree", "not a model as XGBoost saves it"),
    ("deep JSON", "xgboost", "[" * 200_000, "not a model as XGBoost saves it"),
    ("another learner", "catboost", "", "models of 'catboost' cannot be exported"),
]  # fmt: skip


@pytest.mark.parametrize(("engine", "text", "message"), [each[1:] for each in OTHER_MODELS],
                         ids=[each[0] for each in OTHER_MODELS])  # fmt: skip
def test_other_models(engine: str, text: str, message: str) -> None:
    with pytest.raises(ArgumentError, match=re.escape(message)), np.errstate(over="ignore"):
        read_ensemble(engine, text, NAMES)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"to": "elasticsearhc"}, "did you mean elasticsearch-plugin"),
        ({"to": None}, "cannot export to None"),
        ({"missing": "mean"}, "choose what a feature that a document lacks means"),
        ({"missing": None}, "missing is None"),
        ({"name": "My model"}, "the model's name is 'My model'"),
        ({"name": "../x"}, "the model's name is"),
        ({"name": ""}, "the model's name is ''"),
        ({"target_version": "new"}, "the target's version is 'new'"),
        ({"target_version": 3.2}, "the target's version is 3.2"),
        ({"to": "vespa", "target_version": "8"}, "the same for all versions"),
        ({"features": ["a", "b"]}, "there are 2 feature names; the model has 9"),
        ({"features": "abcdefghi"}, "give a list of texts"),
        ({"features": range(9)}, "give a list of texts"),
        ({"features": [*"abcdefgha"]}, "two features have the same name"),
        ({"features": [*"abcdefgh", "\ud800"]}, "incomplete character"),
        ({"rows": -1}, "rows is -1"),
        ({"rows": 10**9}, "rows is 1,000,000,000"),
        ({"to": "ranklib", "missing": "nan"}, "in RankLib's format, a feature that is not set counts as 0"),
        ({"to": "elasticsearch-plugin", "missing": "nan", "target_version": "1.5.8"}, "upgrade the plugin to 1.5.9"),
        ({"to": "opensearch", "missing": "nan", "target_version": "3.1.0"}, "in OpenSearch 3.1.0, .* counts as 0"),
        ({"to": "opensearch", "missing": "zero", "target_version": "3.2"}, "goes to the right at every split"),
        ({"to": "opensearch", "missing": "zero", "target_version": "3.7.9"}, "goes to the right at every split"),
        ({"to": "solr", "missing": "nan", "target_version": "9.1.1"}, "upgrade Solr to 9.2"),
    ],
)
def test_what_cannot_be_asked_for(with_nan, tmp_path: Path, options: dict[str, Any], message: str) -> None:
    refused(with_nan, tmp_path, message, **options)


def test_where_nothing_can_be_written(with_nan, tmp_path: Path) -> None:
    (tmp_path / "es").mkdir()
    (tmp_path / "es" / "model.md").mkdir()
    with pytest.raises(DataError, match="it is a folder"):
        with_nan.export(tmp_path / "es", to="solr", missing="zero")
    assert [path.name for path in (tmp_path / "es").iterdir()] == ["model.md"]
    (tmp_path / "file").write_text("mine")
    with pytest.raises(DataError, match="cannot be made"):
        with_nan.export(tmp_path / "file" / "es", to="solr", missing="zero")


@pytest.mark.parametrize("to", ["elasticsearch-plugin", "ranklib", "solr", "vespa", "elasticsearch-native"])
def test_trees_deeper_than_parsers_go(to: str) -> None:
    deep = 5000
    nodes = 2 * deep + 1
    left, right = np.full(nodes, -1), np.full(nodes, -1)
    splits = np.arange(deep) * 2
    left[splits], right[splits] = splits + 1, splits + 2
    feature = np.where(left < 0, -1, 0)
    tree = RawTree(feature, np.full(nodes, 0.5), np.ones(nodes, bool), left, right, np.ones(nodes))
    trees = Ensemble.from_trees(["x"], [tree])
    if to == "elasticsearch-native":
        assert write_model(trees, ExportSettings.parse(to, "zero", "x")).content
    else:
        with pytest.raises(ArgumentError, match="5,000 splits above each other"):
            write_model(trees, ExportSettings.parse(to, "zero", "x"))
