"""Where Ibis expressions are computed: DuckDB, which keeps to a given memory, or Spark, for logs of many machines.

A backend does what Ibis leaves to it: open a text file as lines, open CSV, JSON and Parquet, compute a table once
that several others are made of, and write Parquet. DuckDB and Polars take a name such as `log[1]` for a pattern of
names, and a folder `day=3`, anywhere in the path, for a column `day` that is 3 in every row. A user's folders may have
such names: so every path goes through `pattern`, and every reader is told `hive_partitioning=False`.

DuckDB also keeps the state of a personal ranker, a file that may come from elsewhere. It is opened sealed: no SQL in it
can read another file, load an extension or unlock that. And it is refused if it holds anything but the tables that
surefoot makes: a view, a macro or a generated column is a program of whoever made the file.
"""

from __future__ import annotations

import glob
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import polars as pl

from surefoot.clicks.log import IbisTable, ibis
from surefoot.clicks.options import BACKENDS, MEMORY
from surefoot.data.reading.limits import check_growth
from surefoot.data.writing.all_or_nothing import new_folder
from surefoot.errors import ArgumentError, DataError, did_you_mean, name_list, shortened
from surefoot.runtime import cores, library

Shape = Mapping[str, Any]  # field → str, another shape, or a list of one of these: texts, objects, arrays
_COUNTER = count()  # for names of views
_ZSTD = {"compression": "zstd", "compression_level": 1}  # higher levels take longer and save little
_ROW_GROUP = 1 << 14  # rows that are read together, where some of a file's are looked for
_SEPARATOR = "\x01"  # appears in no line: files are checked for it before
NO_EXTENSIONS: dict[str, Any] = {
    "autoload_known_extensions": False, "autoinstall_known_extensions": False, "allow_community_extensions": False,
}  # fmt: skip
_SEALED = NO_EXTENSIONS | {"enable_external_access": False, "lock_configuration": True}
# What else a file may hold, by the kind and the query that finds it.
_OTHERS = {
    "view": "SELECT view_name FROM duckdb_views()",
    "macro": "SELECT function_name FROM duckdb_functions()",
    "type": "SELECT type_name FROM duckdb_types()",
    "schema": "SELECT schema_name FROM duckdb_schemas()",
}
_CELL = 8  # bytes that a value takes in memory at least
Tables = Mapping[str, Mapping[str, str]]  # the columns of each table in their order, with DuckDB's types


