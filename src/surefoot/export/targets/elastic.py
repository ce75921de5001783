"""Elastic's own Learning To Rank: a tree ensemble that tests x ≤ t in doubles and knows missing features."""

from __future__ import annotations

from typing import Any

from surefoot.export.ensemble import Ensemble, Node
from surefoot.export.exported_model import Written, plain_json
from surefoot.export.missing import Unset, resolved
from surefoot.export.settings import Asked

_BEYOND = 1.7976931348623157e308  # no JSON number is infinite


def write(trees: Ensemble, asked: Asked) -> Written:
    """The definition of a trained model, with the learner's own thresholds and leaves in doubles."""
    directed, note = resolved(trees, asked, "Elastic", Unset.by_split, "")
    names = list(trees.names)
    ensemble = {
        "target_type": "regression",
        "feature_names": names,
        "trained_models": [
            {"tree": {"feature_names": names, "tree_structure": [_node(node) for node in nodes]}}
            for nodes in directed.trees()
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
    return Written(
        model=plain_json(definition),
        usable=trees.threshold,
        notes=[note, "Thresholds and leaves are the learner's own: Elastic compares and adds in doubles."],
        steps=_steps(asked),
        beside={
            "features.json": plain_json(request, indent=2),
            "upload.json": plain_json(request | {"definition": definition}),
        },
    )


def _node(node: Node) -> dict[str, Any]:
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


def _steps(asked: Asked) -> str:
    return f"""\
1. Fill in `STEM.features.json`: the query whose score each feature is. Then join it and the model:

       jq -s '.[0] + {{definition: .[1]}}' STEM.features.json FILE > STEM.upload.json

2. Store it:

       curl -X PUT "$URL/_ml/trained_models/{asked.name}" -H 'Content-Type: application/json' \\
            --data-binary @STEM.upload.json

3. Rank the first hundred results of a query by it:

       {{"query": {{"match": {{"title": "…"}}}},
        "rescore": {{"window_size": 100,
          "learning_to_rank": {{"model_id": "{asked.name}", "params": {{"query": "…"}}}}}}}}
"""
