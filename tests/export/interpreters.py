"""What each engine does with a model file, written from the engines' rules and from nothing of surefoot's.

Every interpreter parses strictly (what the engine refuses, or would not understand, is an error here) and gives the
scores of rows of float32 features, NaN where one is not set. Numbers are float32 where the engine's are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any
from xml.etree import ElementTree

import numpy as np

OBJECTIVES = {"binary:logistic", "rank:pairwise", "rank:ndcg", "rank:map", "reg:linear", "reg:logistic"}


def down(node: Any, rows: np.ndarray, step: Callable[[Any, np.ndarray], Any], dtype: type) -> np.ndarray:
    """The leaf of each row: `step` gives a leaf's number, or where rows go left and the two children."""
    result = step(node, rows)
    if not isinstance(result, tuple):
        return np.full(len(rows), result, dtype)
    left, first, second = result
    scores = np.empty(len(rows), dtype)
    scores[left] = down(first, rows[left], step, dtype)
    scores[~left] = down(second, rows[~left], step, dtype)
    return scores


def added(trees: Sequence[Any], rows: np.ndarray, step: Callable[[Any, np.ndarray], Any], dtype: type) -> np.ndarray:
    """Trees added up one after the other, in the engine's numbers."""
    total = np.zeros(len(rows), dtype)
    for tree in trees:
        total = (total + down(tree, rows, step, dtype)).astype(dtype)
    return total


def keys(result: Any, expected: set[str]) -> None:
    assert isinstance(result, dict), result
    assert set(result) == expected, f"keys {sorted(result)}"


def number(value: Any, kind: type | tuple[type, ...] = (int, float)) -> Any:
    assert isinstance(value, kind), value
    assert not isinstance(value, bool), value
    return value


def single(value: Any) -> np.float32:
    """A JSON number as Java reads it into a float: never infinite."""
    result = np.float32(number(value))
    assert np.isfinite(result), value
    return result


def strict(text: bytes) -> Any:
    """JSON without NaN, infinities and keys given twice."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        assert len(result) == len(pairs), "a key twice"
        return result

    return json.loads(text, parse_constant=refuse, object_pairs_hook=once)


def xgboost_json(text: bytes, names: Sequence[str], unset: str) -> Callable[[np.ndarray], np.ndarray]:
    """`model/xgboost+json`: x < t in float32; unset is "zero", "missing" or, by a bug, "no"."""
    model = strict(text)
    keys(model, {"objective", "splits"})
    assert model["objective"] in OBJECTIVES

    def check(node: Any, depth: int) -> None:
        if "leaf" in node:
            keys(node, {"nodeid", "leaf"})
            number(node["nodeid"], int)
            return
        keys(node, {"nodeid", "depth", "split", "split_condition", "yes", "no", "missing", "children"})
        assert node["split"] in names
        assert node["depth"] == depth
        assert [child["nodeid"] for child in node["children"]] == [node["yes"], node["no"]]
        assert node["missing"] in (node["yes"], node["no"])
        for child in node["children"]:
            check(child, depth + 1)

    for tree in model["splits"]:
        check(tree, 0)

    def step(node: Any, rows: np.ndarray) -> Any:
        if "leaf" in node:
            return single(node["leaf"])
        x = rows[:, names.index(node["split"])]
        x = np.where(np.isnan(x), np.float32(0), x) if unset == "zero" else x
        with np.errstate(invalid="ignore"):
            left = x < single(node["split_condition"])
        if unset == "missing":
            left |= np.isnan(x) & (node["missing"] == node["yes"])
        return left, *node["children"]

    return lambda rows: added(model["splits"], rows, step, np.float32)


def ranklib(text: bytes, names: Sequence[str]) -> Callable[[np.ndarray], np.ndarray]:
    """`model/ranklib`: lines are trimmed and joined, a tag's first child counts; x ≤ t in float32, unset is 0."""
    lines = text.decode().split("\n")
    assert lines[0] == "## LambdaMART"
    joined = "".join(line.strip() for line in lines if not line.startswith("##"))
    root = ElementTree.fromstring(joined)
    assert root.tag == "ensemble"

    def check(node: ElementTree.Element) -> None:
        assert node.tag == "split"
        assert not node.text, "a space would be the first child"
        tags = [child.tag for child in node]
        assert tags in (["output"], ["feature", "threshold", "split", "split"]), tags
        assert not any(child.tail for child in node)
        if len(tags) == 4:
            assert [child.attrib for child in node[2:]] == [{"pos": "left"}, {"pos": "right"}]
            assert 1 <= int(node[0].text) <= len(names)
            check(node[2])
            check(node[3])

    trees = []
    for tree in root:
        assert tree.tag == "tree"
        assert float(tree.attrib["weight"]) == 1
        assert not tree.text
        assert len(tree) == 1
        check(tree[0])
        trees.append(tree[0])

    def step(node: ElementTree.Element, rows: np.ndarray) -> Any:
        if node[0].tag == "output":
            return np.float32(node[0].text)
        x = np.nan_to_num(rows[:, int(node[0].text) - 1], nan=0)
        threshold = np.float32(node[1].text)
        assert np.isfinite(threshold)
        return x <= threshold, node[2], node[3]

    return lambda rows: added(trees, rows, step, np.float32)


