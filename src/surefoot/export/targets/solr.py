"""Solr's `MultipleAdditiveTreesModel`, which tests x ≤ t + 1e-6 in float32."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from surefoot.export.ensemble import Ensemble, TreeNode, before_slack, thresholds_at_most
from surefoot.export.exported_model import ExportedModel, check_depth, nest_tree, plain_json, route_missing
from surefoot.export.settings import ExportSettings
from surefoot.export.targets.table import UnsetTreatment

_CLASS = "org.apache.solr.ltr.model.MultipleAdditiveTreesModel"


def write(trees: Ensemble, settings: ExportSettings) -> ExportedModel:
    """The model, with numbers as texts, as Solr's setters take them."""
    check_depth(trees)
    knows = (
        settings.missing == "nan" and settings.unset is UnsetTreatment.by_split
    )  # only where the features' default is NaN
    routed, note = route_missing(trees, settings, UnsetTreatment.by_split if knows else UnsetTreatment.zero)
    written, sums = before_slack(trees.threshold)
    exact = routed.in_float32().with_thresholds(written)
    grown = [
        {"weight": "1", "root": nest_tree(nodes, _leaf, lambda *parts: _split(trees.names, knows, *parts))}
        for nodes in exact.trees()
    ]
    features = [{"name": name} for name in trees.names]
    parameters = ({"isNullSameAsZero": False} if knows else {}) | {"trees": grown}
    intended = thresholds_at_most(trees.threshold)
    off = trees.is_split & (sums != intended)
    notes = [
        note,
        "Solr adds 1e-6 to each threshold, so 1e-6 was subtracted here. The sum in float32 is the model's threshold.",
    ]
    if off.any():
        gap = float((intended[off].astype(np.float64) - sums[off]).max())
        notes.append(
            f"For {int(off.sum()):,} of {int(trees.is_split.sum()):,} splits, no number gives exactly the threshold "
            f"after Solr adds 1e-6, so the next lower number is used. Feature values less than {gap:.1e} below such a "
            "threshold go to the other side. The value 0 does not."
        )
    return ExportedModel(
        content=plain_json({"class": _CLASS, "name": settings.name, "features": features, "params": parameters}),
        exact_thresholds=np.where(off, np.nan, trees.threshold),
        notes=notes,
        guide=_guide(settings),
        companions={"features.json": _feature_store(trees.names, knows)},
    )


def _leaf(node: TreeNode) -> dict[str, Any]:
    return {"value": repr(node.value)}


def _split(names: Sequence[str], knows: bool, node: TreeNode, left: Any, right: Any) -> dict[str, Any]:
    way = {"missing": "left" if node.missing_left else "right"} if knows else {}
    return {"feature": names[node.feature], "threshold": repr(node.threshold), **way, "left": left, "right": right}


def _feature_store(names: Sequence[str], knows: bool) -> bytes:
    """A feature store to fill in: each feature is a field's value, or with another class a query's score."""
    default = {"defaultValue": "NaN"} if knows else {}
    features = [
        {
            "name": name,
            "class": "org.apache.solr.ltr.feature.FieldValueFeature",
            "params": {"field": "FILL_IN_A_FIELD"} | default,
        }
        for name in names
    ]
    return plain_json(features, indent=2)


def _guide(settings: ExportSettings) -> str:
    return f"""\
1. Fill in `STEM.features.json`: where each feature comes from.
2. Store features and model:

       curl -X PUT "$URL/solr/$COLLECTION/schema/feature-store" -H 'Content-Type: application/json' \\
            --data-binary @STEM.features.json
       curl -X PUT "$URL/solr/$COLLECTION/schema/model-store" -H 'Content-Type: application/json' \\
            --data-binary @FILE

3. Rank the first hundred results of a query by it: `rq={{!ltr model={settings.name} reRankDocs=100}}`
"""
