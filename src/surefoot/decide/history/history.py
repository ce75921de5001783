"""`history`: past decisions and assessments in series that may be compared, and which queries were hurt repeatedly."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from surefoot.decide.history.history_data import (
    DATES_FROM,
    SCHEMA,
    HistoryData,
    HurtRepeatedly,
    ReleaseData,
    ReleaseSeries,
)
from surefoot.decide.history.history_files import (
    HistoryFile,
    ReleaseComparison,
    ScorePairs,
    is_hurt,
    is_hurt_over_20,
    read_files,
)
from surefoot.decide.history.history_view import headline, tables, to_csv, to_markdown, to_page
from surefoot.report.kinds import KINDS
from surefoot.report.result import PlainResult, Renderings

_Dated = tuple[str, str, ReleaseComparison]  # date, file, and what it compares


class ReleaseHistory(PlainResult):
    """Releases over time; `to_dict` is its plain data, everything else renders that."""

    _kind = KINDS["history"]
    _renderings = Renderings(tables, to_csv, to_page, to_markdown)

    def __repr__(self) -> str:
        """The history in words."""
        return f"<ReleaseHistory: {headline(self._data)}>"


def history(folder: str | os.PathLike[str], date_from: str = DATES_FROM[0]) -> ReleaseHistory:
    """Past releases from the JSON of decisions and assessments in a folder, and in the folders in it.

    `date_from` says where dates come from: "name" (as in `2026-11-15-gate.json`, or a folder `2026-11-15`),
    "modified" (when files were changed), or "auto": names if all files have a date there, when they were changed if
    none has. Releases of different kinds, measures, baselines or α are never put on one line.
    """
    files, left_out, source = read_files(folder, date_from)
    dated = [(file.date, file.name, comparison) for file in files for comparison in file.comparisons]
    keys = _series_keys(files)
    order = sorted(dict.fromkeys(keys), key=lambda key: key[0] != "decision")
    releases = [_release(*one, order.index(key)) for one, key in zip(dated, keys, strict=True)]
    distinct = _distinct(dated)
    data: HistoryData = {
        "schema": SCHEMA,
        "date_from": source,
        "releases": releases,
        "series": [
            _series([one for one, key in zip(dated, keys, strict=True) if key == wanted],
                    [number for number, key in enumerate(keys) if key == wanted], wanted[-1] is not None)
            for wanted in order
        ],
        "comparisons": len(distinct),
        "without_queries": sum(comparison.pairs is None for _, _, comparison in dated),
        "hurt_repeatedly": _hurt_repeatedly(distinct),
        "left_out": left_out,
    }  # fmt: skip
    return ReleaseHistory(data)


def _series_keys(files: Sequence[HistoryFile]) -> list[tuple[object, ...]]:
    """What each comparison has in common with those of its series; its system last, where that counts."""
    plain = [
        (one.kind, one.measure, one.baseline, one.population, one.by_traffic)
        for file in files
        for one in file.comparisons
    ]
    systems = [one.candidate for file in files for one in file.comparisons]
    numbers = [number for number, file in enumerate(files) for _ in file.comparisons]
    candidates: dict[tuple[object, ...], dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for key, number in zip(plain, numbers, strict=True):
        candidates[key][number] += 1
    # Where each file has one candidate, candidates follow each other; where a file has several, each has its own line.
    return [
        (*key, system if max(candidates[key].values()) > 1 else None)
        for key, system in zip(plain, systems, strict=True)
    ]


def _release(date: str, file: str, one: ReleaseComparison, series: int) -> ReleaseData:
    return {
        "date": date, "file": file, "kind": one.kind, "measure": one.measure, "baseline": one.baseline,
        "candidate": one.candidate, "decision": one.decision, "queries": one.queries, "gain": one.gain,
        "risk": one.risk, "u_risk": one.u_risk, "losses": one.losses, "loss_over_20": one.loss_over_20,
        "series": series,
    }  # fmt: skip


def _series(dated: Sequence[_Dated], places: list[int], of_one_system: bool) -> ReleaseSeries:
    first = dated[0][2]
    queries = [None if one.pairs is None else frozenset(one.pairs) for _, _, one in dated]
    return {
        "kind": first.kind, "measure": first.measure, "baseline": first.baseline,
        "system": first.candidate if of_one_system else None, "by_traffic": first.by_traffic,
        "same_queries": None if None in queries else len(set(queries)) == 1, "releases": places,
    }  # fmt: skip


def _distinct(dated: Sequence[_Dated]) -> list[_Dated]:
    """The comparisons that have queries, each once.

    A decision and an assessment of the same release, or a decision and the one of an earlier batch, have the same
    scores on the queries of the smaller of both.
    """
    alike: dict[tuple[str, str, str], list[_Dated]] = defaultdict(list)
    for date, file, one in sorted(dated, key=lambda each: -len(each[2].pairs or ())):
        if one.pairs is None:
            continue
        kept = alike[one.measure, one.baseline, one.candidate]
        for place, (_, _, other) in enumerate(kept):
            if one.pairs.items() <= (other.pairs or {}).items():
                if other.decision is None and one.decision is not None:
                    kept[place] = (date, file, replace(other, decision=one.decision, texts=one.texts))
                break
        else:
            kept.append((date, file, one))
    return sorted((each for kept in alike.values() for each in kept), key=lambda each: each[:2])


def _hurt_repeatedly(distinct: Sequence[_Dated]) -> list[HurtRepeatedly]:
    """Queries hurt at least twice by one measure against one baseline, the most often hurt first."""
    groups: dict[tuple[str, str, tuple[str, ...]], list[tuple[str, bool, ScorePairs]]] = defaultdict(list)
    texts: dict[str, str] = {}
    for date, _, one in distinct:
        groups[one.measure, one.baseline, one.population].append((date, one.decision == "ship", one.pairs or {}))
        texts |= one.texts
    found: list[HurtRepeatedly] = []
    for (measure, baseline, _), compared in groups.items():
        by_query: dict[str, list[tuple[str, bool, float, float]]] = defaultdict(list)
        for date, shipped, pairs in compared:
            for query, pair in pairs.items():
                by_query[query].append((date, shipped, *pair))
        for query, rows in by_query.items():
            dates = [date for date, _, before, after in rows if is_hurt(before, after)]
            if len(dates) < 2:
                continue
            differences = [after - before for _, _, before, after in rows]
            found.append({
                "query": query, "text": texts.get(query), "measure": measure, "baseline": baseline,
                "compared": len(rows), "hurt": len(dates),
                "hurt_shipped": sum(shipped and is_hurt(before, after) for _, shipped, before, after in rows),
                "loss_over_20": sum(is_hurt_over_20(before, after) for _, _, before, after in rows),
                "mean_difference": sum(differences) / len(rows), "worst_difference": min(differences),
                "last_hurt": max(dates),
            })  # fmt: skip
    return sorted(
        found, key=lambda one: (-one["hurt"], -one["hurt"] / one["compared"], one["mean_difference"], one["query"])
    )
