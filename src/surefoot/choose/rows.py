"""Rows of a sweep's result: which is the gain-only model, and what a choice per fold comes to on all folds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from surefoot.choose.options import MODEL
from surefoot.learn.options import OBJECTIVE
from surefoot.risk.assessment_data import Json

_TIMES = {1: "once", 2: "twice", 3: "three times", 4: "four times", 5: "five times"}
_MEANS = ("mean", "gain", "reward", "risk")
_SUMS = ("wins", "losses", "ties", "loss_over_20")


def gain_only_rows(rows: Sequence[Json]) -> list[Json]:
    """The models that optimise gain alone: one, unless a grid that is not tuned has several."""
    return [row for row in rows if row["kind"] == MODEL and row["objective"] == OBJECTIVE]


def gain_only(rows: Sequence[Json]) -> Json | None:
    """The gain-only model that all others are held against: the first."""
    return next(iter(gain_only_rows(rows)), None)


def pooled(chosen: Mapping[str, Json], part: str = "test", *, saved: bool = False) -> Json:
    """The figures over all folds' queries where each fold has the row that was chosen for it.

    They are means over seeds; on test data those of the first seed, whose model is saved, where `saved` is true.
    """
    folds = [row["folds"][fold] for fold, row in chosen.items()]
    each = [figures["first_seed"] if saved and "first_seed" in figures else figures[part] for figures in folds]
    queries = sum(figures["queries"] for figures in each)
    weights = [figures.get("weight", figures["queries"]) for figures in each]  # by traffic, where that counts
    means: Json = {
        key: sum(figures[key] * weight for figures, weight in zip(each, weights, strict=True)) / sum(weights)
        for key in _MEANS
    }
    return means | {key: sum(figures[key] for figures in each) for key in _SUMS} | {"queries": queries}


def chosen_in_words(chosen: Mapping[str, Json]) -> str:
    """Which rows were chosen, and how often, in words.

    >>> chosen_in_words({"1": {"name": "gain"}, "2": {"name": "saro α=5"}, "3": {"name": "saro α=5"}})
    'saro α=5 twice, gain once'
    """
    names = [str(row["name"]) for row in chosen.values()]
    if len(set(names)) == 1:
        return names[0] + " each time" * (len(names) > 1)
    often = sorted(dict.fromkeys(names), key=lambda name: -names.count(name))
    return ", ".join(f"{name} {_TIMES.get(names.count(name), f'{names.count(name)} times')}" for name in often)
