"""Tables of any maker with columns of any type against converters that look at one value at a time.

Seeded and bounded; `make fuzz` tries many more.
"""

from __future__ import annotations

import datetime
import math
import random
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.fuzz import mutations, slow_readers
from tests.fuzz.slow_readers import refuse_if
from tests.fuzz.test_readers import meaning

import surefoot as sf

pytestmark = pytest.mark.heavy

VALUES: list[list[Any]] = [
    ["q1", "q2", "1", "", " x", "é", "1.0", "nan"],
    [1, 2, -3, 10**15, 2**63 - 1],
    [1.0, 2.0, -0.0, 0.5, 1e300, 2.0**53, math.inf],
    [True, False],
    [None, math.nan],
    [b"q1", b"\xff"],
    [datetime.date(2026, 11, 15), datetime.datetime(2026, 11, 15, 1), datetime.timedelta(1), datetime.time(1)],
    [Decimal("1.50"), Decimal("2"), Decimal("NaN")],
    [["q1", "q2"], {"a": 1}, ("q", "r")],
    [np.float32(0.5), np.int8(3), np.datetime64("2026-11-15"), np.timedelta64(1, "D"), np.str_("q"), np.bool_(True)],
]


def slow_id(value: Any) -> str:
    if isinstance(value, np.generic) and value.dtype.kind not in "mM":
        value = value.item()
    refuse_if(type(value) not in (str, int, float, Decimal) or (not isinstance(value, str) and math.isnan(value)))
    if isinstance(value, str):
        return value
    refuse_if(isinstance(value, float | Decimal) and not (abs(value) <= 2**53 and value == int(value)))
    return str(int(value))


def slow_number(value: Any) -> float:
    if isinstance(value, np.generic) and value.dtype.kind not in "mM":
        value = value.item()
    refuse_if(type(value) not in (str, int, float, Decimal))
    if isinstance(value, str):
        return slow_readers.parse_score(value.strip(slow_readers.BLANKS))
    refuse_if(not math.isfinite(value) or (isinstance(value, int) and int(float(value)) != value))
    return float(value)


def draw_column(rng: random.Random, rows: int) -> list[Any]:
    """A column: of one kind mostly, now and then of two."""
    kinds = rng.sample(VALUES, rng.choice((1, 1, 1, 2)))
    return [rng.choice(rng.choice(kinds)) for _ in range(rows)]


def good(rng: random.Random, rows: int, what: str) -> list[Any]:
    return {
        "id": [f"d{i}" for i in range(rows)] if rng.random() < 0.5 else list(range(1, rows + 1)),
        "query": ["q"] * rows,
        "number": [rng.choice((0.5, 1.0, 0.25)) for _ in range(rows)],
    }[what]


def as_polars(columns: dict[str, list[Any]]) -> Any:
    series = {}
    for name, values in columns.items():
        # Of mixed types, or a decimal NaN, Polars may panic.
        plain = len({type(value) for value in values if value is not None}) < 2 and "NaN" not in map(str, values)
        try:
            series[name] = pl.Series(name, values, dtype=None if plain else pl.Object)
        except (OverflowError, TypeError, ValueError, pl.exceptions.PolarsError):
            series[name] = pl.Series(name, values, dtype=pl.Object)
    return pl.DataFrame(series)


def categorical(columns: dict[str, list[Any]]) -> Any:
    frame = as_polars(columns)
    return frame.with_columns(pl.col(pl.String).cast(pl.Categorical))


MAKERS: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "dict": dict,
    "polars": as_polars,
    "categorical": categorical,
    "pandas": pd.DataFrame,
    "objects": lambda columns: pd.DataFrame(columns, dtype=object),
    "indexed": lambda columns: pd.DataFrame(columns).set_index(next(iter(columns))),
    "arrays": lambda columns: {name: np.array([*values, None], dtype=object)[:-1] for name, values in columns.items()},
}


def seen(table: Any, name: str) -> list[Any]:
    """The values as the table holds them; a maker may have changed their types."""
    if isinstance(table, pd.DataFrame):
        column = table[name] if name in table.columns else table.index
        return [None if value is pd.NaT or value is pd.NA else value for value in column.astype(object)]
    if isinstance(table, pl.DataFrame):
        return table[name].to_list()
    return list(table[name])


