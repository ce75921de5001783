"""The top results of the queries worth looking at, packed for the page, and what each result adds to a measure.

Ids stand once in a sorted table, each without what it shares with the one before; results refer to them by number.
Of a system that is compared with a baseline, a result that the baseline's own list has too is its place there and no
more: most results are. `assets/packed.js` unpacks all of it.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from surefoot.arrays import Codes, Floats, Ints
from surefoot.data.reading.texts import shown_texts
from surefoot.data.types.ranking import Ranking
from surefoot.data.types.runs import Run
from surefoot.data.types.scores import Scores
from surefoot.risk.assessment_data import Json

TOP_RESULTS = 20
_LAST_SHOWN_RANK = 65_535  # a rank beyond it is shown as this one
_LONGEST_TEXT = 200  # letters of a text that are shown
_SEPARATORS = " ,;|~^\t"


def packed_results(
    scores: Scores, baseline: str | None, differences: Sequence[Floats], detail: int, top: int = TOP_RESULTS
) -> Json | None:
    """Top results of each system's `detail` most hurt and most helped queries, with grades and where each moved.

    `baseline` names the system whose results stand beside each candidate's (None where it has none), `differences` has
    for each measure every system's difference from it on each query. None where the scores did not come from runs.
    """
    if not scores.runs or scores.qrels is None or not detail:
        return None
    runs = {run.name: run for run in scores.runs}
    if not runs.keys() >= set(scores.systems):
        return None
    shown_queries = {
        system: np.unique(np.concatenate([_extremes(difference[row], detail) for difference in differences]))
        for row, system in enumerate(scores.systems)
        if system != baseline
    }
    if baseline is not None:
        shown_queries[baseline] = np.unique(np.concatenate([*shown_queries.values(), np.empty(0, dtype=np.int64)]))
    lists = {system: TopResults(runs[system], scores.queries, shown_queries[system], top) for system in scores.systems}
    ids = pl.concat([lists[system].ids() for system in scores.systems])
    number = ids.rank("dense").to_numpy().astype(np.int64) - 1
    grades = {system: grades_of(scores, lists[system].codes) for system in scores.systems}
    levels = sorted(
        {grade for own_grades in grades.values() for grade in np.unique(own_grades[np.isfinite(own_grades)]).tolist()}
    )
    packed, start = [], 0
    for system in scores.systems:
        own, grade = lists[system], grades[system]
        level = np.where(np.isfinite(grade), np.searchsorted(np.asarray(levels), grade) + 1, 0)
        documents = number[start : start + len(own.codes)]
        start += len(own.codes)
        entry: Json = {"queries": pack(np.diff(own.queries, prepend=0)), "lengths": pack(own.lengths)}
        entry |= {"places": None, "before": None, "after": None}
        if baseline not in (None, system):
            before = ranks_in(runs[str(baseline)].ranking, own.codes)
            after = ranks_in(runs[system].ranking, lists[str(baseline)].codes_of(own.queries))
            in_both = (before >= 1) & (before <= top)
            entry["places"] = pack(np.where(in_both, before, 0))
            entry["before"] = pack(before[~in_both])
            entry["after"] = pack(after[(after < 1) | (after > top)])
            documents, level = documents[~in_both], level[~in_both]
        entry |= {"documents": pack(documents), "grades": pack(level.astype(np.int64))}
        packed.append(entry)
    distinct = ids.unique().sort().to_list()
    return {
        "top": top,
        "baseline": baseline,
        "levels": levels,
        "ids": _front_code(distinct),
        "documents": distinct,
        "systems": packed,
    }


def pack(numbers: npt.NDArray[np.integer]) -> Json:
    """Whole numbers in as few bytes each as the largest needs, in base64."""
    most = int(numbers.max()) if len(numbers) else 0
    width = max(1, (most.bit_length() + 7) // 8)
    raw = np.ascontiguousarray(numbers, dtype="<u8").view(np.uint8).reshape(-1, 8)[:, :width]
    return {"width": width, "data": base64.b64encode(raw.tobytes()).decode("ascii")}


def page_texts(source: Any, ids: Sequence[str]) -> list[str] | None:
    """The text of each id, from a file, a dict or a table: "" where there is none; None without a source."""
    if source is None:
        return None
    texts = shown_texts(source, frozenset(ids))
    return [_clip(texts.get(key, "")) for key in ids]


def _clip(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"


class TopResults:
    """A run's top results on some queries, end to end."""

    def __init__(self, run: Run, names: tuple[str, ...], queries: Ints, top: int) -> None:
        self.run, self.queries = run, queries
        number = {name: i for i, name in enumerate(run.queries)}
        at = np.array([number.get(names[query], -1) for query in queries], dtype=np.int64)
        offsets = run.ranking.offsets
        self.lengths = np.where(at >= 0, np.minimum(run.ranking.lengths[at], top), 0)
        self.ends = np.cumsum(self.lengths)
        first = np.repeat(offsets[at] - (self.ends - self.lengths), self.lengths)
        self.positions = first + np.arange(len(first))
        self.codes = run.ranking.codes_at(self.positions)

    def ids(self) -> pl.Series:
        """The documents' ids: one reading of the run's file for all of them."""
        if not len(self.positions):
            return pl.Series("doc_id", [], dtype=pl.String)
        return self.run.documents(self.positions)

    def codes_of(self, queries: Ints) -> Codes:
        """The codes of the results on some of the queries."""
        at = np.searchsorted(self.queries, queries)
        positions = [np.arange(self.ends[i] - self.lengths[i], self.ends[i]) for i in at]
        return np.asarray(self.codes[np.concatenate([*positions, np.empty(0, dtype=np.int64)])])


