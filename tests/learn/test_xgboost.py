"""XGBoost as an engine: the contract, and what a Ranker promises with it too."""

from __future__ import annotations

import copy
import json
import random
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from tests.learn.engine_contract import EngineContract, X, go_on, towards
from tests.learn.trainings import StoppedError, stop_at

import surefoot as sf
from surefoot.errors import ArgumentError, DataError
from surefoot.learn.engines.contract import ModelTextError, engine_of

pytestmark = pytest.mark.engines("xgboost")

SMALL: dict[str, Any] = {"engine": "xgboost", "max_depth": 3, "min_child_weight": 0.01, "nthread": 1}
OBJECTIVES: list[tuple[str, float | None]] = [
    ("gain", None), ("u_risk", 5), ("saro", 5), ("faro", 5), ("geo_risk", 5),
]  # fmt: skip


class TestXGBoost(EngineContract):
    name = "xgboost"
    small: ClassVar[dict[str, Any]] = {
        "max_leaves": 4, "max_depth": 0, "grow_policy": "lossguide", "min_child_weight": 0, "reg_lambda": 0,
        "learning_rate": 0.5, "nthread": 1,
    }  # fmt: skip
    stump: ClassVar[dict[str, Any]] = small | {"max_leaves": 2}
    larger: ClassVar[dict[str, Any]] = {"max_leaves": 9}
    without_effect: ClassVar[dict[str, Any]] = {"nthread": 2}
    impossible: ClassVar[dict[str, Any]] = {"min_child_weight": 10**6}

    def test_numbers_at_an_odd_address(self) -> None:
        """As they come over a network; an empty matrix too, which NumPy calls aligned wherever it lies."""
        odd = np.frombuffer(b"123" + X.tobytes(), np.uint8)[3:].view(np.uint8)
        moved = np.ndarray(X.shape, np.float32, odd.data)
        assert not moved.flags.aligned
        checked = self.checked()
        booster = self.engine.bin(moved, [moved[:0], moved], checked, seed=1).grow(4, checked, towards, go_on, seed=2)
        np.testing.assert_array_equal(self.engine.predict(booster, moved), self.engine.predict(self.grown(), X))

    def test_bins_are_shared_where_they_are_the_same(self) -> None:
        def bins(**parameters: Any) -> Any:
            return self.engine.bins_key(self.checked(**parameters), 100, 0)

        assert bins() == bins(max_leaves=9) == bins(tree_method="hist") != bins(max_bin=16) != bins(max_bin=17)
        assert bins(tree_method="exact") == bins(tree_method="approx") != bins()

    @pytest.mark.parametrize("method", ["approx", "exact"])
    def test_other_tree_methods(self, method: str) -> None:
        self.grown(tree_method=method, grow_policy="depthwise", max_depth=3, max_leaves=0)

    def test_constraints(self) -> None:
        booster = self.grown(30, monotone_constraints=[-1, 0, 0, 0], interaction_constraints="[0,1],[2,3]")
        grid = np.full((50, 4), 0.5, np.float32)
        grid[:, 0] = np.linspace(0, 1, 50)
        assert (np.diff(self.engine.predict(booster, grid)) <= 1e-6).all()


@pytest.fixture(scope="module")
def data() -> sf.RankingData:
    made = sf.demo.letor(queries=60, documents=20, features=8, seed=1)
    return made.with_baseline("first", made.feature(1)).with_baseline("second", made.feature(2))


@pytest.fixture(scope="module")
def valid() -> sf.RankingData:
    made = sf.demo.letor(queries=30, documents=20, features=8, seed=2)
    return made.with_baseline("first", made.feature(1)).with_baseline("second", made.feature(2))


@pytest.mark.parametrize(("objective", "alpha"), OBJECTIVES)
@pytest.mark.parametrize("measure", ["nDCG(dcg='exp-log2')@10", "AP", "ERR@10"])
def test_every_objective_and_measure_learns(data, objective: str, alpha: float | None, measure: str) -> None:
    check_that_it_learns(sf.Ranker(objective, alpha, measure=measure, n_estimators=30, **SMALL), data)


def test_regression_learns(data) -> None:
    check_that_it_learns(sf.Ranker("regression", n_estimators=30, **SMALL), data)


def check_that_it_learns(ranker: sf.Ranker, data: sf.RankingData) -> None:
    ranker.fit(data)
    values = ranker.history_["train"]["effectiveness"]
    assert values[-1] > values[0]
    assert len(values) == ranker.best_iteration_ == 30
    assert ranker.score(data) == pytest.approx(values[-1], abs=1e-12)


