"""Scores that others computed: a matrix, or results per query by measures, of which some are picked by name."""

from __future__ import annotations

import itertools
import os
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, overload

import numpy as np

from surefoot.arrays import Floats
from surefoot.data.per_query.long_scores import ALL, LongScores
from surefoot.data.per_query.recognition import results_in
from surefoot.data.reading.columns import floats_of, is_missing
from surefoot.data.types.scores import Scores, read_matrix, system_scores
from surefoot.errors import ArgumentError, DataError, SurefootWarning, name_list, shortened
from surefoot.measures import MissingTreatment
from surefoot.measures.notation import Measure, is_measure, named_measure

# What trec_eval prints and surefoot does not compute, or not under this name.
_TREC_EVAL = re.compile(
    r"num_\w+|runid|relstring(_\d+)?|gm_\w+|11pt_avg|infAP|(bin)?G|utility|set_\w+|Rprec_mult_[\d.]+|relative_P_\d+|"
    r"ndcg_rel|Rndcg|map_avgjg|P_avgjg|\w*avgjg\w*|prefs_\w+"
)
_SUMS = re.compile(r"num_\w+|NumQ|NumRet|NumRelRet|NumRel|NumRet\(.*\)|NumRel\(.*\)")  # all queries together: a sum
_QUERY_COUNTS = ("num_q", "NumQ")


@overload
def read_scores(
    source: Any, measure: str | Measure | None = None, *, systems: Sequence[str] | None = None,
    queries: Sequence[str] | None = None, missing: str = "error",
) -> Scores: ...  # fmt: skip
@overload
def read_scores(
    source: Any, measure: Iterable[str | Measure], *, systems: Sequence[str] | None = None,
    queries: Sequence[str] | None = None, missing: str = "error",
) -> list[Scores]: ...  # fmt: skip
def read_scores(
    source: Any,
    measure: str | Measure | Iterable[str | Measure] | None = None,
    *,
    systems: Sequence[str] | None = None,
    queries: Sequence[str] | None = None,
    missing: str = "error",
) -> Scores | list[Scores]:
    """Scores made elsewhere: a matrix, or the results per query that other programs write.

    A matrix is CSV, Parquet or a table with the query first and one column per system, a nested dict
    `{system: {query: score}}`, or an array of systems × queries with `systems` and `queries`. `measure` is its name.

    Results per query are files of `trec_eval -q` or `ir_measures -q`, one per system, as a list, a folder or a dict by
    name; long tables (name, qid, measure, value) as PyTerrier has them; `{system: {query: {measure: value}}}` of
    pytrec_eval; ranx' runs after `ranx.evaluate`. `measure` picks one of their measures by either spelling (`map` or
    `AP`), or several as a list, which gives a list. If a query has no value for some system, that is an error, or as
    `missing` says the value is 0 ("zero") or the query is left out for all systems ("drop").

    >>> read_scores({"today": {"q1": 0.5, "q2": 0.25}, "new": {"q1": 0.75, "q2": 0.0}}, measure="AP")
    <Scores AP: 2 systems × 2 queries>
    >>> rows = {"name": ["today", "new"], "qid": ["q1", "q1"], "measure": ["map", "map"], "value": [0.5, 0.75]}
    >>> read_scores(rows).measure
    'AP'
    """
    single = measure is None or is_measure(measure)
    if isinstance(source, Scores):
        return source if single else [source]
    if missing not in tuple(MissingTreatment):
        raise ArgumentError(f"missing is {shortened(missing)}; it must be one of {', '.join(MissingTreatment)}")
    requested: list[Any] = [] if measure is None else [measure] if single else list(measure)  # type: ignore[arg-type]
    named = systems is not None or queries is not None
    parts = None if named else results_in(source, is_result_name)
    if parts is None:
        if missing != MissingTreatment.error:
            raise ArgumentError(
                "--missing works only with runs and with results per query, but this is a score matrix; leave it out"
            )
        if len(requested) > 1:
            raise ArgumentError("a score matrix has one measure only; give its name, such as 'ERR@20'")
        matrix = read_matrix(source, str(requested[0]) if requested else None, systems=systems, queries=queries)
        return matrix if single else [matrix]
    scores = _picked(parts, [str(item) for item in requested], missing)
    return scores[0] if single else scores


def assessed_scores(source: Any, missing: str = MissingTreatment.error) -> list[Scores]:
    """Scores to assess: as `read_scores` reads them, but a table in memory gives those of each of its measures."""
    if missing not in tuple(MissingTreatment):
        raise ArgumentError(f"missing is {shortened(missing)}; it must be one of {', '.join(MissingTreatment)}")
    paths = source if isinstance(source, list | tuple) else [source]
    if isinstance(source, Scores) or any(isinstance(path, str | os.PathLike) for path in paths):
        return [read_scores(source)]
    parts = results_in(source, is_result_name)
    if parts is None:
        return [read_matrix(source)]
    return _picked(parts, measures_in(parts), missing)


