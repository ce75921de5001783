"""Effectiveness of systems on queries: the matrix that every risk measure starts from."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from surefoot.arguments import distinct_names
from surefoot.arrays import LARGEST_SCORE, Floats, exact_floats
from surefoot.data.per_query.long_scores import refuse_table_of_means
from surefoot.data.reading.columns import first_repeated, floats_of, ids_of, is_masked, names_of, row_of
from surefoot.data.reading.csv_table import check_csv_names
from surefoot.data.reading.files import WHITESPACE
from surefoot.data.reading.frames import (
    is_columns,
    keys_of,
    write_frame,
)
from surefoot.data.reading.parquet import is_parquet
from surefoot.data.reading.polars_process import refuse_in_fork
from surefoot.data.reading.query_tables import query_table
from surefoot.data.reading.traffic import TrafficWeights, query_weights, read_traffic
from surefoot.data.types.runs import Qrels, Run
from surefoot.data.writing.all_or_nothing import write_bytes
from surefoot.errors import ArgumentError, DataError, did_you_mean, name_list, shortened

FLOOR = 1e-5  # the least score in a geometric mean
_ACCEPTED = "a file, a nested dict {system: {query: score}}, or a pandas, polars or Arrow table"


class FilledHoles(NamedTuple):
    """Documents that nobody judged and that an automatic judge filled, by system, and the scores without that."""

    judge: str
    holes: dict[str, int]
    filled: dict[str, int]
    without: Floats  # systems × queries


class Scores:
    """A systems × queries matrix of effectiveness.

    `values` is float64, `systems` and `queries` name its rows and columns, `measure` says what was measured.
    `missing` counts, for each system, the judged queries for which it returned nothing. They score 0, unless
    `dropped` judged queries were left out because some system returned nothing for them.
    `no_relevant` counts the queries without any relevant document. When the scores come from runs,
    `runs` and `qrels` are kept, so that rankings can be compared and shown. `filled` says which holes in the judgments
    an automatic judge filled. `traffic` says how often each query is asked; means are weighted by it.

    >>> scores = Scores([[0.5, 0.25], [0.75, 0.0]], systems=["today", "new"], queries=["q1", "q2"])
    >>> scores["new"]
    array([0.75, 0.  ])
    >>> scores.mean()
    array([0.375, 0.375])
    """

    __slots__ = (
        "_weighting",
        "dropped",
        "filled",
        "measure",
        "missing",
        "no_relevant",
        "qrels",
        "queries",
        "runs",
        "systems",
        "tie_rule",
        "values",
    )  # fmt: skip

    def __init__(
        self,
        values: npt.ArrayLike,
        systems: Sequence[str],
        queries: Sequence[str],
        measure: str = "score",
        *,
        missing: Mapping[str, int] | None = None,
        dropped: int = 0,
        no_relevant: int | None = None,
        tie_rule: str | None = None,
        runs: Sequence[Run] = (),
        qrels: Qrels | None = None,
        filled: FilledHoles | None = None,
        traffic: TrafficWeights | None = None,
    ) -> None:
        self.values: Floats = _matrix(values)
        self.systems = names_of(systems, "the system's name", row_of("systems"))
        self.queries = names_of(queries, "the query", row_of("queries"))
        self.measure = str(measure)
        self.missing = dict.fromkeys(self.systems, 0) | dict(missing or {})
        self.dropped = dropped
        self.no_relevant = no_relevant
        self.tie_rule = tie_rule
        self.runs = tuple(runs)
        self.qrels = qrels
        self.filled = filled
        self._weighting = traffic
        self._check()

    def _check(self) -> None:
        expected = (len(self.systems), len(self.queries))
        if self.values.shape != expected:
            raise ArgumentError(f"values have shape {self.values.shape}, the names {expected} (systems, queries)")
        if 0 in expected:
            raise ArgumentError(f"scores need at least one system and one query, found {expected}")
        for what, names in (("system", self.systems), ("query", self.queries)):
            if len(set(names)) < len(names):
                twice = shortened(first_repeated(names))
                raise ArgumentError(f"two {what} columns are named {twice}; every {what} needs its own name")
        if not (np.abs(self.values) <= LARGEST_SCORE).all():
            row, column = np.argwhere(~(np.abs(self.values) <= LARGEST_SCORE))[0]
            raise ArgumentError(
                f"the score of system {shortened(self.systems[row])} on query {shortened(self.queries[column])} is "
                f"{self.values[row, column]:g}; every score must be finite and within ±{LARGEST_SCORE:g}"
            )

    def _row(self, system: str) -> int:
        """The row of a system, by name."""
        try:
            return self.systems.index(system)
        except ValueError:
            raise ArgumentError(unknown_system(system, self.systems)) from None

    def __getitem__(self, system: str) -> Floats:
        """One system's scores, one value per query."""
        return np.asarray(self.values[self._row(system)])

    def __repr__(self) -> str:
        """Size and measure."""
        weighted = "" if self._relative_weights is None else ", weighted by traffic"
        return f"<Scores {self.measure}: {len(self.systems):,} systems × {len(self.queries):,} queries{weighted}>"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from surefoot.data.notebook import scores_view

        return scores_view(self).to_html()

    def select(self, *, systems: Iterable[str] | None = None, queries: Iterable[str] | None = None) -> Scores:
        """The scores of some systems on some queries, by their names and in that order; all by default.

        >>> scores = Scores([[0.5, 0.25], [0.75, 0.0]], systems=["today", "new"], queries=["q1", "q2"])
        >>> scores.select(systems=["new"], queries=["q2"]).values
        array([[0.]])
        """
        chosen = [*self.systems] if systems is None else distinct_names("systems", systems)
        rows = [self._row(system) for system in chosen]
        columns = None
        if queries is not None:
            number = {query: column for column, query in enumerate(self.queries)}
            named = distinct_names("queries", queries)
            unknown = [query for query in named if query not in number]
            if unknown:
                raise ArgumentError(
                    f"the scores have no query {shortened(unknown[0])}; their first is {shortened(self.queries[0])}"
                )
            columns = [number[query] for query in named]
        selected = self if columns is None else self._only(columns)
        known = {run.name: run for run in self.runs}
        return Scores(
            selected.values[rows], chosen, selected.queries, self.measure,
            missing={name: self.missing[name] for name in chosen} if columns is None else None,
            dropped=selected.dropped, no_relevant=selected.no_relevant, tie_rule=self.tie_rule,
            runs=[known[name] for name in chosen if name in known] if columns is None else (),
            qrels=selected.qrels, traffic=selected._weighting,
        )  # fmt: skip

    def _only(self, columns: Sequence[int]) -> Scores:
        """The scores on some of the queries, by their numbers; without the runs."""
        return Scores(
            self.values[:, columns], self.systems, [self.queries[column] for column in columns], self.measure,
            tie_rule=self.tie_rule, traffic=None if self._weighting is None else self._weighting.only(list(columns)),
        )  # fmt: skip

    def with_traffic(self, traffic: Any) -> Scores:
        """The scores on the queries that are asked, weighted by how often.

        `traffic` is a file, a dict {query: count} or a table.

        >>> scores = Scores([[0.5, 0.25, 1.0]], systems=["today"], queries=["q1", "q2", "q3"])
        >>> scores.with_traffic({"q1": 30, "q2": 10}).mean()
        array([0.4375])
        """
        positions, weighting = query_weights(read_traffic(traffic), self.queries)
        asked = [self.queries[position] for position in positions]
        missing, no_relevant = self.missing, self.no_relevant
        filled = self.filled
        if weighting.left_out:
            missing = {run.name: len(set(asked).difference(run.queries)) for run in self.runs}
            if self.qrels is not None:
                best = dict(zip(self.qrels.queries, self.qrels.grades[self.qrels.ranking.offsets[:-1]], strict=True))
                no_relevant = sum(best[query] <= 0 for query in asked)
            if filled is not None:
                raise ArgumentError(
                    f"{weighting.left_out:,} of the queries whose holes were filled have no traffic; give the traffic "
                    "to score(…, traffic=…), which leaves them out first"
                )
        return Scores(
            self.values[:, positions], self.systems, asked, self.measure, missing=missing, dropped=self.dropped,
            no_relevant=no_relevant, tie_rule=self.tie_rule, runs=self.runs, qrels=self.qrels, filled=filled,
            traffic=weighting,
        )  # fmt: skip

    @property
    def _relative_weights(self) -> Floats | None:
        """The queries' weights over their mean; None where all count the same."""
        return None if self._weighting is None else self._weighting.relative

    def mean(self) -> Floats:
        """Arithmetic mean over queries, one value per system; by traffic where that is known."""
        weights = self._relative_weights
        if weights is None:
            return np.asarray(self.values.mean(axis=1))
        return np.asarray(np.einsum("ij,j->i", self.values, weights) / len(self.queries))

    def _largest(self) -> float:
        """The greatest score without its sign, which rounding is measured by."""
        return max(float(self.values.max()), -float(self.values.min()))

    def geometric_mean(self, floor: float = FLOOR) -> Floats:
        """Geometric mean over queries, each score at least `floor`: of AP, trec_eval's gm_map (GMAP)."""
        logs = (np.log(np.maximum(row, floor)) for row in self.values)  # a row at a time, to keep memory small
        weights = self._relative_weights
        if weights is None:
            return np.exp([row.mean() for row in logs])
        return np.exp([np.einsum("i,i->", row, weights) / len(self.queries) for row in logs])

    def to_frame(self) -> pl.DataFrame:
        """A polars frame: `query` first, then one column per system."""
        if "query" in self.systems:
            raise DataError(
                "a system has the name 'query', which is also the name of the query column; rename the system"
            )
        columns = [pl.Series("query", self.queries, dtype=pl.String)]
        return pl.DataFrame(columns + [pl.Series(n, v) for n, v in zip(self.systems, self.values, strict=True)])

    def to_pandas(self) -> Any:
        """The same as `to_frame`, in pandas."""
        from surefoot.data.reading.frames import pandas_frame

        return pandas_frame(self.to_frame())

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the matrix as CSV (compressed by the ending) or `.parquet`; `read_scores` reads it back."""
        if is_parquet(path):
            write_frame(path, self.to_frame())
        else:
            refuse_in_fork("writing scores")
            check_csv_names(path, (*self.systems, *self.queries))
            write_bytes(path, self.to_frame().write_csv().encode())


def unknown_system(name: str, systems: Sequence[str]) -> str:
    """A message for a system that is not there, with the ones that are."""
    hint = did_you_mean(name, systems) or "."
    return f"no system is named {shortened(name)}{hint} The systems are: {name_list(systems)}"


def read_matrix(
    source: Any,
    measure: str | None = None,
    *,
    systems: Sequence[str] | None = None,
    queries: Sequence[str] | None = None,
) -> Scores:
    """A score matrix made elsewhere, as `surefoot.read_scores` takes it: the query first, one column per system.

    >>> read_matrix({"today": {"q1": 0.5, "q2": 0.25}, "new": {"q1": 0.75, "q2": 0.0}}, measure="AP")
    <Scores AP: 2 systems × 2 queries>
    """
    if isinstance(source, Scores):
        return source
    measure = measure or "score"
    if isinstance(source, np.ndarray | list | tuple):
        return _from_matrix(source, systems, queries, measure)
    if systems is not None or queries is not None:
        raise ArgumentError(
            "systems and queries are names for the rows and columns of a matrix, but this source has its own names"
        )
    if isinstance(source, Mapping) and not is_columns(source):
        return _from_nested(source, measure)
    names, columns, where = query_table(source, "scores", "system", _ACCEPTED)
    refuse_table_of_means(names, where(None))
    return _from_columns(names, columns, measure, where)


def _from_matrix(matrix: Any, systems: Sequence[str] | None, queries: Sequence[str] | None, measure: str) -> Scores:
    if systems is None or queries is None:
        raise ArgumentError(
            "a matrix has no names; give them: read_scores(matrix, systems=[…], queries=[…]), one row per system"
        )
    shape, transposed = np.shape(matrix), (len(queries), len(systems))
    if shape == transposed != (len(systems), len(queries)):
        raise ArgumentError(
            f"the matrix has one row per query {shape}, but it must have one row per system; use matrix.T"
        )
    return Scores(matrix, systems, queries, measure)


def _from_columns(
    names: Sequence[str], columns: Sequence[Any], measure: str, where: Callable[[int | None], str]
) -> Scores:
    """Scores from a table whose first column is the query; `where` names a row, or the table, for messages."""
    rows = len(columns[0]) if columns else 0
    if len(columns) < 2 or not rows:
        raise DataError(
            f"{where(None)}: expected a query column, at least one column per system and one row per query; "
            f"found {len(columns)} columns and {rows} rows"
        )
    if any(not name.strip(WHITESPACE) for name in names[1:]):
        raise DataError(f"{where(None)}: a column has no name; every system needs one")
    queries = ids_of(columns[0], "the query", where).to_list()
    twice = first_repeated(queries)
    if twice is not None:
        row = [row for row, query in enumerate(queries) if query == twice][1]
        raise DataError(f"{where(row)}: query {shortened(twice)} appears twice; every query needs one row")
    values = np.empty((len(columns) - 1, rows))

    def location(row: int) -> str:
        return f"{where(row)}, query {shortened(queries[row])}"

    for position, (name, column) in enumerate(zip(names[1:], columns[1:], strict=True)):
        values[position] = system_scores(column, name, location)
    return Scores(values, names[1:], queries, measure)


def system_scores(column: Any, name: str, where: Callable[[int], str]) -> Floats:
    """A system's scores from a column of a table, each of them a number that scores may be."""
    what = f"the score of system {shortened(name)}"
    scores = floats_of(column, what, where)
    wrong = ~(np.abs(scores) <= LARGEST_SCORE)
    if wrong.any():
        row = int(wrong.argmax())
        raise DataError(f"{where(row)}: {what} is {scores[row]:g}; it must be finite and within ±{LARGEST_SCORE:g}")
    return scores