@pytest.mark.parametrize("objective", ["u_risk", "geo_risk"])
def test_saved_loaded_and_plain_xgboost(data, valid, objective: str, tmp_path: Path) -> None:
    import xgboost

    parameters = {**SMALL, "subsample": 0.8, "colsample_bytree": 0.8, "early_stopping_rounds": 5, "stop_on": "u_risk@5"}
    ranker = sf.Ranker(objective, 5, n_estimators=60, **parameters).fit(data, valid=valid)
    assert ranker.best_iteration_ < 60
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "model.txt").write_text("another engine's")
    ranker.save(tmp_path / "model")
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == ["model.json", "ranker.json"]
    again = sf.Ranker.load(tmp_path / "model")
    assert again.engine == again.engine_ == "xgboost"
    np.testing.assert_array_equal(again.predict(valid), ranker.predict(valid))
    np.testing.assert_array_equal(again.feature_importances_, ranker.feature_importances_)
    plain = xgboost.Booster(model_file=tmp_path / "model" / "model.json")
    np.testing.assert_array_equal(plain.predict(xgboost.DMatrix(valid.X)), ranker.predict(valid))
    config = json.loads(plain.save_config())
    assert config["learner"]["objective"]["name"] == "rank:ndcg"


def test_the_same_seed_gives_the_same_model(data) -> None:
    parameters = {**SMALL, "subsample": 0.7, "colsample_bytree": 0.7, "n_estimators": 10}
    one, same, other = (
        sf.Ranker("saro", 5, random_state=seed, **parameters).fit(data).predict(data) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_threads_change_no_tree() -> None:
    """On data of several blocks, which XGBoost shares out among threads."""
    many = sf.demo.letor(queries=300, documents=100, features=10, seed=1)
    one, two = (
        sf.Ranker(n_estimators=10, **{**SMALL, "nthread": threads, "max_depth": 6}).fit(many).predict(many)
        for threads in (1, 2)
    )
    np.testing.assert_array_equal(one, two)


def test_a_training_that_resumes(data, valid, tmp_path: Path) -> None:
    parameters = {**SMALL, "subsample": 0.8, "n_estimators": 12, "checkpoint_every": 3}

    ranker = sf.Ranker("faro", 5, checkpoint=tmp_path / "state.json", **parameters)
    with pytest.raises(StoppedError):
        ranker.fit(data, valid=valid, progress=stop_at(8))
    resumed = ranker.fit(data, valid=valid)
    undisturbed = sf.Ranker("faro", 5, checkpoint=tmp_path / "other.json", **parameters).fit(data, valid=valid)
    np.testing.assert_array_equal(resumed.predict(valid), undisturbed.predict(valid))
    assert resumed.history_ == undisturbed.history_
    with pytest.raises(DataError, match=r"another training \(different: .*XGBoost's version"):
        sf.Ranker("faro", 5, checkpoint=tmp_path / "state.json", n_estimators=99, checkpoint_every=3).fit(data)


def test_trees_that_start_from_the_baseline(data, valid) -> None:
    ranker = sf.Ranker("u_risk", 5, init="baseline", n_estimators=5, **SMALL).fit(data)
    assert ranker.score(data) == pytest.approx(ranker.history_["train"]["effectiveness"][-1], abs=1e-12)
    assert ranker.predict(valid).shape == (len(valid),)


def test_scikit_learn_clones_it(data) -> None:
    from sklearn.base import clone

    ranker = clone(sf.Ranker("u_risk", 5, n_estimators=3, **SMALL))
    assert ranker.get_params()["engine"] == "xgboost"
    assert ranker.fit(data).engine_ == "xgboost"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"num_leaves": 5}, "'num_leaves' is a parameter of LightGBM; XGBoost's is max_leaves"),
        ({"maxdepth": 5}, "unknown parameter 'maxdepth'.*max_depth"),
        ({"booster": "dart"}, "'booster' cannot be set here: .*dart changes earlier trees"),
        ({"objective_": 1}, "unknown parameter"),
        ({"max_depth": 0}, "max_depth=0 means that trees have no limit"),
        ({"eta": 0}, "eta is 0; it must be a number above 0"),
        ({"eta": 0.1, "learning_rate": 0.1}, "given twice"),
        ({"subsample": 1.5}, "subsample is 1.5"),
        ({"device": "toaster"}, "device is 'toaster'"),
        ({"seed": 3}, "give random_state"),
        ({"num_parallel_tree": 3}, "a step cannot be a forest"),
        ({"monotone_constraints": [1]}, "one for each of the 8 features"),
    ],
)
def test_parameters_that_are_rejected(data, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        sf.Ranker(n_estimators=1, **({"engine": "xgboost"} | parameters)).fit(data)


WITHOUT_LIGHTGBM = """
import sys
sys.modules["lightgbm"] = None
import numpy as np, surefoot as sf
data = sf.demo.letor(queries=300, documents=10, features=8, seed=1)
parts = [data.select(np.arange(*part)) for part in ((0, 100), (100, 180), (180, 300))]
small = {"max_leaves": 4, "max_depth": 0, "grow_policy": "lossguide", "nthread": 1}
model = sf.Ranker("gain", engine="xgboost", n_estimators=10, **small)
c = sf.RiskGuard(model.fit(parts[0]), baseline="bm25", risk=0.3).fit_scorer(parts[1]).calibrate(parts[2])
c.save(sys.argv[1])
again = sf.RiskGuard.load(sys.argv[1])
assert (again.scorer.scores(again._lists(parts[2])) == c.scorer.scores(c._lists(parts[2]))).all()
print(c.certificate_["scorer"], c.scorer.to_dict()["engine"])
"""


@pytest.mark.heavy
def test_a_guard_needs_no_other_engine(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-c", WITHOUT_LIGHTGBM, str(tmp_path / "c")], capture_output=True, text=True, check=False
    )
    assert (result.stdout, result.returncode) == ("predicted_gain:regression xgboost\n", 0), result.stderr


def test_infinite_features_are_named(data) -> None:
    X = data.X.copy()
    X[3, 2] = np.inf
    with pytest.raises(sf.SurefootError, match="inf"):
        sf.Ranker(n_estimators=1, **SMALL).fit(X, data.y, group=data.lengths)


@pytest.fixture(scope="module")
def content(data) -> dict[str, Any]:
    booster = sf.Ranker(n_estimators=3, **SMALL).fit(data).booster_
    return json.loads(engine_of("xgboost").dump(booster))


def _first_tree(content: dict[str, Any]) -> dict[str, Any]:
    return content["learner"]["gradient_booster"]["model"]["trees"][0]


def _without_nodes(tree: dict[str, Any]) -> None:
    tree["tree_param"]["num_nodes"] = "0"
    tree.update({name: [] for name, value in tree.items() if isinstance(value, list)})


CHANGES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a child beyond the nodes": lambda c: _first_tree(c)["left_children"].__setitem__(0, 9999),
    "a cycle": lambda c: _first_tree(c)["left_children"].__setitem__(1, 0),
    "a feature beyond the features": lambda c: _first_tree(c)["split_indices"].__setitem__(0, 8),
    "a short column": lambda c: _first_tree(c)["split_conditions"].pop(),
    "a threshold that is no number": lambda c: _first_tree(c)["split_conditions"].__setitem__(0, "1"),
    "a threshold that is not finite": lambda c: _first_tree(c)["split_conditions"].__setitem__(0, float("nan")),
    "a threshold beyond any float": lambda c: _first_tree(c)["split_conditions"].__setitem__(0, 10**400),
    "a child beyond any float": lambda c: _first_tree(c)["left_children"].__setitem__(0, -(10**400)),
    "categories": lambda c: _first_tree(c)["categories"].append(1),
    "a split by categories": lambda c: _first_tree(c)["split_type"].__setitem__(0, 1),
    "another base score": lambda c: c["learner"]["learner_model_param"].update(base_score="[5E-1]"),
    "another objective": lambda c: c["learner"]["objective"].update(name="reg:squarederror"),
    "another booster": lambda c: c["learner"]["gradient_booster"].update(name="dart"),
    "a tree too few": lambda c: c["learner"]["gradient_booster"]["model"]["trees"].pop(),
    "more features": lambda c: c["learner"]["learner_model_param"].update(num_feature="9"),
    "two targets": lambda c: c["learner"]["learner_model_param"].update(num_target="2"),
    "no learner": lambda c: c.pop("learner"),
    "another number": lambda c: _first_tree(c).update(id=1),
    "no nodes": lambda c: _without_nodes(_first_tree(c)),
    "a deleted node": lambda c: _first_tree(c)["tree_param"].update(num_deleted="1"),
    "parents of others": lambda c: _first_tree(c)["parents"].__setitem__(1, 1),
    "a forest": lambda c: c["learner"]["gradient_booster"]["model"]["gbtree_model_param"].update(
        num_parallel_tree="3"
    ),
    "another target": lambda c: c["learner"]["gradient_booster"]["model"]["tree_info"].__setitem__(0, 7),
}  # fmt: skip


