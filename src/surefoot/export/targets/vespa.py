"""Vespa's importer of LightGBM's JSON, which makes x < t of every split and sends NaN by `default_left`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from surefoot.errors import visible
from surefoot.export.ensemble import Ensemble, TreeNode, thresholds_less_than
from surefoot.export.exported_model import ExportedModel, check_depth, nest_tree, plain_json, route_missing
from surefoot.export.settings import ExportSettings

# A name that Vespa reads as one of its rank features: bm25(title), fieldMatch(title).completeness, query(price)
_ARGUMENT = r"[A-Za-z_][\w.]*|\d+"
_FEATURE = re.compile(rf"[A-Za-z_]\w*(\(({_ARGUMENT})(, ?({_ARGUMENT}))*\))?(\.[A-Za-z_]\w*)*", re.ASCII)
_WORD = re.compile(r"\w{1,40}", re.ASCII)
# Functions of Vespa's ranking expressions: log(price) is computed, and is no rank feature.
_FUNCTIONS = frozenset({
    "abs", "acos", "argmax", "argmin", "asin", "atan", "atan2", "avg", "bit", "ceil", "cell_cast", "concat", "cos",
    "cosh", "cosine_similarity", "count", "diag", "elu", "erf", "euclidean_distance", "exp", "expand", "fabs",
    "filter_subspaces", "floor", "fmod", "foreach", "hamming", "if", "isNan", "join", "l1_normalize", "l2_normalize",
    "ldexp", "log", "log10", "map", "map_subspaces", "matmul", "max", "median", "merge", "min", "pow", "prod",
    "random", "range", "reduce", "relu", "rename", "round", "sigmoid", "sign", "sin", "sinh", "softmax", "sqrt",
    "square", "sum", "switch", "tan", "tanh", "tensor", "top", "unpack_bits", "xw_plus_b",
})  # fmt: skip
_BARE = frozenset({"nativeRank", "firstPhase", "secondPhase", "random", "now"})  # rank features without arguments


def write(trees: Ensemble, settings: ExportSettings) -> ExportedModel:
    """LightGBM's dump; feature names become part of an expression, so that only plain rank features stay."""
    check_depth(trees)
    routed, note = route_missing(trees, settings)
    exact = routed.with_thresholds(thresholds_less_than(trees.threshold))
    names = expressions(trees.names)
    dumped = {
        "name": "tree",
        "version": "v4",
        "num_class": 1,
        "num_tree_per_iteration": 1,
        "label_index": 0,
        "max_feature_idx": len(names) - 1,
        "objective": "lambdarank",
        "average_output": False,
        "feature_names": names,
        "feature_infos": {},
        "tree_info": [
            {"tree_index": number, "num_cat": 0, "shrinkage": 1, "tree_structure": nest_tree(nodes, _leaf, _split)}
            for number, nodes in enumerate(exact.trees())
        ],
        "pandas_categorical": [],
    }
    return ExportedModel(
        content=plain_json(dumped),
        exact_thresholds=trees.threshold,
        notes=[note, "Thresholds are rounded for the rule of Vespa's importer, x < t; leaves are the learner's own."],
        guide=_guide(settings),
        companions={"profile": _profile(trees.names, names, settings)},
    )


def expressions(names: Sequence[str]) -> list[str]:
    """What each feature is in an expression: its own name if that is a rank feature, a function of ours otherwise.

    >>> expressions(["bm25(title)", "title: length", "price", "log(price)"])
    ['bm25(title)', 'feature_2', 'feature_3_price', 'feature_4']
    """
    result = []
    for number, name in enumerate(names, start=1):
        head, bracket, _ = name.partition("(")
        is_feature = _FEATURE.fullmatch(name) and (head not in _FUNCTIONS if bracket else name in _BARE)
        result.append(name if is_feature else f"feature_{number}" + (f"_{name}" if _WORD.fullmatch(name) else ""))
    return result


def _leaf(node: TreeNode) -> dict[str, Any]:
    return {"leaf_index": node.number, "leaf_value": node.value}


def _split(node: TreeNode, left: Any, right: Any) -> dict[str, Any]:
    return {
        "split_index": node.number,
        "split_feature": node.feature,
        "threshold": node.threshold,
        "decision_type": "<=",
        "default_left": node.missing_left,
        "missing_type": "NaN",
        "left_child": left,
        "right_child": right,
    }


def _profile_name(settings: ExportSettings) -> str:
    return "surefoot_" + settings.name.replace("-", "_")


def _profile(names: Sequence[str], used: Sequence[str], settings: ExportSettings) -> bytes:
    """A rank profile; features whose names are no rank features are functions to fill in."""
    functions = "".join(
        f"\n    # {visible(name)}\n    function {function}() {{\n        expression: FILL_IN\n    }}\n"
        for name, function in zip(names, used, strict=True)
        if name != function
    )
    listed = "\n".join(f"        {function}" for function in used)
    return f"""\
rank-profile {_profile_name(settings)} inherits default {{
{functions}
    first-phase {{
        expression: lightgbm("{settings.name}.json")
    }}

    summary-features {{
{listed}
    }}
}}
""".encode()


def _guide(settings: ExportSettings) -> str:
    return f"""\
1. Put the model into the application as `models/{settings.name}.json`, and the rank profile of `STEM.profile` into
   the schema; fill in the functions that it leaves open.
2. Deploy the application: `vespa deploy`
3. Rank by it: `vespa query 'yql=select * from sources * where userQuery()' 'query=…' ranking={_profile_name(settings)}`
"""
