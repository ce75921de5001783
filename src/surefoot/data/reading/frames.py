"""Nested dicts and data frames of any maker, as columns of the types surefoot works on; and frames back in pandas."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from surefoot.data.reading.columns import RowNamer, first_repeated, floats_of, ids_of, row_of
from surefoot.data.reading.limits import check_growth
from surefoot.data.reading.parquet import check_parquet
from surefoot.data.reading.polars_process import refuse_in_fork, without_native_messages
from surefoot.data.writing.all_or_nothing import replacing
from surefoot.errors import DataError, MissingExtraError, shortened

TableColumns: TypeAlias = "dict[str, Any]"  # columns of any maker, by name

QUERY_COLUMNS = ("query_id", "query-id", "qid", "q_id", "query")
DOCUMENT_COLUMNS = ("doc_id", "docno", "docid", "corpus-id", "corpus_id", "pid", "passage_id", "document")
RANK_COLUMN = "rank"  # of results without scores: the higher, the worse
SCORE_COLUMNS = ("score", RANK_COLUMN)
GRADE_COLUMNS = ("relevance", "rel", "label", "grade", "rating")

# Beside these, which are BEIR's and ranx's, grades are called scores.
_BESIDE_WHICH_SCORES_ARE_GRADES = {"corpus-id", "corpus_id", "q_id"}
_ACCEPTED = "a file, a nested dict {query: {document: number}}, a pandas, polars or Arrow table, or named tuples"


def is_table(source: Any) -> bool:
    """Whether `to_polars` can read it: a polars frame, an Arrow table, or what can turn itself into a polars frame."""
    return isinstance(source, pl.LazyFrame) or hasattr(source, "__arrow_c_stream__") or hasattr(source, "to_polars")


def to_polars(table: Any, what: str, accepted: str = _ACCEPTED) -> pl.DataFrame:
    """A polars or Arrow table or a Hugging Face dataset as a polars frame; `accepted` says what else may be given."""
    if isinstance(table, pl.DataFrame):
        return table
    try:
        if isinstance(table, pl.LazyFrame):
            refuse_in_fork("collecting a lazy frame")
            return table.collect()
        if is_table(table):
            return pl.DataFrame(table if hasattr(table, "__arrow_c_stream__") else table.to_polars())
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{what}: the table cannot be read ({shortened(str(error), 400)})") from error
    raise DataError(f"{what}: cannot read a {type(table).__name__}; give {accepted}")


def is_pandas(table: Any) -> bool:
    """Whether it is a pandas frame, recognised by its methods, so that pandas need not be installed."""
    return hasattr(table, "iloc") and hasattr(table, "columns")


def is_columns(source: Any) -> bool:
    """Whether it is a dict of columns by name, as `{"query": […], "score": […]}`, and not of dicts."""
    return isinstance(source, Mapping) and any(map(_is_column, source.values()))


def is_query_table(source: Any) -> bool:
    """Whether it is a dict of columns of which one has the queries, and not of runs, or of queries' results."""
    return isinstance(source, Mapping) and any(map(_is_column, _queries_in(source)))


def is_record(value: Any) -> bool:
    """Whether it is a row that names its columns: a named tuple, or a dict of single values."""
    if isinstance(value, Mapping):
        return any(not isinstance(query, Mapping) and not _is_column(query) for query in _queries_in(value))
    return isinstance(value, tuple) and any(name in getattr(value, "_fields", ()) for name in QUERY_COLUMNS)


def _queries_in(table: Mapping[Any, Any]) -> list[Any]:
    return [table[name] for name in QUERY_COLUMNS if name in table]


def _is_column(values: Any) -> bool:
    single = isinstance(values, str | bytes | Mapping) or hasattr(values, "columns")  # a text, a dict or a table
    return not single and isinstance(values, Iterable)


def one_split(source: Any, what: str) -> Any:
    """The one split of Hugging Face's dict of datasets; anything else as it is."""
    if not isinstance(source, Mapping) or type(source).__module__.partition(".")[0] != "datasets":
        return source
    if len(source) != 1:
        splits = ", ".join(map(shortened, source))
        raise DataError(f"{what}: the dataset has {len(source)} splits, {splits}; give one of them: dataset['test']")
    return next(iter(source.values()))


