"""The Learning to Rank plugins of Elasticsearch and OpenSearch: `model/xgboost+json`, which tests x < t in float32."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from surefoot.export.ensemble import Ensemble, Node
from surefoot.export.exported_model import Written, check_depth, nested, plain_json
from surefoot.export.float32_thresholds import less_than
from surefoot.export.missing import Unset, resolved
from surefoot.export.settings import Asked

TITLES = {"elasticsearch": "the Elasticsearch plugin", "opensearch": "OpenSearch"}


def write(trees: Ensemble, asked: Asked) -> Written:
    """XGBoost's dump, which both plugins read; any key beyond it would be refused."""
    check_depth(trees)
    engine, unset = _behaviour(asked)
    instead = "export to ranklib, where it counts as 0" if asked.to == "opensearch" else "upgrade the plugin to 1.5.9"
    directed, note = resolved(trees, asked, engine, unset, instead)
    exact = directed.in_singles().with_thresholds(less_than(trees.threshold))
    splits = [nested(nodes, _leaf, lambda *parts: _split(trees.names, *parts)) for nodes in exact.trees()]
    model = plain_json({"objective": "rank:ndcg", "splits": splits})
    notes = [note, "Thresholds are rounded for the plugin's rule, x < t in float32; scores are added up in float32."]
    if not asked.version:
        notes.append(
            "No engine version was given: the newest was assumed. "
            + (
                "OpenSearch 3.2 to 3.7 sends every unset feature to the right, whatever the model says; say "
                "--engine-version 3.4, or the one you have, and this is taken into account."
                if asked.to == "opensearch"
                else "The plugin before 1.5.9 takes an unset feature for 0, whatever the model says."
            )
        )
    return Written(
        model=model,
        usable=trees.threshold,
        notes=notes,
        steps=steps(asked),
        beside={"features.json": feature_set(trees.names), "upload.json": upload(asked, "model/xgboost+json", model)},
    )


def _behaviour(asked: Asked) -> tuple[str, Unset]:
    version = ".".join(map(str, asked.version))
    engine = f"{TITLES[asked.to]} {version}".rstrip()
    if asked.to == "elasticsearch":
        return engine, Unset.zero if asked.version and asked.version < (1, 5, 9) else Unset.by_split
    if not asked.version or asked.version >= (3, 8):
        return engine, Unset.by_split
    return engine, Unset.right if asked.version >= (3, 2) else Unset.zero


def _leaf(node: Node) -> dict[str, Any]:
    return {"nodeid": node.number, "leaf": node.value}


def _split(names: Sequence[str], node: Node, left: Any, right: Any) -> dict[str, Any]:
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


def upload(asked: Asked, kind: str, model: bytes) -> bytes:
    """The body of the request that stores the model."""
    definition = {"type": kind, "definition": model.decode()}
    return plain_json({"model": {"name": asked.name, "model": definition}}, indent=2)


def steps(asked: Asked) -> str:
    """How to store features and model, and a query that uses them."""
    return f"""\
1. Fill in `STEM.features.json`: the query whose score each feature is, in this order and under these names.
2. Store features and model (where there is no feature store yet, `PUT _ltr` first):

       curl -X POST "$URL/_ltr/_featureset/{asked.name}-features" -H 'Content-Type: application/json' \\
            --data-binary @STEM.features.json
       curl -X POST "$URL/_ltr/_featureset/{asked.name}-features/_createmodel" -H 'Content-Type: application/json' \\
            --data-binary @STEM.upload.json

3. Rank the first hundred results of a query by it:

       {{"query": {{"match": {{"title": "…"}}}},
        "rescore": {{"window_size": 100, "query": {{"query_weight": 0, "rescore_query_weight": 1,
          "rescore_query": {{"sltr": {{"model": "{asked.name}", "params": {{"keywords": "…"}}}}}}}}}}}}
"""
