"""ONNX: one TreeEnsembleRegressor that tests x ≤ t in float32 and knows missing features."""

from __future__ import annotations

from typing import Any

from surefoot.export.ensemble import Ensemble, Node
from surefoot.export.exported_model import Written, plain_json
from surefoot.export.float32_thresholds import at_most
from surefoot.export.missing import Unset, resolved
from surefoot.export.settings import Asked
from surefoot.runtime import library

_OPSET, _ML_OPSET, _IR = 17, 3, 8  # of 2022: what runs these runs newer ones too


def onnx() -> Any:
    """The library, or how to install it."""
    library("onnx.helper", "onnx", "Exporting to ONNX")
    return library("onnx", "onnx", "Exporting to ONNX")


def write(trees: Ensemble, asked: Asked) -> Written:
    """A model that takes float32 features, a row a document, and gives scores."""
    module = onnx()
    directed, note = resolved(trees, asked, "ONNX (as NaN)", Unset.by_split, "")
    exact = directed.in_singles().with_thresholds(at_most(trees.threshold))
    node = module.helper.make_node(
        "TreeEnsembleRegressor", ["features"], ["score"], domain="ai.onnx.ml", n_targets=1, aggregate_function="SUM",
        post_transform="NONE", **_attributes(exact),
    )  # fmt: skip
    single = module.TensorProto.FLOAT
    graph = module.helper.make_graph(
        [node],
        asked.name,
        [module.helper.make_tensor_value_info("features", single, ["documents", len(trees.names)])],
        [module.helper.make_tensor_value_info("score", single, ["documents", 1])],
    )
    opsets = [module.helper.make_opsetid("", _OPSET), module.helper.make_opsetid("ai.onnx.ml", _ML_OPSET)]
    model = module.helper.make_model(graph, opset_imports=opsets, producer_name="surefoot", ir_version=_IR)
    listed = plain_json({"features": list(trees.names)}, indent=2)
    module.helper.set_model_props(model, {"features": listed.decode()})
    module.checker.check_model(model)
    return Written(
        model=model.SerializeToString(),
        usable=trees.threshold,
        notes=[note, "Thresholds are rounded for ONNX' rule, x ≤ t in float32; scores are added up in float32."],
        steps=_STEPS,
        beside={"features.json": listed},
    )


def _attributes(trees: Ensemble) -> dict[str, list[Any]]:
    """The nodes of all trees, column by column."""
    nodes = [(tree, node) for tree, nodes in enumerate(trees.trees()) for node in nodes]
    leaves = [(tree, node) for tree, node in nodes if node.is_leaf]
    return {
        "nodes_treeids": [tree for tree, _ in nodes],
        "nodes_nodeids": [node.number for _, node in nodes],
        "nodes_featureids": [max(0, node.feature) for _, node in nodes],
        "nodes_values": [_threshold(node) for _, node in nodes],
        "nodes_modes": ["LEAF" if node.is_leaf else "BRANCH_LEQ" for _, node in nodes],
        "nodes_truenodeids": [max(0, node.left) for _, node in nodes],
        "nodes_falsenodeids": [max(0, node.right) for _, node in nodes],
        "nodes_missing_value_tracks_true": [int(node.missing_left) for _, node in nodes],
        "target_treeids": [tree for tree, _ in leaves],
        "target_nodeids": [node.number for _, node in leaves],
        "target_ids": [0] * len(leaves),
        "target_weights": [node.value for _, node in leaves],
    }


def _threshold(node: Node) -> float:
    return 0.0 if node.is_leaf else node.threshold


_STEPS = """\
1. Give the model the features in the order of `STEM.features.json`, as float32, a row a document, NaN where a document
   lacks one:

       import onnxruntime
       scores = onnxruntime.InferenceSession("FILE").run(None, {"features": X})[0][:, 0]
"""