def table_of(source: Any, what: str, accepted: str = _ACCEPTED) -> TableColumns:
    """The columns of a table of any maker; a pandas index with names counts as columns."""
    source = one_split(source, what)
    if is_columns(source):
        named = list(source.items())
    elif is_pandas(source):
        levels = [(name, source.index.get_level_values(i)) for i, name in enumerate(source.index.names)]
        named = [(name, values) for name, values in levels if name is not None]
        named += [(name, source.iloc[:, position]) for position, name in enumerate(source.columns)]
    else:
        frame = to_polars(source, what, accepted)
        named = list(zip(frame.columns, frame.get_columns(), strict=True))
    twice = first_repeated(str(name) for name, _ in named)
    if twice is not None:
        raise DataError(f"{what}: two columns are named {shortened(twice)}; every column needs its own name")
    table = {str(name): _with_length(values) for name, values in named}
    lengths = {len(values) for values in table.values()}
    if len(lengths) > 1:
        raise DataError(f"{what}: columns have {', '.join(map(str, sorted(lengths)))} values; all need the same number")
    return table


def _with_length(values: Any) -> Any:
    return values if hasattr(values, "__len__") and not isinstance(values, set | frozenset) else [*values]


def columns_of(source: Any, number_columns: Sequence[str], what: str) -> tuple[pl.Series, ...]:
    """Query, document and number columns of a nested dict, a table or records, checked.

    Of ranks, and of ranked lists of ids where `number_columns` has ranks, the number is minus the rank.
    """
    source = one_split(source, what)
    if isinstance(source, Mapping) and not is_query_table(source):
        return _from_nested(source, RANK_COLUMN in number_columns, what)
    return columns_of_table(table_of(_columns_of_records(source, what), what), number_columns, what)


def columns_of_table(
    table: TableColumns, number_columns: Sequence[str], what: str, rows: RowNamer | None = None
) -> tuple[pl.Series, ...]:
    """Query, document and number columns of a table, checked; `rows` says where a row stands."""
    query, document = (_pick(table, names, what) for names in (QUERY_COLUMNS, DOCUMENT_COLUMNS))
    scored = [] if _BESIDE_WHICH_SCORES_ARE_GRADES.isdisjoint((query, document)) else ["score"]
    number = _pick(table, (*number_columns, *scored), what)
    if not len(table[query]):
        raise DataError(f"{what}: the table is empty; expected at least one row")
    names = repr(query), repr(document), repr(number)
    columns = checked_columns(table[query], table[document], table[number], names, rows or row_of(what))
    return (*columns[:2], -columns[2]) if number == RANK_COLUMN else columns


def _columns_of_records(source: Any, what: str) -> Any:
    """The columns of rows that name them, such as ir_datasets' and ir_measures' tuples; other sources as they are."""
    table = is_columns(source) or is_pandas(source) or is_table(source)
    if table or isinstance(source, str | bytes | np.ndarray) or not isinstance(source, Iterable):
        return source
    rows = list(source)
    if not rows:
        raise DataError(f"{what}: there are no rows; expected at least one")
    for number, row in enumerate(rows, start=1):
        if not is_record(row) or type(row) is not type(rows[0]):
            raise DataError(
                f"{what}, row {number}: found {shortened(row)} ({type(row).__name__}); rows must all be of one kind "
                f"and name their columns, as ir_measures' ScoredDoc(query_id, doc_id, score) does; or give {_ACCEPTED}"
            )
    if isinstance(rows[0], Mapping):
        return {str(name): [row.get(name) for row in rows] for name in rows[0]}
    return dict(zip(rows[0]._fields, zip(*rows, strict=True), strict=True))


def checked_columns(
    queries: Any, documents: Any, numbers: Any, names: tuple[str, ...], where: RowNamer
) -> tuple[pl.Series, ...]:
    """Columns of any maker as ids, ids and finite numbers; messages call them by `names`."""
    query, document, number = names
    values = floats_of(numbers, number, where)
    wrong = ~np.isfinite(values)
    if wrong.any():
        row = int(wrong.argmax())
        raise DataError(f"{where(row)}: {number} is {values[row]}; every value must be finite")
    return (
        ids_of(queries, query, where),
        ids_of(documents, document, where),
        pl.Series(number, values),
    )


def read_table(path: str | os.PathLike[str], columns: list[str] | None = None) -> pl.DataFrame:
    """A Parquet file's columns: all, or these of a file whose schema was read before."""
    if columns is None:
        check_parquet(path)
    with reading_parquet(path):
        # An absolute path, or Polars would take "~" for the home folder.
        frame = pl.read_parquet(Path(path).absolute(), columns=columns, glob=False, hive_partitioning=False)
    check_growth(Path(path), _letters(frame))
    return frame