@pytest.mark.parametrize("what", CHANGES)
def test_a_model_that_was_changed(content, what: str) -> None:
    changed = copy.deepcopy(content)
    CHANGES[what](changed)
    message = "it has no nodes, deleted ones" if what in ("another number", "no nodes", "a deleted node") else None
    with pytest.raises(ModelTextError, match=message):
        engine_of("xgboost").load(json.dumps(changed))


def test_a_name_that_is_there_twice(content) -> None:
    """Which of both XGBoost takes is not what was checked."""
    text = json.dumps(content).replace('"left_children": ', '"left_children": [], "left_children": ', 1)
    with pytest.raises(ModelTextError, match="not JSON"):
        engine_of("xgboost").load(text)


def test_a_model_with_any_part_replaced_is_rejected_or_loads(content, data) -> None:
    """Nothing crashes: every place in turn holds something else, a few of them at a time."""
    learner = engine_of("xgboost")
    places: list[tuple[Any, Any]] = []

    def walk(part: Any) -> None:
        for key in part if isinstance(part, dict) else range(min(len(part), 4)):
            places.append((part, key))
            if isinstance(part[key], dict | list):
                walk(part[key])

    changed = copy.deepcopy(content)
    walk(changed)
    rng = random.Random(0)
    for part, key in places:
        before = part[key]
        part[key] = rng.choice([None, -1, 2**40, "x", [], {}, 1e300, "[]", "-1"])
        with suppress(ModelTextError):
            learner.predict(learner.load(json.dumps(changed)), data.X[:5])
        part[key] = before
    assert learner.count_trees(learner.load(json.dumps(changed))) == 3
