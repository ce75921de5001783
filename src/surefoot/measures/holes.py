"""Holes: documents that a run shows and that nobody judged, filled by an automatic judge's judgments.

It changes what is measured, and may favour a system: so it is counted for each system, the scores without it are kept,
and no decision rests on it.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import polars as pl

from surefoot.arrays import Flags, Floats
from surefoot.data.tools.judges import JudgmentOrigin
from surefoot.data.types.runs import Qrels, Run
from surefoot.errors import DataError, SurefootWarning, shortened
from surefoot.measures.matching import judgment_index


def fill_holes(judgments: Qrels, automatic: Qrels, runs: Sequence[Run], depth: float | None = None) -> Qrels:
    """People's judgments, and for documents that a run shows and people did not judge those of the automatic judge.

    Documents below the depth are not filled: they would change what is ideal, and nobody sees them. Queries that people
    did not judge stay unjudged.

    >>> people, judge = Qrels._read({"q": {"a": 2}}), Qrels._read({"q": {"a": 0, "b": 1, "c": 1}, "r": {"a": 1}})
    >>> fill_holes(people, judge, [Run._read({"q": ["a", "b"]})]).to_dict()
    {'q': {'a': 2.0, 'b': 1.0}}
    """
    if not set(judgments.queries) & set(automatic.queries):
        raise DataError(
            f"the automatic judgments ({shortened(automatic.name)}) have no query in common with the judgments: their "
            f"first query is {shortened(automatic.queries[0])}, that of {shortened(judgments.name)} is "
            f"{shortened(judgments.queries[0])}; are the ids the same?"
        )
    chosen = _fills(judgments, automatic, runs, depth)
    _warn_of_scale(judgments, automatic.grades[chosen], automatic.name)
    frame = pl.concat([judgments.to_frame(), automatic.to_frame().filter(pl.Series(chosen))])
    filled = Qrels._read(frame, judgments.name)
    filled.origin = JudgmentOrigin("people and machine", (judgments.name, automatic.name))
    return filled


def _warn_of_scale(judgments: Qrels, grades: Floats, name: str) -> None:
    """Say so where the automatic judge's grades lie outside people's: they may mean something else."""
    low, high = min(0.0, float(judgments.grades.min())), float(judgments.grades.max())
    outside = int(((grades < low) | (grades > high)).sum())
    if outside:
        warnings.warn(
            f"{outside:,} of {len(grades):,} automatic judgments ({shortened(name)}) that fill holes have grades "
            f"outside those of people ({low:g} to {high:g}); do both use the same scale?",
            SurefootWarning,
            stacklevel=4,
        )


def _fills(judgments: Qrels, automatic: Qrels, runs: Sequence[Run], depth: float | None) -> Flags:
    """Which of the automatic judgments, in ranked order, fill a hole."""
    codes = automatic.ranking.codes_at(np.arange(len(automatic)))
    of_judged_query = (judgment_index(automatic, judgments) >= 0)[automatic.ranking.query_of_position()]
    shown = np.zeros(len(codes), dtype=bool)
    for run in runs:
        position = run.ranking.find(codes)
        within = position >= 0
        if depth is not None:
            within &= run.ranking.ranks()[np.maximum(position, 0)] <= depth
        shown |= within
    return np.asarray(of_judged_query & shown & (judgments.ranking.find(codes) < 0))


def count_holes(
    judgments: Qrels, filled: Qrels, runs: Sequence[Run], depth: float | None, asked: Flags
) -> tuple[dict[str, int], dict[str, int]]:
    """For each run the holes in its results, down to a depth, and how many of them are filled.

    Only those judged queries count that are `asked`.
    """
    holes, fills = {}, {}
    for run in runs:
        number = judgment_index(run, judgments)
        judged = ((number >= 0) & asked[number])[run.ranking.query_of_position()]
        if depth is not None:
            judged &= run.ranking.ranks() <= depth
        codes = run.ranking.codes_at(np.flatnonzero(judged))
        is_hole = judgments.ranking.find(codes) < 0
        holes[run.name] = int(is_hole.sum())
        fills[run.name] = int((is_hole & (filled.ranking.find(codes) >= 0)).sum())
    return holes, fills
