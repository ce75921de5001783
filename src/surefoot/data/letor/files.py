"""LETOR data in and out: the text format of learning-to-rank collections, and the same as Parquet."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from polars.io.plugins import register_io_source

from surefoot.arguments import integer
from surefoot.data.letor.text import line_of_row, read_rows
from surefoot.data.reading.columns import check_words
from surefoot.data.reading.files import OLD_MAC, WHITESPACE, existing_file, read_text
from surefoot.data.reading.frames import read_schema, read_table
from surefoot.data.reading.matrix import decode, encode_polars, is_polars_category
from surefoot.data.reading.parquet import is_parquet
from surefoot.data.reading.polars_process import refuse_in_fork
from surefoot.data.types.labels_and_scores import RowError
from surefoot.data.types.ranking import query_at
from surefoot.data.types.ranking_data import RankingData
from surefoot.data.writing.all_or_nothing import replacing, writing
from surefoot.errors import ArgumentError, DataError, shortened

_ROWS = 1 << 13  # written in one go
_CELLS = 1 << 21  # of a group of rows in a Parquet file
_COLUMNS = 16  # of a Parquet file, read in one go
_FEATURE = re.compile(r"f([1-9][0-9]{0,8})(?::(.*))?", re.DOTALL)
_PLAIN = ("label", "qid", "docid")
_BASELINE = "baseline:"


def read_letor(path: str | os.PathLike[str], *, n_features: int | None = None) -> RankingData:
    """Labelled feature vectors from a LETOR file, plain, .gz, .bz2, .xz or .zst, or a `.parquet` of `write_letor`.

    Lines have the form `label qid:ID 1:value 2:value … # comment`. A feature that is not there is 0. The document
    id is the word after `docid =` in the comment, or a comment of one word; ids are kept if every line has one.
    `n_features` is the matrix's width, where the highest feature may be absent from the file.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "train.txt")
    ...     _ = file.write_text("2 qid:7 1:0.5 3:1 #docid = GX01\\n0 qid:7 2:4e-1 #docid = GX02\\n")
    ...     data = read_letor(file)
    >>> data.X
    array([[0.5, 0. , 1. ],
           [0. , 0.4, 0. ]], dtype=float32)
    >>> data.y, data.queries, data.doc_ids.to_list()
    (array([2., 0.]), ('7',), ['GX01', 'GX02'])
    """
    if n_features is not None:
        n_features = integer("n_features", n_features, 1)
    if is_parquet(path):
        return _read_parquet(existing_file(path), n_features)
    text = read_rows(path, n_features)
    lengths = np.diff(np.append(text.starts, len(text.y)))
    try:
        return RankingData.from_queries(text.X, text.y, text.stretches, lengths, doc_ids=text.ids)
    except RowError as error:
        raise _at_line(path, error) from error


def _at_line(path: str | os.PathLike[str], error: RowError) -> DataError:
    if not Path(path).is_file():  # a pipe cannot be read again to count its lines
        return DataError.at(path, None, str(error))
    earlier = "" if error.first is None else f" (first at line {line_of_row(path, error.first)})"
    return DataError.at(path, line_of_row(path, error.row), f"{error.message}{earlier}")


def write_letor(data: RankingData, path: str | os.PathLike[str]) -> None:
    """Write LETOR lines, compressed by the ending, or a `.parquet` table, all or nothing.

    Every feature is written, with the fewest digits that read back as the same float32. Lines hold no baselines and no
    feature names; Parquet does: columns `label`, `qid`, `docid`, `f1`, `f2` (or `f1:name`) …, `baseline:name`.
    """
    refuse_in_fork("writing LETOR data")
    if is_parquet(path):
        _write_parquet(data, path)
        return
    if data.categories:
        raise DataError.at(path, None, "LETOR lines hold numbers alone, no categories; write a .parquet")
    queries = pl.Series(data.queries, dtype=pl.String)
    check_words(queries, path, "query", "LETOR", besides="#", instead=".parquet")
    if data.doc_ids is not None:
        check_words(data.doc_ids, path, "document", "LETOR", instead=".parquet")
    with writing(path) as file:
        for frame in _frames(data):
            file.write(_lines(frame, data.n_features))


def _lines(frame: pl.DataFrame, n_features: int) -> bytes:
    # Most features of most collections are whole numbers: 3 instead of 3.0 makes files a third smaller.
    value = pl.col(pl.Float32, pl.Float64).cast(pl.String).str.strip_suffix(".0")
    texts = frame.with_columns(value)
    parts: list[Any] = [pl.col("label"), pl.lit(" qid:"), pl.col("qid")]
    for number in range(1, n_features + 1):
        parts += [pl.lit(f" {number}:"), pl.nth(number + 1)]
    if "docid" in frame.columns:
        parts += [pl.lit(" #docid = "), pl.col("docid")]
    lines = texts.select(pl.concat_str([*parts, pl.lit("\n")])).to_series()
    return "".join(lines.to_list()).encode()


def _frames(data: RankingData) -> Iterator[pl.DataFrame]:
    """The rows in pieces, so that what they become is never there for all at once: label, qid, features, the rest."""
    names = pl.Series("qid", data.queries, dtype=pl.String)
    for start in range(0, len(data), _ROWS):
        end = min(start + _ROWS, len(data))
        query = query_at(data.offsets, np.arange(start, end))
        columns = [pl.Series("label", data.y[start:end]), names.gather(query)]
        block = np.ascontiguousarray(data.X[start:end].T)
        labels = [data.categories.get(name) for name in data.feature_names or [""] * data.n_features]
        columns += [
            pl.Series(name, values) if meant is None else decode(values, meant).alias(name)
            for name, values, meant in zip(_feature_columns(data), block, labels, strict=True)
        ]
        if data.doc_ids is not None:
            columns.append(data.doc_ids[start:end].alias("docid"))
        columns += [pl.Series(f"{_BASELINE}{name}", scores[start:end]) for name, scores in data.baselines.items()]
        yield pl.DataFrame(columns)


def _feature_columns(data: RankingData) -> list[str]:
    names = data.feature_names or [None] * data.n_features
    return [f"f{k}" if name is None else f"f{k}:{name}" for k, name in enumerate(names, start=1)]


def _write_parquet(data: RankingData, path: str | os.PathLike[str]) -> None:
    frames = _frames(data)
    first = next(frames)

    def pieces(
        columns: list[str] | None, predicate: pl.Expr | None, rows: int | None, size: int | None
    ) -> Iterator[pl.DataFrame]:
        yield first
        yield from frames

    group = max(_ROWS, _CELLS // data.n_features)  # the writer holds several groups at once
    with replacing(path) as temporary:
        try:
            register_io_source(pieces, schema=first.schema).sink_parquet(temporary, row_group_size=group)
        except pl.exceptions.PolarsError as error:
            raise DataError.at(path, None, f"cannot be written ({error})") from error


def _read_parquet(path: Path, n_features: int | None) -> RankingData:
    schema = read_schema(path)
    features = _numbered_features(path, schema)
    width = n_features or len(features)
    if width < len(features):
        raise DataError.at(path, None, f"the table has {len(features)} features, but n_features is {n_features}")
    rest = read_table(path, [name for name in schema if name in _PLAIN or name.startswith(_BASELINE)])
    X = np.zeros((rest.height, width), dtype=np.float32)
    categories: dict[str, tuple[str, ...]] = {}
    for start in range(0, len(features), _COLUMNS):
        part = read_table(path, features[start : start + _COLUMNS])
        for column, name in enumerate(part.columns, start=start):
            if is_polars_category(schema[name]):
                X[:, column], categories[name.partition(":")[2]] = encode_polars(part[name])
            else:
                X[:, column] = part[name].cast(pl.Float32).to_numpy()
    names = [name.partition(":")[2] for name in features if ":" in name]
    if names and len(names) < len(features):
        raise DataError.at(path, None, f"{len(names)} of {len(features)} feature columns have names; name all or none")
    try:
        data = RankingData(
            X,
            rest["label"],
            qid=rest["qid"],
            doc_ids=rest["docid"] if "docid" in rest.columns else None,
            baselines={name.removeprefix(_BASELINE): rest[name] for name in rest.columns if name.startswith(_BASELINE)},
            feature_names=names if len(names) == width else None,
        )
    except (ArgumentError, DataError) as error:
        raise DataError.at(path, None, str(error)) from error
    data.categories = categories
    return data


def _numbered_features(path: Path, schema: Mapping[str, pl.DataType]) -> list[str]:
    """The columns of features, by number; they must be 1, 2, 3 … without a gap."""
    for needed in ("label", "qid"):
        if needed not in schema:
            raise DataError.at(
                path, None, f"no column {needed!r}; expected label, qid, f1, f2 … as write_letor has them"
            )
    numbered = sorted((int(match[1]), name) for name in schema if (match := _FEATURE.fullmatch(name)))
    if not numbered or [number for number, _ in numbered] != list(range(1, len(numbered) + 1)):
        raise DataError.at(
            path, None, "the feature columns must be f1, f2, f3 … (or f1:name …), each once, without a gap"
        )
    for _, name in numbered:
        if not schema[name].is_numeric() and not (is_polars_category(schema[name]) and ":" in name):
            raise DataError.at(
                path, None, f"column {shortened(name)} contains {shortened(schema[name])}; features must be numbers"
            )
    return [name for _, name in numbered]


def read_feature_names(path: str | os.PathLike[str]) -> list[str]:
    """The names of features 1, 2, … from the lines of a file; empty lines at its end do not count."""
    text = read_text(existing_file(path)).rstrip(f"{WHITESPACE}\n")
    if "\n" not in text and "\r" in text:
        raise DataError.at(path, 1, OLD_MAC)
    first: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        name = line.strip(WHITESPACE)
        if not name:
            raise DataError.at(
                path, number, "the line has no name; write one name per feature, in the order of the features"
            )
        if name in first:
            raise DataError.at(
                path,
                number,
                f"{shortened(name)} also appears in line {first[name]}; every feature needs a different name",
            )
        first[name] = number
    return list(first)