def _from_nested(source: Mapping[Any, Any], measure: str) -> Scores:
    systems = keys_of(source, "scores, system").to_list()
    rows: list[dict[str, Any]] = []
    for system, row in zip(systems, source.values(), strict=True):
        if not isinstance(row, Mapping):
            raise DataError(
                f"scores, system {shortened(system)}: expected a dict {{query: score}}, "
                f"found a {type(row).__name__}; give {_ACCEPTED}"
            )
        keys = keys_of(row, f"scores, system {shortened(system)}, query").to_list() if row else []
        rows.append(dict(zip(keys, row.values(), strict=True)))
    queries = list(dict.fromkeys(query for row in rows for query in row))
    columns = [queries, *([row.get(query) for query in queries] for row in rows)]
    return _from_columns(["query", *systems], columns, measure, row_of("scores"))


def _matrix(values: Any) -> Floats:
    if is_masked(values):
        raise ArgumentError("values are masked in places; every system needs a score on every query")
    array = np.asarray(values)
    if array.size and array.dtype.kind not in "iuf":
        raise ArgumentError(f"values contain {array.dtype}; scores must be numbers")
    return np.ascontiguousarray(exact_floats(values if array.dtype.kind == "f" else array, "scores"))


def check_once(measures: Sequence[str]) -> None:
    """Refuse a measure that is given twice."""
    if len(set(measures)) < len(measures):
        raise ArgumentError(f"a measure is given twice among {', '.join(measures)}; give each once")


