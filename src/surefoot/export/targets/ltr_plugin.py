"""The Learning to Rank plugins of Elasticsearch and OpenSearch: `model/xgboost+json`, which tests x < t in float32."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from surefoot.export.ensemble import Ensemble, TreeNode, thresholds_less_than
from surefoot.export.exported_model import ExportedModel, check_depth, nest_tree, plain_json, route_missing
from surefoot.export.settings import ExportSettings


def write(trees: Ensemble, settings: ExportSettings) -> ExportedModel:
    """XGBoost's dump, which both plugins read; any key beyond it would be refused."""
    check_depth(trees)
    routed, note = route_missing(trees, settings)
    exact = routed.in_float32().with_thresholds(thresholds_less_than(trees.threshold))
    splits = [nest_tree(nodes, _leaf, lambda *parts: _split(trees.names, *parts)) for nodes in exact.trees()]
    model = plain_json({"objective": "rank:ndcg", "splits": splits})
    notes = [note, "Thresholds are rounded for the plugin's rule, x < t in float32; scores are added up in float32."]
    if not settings.version:
        notes.append(f"No version was given: the newest was assumed. {settings.target.version_note}")
    return ExportedModel(
        content=model,
        exact_thresholds=trees.threshold,
        notes=notes,
        guide=guide(settings),
        companions={
            "features.json": feature_set(trees.names),
            "upload.json": upload(settings, "model/xgboost+json", model),
        },
    )


def _leaf(node: TreeNode) -> dict[str, Any]:
    return {"nodeid": node.number, "leaf": node.value}


def _split(names: Sequence[str], node: TreeNode, left: Any, right: Any) -> dict[str, Any]:
    return {
        "nodeid": node.number,
        "depth": node.depth,
        "split": names[node.feature],
        "split_condition": node.threshold,
        "yes": node.left,
        "no": node.right,
        "missing": node.left if node.missing_left else node.right,
        "children": [left, right],
    }


def feature_set(names: Sequence[str]) -> bytes:
    """A feature set to fill in: each feature is the score of a query."""
    features = [
        {
            "name": name,
            "params": ["keywords"],
            "template_language": "mustache",
            "template": {"match": {"FILL_IN_A_FIELD": "{{keywords}}"}},
        }
        for name in names
    ]
    return plain_json({"featureset": {"features": features}}, indent=2)


def upload(settings: ExportSettings, kind: str, model: bytes) -> bytes:
    """The body of the request that stores the model."""
    definition = {"type": kind, "definition": model.decode()}
    return plain_json({"model": {"name": settings.name, "model": definition}}, indent=2)


def guide(settings: ExportSettings) -> str:
    """How to store features and model, and a query that uses them."""
    return f"""\
1. Fill in `STEM.features.json`: the query whose score each feature is, in this order and under these names.
2. Store features and model (where there is no feature store yet, `PUT _ltr` first):

       curl -X POST "$URL/_ltr/_featureset/{settings.name}-features" -H 'Content-Type: application/json' \\
            --data-binary @STEM.features.json
       curl -X POST "$URL/_ltr/_featureset/{settings.name}-features/_createmodel" -H 'Content-Type: application/json' \\
            --data-binary @STEM.upload.json

3. Rank the first hundred results of a query by it:

       {{"query": {{"match": {{"title": "…"}}}},
        "rescore": {{"window_size": 100, "query": {{"query_weight": 0, "rescore_query_weight": 1,
          "rescore_query": {{"sltr": {{"model": "{settings.name}", "params": {{"keywords": "…"}}}}}}}}}}}}
"""
