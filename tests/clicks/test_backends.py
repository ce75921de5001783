"""What DuckDB keeps of a log while it is read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest
from tests.clicks.logs import write_lines

from surefoot.clicks.backends import DuckDB

LINES = [f"line {number}" for number in range(5)]


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[DuckDB]:
    with closing(DuckDB(tmp_path, threads=2)) as opened:
        yield opened


def stored(backend: DuckDB) -> int:
    """How many tables were computed once and are kept."""
    [row] = backend.connection.raw_sql("SELECT count(*) FROM duckdb_tables()").fetchall()
    return int(row[0])


def written(folder: Path) -> list[tuple[str, int]]:
    return pl.read_parquet(folder / "*.parquet").select("line", "number").sort("number").rows()


def test_lines_are_let_go_when_what_they_say_is_computed(backend: DuckDB, tmp_path: Path) -> None:
    lines = backend.lines(write_lines(tmp_path / "log", LINES))
    parsed = backend.once(lines.mutate(last=lines.line.right(1)))
    backend.write(parsed, tmp_path / "parsed")
    assert stored(backend) == 1
    backend.write(lines, tmp_path / "lines")  # from the file, once more
    assert written(tmp_path / "lines") == written(tmp_path / "parsed") == [*zip(LINES, range(5), strict=True)]
    backend.forget()
    assert stored(backend) == 0


def test_lines_of_which_nothing_is_computed_are_kept(backend: DuckDB, tmp_path: Path) -> None:
    lines = backend.lines(write_lines(tmp_path / "log", LINES))
    for name in ("one", "two"):
        backend.write(lines, tmp_path / name)
        assert stored(backend) == 1
    assert written(tmp_path / "one") == written(tmp_path / "two")
