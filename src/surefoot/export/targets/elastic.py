"""Elastic's own Learning To Rank: a tree ensemble that tests x ≤ t in doubles and knows missing features."""

from __future__ import annotations

from typing import Any

from surefoot.export.ensemble import Ensemble, TreeNode
from surefoot.export.exported_model import ExportedModel, plain_json, route_missing
from surefoot.export.settings import ExportSettings

_BEYOND = 1.7976931348623157e308  # no JSON number is infinite


def write(trees: Ensemble, settings: ExportSettings) -> ExportedModel:
    """The definition of a trained model, with the learner's own thresholds and leaves in doubles."""
    routed, note = route_missing(trees, settings)
    names = list(trees.names)
    ensemble = {
        "target_type": "regression",
        "feature_names": names,
        "trained_models": [
            {"tree": {"feature_names": names, "tree_structure": [_node(node) for node in nodes]}}
            for nodes in routed.trees()
        ],
        "aggregate_output": {"weighted_sum": {}},
    }
    definition = {"trained_model": {"ensemble": ensemble}}
    extractors = [
        {"query_extractor": {"feature_name": name, "query": {"match": {"FILL_IN_A_FIELD": "{{query}}"}}}}
        for name in names
    ]
    request = {
        "input": {"field_names": names},
        "inference_config": {"learning_to_rank": {"feature_extractors": extractors}},
    }
    return ExportedModel(
        content=plain_json(definition),
        exact_thresholds=trees.threshold,
        notes=[note, "Thresholds and leaves are the learner's own: Elastic compares and adds in doubles."],
        guide=_guide(settings),
        companions={
            "features.json": plain_json(request, indent=2),
            "upload.json": plain_json(request | {"definition": definition}),
        },
    )


def _node(node: TreeNode) -> dict[str, Any]:
    if node.is_leaf:
        return {"node_index": node.number, "leaf_value": node.value}
    return {
        "node_index": node.number,
        "decision_type": "lte",
        "split_feature": node.feature,
        "threshold": max(-_BEYOND, min(node.threshold, _BEYOND)),
        "default_left": node.missing_left,
        "left_child": node.left,
        "right_child": node.right,
    }


def _guide(settings: ExportSettings) -> str:
    return f"""\
1. Fill in `STEM.features.json`: the query whose score each feature is. Then join it and the model:

       jq -s '.[0] + {{definition: .[1]}}' STEM.features.json FILE > STEM.upload.json

2. Store it:

       curl -X PUT "$URL/_ml/trained_models/{settings.name}" -H 'Content-Type: application/json' \\
            --data-binary @STEM.upload.json

3. Rank the first hundred results of a query by it:

       {{"query": {{"match": {{"title": "…"}}}},
        "rescore": {{"window_size": 100,
          "learning_to_rank": {{"model_id": "{settings.name}", "params": {{"query": "…"}}}}}}}}
"""