def elastic(text: bytes, names: Sequence[str]) -> Callable[[np.ndarray], np.ndarray]:
    """Elastic's ensemble: x ≤ t in doubles, missing by default_left."""
    model = strict(text)
    keys(model, {"trained_model"})
    keys(model["trained_model"], {"ensemble"})
    ensemble = model["trained_model"]["ensemble"]
    keys(ensemble, {"target_type", "feature_names", "trained_models", "aggregate_output"})
    assert ensemble["target_type"] == "regression"
    assert ensemble["aggregate_output"] == {"weighted_sum": {}}
    assert ensemble["feature_names"] == list(names)
    trees = []
    for each in ensemble["trained_models"]:
        keys(each, {"tree"})
        keys(each["tree"], {"feature_names", "tree_structure"})
        assert each["tree"]["feature_names"] == list(names)
        nodes = each["tree"]["tree_structure"]
        for place, node in enumerate(nodes):
            assert node["node_index"] == place
            if "leaf_value" in node:
                keys(node, {"node_index", "leaf_value"})
                continue
            keys(node, {"node_index", "decision_type", "split_feature", "threshold", "default_left", "left_child",
                        "right_child"})  # fmt: skip
            assert node["decision_type"] == "lte"
            assert isinstance(node["default_left"], bool)
            assert 0 <= node["split_feature"] < len(names)
        trees.append((nodes, nodes[0]))

    def step(place: Any, rows: np.ndarray) -> Any:
        nodes, node = place
        if "leaf_value" in node:
            return float(number(node["leaf_value"]))
        x = rows[:, node["split_feature"]].astype(np.float64)
        with np.errstate(invalid="ignore"):
            left = np.where(np.isnan(x), node["default_left"], x <= float(number(node["threshold"])))
        return left, (nodes, nodes[node["left_child"]]), (nodes, nodes[node["right_child"]])

    return lambda rows: added(trees, rows, step, np.float64)


def solr(text: bytes, names: Sequence[str]) -> Callable[[np.ndarray], np.ndarray]:
    """`MultipleAdditiveTreesModel`: numbers are texts; x ≤ t + 1e-6 in float32; unset is 0, or goes by `missing`."""
    model = strict(text)
    keys(model, {"class", "name", "features", "params"})
    assert model["class"] == "org.apache.solr.ltr.model.MultipleAdditiveTreesModel"
    assert model["features"] == [{"name": name} for name in names]
    params = model["params"]
    null_is_zero = params.get("isNullSameAsZero", True)
    assert isinstance(null_is_zero, bool), "a text would be true"
    keys(params, {"trees"} if null_is_zero else {"trees", "isNullSameAsZero"})
    slack = np.float32(1e-6)

    def check(node: Any) -> None:
        assert isinstance(node, dict)
        if "value" in node:
            keys(node, {"value"})
            assert isinstance(node["value"], str)
            return
        keys(node, {"feature", "threshold", "left", "right"} | (set() if null_is_zero else {"missing"}))
        assert isinstance(node["threshold"], str)
        check(node["left"])
        check(node["right"])

    for tree in params["trees"]:
        keys(tree, {"weight", "root"})
        assert tree["weight"] == "1"
        check(tree["root"])

    def step(node: Any, rows: np.ndarray) -> Any:
        if "value" in node:
            return np.float32(node["value"])
        x = rows[:, names.index(node["feature"])]
        x = np.nan_to_num(x, nan=0) if null_is_zero else x
        threshold = np.float32(node["threshold"])
        assert np.isfinite(threshold)
        with np.errstate(invalid="ignore", over="ignore"):
            left = x <= threshold + slack
        if not null_is_zero:
            left |= np.isnan(x) & (node["missing"] == "left")
        return left, node["left"], node["right"]

    return lambda rows: added([tree["root"] for tree in params["trees"]], rows, step, np.float32)