class DuckDB:
    """DuckDB in this process; what does not fit into `memory` goes to disk, beside the results."""

    name = "duckdb"

    def __init__(self, scratch: Path, memory: str = MEMORY, threads: int | None = None) -> None:
        self._scratch = scratch
        try:
            self.connection = ibis_connection(
                threads=threads or cores(), memory_limit=memory, temp_directory=str(scratch / ".duckdb")
            )
        except library("duckdb", "clicks", "a click log").ParserException as error:
            raise ArgumentError(f"memory is {shortened(memory)}; give a size, such as 2GB") from error
        self._not_computed: list[str] = []  # views of tables that are computed once, before something is written
        self._computed: list[str] = []
        self._lines: dict[str, IbisTable] = {}  # of these, the lines of files

    def lines(self, path: Path) -> IbisTable:
        """The lines of a text file that are not blank, as `line` and `number`, which grows along the file."""
        with errors_naming(path):
            lines = self.connection.read_csv(
                pattern(path), columns={"line": "VARCHAR"}, delim=_SEPARATOR, quote="", escape="", header=False,
                auto_detect=False, strict_mode=False, nullstr="\x02", hive_partitioning=False,
            )  # fmt: skip
        # Numbers are given in order, by one thread; the lines with them are stored, so that all threads parse.
        numbered = lines.mutate(number=ibis.row_number())
        stored = self.once(numbered)
        self._lines[stored.get_name()] = numbered
        return stored

    def json(self, path: Path, shape: Shape) -> IbisTable:
        """The same lines, and what each holds as JSON in a column `event` of this shape, null where it holds none."""
        structure = json.dumps(_duckdb_shape(shape)).replace("'", "''")
        parsed = f"json_transform(CASE WHEN json_valid(line) THEN line END, '{structure}')"
        name = f"lines_{next(_COUNTER)}"
        return self.lines(path).alias(name).sql(f"SELECT line, number, {parsed} AS event FROM {name}")

    def csv(self, path: Path) -> IbisTable:
        """A CSV file with a header, every column as text."""
        with errors_naming(path):
            return self.connection.read_csv(pattern(path), all_varchar=True, header=True, hive_partitioning=False)

    def parquet(self, path: Path) -> IbisTable:
        """A file, or the files of a folder and of the folders in it."""
        with errors_naming(path):
            return self.connection.read_parquet(pattern(path), hive_partitioning=False)

    def once(self, table: IbisTable) -> IbisTable:
        """The same table, computed once where others are made of it; of lines see `parsed_once` in log.py.

        A view; a table, which goes to disk beyond the memory, from the first time that something is written.
        """
        name = f"once_{next(_COUNTER)}"
        self._not_computed.append(name)
        return self.connection.create_view(name, table)

    def _compute_views(self) -> None:
        """Compute the tables that others are made of, and let go of the lines of which they are made."""
        while self._not_computed:
            name = self._not_computed.pop(0)
            self.connection.raw_sql(f"CREATE TEMP TABLE {name}_rows AS SELECT * FROM {name}")
            self.connection.raw_sql(f"CREATE OR REPLACE VIEW {name} AS SELECT * FROM temp.{name}_rows")
            self._computed.append(name)
        if len(self._computed) > len(self._lines):  # what they say has been computed; memory is for that
            while self._lines:
                name, lines = self._lines.popitem()
                self.connection.create_view(name, lines, overwrite=True)  # who still wants one reads the file again
                self._computed.remove(name)
                self._drop(name)

    def _drop(self, name: str) -> None:
        self.connection.raw_sql(f"DROP TABLE temp.{name}_rows")

    def forget(self) -> None:
        """Drop the tables; what is written later cannot be made of them."""
        while self._computed:
            self._drop(self._computed.pop())

    def write(self, table: IbisTable, folder: Path, by: Sequence[str] = ()) -> None:
        """Compute a table and write it as a folder of Parquet files, which appears complete or not at all.

        Rows with the same value of the first of `by` are found together. Here it is one file, in order of `by`: DuckDB
        takes half as long again for a hundred folders.
        """
        with new_folder(folder) as temporary, errors_naming(folder, "written"):
            self._compute_views()
            ordered = table.order_by(*by) if by else table
            self.connection.to_parquet(
                ordered, temporary / "part-0.parquet", **_ZSTD, **({"row_group_size": _ROW_GROUP} if by else {})
            )

    def rows(self, table: IbisTable) -> list[dict[str, Any]]:
        """The rows of a table, which are few, as DuckDB itself gives them: Ibis would import pandas for it."""
        found = self.connection.raw_sql(self.connection.compile(table))
        names = [column[0] for column in found.description]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    def close(self) -> None:
        """Close the connection, and remove its temporary files."""
        self.connection.disconnect()
        shutil.rmtree(self._scratch / ".duckdb", ignore_errors=True)