def agree(
    seed: str, tries: int, kinds: dict[str, str], make: Callable[[dict[str, list[Any]]], Any],
    fast: Callable[[Any], Any], slow: Callable[[Any], Any],
) -> None:  # fmt: skip
    """Both readers must give the same of tables of which one column is anything, or both refuse them."""
    for number in range(mutations.count(tries)):
        rng = random.Random(f"{seed} {number}")
        rows = rng.randint(1, 4)
        columns = {name: good(rng, rows, kind) for name, kind in kinds.items()}
        columns[rng.choice(list(columns))] = draw_column(rng, rows)
        table = make(columns)
        assert meaning(lambda table=table: fast(table)) == meaning(lambda table=table: slow(table)), (number, columns)


@pytest.mark.parametrize("maker", MAKERS)
def test_runs(maker: str) -> None:
    def slow(table: Any) -> Any:
        queries, documents = ([slow_id(value) for value in seen(table, name)] for name in ("qid", "docno"))
        numbers = [slow_number(value) for value in seen(table, "score")]
        refuse_if(len(set(zip(queries, documents, strict=True))) < len(queries))
        return sorted(zip(queries, documents, numbers, strict=True))

    def fast(table: Any) -> Any:
        return sorted(map(tuple, sf.read_run(table).to_frame().rows()))

    agree(maker, 120, {"qid": "id", "docno": "id", "score": "number"}, MAKERS[maker], fast, slow)


@pytest.mark.parametrize("maker", MAKERS)
def test_scores(maker: str) -> None:
    def slow(table: Any) -> Any:
        queries = [slow_id(value) for value in seen(table, "query")]
        values = [[slow_number(value) for value in seen(table, name)] for name in ("a", "b")]
        refuse_if(len(set(queries)) < len(queries) or any(abs(value) > 1e100 for row in values for value in row))
        return queries, values

    def fast(table: Any) -> Any:
        scores = sf.read_scores(table)
        return list(scores.queries), scores.values.tolist()

    agree(maker, 120, {"query": "id", "a": "number", "b": "number"}, MAKERS[maker], fast, slow)


def test_rows_of_features() -> None:
    def slow(columns: dict[str, list[Any]]) -> Any:
        queries, documents = ([slow_id(value) for value in columns[name]] for name in ("qid", "doc_ids"))
        labels = [slow_number(value) for value in columns["y"]]
        stretches = [query for i, query in enumerate(queries) if i == 0 or query != queries[i - 1]]
        refuse_if(len(set(stretches)) < len(stretches) or min(labels) < 0)
        refuse_if(len(set(zip(queries, documents, strict=True))) < len(queries))
        return stretches, documents, labels

    def fast(columns: dict[str, list[Any]]) -> Any:
        data = sf.RankingData(np.ones((len(columns["y"]), 1)), **columns)
        return list(data.queries), data.doc_ids.to_list(), data.y.tolist()

    agree("features", 300, {"qid": "query", "doc_ids": "id", "y": "number"}, dict, fast, slow)


@pytest.mark.parametrize("what", ["run", "scores", "letor"])
def test_damaged_parquet_is_read_or_refused(tmp_path: Path, what: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Parquet as Polars writes it has no checksum, so values may change; but nothing else may happen."""
    read: Callable[[Path], Any] = {"run": sf.read_run, "scores": sf.read_scores, "letor": sf.read_letor}[what]
    intact = tmp_path / "whole.parquet"
    {
        "run": sf.read_run({"q1": {"d1": 1.0, "d2": 0.5}, "q2": {"d1": 0.25}}),
        "scores": sf.read_scores({"a": {"q1": 0.5, "q2": 1}, "b": {"q1": 0.5, "q2": 0}}),
        "letor": sf.RankingData([[1.0, 2.0], [3.0, 4.0]], [1, 0], qid=["q", "q"], doc_ids=["a", "b"]),
    }[what].write(intact)
    data = intact.read_bytes()
    rng = random.Random(what)
    for number in range(mutations.count(150)):
        damaged = bytearray(data)
        for _ in range(rng.choice((1, 1, 2, 4))):
            at = rng.randrange(len(damaged))
            damaged[at] = rng.randrange(256)
        path = tmp_path / f"damaged{number % 2}.parquet"
        path.write_bytes(damaged[: at if rng.random() < 0.2 else None])
        meaning(lambda path=path: read(path))
    capfd.readouterr()  # where Polars panics it says so on its own