def _picked(parts: Sequence[LongScores], requested: Sequence[str], missing: str) -> list[Scores]:
    """The scores by each measure requested, or by the only one."""
    unnamed = [part.called for part in parts if part.measures is None]
    if unnamed:
        if len(unnamed) < len(parts):
            raise DataError(f"{unnamed[0]}: no column says which measure a value belongs to; add a column 'measure'")
        if len(requested) > 1:
            raise ArgumentError(f"{unnamed[0]} has one measure only; give its name, such as 'ERR@20'")
        return [_scores(parts, None, missing, requested[0] if requested else "score")]
    chosen = [pick_measure(parts, name) for name in requested] or [only_measure(parts)]
    return [_scores(parts, name, missing, canonical(name)) for name in chosen]


def is_result_name(name: str) -> bool:
    """Whether it is what trec_eval or ir_measures call a measure.

    >>> [is_result_name(name) for name in ("map", "ndcg_cut_10", "num_ret", "alpha_nDCG@20", "303", "q1")]
    [True, True, True, True, False, False]
    """
    return bool(named_measure(name)) or bool(_TREC_EVAL.fullmatch(name)) or "@" in name


def measures_in(parts: Sequence[LongScores]) -> list[str]:
    """The measures that have a number for single queries, as they are written there."""
    names: dict[str, None] = {}
    for part in parts:
        if part.measures is None:
            continue
        seen: set[str] = set()
        for measure, query, value in zip(part.measures, part.queries, part.values, strict=True):
            if measure not in seen and query != ALL:
                seen.add(measure)
                if measure not in names and _is_number(value):
                    names[measure] = None
    return list(names)


def only_measure(parts: Sequence[LongScores]) -> str:
    """The one measure that there is."""
    names = measures_in(parts)
    if len(names) == 1:
        return names[0]
    if not names:
        raise DataError(
            f"{parts[0].called}: there is no number for a single query, only for all queries together; with trec_eval "
            "and ir_measures use -q"
        )
    example = next((name for name in names if named_measure(name)), names[0])
    raise ArgumentError(
        f"{parts[0].called} has {len(names)} measures; choose one or more, such as -m {example} (in Python "
        f"measure={example!r}): {name_list(names, 60)}"
    )


def pick_measure(parts: Sequence[LongScores], wanted: str) -> str:
    """The measure of this name, or else of another spelling of it, such as `map` for `AP`."""
    names = measures_in(parts)
    if wanted in names:
        return wanted
    meant = canonical(wanted)
    same = [name for name in names if canonical(name) == meant]
    if len(same) == 1:
        return same[0]
    if same:
        raise ArgumentError(
            f"{shortened(wanted)} may be any of {', '.join(same)}; give the name as it is written there"
        )
    if not names:
        return only_measure(parts)
    only_all = any(wanted in (part.measures or ()) for part in parts)
    why = "has no number for single queries in" if only_all else "is not in"
    raise ArgumentError(f"the measure {shortened(wanted)} {why} {parts[0].called}; there are: {name_list(names, 60)}")


def canonical(name: str) -> str:
    """The one name of a measure that surefoot knows; any other as it is.

    >>> canonical("ndcg_cut_10"), canonical("infAP")
    ('nDCG@10', 'infAP')
    """
    measure = named_measure(name)
    return name if measure is None else str(measure)


def _scores(parts: Sequence[LongScores], measure: str | None, missing: str, called: str) -> Scores:
    """The matrix of one measure, with systems and queries in the order in which they appear."""
    table: dict[str, dict[str, float]] = {}
    locations: dict[str, LongScores] = {}
    for part in parts:
        single, together = part.rows_of(measure)
        means = _by_system(part, together)
        for system, rows in _by_system(part, single).items():
            scores = table.setdefault(system, {})
            first: dict[str, int] = {}
            locations.setdefault(system, part)
            values = _numbers(part, system, rows)
            for row, value in zip(rows, values.tolist(), strict=True):
                query = part.queries[row]
                if query in scores:
                    _refuse_repeated(part, row, first.get(query), measure)
                scores[query], first[query] = value, row
            if measure is not None:
                _compare_with_all(part, measure, rows, means.get(system, ()), values)
    for part in parts:
        lacks = next((system for system in part.systems if system not in table), None)
        if lacks is not None:
            raise DataError(f"{part.called}: system {shortened(lacks)} has no value of {called} for any query")
    # Also those that only another measure has: a line may be missing.
    queries = [query for query in dict.fromkeys(query for part in parts for query in part.queries) if query != ALL]
    lacking = {system: [query for query in queries if query not in scores] for system, scores in table.items()}
    gone = set(itertools.chain.from_iterable(lacking.values()))
    if missing == MissingTreatment.error:
        _refuse_missing(lacking, len(queries), locations)
    elif missing == MissingTreatment.drop:
        queries = [query for query in queries if query not in gone]
        if not queries:
            raise DataError(f"{parts[0].called}: no query is left, because each is missing from at least one system")
    return Scores(
        [[scores.get(query, 0.0) for query in queries] for scores in table.values()],
        list(table),
        queries,
        called,
        missing={system: len(absent) for system, absent in lacking.items()},
        dropped=len(gone) if missing == MissingTreatment.drop else 0,
    )