class Spark:
    """The Spark session that runs, or one on all cores of this machine; it does what `DuckDB` does."""

    name = "spark"

    def __init__(self, scratch: Path) -> None:
        spark = library("pyspark.sql", "spark", "--backend spark").SparkSession
        self.session = (
            spark.builder.appName("surefoot")
            .master(os.environ.get("MASTER", "local[*]"))
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.sql.session.timeZone", "UTC")
            .config("spark.local.dir", str(scratch))
            .config("spark.sql.shuffle.partitions", str(2 * cores()))
            .config("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
            .getOrCreate()
        )
        # Out of bounds and not a number are null, as in DuckDB; readers look for that.
        self.session.conf.set("spark.sql.ansi.enabled", "false")
        self.session.conf.set("spark.sql.legacy.sizeOfNull", "false")  # or it would be -1
        self.session.sparkContext.setLogLevel("ERROR")
        self.connection = ibis.pyspark.connect(self.session)

    def lines(self, path: Path) -> IbisTable:
        """The file's lines with numbers that grow along it."""
        from pyspark.sql import functions

        lines = self.session.read.text(_hadoop_path(path)).withColumnRenamed("value", "line")
        return self._table(lines.withColumn("number", functions.monotonically_increasing_id())).filter(
            lambda t: t.line != ""
        )

    def json(self, path: Path, shape: Shape) -> IbisTable:
        """The lines, parsed."""
        from pyspark.sql import functions

        lines = self._frame(self.lines(path))
        return self._table(lines.withColumn("event", functions.from_json("line", _spark_shape(shape))))

    def csv(self, path: Path) -> IbisTable:
        """All columns as text."""
        return self._table(
            self.session.read.csv(_hadoop_path(path), header=True, quote='"', escape='"', multiLine=True)
        )

    def parquet(self, path: Path) -> IbisTable:
        """A file or folder."""
        with errors_naming(path):
            return self._table(self.session.read.parquet(_hadoop_path(path)))

    def once(self, table: IbisTable) -> IbisTable:
        """The table as it is: what is kept of a log of many machines, Spark's settings say."""
        return table

    def forget(self) -> None:
        """There are none."""

    def write(self, table: IbisTable, folder: Path, by: Sequence[str] = ()) -> None:
        """A file for each of Spark's partitions, in a folder for each value of the first of `by`."""
        with new_folder(folder) as temporary, errors_naming(folder, "written"):
            frame = self._frame(table)
            writer = frame.write.mode("overwrite")
            (writer.partitionBy(by[0]) if by else writer).parquet(str(temporary))
            if by and not any(temporary.glob(f"{by[0]}=*")):  # without a row there is no file that has the columns
                frame.drop(by[0]).coalesce(1).write.mode("overwrite").parquet(str(temporary / f"{by[0]}=0"))

    def _frame(self, table: IbisTable) -> Any:
        """Spark's own frame of an Ibis table; Ibis takes for 64 bits what Spark counts in 32."""
        frame = self.session.sql(str(self.connection.compile(table)))
        wide = ["bigint" if kind in ("tinyint", "smallint", "int") else kind for _, kind in frame.dtypes]
        return frame.select(*(frame[name].cast(kind) for name, kind in zip(frame.columns, wide, strict=True)))

    def _table(self, frame: Any) -> IbisTable:
        name = f"surefoot_{next(_COUNTER)}"
        frame.createOrReplaceTempView(name)
        return self.connection.table(name)

    def rows(self, table: IbisTable) -> list[dict[str, Any]]:
        """The rows."""
        return list(table.to_pyarrow().to_pylist())

    def close(self) -> None:
        """Stop the session."""
        self.session.stop()


Backend = DuckDB | Spark


def _hadoop_path(path: Path) -> str:
    """A path for Spark, which would take a name with brackets or stars for a pattern of names."""
    return re.sub(r"([][{}*?\\])", r"\\\1", str(path))


def _duckdb_shape(shape: Any) -> Any:
    if isinstance(shape, Mapping):
        return {name: _duckdb_shape(part) for name, part in shape.items()}
    return [_duckdb_shape(shape[0])] if isinstance(shape, list) else "VARCHAR"


def _spark_shape(shape: Any) -> str:
    if isinstance(shape, Mapping):
        return "struct<" + ",".join(f"{name}:{_spark_shape(part)}" for name, part in shape.items()) + ">"
    return f"array<{_spark_shape(shape[0])}>" if isinstance(shape, list) else "string"


def open_backend(name: str, scratch: Path, memory: str = MEMORY, threads: int | None = None) -> Backend:
    """The backend of a name; `scratch` is a folder for its temporary files."""
    if name == DuckDB.name:
        return DuckDB(scratch, memory, threads)
    if name == Spark.name:
        return Spark(scratch)
    raise ArgumentError(
        f"there is no backend {shortened(name)}{did_you_mean(name, BACKENDS) or '.'} Choose one of: "
        f"{', '.join(BACKENDS)}"
    )


@contextmanager
def errors_naming(path: Path, doing: str = "read") -> Iterator[None]:
    """Turn what a backend cannot read, or compute and write, into an error that names the file."""
    try:
        yield
    except (ArgumentError, DataError):
        raise
    except Exception as error:  # each backend has its own kinds
        if type(error).__name__ == "OutOfMemoryException":
            raise MemoryError(f"DuckDB: {shortened(str(error), 200)}; allow more memory with --memory") from error
        if not type(error).__module__.startswith(("_duckdb", "duckdb", "pyspark", "py4j", "ibis")):
            raise
        raise DataError.at(path, None, f"cannot be {doing} ({shortened(str(error), 400)})") from error


def duckdb_library() -> Any:
    """DuckDB itself; where it is not installed, the error that says how to install it."""
    return library("duckdb", "clicks", "the state of a personal ranker")


def ibis_connection(**settings: Any) -> Any:
    """A connection that reads the user's log files, and never fetches or loads an extension by itself."""
    return ibis.duckdb.connect(**NO_EXTENSIONS, **settings)


def reading_connection() -> Any:
    """The same without Ibis."""
    return duckdb_library().connect(config=dict(NO_EXTENSIONS))


def record_batches(result: Any) -> Any:
    """What was asked for, as Arrow's batches, each when it is wanted; the method has had two names."""
    return result.to_arrow_reader() if hasattr(result, "to_arrow_reader") else result.fetch_record_batch()


def sealed_file(path: Path, *, read_only: bool = False) -> Any:
    """A connection to a DuckDB file, new or old, that can do nothing but read and write that file.

    It has one thread: what is looked up is little, and requests come one after the other.
    """
    return duckdb_library().connect(str(path), read_only=read_only, config=_SEALED | {"threads": 1})


def check_tables(connection: Any, path: Path, tables: Tables) -> None:
    """Refuse a file that holds anything but these tables with these columns."""

    def rows(sql: str) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = connection.execute(sql).fetchall()
        return found

    def refuse(problem: str) -> None:
        raise DataError.at(path, None, f"{problem}; it was not made by surefoot, or was changed: save the model again")

    for kind, query in _OTHERS.items():
        if others := rows(f"{query} WHERE NOT internal AND database_name = current_database()"):
            refuse(f"holds the {kind} {shortened(others[0][0])}, and a state has none")
    if others := rows("SELECT sequence_name FROM duckdb_sequences()"):
        refuse(f"holds the sequence {shortened(others[0][0])}, and a state has none")
    found = {
        name: (count, sql) for name, count, sql in rows("SELECT table_name, estimated_size, sql FROM duckdb_tables()")
    }
    if set(found) != set(tables):
        refuse(f"holds the tables {name_list(sorted(found)) or 'of none'}, and a state has {name_list(sorted(tables))}")
    if others := rows("SELECT table_name, constraint_text FROM duckdb_constraints()"):
        refuse(f"has the constraint {shortened(others[0][1])} in table {others[0][0]}, and a state has none")
    columns: dict[str, dict[str, str]] = {name: {} for name in tables}
    for table, column, kind, default in rows(
        "SELECT table_name, column_name, data_type, column_default FROM duckdb_columns() "
        "WHERE NOT internal ORDER BY table_name, column_index"
    ):
        if default is not None:  # of a generated column the expression
            refuse(f"computes column {shortened(column)} of table {table} by {shortened(default)}")
        columns[table][column] = kind
    for table, expected in tables.items():
        if list(columns[table].items()) != list(expected.items()):
            refuse(f"has table {table} with the columns {_listed(columns[table])}; expected {_listed(expected)}")
    values = sum(found[table][0] * len(columns) for table, columns in tables.items())
    check_growth(path, values * _CELL)


def _listed(columns: Mapping[str, str]) -> str:
    return shortened(", ".join(f"{name} {kind}" for name, kind in columns.items()), 400)


def pattern(path: Path) -> str:
    """What to ask for: a file, or the Parquet files of a folder and of the folders in it.

    >>> pattern(Path("log[1].tsv"))
    'log[[]1].tsv'
    """
    name = glob.escape(str(path))
    return f"{name}/**/*.parquet" if path.is_dir() else name


def scan(folder: Path) -> pl.LazyFrame:
    """The rows of a folder, lazily, in no order."""
    return pl.scan_parquet(pattern(folder), hive_partitioning=False)
