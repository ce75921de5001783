"""Each row of a study in one line: what its model learns, or how it ranks."""

from __future__ import annotations

from collections.abc import Sequence

from surefoot.personal.options import (
    LOWEST,
    METHOD_TITLES,
    RISK,
    SELECTIVE,
    STANDARD,
    STANDARD_REGRESSION,
    WEIGHTED,
    WEIGHTED_REGRESSION,
    WEIGHTED_RISK,
)
from surefoot.risk.assessment_data import Json

RANDOM = "random"
METHOD_LINES = {
    STANDARD: "Learns to put clicked results first; the order of the others is free.",
    STANDARD_REGRESSION: "The same labels, learned by least squares, so that every rank counts alike.",
    WEIGHTED: "Learns clicks and (with weight β) the shown order, so that results move only for a good reason.",
    WEIGHTED_REGRESSION: "Learns clicks and (with weight β) the shown order, by least squares.",
    RISK: "Learns clicks, and counts a list that gets worse 1 + α times.",
    WEIGHTED_RISK: "Learns clicks and the shown order, and counts a list that gets worse 1 + α times.",
    LOWEST: "Learns only from results down to one below the lowest click.",
    SELECTIVE: "Uses the standard model if people agree on what to click (low entropy); else keeps the shown order.",
    RANDOM: "Uses the standard model on randomly chosen lists; else keeps the shown order.",
}


def method_line(row: Json) -> str:
    """What a row's model learns, or how it ranks; empty for a method that this version does not know."""
    return METHOD_LINES.get(row["method"], "")


def full_label(row: Json, label: str | None = None) -> str:
    """A row's label, or another one of its model, that needs no other row before it.

    >>> full_label({"method": "risk", "label": "… least risk at equal gain"})
    'Risk-sensitive: least risk at equal gain'
    """
    label = row["label"] if label is None else label
    return f"{METHOD_TITLES.get(row['method'], row['method'])}: {label[2:]}" if label.startswith("… ") else label


def distinct_rows(rows: Sequence[Json]) -> list[tuple[Json, list[str]]]:
    """Each model once, with the labels of its other rows: two rules may choose one model.

    >>> rows = [{"name": "a", "label": "A"}, {"name": "b", "label": "B"}, {"name": "a", "label": "… again"}]
    >>> [(row["label"], also) for row, also in distinct_rows(rows)]
    [('A', ['… again']), ('B', [])]
    """
    others: dict[str, list[str]] = {}
    first: dict[str, Json] = {}
    for row in rows:
        if row["name"] in first:
            others[row["name"]].append(row["label"])
        else:
            first[row["name"]], others[row["name"]] = row, []
    return [(row, others[name]) for name, row in first.items()]
