"""ONNX: one TreeEnsembleRegressor that tests x ≤ t in float32 and knows missing features."""

from __future__ import annotations

from typing import Any

from surefoot.export.ensemble import Ensemble, TreeNode, thresholds_at_most
from surefoot.export.exported_model import ExportedModel, plain_json, route_missing
from surefoot.export.settings import ExportSettings
from surefoot.runtime import library

_OPSET, _ML_OPSET, _IR = 17, 3, 8  # of 2022: what runs these runs newer ones too


def onnx() -> Any:
    """The library, or how to install it."""
    library("onnx.helper", "onnx", "Exporting to ONNX")
    library("onnx.numpy_helper", "onnx", "Exporting to ONNX")
    return library("onnx", "onnx", "Exporting to ONNX")


def write(trees: Ensemble, settings: ExportSettings) -> ExportedModel:
    """A model that takes float32 features, one row per document, and gives scores."""
    module = onnx()
    routed, note = route_missing(trees, settings)
    exact = routed.in_float32().with_thresholds(thresholds_at_most(trees.threshold))
    node = module.helper.make_node(
        "TreeEnsembleRegressor", ["features"], ["score"], domain="ai.onnx.ml", n_targets=1, aggregate_function="SUM",
        post_transform="NONE", **_attributes(exact),
    )  # fmt: skip
    single = module.TensorProto.FLOAT
    graph = module.helper.make_graph(
        [node],
        settings.name,
        [module.helper.make_tensor_value_info("features", single, ["documents", len(trees.names)])],
        [module.helper.make_tensor_value_info("score", single, ["documents", 1])],
    )
    opsets = [module.helper.make_opsetid("", _OPSET), module.helper.make_opsetid("ai.onnx.ml", _ML_OPSET)]
    model = module.helper.make_model(graph, opset_imports=opsets, producer_name="surefoot", ir_version=_IR)
    listed = plain_json({"features": list(trees.names)}, indent=2)
    module.helper.set_model_props(model, {"features": listed.decode()})
    module.checker.check_model(model)
    return ExportedModel(
        content=model.SerializeToString(),
        exact_thresholds=trees.threshold,
        notes=[note, "Thresholds are rounded for ONNX' rule, x ≤ t in float32; scores are added up in float32."],
        guide=_GUIDE,
        companions={"features.json": listed},
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


def _threshold(node: TreeNode) -> float:
    return 0.0 if node.is_leaf else node.threshold


_GUIDE = """\
1. Give the model the features in the order of `STEM.features.json`, as float32, one row per document, NaN where a
   document lacks one:

       import onnxruntime
       scores = onnxruntime.InferenceSession("FILE").run(None, {"features": X})[0][:, 0]
"""