def vespa(text: bytes, dtype: type = np.float64) -> Callable[[np.ndarray], np.ndarray]:
    """Vespa's importer: `x < t`, or `!(x >= t)` where default_left, in float or in doubles; NaN compares as false."""
    model = strict(text)
    assert not model["objective"].startswith(("binary", "cross_entropy", "poisson", "gamma", "tweedie"))
    assert list(model["pandas_categorical"]) == []
    features = model["feature_names"]
    assert model["feature_infos"] == {}

    def step(node: Any, rows: np.ndarray) -> Any:
        if "left_child" not in node:
            return dtype(number(node["leaf_value"]))
        assert node["decision_type"] == "<="
        assert 0 <= node["split_feature"] < len(features)
        x, threshold = rows[:, node["split_feature"]].astype(dtype), dtype(number(node["threshold"]))
        with np.errstate(invalid="ignore"):
            left = ~(x >= threshold) if node["default_left"] else x < threshold
        return left, node["left_child"], node["right_child"]

    return lambda rows: added([tree["tree_structure"] for tree in model["tree_info"]], rows, step, dtype)


def onnx_model(text: bytes, names: Sequence[str]) -> Callable[[np.ndarray], np.ndarray]:
    """ONNX' TreeEnsembleRegressor from its attributes, without onnxruntime: x ≤ t in float32."""
    import onnx

    model = onnx.ModelProto.FromString(text)
    (node,) = model.graph.node
    assert (node.op_type, node.domain) == ("TreeEnsembleRegressor", "ai.onnx.ml")
    result = {each.name: onnx.helper.get_attribute_value(each) for each in node.attribute}
    assert result["aggregate_function"] == b"SUM"
    assert result["post_transform"] == b"NONE"
    assert model.graph.input[0].type.tensor_type.shape.dim[1].dim_value == len(names)
    weights = {
        (tree, place): weight
        for tree, place, weight in zip(
            result["target_treeids"], result["target_nodeids"], result["target_weights"], strict=True
        )
    }
    columns = ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids")
    rows_of = zip(*(result[f"nodes_{name}"] for name in (*columns, "missing_value_tracks_true")), strict=True)
    nodes = {(each[0], each[1]): each for each in rows_of}

    def step(place: Any, rows: np.ndarray) -> Any:
        tree, _, feature, value, mode, first, second, tracks = nodes[place]
        if mode == b"LEAF":
            return np.float32(weights[place])
        assert mode == b"BRANCH_LEQ"
        x = rows[:, feature]
        with np.errstate(invalid="ignore"):
            left = (x <= np.float32(value)) | (np.isnan(x) & bool(tracks))
        return left, (tree, first), (tree, second)

    trees = sorted({tree for tree, _ in nodes})
    return lambda rows: added([(tree, 0) for tree in trees], rows, step, np.float32)


def interpreter(to: str, text: bytes, names: Sequence[str], unset: str = "missing") -> Callable[..., np.ndarray]:
    """The interpreter of a target's files; `unset` is what versions of the plugins differ in."""
    names = list(names)
    if to in ("elasticsearch-plugin", "opensearch"):
        return xgboost_json(text, names, unset)
    if to == "vespa":
        return vespa(text)
    return {"ranklib": ranklib, "elasticsearch-native": elastic, "solr": solr, "onnx": onnx_model}[to](text, names)


def solr_gaps(text: bytes, names: Sequence[str], thresholds: Sequence[np.ndarray], rows: np.ndarray) -> np.ndarray:
    """Which rows have a feature that Solr's slack leaves no threshold for: above t + 1e-6, and at most the model's."""
    sums: list[set[np.float32]] = [set() for _ in names]

    def collect(node: Any) -> None:
        if "value" not in node:
            sums[names.index(node["feature"])].add(np.float32(node["threshold"]) + np.float32(1e-6))
            collect(node["left"])
            collect(node["right"])

    for tree in json.loads(text)["params"]["trees"]:
        collect(tree["root"])
    result = np.zeros(len(rows), bool)
    for feature, known in enumerate(thresholds):
        made = np.array(sorted(sums[feature]), np.float64)
        for threshold in known:
            at = np.searchsorted(made, threshold, side="right") - 1
            x = rows[:, feature].astype(np.float64)
            with np.errstate(invalid="ignore"):
                result |= (made[at] < x) & (x <= threshold)
    return result
