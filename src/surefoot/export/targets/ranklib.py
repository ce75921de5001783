"""RankLib's XML, `model/ranklib` in both plugins, which tests x ≤ t in float32 and takes an unset feature for 0."""

from __future__ import annotations

from surefoot.export.ensemble import Ensemble, TreeNode, thresholds_at_most
from surefoot.export.exported_model import ExportedModel, check_depth, nest_tree, route_missing
from surefoot.export.settings import ExportSettings
from surefoot.export.targets import ltr_plugin


def write(trees: Ensemble, settings: ExportSettings) -> ExportedModel:
    """RankLib's text: it takes a tag's first child as it stands, so that there may be no space between tags."""
    check_depth(trees)
    routed, note = route_missing(trees, settings)
    exact = routed.in_float32().with_thresholds(thresholds_at_most(trees.threshold))
    texts = [
        f'<tree id="{number}" weight="1.0"><split>{nest_tree(nodes, _leaf, _split)}</split></tree>'
        for number, nodes in enumerate(exact.trees(), start=1)
    ]
    head = f"## LambdaMART\n## No. of trees = {len(texts)}\n\n"
    model = (head + "<ensemble>\n" + "\n".join(texts) + "\n</ensemble>\n").encode()
    return ExportedModel(
        content=model,
        exact_thresholds=trees.threshold,
        notes=[
            note,
            "Features go by number, from 1, in the order of the feature set: it must list all of them in this order.",
            "Thresholds are rounded for RankLib's rule, x ≤ t in float32; scores are added up in float32.",
        ],
        guide=ltr_plugin.guide(settings),
        companions={
            "features.json": ltr_plugin.feature_set(trees.names),
            "upload.json": ltr_plugin.upload(settings, "model/ranklib", model),
        },
    )


def _leaf(node: TreeNode) -> str:
    return f"<output>{node.value!r}</output>"


def _split(node: TreeNode, left: str, right: str) -> str:
    return (
        f"<feature>{node.feature + 1}</feature><threshold>{node.threshold!r}</threshold>"
        f'<split pos="left">{left}</split><split pos="right">{right}</split>'
    )
