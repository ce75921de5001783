"""The weighted mean of models in LightGBM's own text: all their trees, with every leaf multiplied by its weight."""

from __future__ import annotations

import re
from collections.abc import Sequence

from surefoot.errors import ArgumentError

# What a document's score is made of. Linear leaves have a constant and coefficients; internal values explain scores.
_SCALED = re.compile(r"(?m)^(leaf_value|internal_value|leaf_const|leaf_coeff|shrinkage)=(.*)$")
_NUMBER = re.compile(r"[^ ]+")
_RANGE = re.compile(r"\[(.+):(.+)\]")


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