def _extremes(difference: Floats, detail: int) -> Ints:
    """The queries with the lowest and the highest differences, in the order of the queries."""
    order = np.argsort(difference, kind="stable")
    return np.unique(np.concatenate([order[:detail], order[max(0, len(order) - detail) :]]))


def ranks_in(ranking: Ranking, codes: Codes) -> Ints:
    """Ranks from 1, 0 for what a ranking does not hold."""
    at = ranking.find(codes)
    return np.where(at >= 0, np.minimum(ranking.rank_at(at), _LAST_SHOWN_RANK), 0)


def grades_of(scores: Scores, codes: Codes) -> Floats:
    """The documents' grades, NaN where they were not judged."""
    if scores.qrels is None:
        return np.full(len(codes), np.nan)
    at = scores.qrels.ranking.find(codes)
    return np.where(at >= 0, scores.qrels.grades[at], np.nan)


def _front_code(ids: list[str]) -> Json:
    """Sorted ids, each without the start it shares with the one before."""
    shared = [0, *(_shared(one, other) for one, other in pairwise(ids))] if ids else []
    rest = [text[skip:] for text, skip in zip(ids, shared, strict=True)]
    separator = next((mark for mark in _SEPARATORS if not any(mark in text for text in rest)), None)
    return {
        "shared": pack(np.array(shared, dtype=np.int64)),
        "separator": separator,
        "rest": rest if separator is None else separator.join(rest),
    }


def _shared(one: str, other: str) -> int:
    """The length of a common start, short of any letter that JavaScript counts as two."""
    length = 0
    for a, b in zip(one, other, strict=False):
        if a != b or a > "\uffff":
            break
        length += 1
    return length


_KINDS = {"nDCG": "dcg", "DCG": "dcg", "ERR": "err", "AP": "ap", "RR": "rr", "P": "count", "R": "count"}


def measure_terms(notation: str, grades: Sequence[float]) -> Json | None:
    """How `termsOf` in rankings.js adds up a list of these grades; None where a measure is no sum over its results.

    >>> measure_terms("nDCG(dcg='exp-log2')@10", [0, 1, 2])
    {'kind': 'dcg', 'cutoff': 10, 'gains': [[1.0, 1.0], [2.0, 3.0]]}
    >>> measure_terms("AP(rel=2)", [0, 1, 2]), measure_terms("my own", [1])
    ({'kind': 'ap', 'cutoff': None, 'gains': [[2.0, 1.0]]}, None)
    """
    from surefoot.measures.effectiveness import gains, stopping_chance
    from surefoot.measures.notation import named_measure

    measure = named_measure(notation)
    if measure is None or measure.family not in _KINDS:
        return None
    settings = measure.settings
    relevant = np.array([grade for grade in grades if grade > 0 and grade >= settings.get("rel", 0)], dtype=np.float64)
    if "dcg" in settings:
        values = gains(relevant, settings["dcg"])
    elif "max_rel" in settings:
        values = stopping_chance(relevant, settings["max_rel"])
    else:
        values = np.ones(len(relevant))
    return {
        "kind": _KINDS[measure.family],
        "cutoff": measure.cutoff,
        "gains": np.column_stack([relevant, values]).tolist(),
    }
