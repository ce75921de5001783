"""Effectiveness of systems on queries: the matrix that every risk measure starts from."""

from __future__ import annotations

import csv
import io
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from surefoot.arguments import decimal
from surefoot.data.files import MARK, OLD_MAC, existing_file, read_bytes, uncompressed, write_bytes
from surefoot.data.frames import to_polars, write_frame
from surefoot.data.ranking import Floats
from surefoot.data.tables import Qrels, Run
from surefoot.errors import ArgumentError, DataError, shortened

_EMPTY = "the file is empty; expected a header 'query,system,…' and a line a query"
LARGEST = 1e100  # beyond it sums of squares, which every test takes, would no longer be finite
_FORMS = "a file, a nested dict {system: {query: score}}, or a pandas, polars or Arrow table"


class Scores:
    """A systems × queries matrix of effectiveness.

    `values` is float64, `systems` and `queries` name its rows and columns, `measure` says what was measured.
    `missing` counts, for each system, the judged queries for which it returned nothing. They score 0, unless
    `dropped` judged queries were left out because some system returned nothing for them.
    `no_relevant` counts the queries without any relevant document. When the scores come from runs,
    `runs` and `qrels` are kept, so that rankings can be compared and shown.

    >>> scores = Scores([[0.5, 0.25], [0.75, 0.0]], systems=["today", "new"], queries=["q1", "q2"])
    >>> scores["new"]
    array([0.75, 0.  ])
    >>> scores.mean()
    array([0.375, 0.375])
    """

    __slots__ = (
        "dropped", "measure", "missing", "no_relevant", "qrels", "queries", "runs", "systems", "tie_rule", "values",
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
    ) -> None:
        self.values: Floats = np.ascontiguousarray(values, dtype=np.float64)
        self.systems = tuple(map(str, systems))
        self.queries = tuple(map(str, queries))
        self.measure = str(measure)
        self.missing = dict.fromkeys(self.systems, 0) | dict(missing or {})
        self.dropped = dropped
        self.no_relevant = no_relevant
        self.tie_rule = tie_rule
        self.runs = tuple(runs)
        self.qrels = qrels
        self._check()

    def _check(self) -> None:
        expected = (len(self.systems), len(self.queries))
        if self.values.shape != expected:
            raise ArgumentError(f"values have shape {self.values.shape}, the names {expected} (systems, queries)")
        if 0 in expected:
            raise ArgumentError(f"scores need at least one system and one query, found {expected}")
        for what, names in (("system", self.systems), ("query", self.queries)):
            if len(set(names)) < len(names):
                twice = next(name for name, times in Counter(names).items() if times > 1)
                raise ArgumentError(f"two {what} columns are named {shortened(twice)}; every {what} needs its own name")
        if not (np.abs(self.values) <= LARGEST).all():
            row, column = np.argwhere(~(np.abs(self.values) <= LARGEST))[0]
            raise ArgumentError(
                f"the score of system {shortened(self.systems[row])} on query {shortened(self.queries[column])} is "
                f"{self.values[row, column]:g}; every score must be finite and within ±{LARGEST:g}"
            )

    def row(self, system: str) -> int:
        """The row of a system, by name."""
        try:
            return self.systems.index(system)
        except ValueError:
            raise ArgumentError(unknown_system(system, self.systems)) from None

    def __getitem__(self, system: str) -> Floats:
        """One system's scores, a value a query."""
        return np.asarray(self.values[self.row(system)])

    def __repr__(self) -> str:
        """Size and measure."""
        return f"<Scores {self.measure}: {len(self.systems):,} systems × {len(self.queries):,} queries>"

    def only(self, columns: Sequence[int]) -> Scores:
        """The scores on some of the queries, by their numbers; without the runs."""
        return Scores(
            self.values[:, columns], self.systems, [self.queries[column] for column in columns], self.measure,
            tie_rule=self.tie_rule,
        )  # fmt: skip

    def mean(self) -> Floats:
        """Arithmetic mean over queries, one value a system."""
        return np.asarray(self.values.mean(axis=1))

    def largest(self) -> float:
        """The greatest score without its sign, which rounding is measured by."""
        return float(max(self.values.max(), -self.values.min()))

    def geometric_mean(self, floor: float = 1e-5) -> Floats:
        """Geometric mean over queries, each score at least `floor`: of AP, trec_eval's gm_map (GMAP)."""
        logs = (np.log(np.maximum(row, floor)) for row in self.values)  # a row at a time, to keep memory small
        return np.exp([row.mean() for row in logs])

    def to_frame(self) -> pl.DataFrame:
        """A polars frame: `query` first, then one column a system."""
        columns = [pl.Series("query", self.queries, dtype=pl.String)]
        return pl.DataFrame(columns + [pl.Series(n, v) for n, v in zip(self.systems, self.values, strict=True)])

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the matrix as CSV (compressed by the ending) or `.parquet`; `read_scores` reads it back."""
        if Path(path).suffix == ".parquet":
            write_frame(path, self.to_frame())
        else:
            write_bytes(path, self.to_frame().write_csv().encode())


def unknown_system(name: str, systems: Sequence[str]) -> str:
    """A message for a system that is not there, with the ones that are."""
    import difflib

    near = difflib.get_close_matches(name, systems, n=1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    shown = ", ".join(systems[:12]) + (", …" if len(systems) > 12 else "")
    return f"no system is named {shortened(name)}. {hint}The systems are: {shown}"


def read_scores(source: Any, measure: str | None = None) -> Scores:
    """A score matrix made elsewhere: first column the query, one column a system; CSV, Parquet or a table.

    Also takes a nested dict `{system: {query: score}}`.

    >>> read_scores({"today": {"q1": 0.5, "q2": 0.25}, "new": {"q1": 0.75, "q2": 0.0}}, measure="AP")
    <Scores AP: 2 systems × 2 queries>
    """
    if isinstance(source, Scores):
        return source
    if isinstance(source, Mapping):
        return _from_nested(source, measure or "score")
    if not isinstance(source, str | os.PathLike):
        return _from_frame(to_polars(source, "scores", _FORMS), measure or "score", _row("scores"))
    path = existing_file(source)
    if path.suffix == ".parquet":
        try:
            frame = pl.read_parquet(path, glob=False)
        except (pl.exceptions.PolarsError, OSError) as error:
            raise DataError.at(source, None, f"not a Parquet file ({error})") from error
        return _from_frame(frame, measure or "score", _row(str(source)))
    return _read_csv(path, measure or "score")


def _read_csv(path: Path, measure: str) -> Scores:
    data = read_bytes(path).removeprefix(MARK)
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise DataError.at(
            path, line, f"not UTF-8 text (byte 0x{data[error.start]:02x}); convert the file to UTF-8"
        ) from error
    if b"\r" in data.strip() and b"\n" not in data:
        raise DataError.at(path, 1, OLD_MAC)
    header = data.lstrip(b"\r\n").split(b"\n", 1)[0]
    separator = (
        "\t" if header.count(b"\t") > header.count(b",") else ";" if b"," not in header and b";" in header else ","
    )
    try:
        # Names come from the first row as data: Polars would silently rename a column that stands twice.
        table = pl.read_csv(
            uncompressed(data.lstrip(b"\r\n")),
            has_header=False,
            infer_schema=False,
            separator=separator,
            truncate_ragged_lines=False,
        )
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _unreadable(path, data, separator) from error
    blank = pl.all_horizontal(pl.all().str.strip_chars().fill_null("") == "")
    table = table.filter(~blank)
    if not table.height:
        raise DataError.at(path, None, _EMPTY)
    names = ["" if name is None else name.strip() for name in table.row(0)]

    def where(row: int | None) -> str:
        return f"{path}" if row is None else f"{path}, line {_line(data, separator, row + 1)}"

    if len(set(names)) < len(names):
        twice = next(name for name, times in Counter(names).items() if times > 1)
        raise DataError(f"{where(-1)}: two columns are named {shortened(twice)}; every system needs its own name")
    if all(map(_is_number, names)):
        raise DataError(f"{where(-1)}: the header holds nothing but numbers; put names above them: query,system,…")
    return _from_frame(table.slice(1).rename(dict(zip(table.columns, names, strict=True))), measure, where)


def _records(data: bytes, separator: str) -> Iterator[tuple[int, list[str] | None]]:
    """The file's filled records, each with the line it starts at; None for one whose quotation marks do not match.

    Slow, and asked only where something is wrong.
    """
    reader = csv.reader(io.StringIO(data.decode(), newline=""), delimiter=separator, strict=True)
    start = 1
    try:
        for record in reader:
            if any(field.strip() for field in record):
                yield start, record
            start = reader.line_num + 1
    except csv.Error:
        yield start, None


def _line(data: bytes, separator: str, record: int) -> int:
    """The line that a filled record, counted from 0, starts at."""
    return next((line for i, (line, _) in enumerate(_records(data, separator)) if i == record), record + 1)


def _unreadable(path: Path, data: bytes, separator: str) -> DataError:
    """What is wrong with a file that is no table."""
    width = 0
    for line, record in _records(data, separator):
        if record is None:
            return DataError.at(path, line, "a quotation mark is not closed, or closed before the column's end")
        width = width or len(record)
        if len(record) > width:
            return DataError.at(path, line, f"found {len(record)} columns where the header has {width}")
    return DataError.at(path, None, "cannot be read as a table" if width else _EMPTY)


def _is_number(text: str) -> bool:
    try:
        decimal(text)
    except ValueError:
        return False
    return True


def _row(place: str) -> Callable[[int | None], str]:
    return lambda row: place if row is None else f"{place}, row {row + 1}"


def _from_frame(frame: pl.DataFrame, measure: str, where: Callable[[int | None], str]) -> Scores:
    """Scores from a table whose first column is the query; `where` names a row, or the table, for messages."""
    if frame.width < 2 or frame.height == 0:
        raise DataError(
            f"{where(None)}: expected a query column, at least one column a system and one row a query; "
            f"found {frame.width} columns and {frame.height} rows"
        )
    if any(not name.strip() for name in frame.columns[1:]):
        raise DataError(f"{where(None)}: a column has no name; every system needs one")
    queries = frame.to_series(0).cast(pl.String)
    if queries.null_count():
        raise DataError(f"{where(int(queries.is_null().arg_max() or 0))}: the query is missing")
    if queries.n_unique() < len(queries):
        row = int(queries.is_first_distinct().not_().arg_max() or 0)
        raise DataError(f"{where(row)}: query {shortened(queries[row])} stands twice; every query needs one row")
    values = np.empty((frame.width - 1, frame.height))
    for position, column in enumerate(frame.get_columns()[1:]):
        numbers = column.str.strip_chars().cast(pl.Float64, strict=False) if column.dtype == pl.String else column
        numbers = numbers.cast(pl.Float64)
        wrong = ~(numbers.abs() <= LARGEST).fill_null(value=False)
        if wrong.any():
            row = int(wrong.arg_max() or 0)
            found = column[row]
            what = "is missing" if found in (None, "") else f"is {shortened(str(found))}, not a finite number"
            if numbers.is_finite()[row]:
                what += f" within ±{LARGEST:g}"
            raise DataError(
                f"{where(row)}: the score of system {shortened(column.name)} "
                f"on query {shortened(queries[row])} {what}; "
                "every system needs a score on every query (0 where it failed)"
            )
        values[position] = numbers.to_numpy()
    return Scores(values, frame.columns[1:], queries.to_list(), measure)


def _from_nested(source: Mapping[Any, Mapping[Any, float]], measure: str) -> Scores:
    queries: dict[str, None] = {}
    for system, row in source.items():
        if not isinstance(row, Mapping):
            raise DataError(
                f"scores, system {shortened(system)}: expected a dict {{query: score}}, found a {type(row).__name__}"
            )
        queries.update(dict.fromkeys(map(str, row)))
    frame = pl.DataFrame({"query": list(queries)}, schema={"query": pl.String})
    for system, row in source.items():
        given = {str(query): score for query, score in row.items()}
        frame = frame.with_columns(pl.Series(str(system), [given.get(query) for query in queries], dtype=pl.Float64))
    return _from_frame(frame, measure, _row("scores"))