def _letters(frame: pl.DataFrame) -> int:
    """The bytes of all texts; as they were read, many may be one, which what is made of them seldom is."""
    total = 0
    for column in frame.get_columns():
        values = column
        while isinstance(values.dtype, pl.List):
            values = values.explode()
        if values.dtype == pl.String:
            total += int(values.str.len_bytes().cast(pl.UInt64).sum() or 0)
    return total


def read_schema(path: str | os.PathLike[str]) -> Mapping[str, pl.DataType]:
    """The names and types of a Parquet file's columns."""
    check_parquet(path)
    with reading_parquet(path):
        return pl.scan_parquet(Path(path).absolute(), glob=False, hive_partitioning=False).collect_schema()


@contextmanager
def reading_parquet(path: str | os.PathLike[str]) -> Iterator[None]:
    """While Polars reads a Parquet file: what it cannot read becomes an error that names it, and no more is told."""
    refuse_in_fork("reading Parquet")
    try:
        with without_native_messages():
            yield
    except (OSError, ValueError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise DataError.at(path, None, f"cannot be read as Parquet ({shortened(str(error), 400)})") from error


def write_frame(path: str | os.PathLike[str], frame: pl.DataFrame) -> None:
    """Write a frame as Parquet, all or nothing."""
    refuse_in_fork("writing Parquet")
    with replacing(path) as temporary:
        try:
            frame.write_parquet(temporary)
        except pl.exceptions.PolarsError as error:  # a full disk, to Polars
            raise DataError.at(path, None, f"cannot be written ({error})") from error


def _from_nested(source: Mapping[Any, Any], ranked: bool, what: str) -> tuple[pl.Series, ...]:
    lists = ranked and all(isinstance(results, list | tuple | np.ndarray) for results in source.values())
    lengths: list[int] = []
    documents: list[Any] = []
    numbers: list[Any] = []
    for query, results in source.items():
        if not lists and not isinstance(results, Mapping):
            ids = f", or for all queries a list of ids, best first; found a {type(results).__name__}"
            other = f", found a {type(results).__name__}"
            raise DataError(
                f"{what}, query {shortened(query)}: expected a dict {{document: number}}{ids if ranked else other}; "
                f"give {_ACCEPTED}"
            )
        lengths.append(len(results))
        documents.extend(results)
        numbers.extend(range(-1, -1 - len(results), -1) if lists else results.values())
    if not documents:
        raise DataError(f"{what}: the dict contains no documents; expected {{query: {{document: number}}}}")
    keys = list(source)
    queries = keys_of(keys, f"{what}, query")
    row_query = np.repeat(np.arange(len(keys)), lengths)

    def where(row: int) -> str:
        return f"{what}, query {shortened(keys[row_query[row]])}, document {shortened(documents[row])}"

    names = ("query", "document", "the number")
    _, document_column, number_column = checked_columns(queries[:0], documents, numbers, names, where)
    return queries.gather(row_query), document_column, number_column


def keys_of(keys: Iterable[Any], what: str) -> pl.Series:
    """A dict's keys as ids, of which no two may become one."""
    key_list = list(keys)
    ids = ids_of(key_list, "the key", lambda row: f"{what} {row + 1}")
    twice = first_repeated(ids.to_list())
    if twice is not None:
        raise DataError(f"{what} {shortened(twice)}: two keys of the dict are this id, such as 1 and '1'; keep one")
    return ids


def _pick(table: TableColumns, names: tuple[str, ...], what: str) -> str:
    for name in names:
        if name in table:
            return name
    present = ", ".join(shortened(name) for name in list(table)[:12])
    raise DataError(
        f"{what}: no column {' or '.join(map(repr, names))}; found {present or 'none'} "
        "(a pandas index counts as a column if it has a name)"
    )


def pandas_frame(frame: pl.DataFrame) -> Any:
    """The same columns in pandas; pyarrow, which polars' own way needs, need not be there.

    >>> pandas_frame(pl.DataFrame({"query": ["q1", "q2"], "score": [0.5, None]}))
      query  score
    0    q1    0.5
    1    q2    NaN
    """
    try:
        import pandas  # type: ignore[import-untyped,unused-ignore]
    except ImportError as error:
        raise MissingExtraError(
            "a pandas frame needs pandas, which is not installed; install it with: pip install pandas; or use the "
            "polars frame, which needs no other package"
        ) from error
    columns = [_column(column) for column in frame.iter_columns()]
    return pandas.DataFrame(dict(enumerate(columns)), copy=True).set_axis(frame.columns, axis=1)


def _column(column: pl.Series) -> Any:
    return column.to_numpy() if column.dtype.is_numeric() or column.dtype == pl.Boolean else column.to_list()
