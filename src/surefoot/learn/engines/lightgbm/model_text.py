"""LightGBM's model text, checked before LightGBM sees it, which trusts every count in it; and the mean of several."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from surefoot.errors import ArgumentError, shortened
from surefoot.learn.engines.contract import ModelTextError

_HEADER = (
    "version", "num_class", "num_tree_per_iteration", "label_index", "max_feature_idx", "objective", "feature_names",
    "monotone_constraints", "feature_infos", "tree_sizes",
)  # fmt: skip
_FIXED = {"num_class": "1", "num_tree_per_iteration": "1", "label_index": "0", "objective": "lambdarank"}
_TREE = (
    "num_leaves", "num_cat", "split_feature", "split_gain", "threshold", "decision_type", "left_child", "right_child",
    "leaf_value", "leaf_weight", "leaf_count", "internal_value", "internal_weight", "internal_count",
)  # fmt: skip
_CATEGORIES = ("cat_boundaries", "cat_threshold")
_LINEAR = ("leaf_const", "num_features", "leaf_features", "leaf_coeff")
_INFO = re.compile(r"none|\[[-+.\deE]+:[-+.\deE]+\]|-?\d+(:-?\d+)*")
_INTEGERS = re.compile(r"-?\d{1,10}( -?\d{1,10})*")
_REALS = re.compile(r"-?[\d.]+(e[-+]\d+)?( -?[\d.]+(e[-+]\d+)?)*")
_REALS_OR_INFINITE = re.compile(r"-?([\d.]+(e[-+]\d+)?|inf|nan)( -?([\d.]+(e[-+]\d+)?|inf|nan))*")
_SETTING = re.compile(r'\[[a-z_0-9]+: [^"\\\x00-\x1f]*\]')
_IMPORTANCE = re.compile(r"\S+=[-+.\deE]+")
# What a document's score is made of. Linear leaves have a constant and coefficients; internal values explain scores.
_SCALED = re.compile(r"(?m)^(leaf_value|internal_value|leaf_const|leaf_coeff|shrinkage)=(.*)$")
_NUMBER = re.compile(r"[^ ]+")
_RANGE = re.compile(r"\[(.+):(.+)\]")


def canonical(text: str) -> str:
    """The text of a booster: the same for the same trees, with the objective of LightGBM's own nearest to the ranker's.

    LightGBM names no objective that it was given as a function, and other programs reject a model without one.
    Scores are the sums of the leaves under either. It also writes how the last call of it was made, which differs where
    a training went on from a checkpoint: the number of trees and the seeds, which `ranker.json` has.
    """
    head, blank, rest = text.partition("\n\n")
    if "\nobjective=" not in head:
        head = re.sub(r"(\nmax_feature_idx=\d+)", rf"\1\nobjective={_FIXED['objective']}", head, count=1)
    trees_end = rest.rindex("\nparameters:\n")
    trees = len(head.partition("\ntree_sizes=")[2].partition("\n")[0].split())
    settings = rest[trees_end:]
    for name, value in (("objective", _FIXED["objective"]), ("num_iterations", trees), (r"\w*seed", 0)):
        settings = re.sub(rf"(?m)^\[({name}): .*\]$", rf"[\1: {value}]", settings)
    return head + blank + rest[:trees_end] + settings


def check(text: str) -> int:
    """The number of trees of a model text, if all of it is as LightGBM writes it."""
    head, blank, rest = text.partition("\n\n")
    kind, *lines = head.split("\n")
    if kind != "tree" or not blank:
        raise ModelTextError("it does not start as LightGBM's model text does")
    header = _fields(lines, _HEADER, optional=("objective", "monotone_constraints"))
    features = _features(header)
    sizes = _integers(header, "tree_sizes", None, 1)
    body = rest.encode()
    if sizes.sum() > len(body):
        raise ModelTextError("tree_sizes are larger than the text")
    end = 0
    for number, size in enumerate(sizes.tolist()):
        block = body[end : end + size].decode(errors="replace")
        end += size
        try:
            _check_tree(block, number, features)
        except ModelTextError as error:
            raise ModelTextError(f"tree {number}: {error}") from None
    _check_tail(body[end:].decode(errors="replace"))
    return len(sizes)


def _features(header: dict[str, str]) -> int:
    for key, value in _FIXED.items():
        if header.get(key, value) != value:  # without an objective, it is LightGBM's own text
            raise ModelTextError(f"{key} is {shortened(header[key])}; a ranker's is {value}")
    if header["version"] not in ("v3", "v4"):
        raise ModelTextError(f"version is {shortened(header['version'])}; v3 and v4 can be read")
    features = int(_integers(header, "max_feature_idx", 1, 0)[0]) + 1
    infos = header["feature_infos"].split(" ")
    for key, values in (("feature_names", header["feature_names"].split(" ")), ("feature_infos", infos)):
        if len(values) != features or "" in values:
            raise ModelTextError(f"{key} has {len(values)} values instead of {features}")
    if not all(_INFO.fullmatch(info) for info in infos):
        raise ModelTextError("feature_infos cannot be read")
    if "monotone_constraints" in header:
        _integers(header, "monotone_constraints", features, -1, 1)
    return features


def _check_tree(block: str, number: int, features: int) -> None:
    first, *lines = block.split("\n")
    if first != f"Tree={number}" or lines[-3:] != ["", "", ""]:
        raise ModelTextError("it does not begin or end where tree_sizes says")
    tree = _fields(lines[:-3], (*_TREE, *_CATEGORIES, "is_linear", *_LINEAR, "shrinkage"), (*_CATEGORIES, *_LINEAR))
    leaves = int(_integers(tree, "num_leaves", 1, 1)[0])
    nodes = leaves - 1
    categories = int(_integers(tree, "num_cat", 1, 0, nodes)[0])
    _integers(tree, "split_feature", nodes, 0, features - 1)
    for key, length in (("split_gain", nodes), ("internal_value", nodes), ("internal_weight", nodes)):
        _reals(tree, key, length, _REALS_OR_INFINITE)
    _reals(tree, "leaf_weight", leaves if nodes or tree["leaf_weight"] else 0, _REALS_OR_INFINITE)
    _integers(tree, "internal_count", nodes, 0)
    _integers(tree, "leaf_count", leaves if nodes or tree["leaf_count"] else 0, 0)
    _reals(tree, "leaf_value", leaves)
    _reals(tree, "shrinkage", 1)
    threshold = _reals(
        tree, "threshold", nodes, _REALS_OR_INFINITE
    )  # infinite where a split is between numbers and NaN
    if np.isnan(threshold).any():
        raise ModelTextError("threshold has a value that is not a number")
    decision = _integers(tree, "decision_type", nodes, 0, 11)
    _check_children(_integers(tree, "left_child", nodes, -leaves, nodes - 1),
                    _integers(tree, "right_child", nodes, -leaves, nodes - 1), leaves)  # fmt: skip
    chosen = threshold[(decision & 1).astype(bool)]
    if categories != len(chosen) or (np.sort(chosen) != np.arange(categories)).any():
        raise ModelTextError("num_cat and the thresholds of its splits do not agree")
    _check_categories(tree, categories)
    _check_linear(tree, leaves, features)


def _check_children(left: npt.NDArray[np.int64], right: npt.NDArray[np.int64], leaves: int) -> None:
    """Every leaf and every node but the root is the child of one node, which comes before it: there is no circle."""
    children = np.concatenate([left, right])
    if not len(children):
        return
    if not np.array_equal(np.sort(children), np.delete(np.arange(-leaves, leaves - 1), leaves)):
        raise ModelTextError("its nodes and leaves do not form a tree")
    parents = np.tile(np.arange(leaves - 1), 2)
    if ((children >= 0) & (children <= parents)).any():
        raise ModelTextError("a node comes before its parent")


def _check_categories(tree: dict[str, str], categories: int) -> None:
    if not categories:
        if any(key in tree for key in _CATEGORIES):
            raise ModelTextError("it has categories, but no split by them")
        return
    _require(tree, _CATEGORIES)
    bounds = _integers(tree, "cat_boundaries", categories + 1, 0)
    if bounds[0] != 0 or (np.diff(bounds) < 1).any():
        raise ModelTextError("cat_boundaries do not ascend from 0")
    _integers(tree, "cat_threshold", int(bounds[-1]), 0, 2**32 - 1)


def _check_linear(tree: dict[str, str], leaves: int, features: int) -> None:
    if not _integers(tree, "is_linear", 1, 0, 1)[0]:
        if any(key in tree for key in _LINEAR):
            raise ModelTextError("it has linear leaves, but is_linear is 0")
        return
    _require(tree, _LINEAR)
    for key in ("leaf_features", "leaf_coeff"):  # parts of single leaves, parted by more than one space
        tree[key] = " ".join(tree[key].split())
    _reals(tree, "leaf_const", leaves)
    total = int(_integers(tree, "num_features", leaves, 0, features).sum())
    _integers(tree, "leaf_features", total, 0, features - 1)
    _reals(tree, "leaf_coeff", total)


def _check_tail(tail: str) -> None:
    lines = iter(tail.split("\n"))
    if [next(lines, None) for _ in range(3)] != ["end of trees", "", "feature_importances:"]:
        raise ModelTextError("the trees do not end where tree_sizes says")
    for line in lines:
        if not line:
            break
        if not _IMPORTANCE.fullmatch(line):
            raise ModelTextError(f"feature_importances has {shortened(line)}")
    if next(lines, None) != "parameters:":
        raise ModelTextError("the parameters are missing")
    for line in lines:
        if not line:
            break
        if not _SETTING.fullmatch(line):
            raise ModelTextError(f"parameters has {shortened(line)}")
    if list(lines) != ["end of parameters", "", "pandas_categorical:null", ""]:
        raise ModelTextError("it does not end as LightGBM's model text does")


def _fields(lines: Sequence[str], known: Sequence[str], optional: Sequence[str] = ()) -> dict[str, str]:
    """Lines of the form `key=value`, each key at most once."""
    fields: dict[str, str] = {}
    for line in lines:
        key, equals, value = line.partition("=")
        if not equals or key not in known or key in fields:
            raise ModelTextError(f"{shortened(line)} does not belong there")
        fields[key] = value
    _require(fields, [key for key in known if key not in optional])
    return fields


def _require(fields: dict[str, str], keys: Sequence[str]) -> None:
    absent = [key for key in keys if key not in fields]
    if absent:
        raise ModelTextError(f"{', '.join(absent)} is missing")


def _integers(
    fields: dict[str, str], key: str, length: int | None, least: int, most: int = 2**31 - 1
) -> npt.NDArray[np.int64]:
    words = _words(fields, key, _INTEGERS, length)
    values = np.array(words, dtype=np.int64)
    if len(values) and (values.min() < least or values.max() > most):
        raise ModelTextError(f"{key} has a value out of range")
    return values


def _reals(fields: dict[str, str], key: str, length: int, form: re.Pattern[str] = _REALS) -> npt.NDArray[np.float64]:
    words = _words(fields, key, form, length)
    try:
        values = np.array(words, dtype=np.float64)
    except ValueError:
        raise ModelTextError(f"{key} holds something that is not a number") from None
    if form is _REALS and not np.isfinite(values).all():
        raise ModelTextError(f"{key} has a value that is not finite")
    return values


def _words(fields: dict[str, str], key: str, form: re.Pattern[str], length: int | None) -> list[str]:
    text = fields[key]
    if text and not form.fullmatch(text):
        raise ModelTextError(f"{key} holds something that is not a number")
    words = text.split(" ") if text else []
    if length is not None and len(words) != length:
        raise ModelTextError(f"{key} has {len(words)} values instead of {length}")
    return words


def mean_text(texts: Sequence[str], weights: Sequence[float]) -> str:
    """One model text whose scores are the sum of the models' scores, each multiplied by its weight."""
    heads, blocks = [], list[str]()
    for text, weight in zip(texts, weights, strict=True):
        head, _, rest = text.partition("\n\n")
        heads.append(dict(line.partition("=")[::2] for line in head.split("\n")))
        trees = rest[: rest.index("\nend of trees") + 1].removesuffix("\n")
        for block in re.split(r"(?m)^Tree=\d+\n", trees)[1:]:
            blocks.append(f"Tree={len(blocks)}\n{_scale(block.rstrip(chr(10)), weight)}\n\n\n")
    header = heads[0]
    if any(head["feature_names"] != header["feature_names"] for head in heads):
        raise ArgumentError("the models have different features; only models with the same features have a mean")
    if any(head.get("monotone_constraints") != header.get("monotone_constraints") for head in heads):
        header.pop("monotone_constraints", None)  # not all of them keep to it
    header["feature_infos"] = " ".join(
        map(_joined_info, zip(*(head["feature_infos"].split(" ") for head in heads), strict=True))
    )
    header["tree_sizes"] = " ".join(str(len(block.encode())) for block in blocks)
    lines = "\n".join(key if key == "tree" else f"{key}={value}" for key, value in header.items())
    return lines + "\n\n" + "".join(blocks) + texts[0][texts[0].index("\nend of trees") + 1 :]


def _scale(block: str, weight: float) -> str:
    def scaled(match: re.Match[str]) -> str:
        return f"{match[1]}=" + _NUMBER.sub(lambda number: repr(float(number[0]) * weight), match[2])

    return _SCALED.sub(scaled, block)


def _joined_info(infos: Sequence[str]) -> str:
    """The values that a feature had in any training: a range, categories, or none where it was constant."""
    known = [info for info in dict.fromkeys(infos) if info != "none"]
    if len(known) < 2:
        return known[0] if known else "none"
    ranges = [_RANGE.fullmatch(info) for info in known]
    if all(ranges):
        bounds = [(match[1], match[2]) for match in ranges if match]
        return f"[{min((low for low, _ in bounds), key=float)}:{max((high for _, high in bounds), key=float)}]"
    if any(ranges):
        raise ArgumentError("a feature is a category in one model and a number in another; these have no mean")
    return ":".join(sorted({code for info in known for code in info.split(":")}, key=int))
