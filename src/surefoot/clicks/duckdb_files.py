"""How DuckDB is opened, in two ways: to work on a log's files, and a file of its own that may come from elsewhere.

Of the second kind is the state of a personal ranker. It is opened sealed: no SQL in it can read another file, load an
extension or unlock that. And it is refused if it holds anything but the tables that surefoot makes: a view, a macro or
a generated column is a program of whoever made the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from surefoot.clicks.lazy_ibis import ibis
from surefoot.data.reading.limits import check_growth
from surefoot.errors import DataError, name_list, shortened
from surefoot.runtime import library

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
