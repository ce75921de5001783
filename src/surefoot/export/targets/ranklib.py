"""RankLib's XML, `model/ranklib` in both plugins, which tests x ≤ t in float32 and takes an unset feature for 0."""

from __future__ import annotations

from surefoot.export.ensemble import Ensemble, Node
from surefoot.export.exported_model import Written, check_depth, nested
from surefoot.export.float32_thresholds import at_most
from surefoot.export.missing import Unset, resolved
from surefoot.export.settings import Asked
from surefoot.export.targets import ltr_plugin


def write(trees: Ensemble, asked: Asked) -> Written:
    """RankLib's text: it takes a tag's first child as it stands, so that there may be no space between tags."""
    check_depth(trees)
    directed, note = resolved(trees, asked, "RankLib's format", Unset.zero, "train again on data where it is 0")
    exact = directed.in_singles().with_thresholds(at_most(trees.threshold))
    written = [
        f'<tree id="{number}" weight="1.0"><split>{nested(nodes, _leaf, _split)}</split></tree>'
        for number, nodes in enumerate(exact.trees(), start=1)
    ]
    head = f"## LambdaMART\n## No. of trees = {len(written)}\n\n"
    model = (head + "<ensemble>\n" + "\n".join(written) + "\n</ensemble>\n").encode()
    return Written(
        model=model,
        usable=trees.threshold,
        notes=[
            note,
            "Features go by number, from 1, in the order of the feature set: it must list all of them in this order.",
            "Thresholds are rounded for RankLib's rule, x ≤ t in float32; scores are added up in float32.",
        ],
        steps=ltr_plugin.steps(asked),
        beside={
            "features.json": ltr_plugin.feature_set(trees.names),
            "upload.json": ltr_plugin.upload(asked, "model/ranklib", model),
        },
    )


def _leaf(node: Node) -> str:
    return f"<output>{node.value!r}</output>"


def _split(node: Node, left: str, right: str) -> str:
    return (
        f"<feature>{node.feature + 1}</feature><threshold>{node.threshold!r}</threshold>"
        f'<split pos="left">{left}</split><split pos="right">{right}</split>'
    )