def _by_system(part: LongScores, rows: Sequence[int]) -> dict[str, list[int]]:
    by_system: dict[str, list[int]] = {}
    for row in rows:
        by_system.setdefault(part.systems[row], []).append(row)
    return by_system


def _numbers(part: LongScores, system: str, rows: Sequence[int]) -> Floats:
    values = [part.values[row] for row in rows]
    for row, value in zip(rows, values, strict=True):
        if isinstance(value, float | np.floating) and is_missing(value):
            raise DataError(
                f"{part.where(row)}: the value of query {shortened(part.queries[row])} is NaN; every query needs a "
                "number. PyTerrier writes NaN for topics without judgments: leave these out (dropna)"
            )
    return system_scores(
        values, system, lambda row: f"{part.where(rows[row])}, query {shortened(part.queries[rows[row]])}"
    )


def _refuse_repeated(part: LongScores, row: int, first: int | None, measure: str | None) -> None:
    by = "" if measure is None else f" by {measure}"
    before = "in another file" if first is None else f"first at {part.where(first).rpartition(', ')[2]}"
    raise DataError(
        f"{part.where(row)}: query {shortened(part.queries[row])} appears twice{by} for system "
        f"{shortened(part.systems[row])} ({before}); keep one of the two"
    )


def _refuse_missing(lacking: Mapping[str, Sequence[str]], queries: int, locations: Mapping[str, LongScores]) -> None:
    for system, absent in lacking.items():
        if absent:
            raise DataError(
                f"{locations[system].called}: system {shortened(system)} has no value for {len(absent):,} of "
                f"{queries:,} queries; the first is {shortened(absent[0])}. Complete it, score these queries 0 "
                "(missing zero, as trec_eval -c counts them), or leave them out (missing drop)"
            )


def _compare_with_all(
    part: LongScores, measure: str, rows: Sequence[int], together: Sequence[int], values: Floats
) -> None:
    """Warn where what is written of all queries together is not the mean of the lines, beyond the digits written."""
    if measure.startswith("gm_"):  # a geometric mean
        return
    if len(together) > 1:
        _refuse_repeated(part, together[1], together[0], measure)
    written = floats_of([part.values[row] for row in together], "the value", lambda row: part.where(together[row]))
    sums = bool(_SUMS.fullmatch(measure))
    for row, expected in zip(together, written.tolist(), strict=True):
        found = float(values.sum() if sums else values.mean())
        rounding = max(_step(part.values[single]) for single in rows)
        tolerance = 0.0 if sums else (_step(part.values[row]) + rounding) / 2  # counts are not rounded
        if not abs(found - expected) <= tolerance * (1 + 1e-9) + 1e-9 * max(1.0, abs(found)):
            warnings.warn(
                f"{part.where(row)}: {measure} of all queries is {part.values[row]}, but the "
                f"{'sum' if sums else 'mean'} of the {len(rows):,} queries there is {found:.6g}"
                f"{_count(part, len(rows))}",
                SurefootWarning,
                stacklevel=4,
            )


def _count(part: LongScores, found: int) -> str:
    """What a file says of how many queries it is about, where these are not all there."""
    for name in _QUERY_COUNTS:
        for row in part.rows_of(name)[1] if part.measures is not None else ():
            if str(part.values[row]) != str(found):
                return (
                    f". The file says that there are {part.values[row]} queries: trec_eval -c counts queries without "
                    "results as 0, but prints no line for them"
                )
    return ". Are lines missing, or was the file changed?"


def _step(value: Any) -> float:
    """What the last digit of a written number is worth; nothing for a number that was not written."""
    if not isinstance(value, str):
        return 0.0
    try:
        exponent = Decimal(value.strip()).as_tuple().exponent
    except InvalidOperation:
        return 0.0
    return float(10.0**exponent) if isinstance(exponent, int) and abs(exponent) < 300 else 0.0


def _is_number(value: Any) -> bool:
    try:
        floats_of([value], "the value", str)
    except DataError:
        return False
    return True