def check_same(matrices: Sequence[Scores], advice: str) -> None:
    """Refuse matrices that are not all of the same systems on the same queries with the same weights."""
    for matrix in matrices[1:]:
        if (matrix.systems, matrix.queries) != (matrices[0].systems, matrices[0].queries):
            raise ArgumentError(
                f"{matrices[0].measure} and {matrix.measure} belong to different systems or queries; {advice}"
            )
        check_same_weights(matrices[0], matrix)


def check_same_weights(first: Scores, other: Scores) -> None:
    """Refuse two matrices whose queries are weighted differently: by other traffic, or one of them by none."""
    mine, its = first._weighting, other._weighting
    if mine is None and its is None:
        return
    if mine is None or its is None:
        weighted, plain = (first, other) if its is None else (other, first)
        raise ArgumentError(
            f"{weighted.measure} is weighted by traffic and {plain.measure} is not; give the same traffic for both"
        )
    counts = dict(zip(first.queries, mine.weights.tolist(), strict=True))
    for query, weight in zip(other.queries, its.weights.tolist(), strict=True):
        if counts.get(query, weight) != weight:
            raise ArgumentError(
                f"{first.measure} and {other.measure} are weighted by different traffic: query {shortened(query)} "
                f"counts {counts[query]:g} and {weight:g}; give the same traffic for both"
            )
