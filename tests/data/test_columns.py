"""Ids and numbers of tables, dicts and arrays of any maker: one converter, which guesses nothing and rounds nothing."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import surefoot as sf
from surefoot.arguments import is_rounded
from surefoot.data.types.labels_and_scores import feature_scores
from surefoot.errors import ArgumentError, DataError
from surefoot.learn.baseline_spec import BaselineSpec

DAY = datetime.date(2026, 11, 15)
IDS: list[tuple[Any, list[str]]] = [
    (["a", "b"], ["a", "b"]),
    ([1, "b"], ["1", "b"]),
    ([1.0, 2.0], ["1", "2"]),
    (np.array([1.0, 2.0]), ["1", "2"]),
    (np.ma.array([7, 8]), ["7", "8"]),
    (pd.Series([1, 2], dtype="Int64"), ["1", "2"]),
    (pd.Series([1, 2], dtype="Float64"), ["1", "2"]),
    (pd.Series(["a", "b"], dtype="category"), ["a", "b"]),
    (pd.Series(["a", "b"], dtype="string"), ["a", "b"]),
    (pl.Series(["a", "b"], dtype=pl.Categorical), ["a", "b"]),
    (pl.Series(["a", "b"], dtype=pl.Enum(["a", "b"])), ["a", "b"]),
    (pl.Series([Decimal("1.00"), Decimal(2)]), ["1", "2"]),
    (pa.array(["a", "b"]), ["a", "b"]),
]
NOT_IDS: list[tuple[Any, str]] = [
    (["a", None], "row 2: .* is missing"),
    ([1.0, float("nan")], "row 2: .* is missing"),
    (pd.Series([1, None], dtype="Int64"), "row 2: .* is missing"),
    (pd.Series(["a", None]), "row 2: .* is missing"),
    (pd.Series(["a", pd.NA], dtype="string"), "row 2: .* is missing"),
    (np.ma.array([1, 2], mask=[False, True]), "row 2: .* is missing"),
    ([1.0, 1.5], r"row 2: .* is 1\.5 \(float\); an id must be a text or a whole number"),
    ([1, 2.0**60], "row 2: .* may have been rounded"),
    (np.array([1, 2.0**60]), "row 2: .* may have been rounded"),
    (np.array([1, 1.5]), r"row 2: .* is 1\.5 \(float\)"),
    ([True, False], r"row 1: .* is True \(bool\)"),
    (pl.Series([DAY, DAY]), r"row 1: .* \(date\); an id"),
    (pl.Series([b"a", b"b"]), r"row 1: .* \(bytes\); an id"),
    (pl.Series([["a"], ["b"]]), r"row 1: .* \(list\); an id"),
    (pl.Series([{"x": 1}, {"x": 2}]), r"row 1: .* \(dict\); an id"),
    (pl.Series([object(), 1], dtype=pl.Object), r"row 1: .* \(object\); an id"),
    (["a", "\ud800"], "row 2: .* incomplete character"),
    (["a", 10**5000], "row 2: .* thousands of digits"),
]
NUMBERS: list[Any] = [
    [0.5, 2], ["0.5", " 2 "], np.array([0.5, 2], dtype=np.float16), pd.Series([0.5, 2], dtype="Float64"),
    pl.Series([Decimal("0.5"), Decimal(2)]), pa.array([0.5, 2.0]), [np.float32(0.5), np.int8(2)],
]  # fmt: skip
NOT_NUMBERS: list[tuple[Any, str]] = [
    ([0.5, None], "row 2: .* is missing"),
    (pd.Series([0.5, None], dtype="Float64"), "row 2: .* is missing"),
    (np.ma.array([0.5, 1], mask=[False, True]), "row 2: .* is missing"),
    ([0.5, float("nan")], "row 2: .* is nan; every value must be finite"),
    ([True, False], r"row 1: .* is True \(bool\), not a number"),
    (pl.Series([DAY, DAY]), r"\(date\), not a number"),
    (pl.Series([datetime.timedelta(1)] * 2), r"\(timedelta\), not a number"),
    (pd.Series(pd.to_datetime(["2026-11-15"] * 2)), r"\(Timestamp\), not a number"),
    ([np.timedelta64(1, "s")] * 2, "timedelta64.*, not a number"),
    (["0.5", "1_000"], "row 2: .* is '1_000', not a number"),
    (pl.Series(["0.5", "٣"]), "row 2: .* is '٣', not a number"),
    (pl.Series([[1.0], [2.0]]), r"\(list\), not a number"),
    ([0.5, 10**400], "row 2: .*, not a number"),
]


def run_of(queries: Any, numbers: Any) -> sf.Run:
    return sf.read_run({"qid": queries, "docno": ["d1", "d2"], "score": numbers})


@pytest.mark.parametrize("number", range(len(IDS)))
def test_ids(number: int) -> None:
    values, expected = IDS[number]
    assert list(run_of(values, [1, 2]).queries) == expected
    assert list(sf.read_scores({"query": values, "a": [0.5, 1]}).queries) == expected
    data = sf.RankingData(np.ones((2, 1)), [1, 0], qid=values, doc_ids=values)
    assert list(data.queries) == data.doc_ids.to_list() == expected
    assert list(sf.Scores([[0.5, 1]], ["a"], values).queries) == expected


@pytest.mark.parametrize("number", range(len(NOT_IDS)))
def test_what_is_no_id(number: int) -> None:
    values, message = NOT_IDS[number]
    for read in (
        lambda: run_of(values, [1, 2]),
        lambda: sf.read_scores({"query": values, "a": [0.5, 1]}),
        lambda: sf.RankingData(np.ones((2, 1)), [1, 0], qid=values),
        lambda: sf.RankingData(np.ones((2, 1)), [1, 0], group=[2], doc_ids=values),
    ):
        with pytest.raises(DataError, match=message):
            read()


@pytest.mark.parametrize("number", range(len(NUMBERS)))
def test_numbers(number: int) -> None:
    assert run_of(["a", "b"], NUMBERS[number]).to_dict() == {"a": {"d1": 0.5}, "b": {"d2": 2.0}}
    assert sf.read_scores({"query": ["a", "b"], "s": NUMBERS[number]}).values.tolist() == [[0.5, 2]]
    assert sf.RankingData(np.ones((2, 1)), NUMBERS[number], group=[2]).y.tolist() == [0.5, 2]


@pytest.mark.parametrize("number", range(len(NOT_NUMBERS)))
def test_what_is_no_number(number: int) -> None:
    values, message = NOT_NUMBERS[number]
    with pytest.raises(DataError, match=message):
        run_of(["a", "b"], values)
    for read in (
        lambda: sf.read_scores({"query": ["a", "b"], "s": values}),
        lambda: sf.RankingData(np.ones((2, 1)), values, group=[2]),
    ):
        with pytest.raises(DataError):
            read()


def test_a_pandas_index_that_holds_the_queries() -> None:
    columns = {"query": ["q1", "q2"], "docno": ["d1", "d2"], "score": [0.5, 1.0]}
    expected = {"q1": {"d1": 0.5}, "q2": {"d2": 1.0}}
    frame = pd.DataFrame(columns)
    for table in (frame.set_index("query"), frame.set_index(["query", "docno"]), frame[::-1][::-1]):
        assert sf.read_run(table).to_dict() == expected
    with pytest.raises(DataError, match=r"no column 'query_id'.*a pandas index counts as a column if it has a name"):
        sf.read_run(frame.set_index("query").rename_axis(None))


def test_scores_whose_queries_are_the_index() -> None:
    wide = pd.DataFrame({"a": [1.0, 0.0], "b": [0.0, 1.0]}, index=["q1", "q2"])
    for table in (wide, wide.rename_axis("topic"), wide.rename_axis("query"), wide.reset_index()):
        scores = sf.read_scores(table)
        assert (scores.systems, scores.queries) == (("a", "b"), ("q1", "q2"))
    wide.index = [301, 302]
    assert sf.read_scores(wide.rename_axis("query")).queries == ("301", "302")
    with pytest.raises(DataError, match="is the query in the table's index or in its first column, 'a'"):
        sf.read_scores(wide)
    filtered = pd.DataFrame({"query": [1, 2, 3], "a": [0.5, 0.5, 1.0]})[1:]
    assert sf.read_scores(filtered).queries == ("2", "3")
    assert sf.read_scores(filtered.rename_axis("row")).queries == ("2", "3")
    with pytest.raises(DataError, match="2 levels"):
        sf.read_scores(pd.DataFrame({"a": [1.0]}, index=pd.MultiIndex.from_tuples([("q", 1)], names=["query", "fold"])))


def test_columns_in_a_dict() -> None:
    columns = {"query_id": ["q1", "q1"], "doc_id": ["d1", "d2"], "score": [2.0, 1.0]}
    assert sf.score({"q1": {"d1": 1}}, [columns], "RR").values.tolist() == [[1.0]]
    assert sf.read_run(columns).to_dict() == {"q1": {"d1": 2.0, "d2": 1.0}}
    assert sf.score({"q1": {"d1": 1}}, columns, "RR").values.tolist() == [[1.0]]
    with pytest.raises(DataError, match="columns have 1, 2 values; all need the same number"):
        sf.read_run(columns | {"score": [1.0]})
    with pytest.raises(DataError, match=r"query 'q': expected a dict \{document: number\}, found a list"):
        sf.read_qrels({"q": ["d1"]})


def test_keys_that_become_one_id() -> None:
    with pytest.raises(DataError, match="query '1': two keys of the dict are this id, such as 1 and '1'"):
        sf.read_run({1: {"a": 1.0}, "1": {"b": 1.0}})
    with pytest.raises(DataError, match="document '1' appears twice in query 'q'"):
        sf.read_run({"q": {1: 1.0, "1": 0.5}})
    with pytest.raises(DataError, match="system '1': two keys"):
        sf.read_scores({1: {"q": 1.0}, "1": {"q": 0.5}})
    with pytest.raises(DataError, match="query '1': two keys"):
        sf.read_scores({"a": {1: 1.0, "1": 0.5}})


def test_a_system_named_query() -> None:
    scores = sf.read_scores({"query": {"q1": 0.5}, "other": {"q1": 1.0}})
    assert (scores.systems, scores.queries, scores.values.tolist()) == (("query", "other"), ("q1",), [[0.5], [1.0]])
    with pytest.raises(DataError, match="a system has the name 'query'"):
        scores.to_frame()


def test_columns_of_one_name() -> None:
    frame = pd.DataFrame([["q", "d", 1.0, 2.0]], columns=["qid", "docno", "score", "score"])
    with pytest.raises(DataError, match="two columns are named 'score'"):
        sf.read_run(frame)
    with pytest.raises(DataError, match="two columns are named '1'"):
        sf.read_scores(pd.DataFrame([["q", 1.0, 2.0]], columns=["query", 1, "1"]))


def test_masked_scores_and_features() -> None:
    masked = np.ma.array([[0.5, 1.0]], mask=[[False, True]])
    with pytest.raises(ArgumentError, match="values are masked in places"):
        sf.Scores(masked, ["a"], ["q1", "q2"])
    assert np.isnan(sf.RankingData(masked, [1], group=[1]).X).tolist() == [[False, True]]
    with pytest.raises(ArgumentError, match="values contain datetime64"):
        sf.Scores(np.array([["2026-11-15"]], dtype="datetime64[D]"), ["a"], ["q"])


@pytest.mark.parametrize(
    ("column", "accepted"),
    [
        (pl.Series(["a", "b"], dtype=pl.Categorical), True),
        (pl.Series([Decimal(1), Decimal(2)]), True),
        (pl.Series([["a"], ["b"]]), False),
        (pl.Series([{"x": 1}, {"x": 2}]), False),
        (pl.Series([b"a", b"b"]), False),
        (pl.Series([DAY, DAY]), False),
        (pl.Series(["a", None]), False),
    ],
)
def test_parquet_with_columns_of_any_type(tmp_path: Path, column: pl.Series, accepted: bool) -> None:
    path = tmp_path / "x.parquet"
    plain = {"score": [0.5, 1.0], "label": [1, 0], "f1": [0.5, 1.0], "docno": ["d1", "d2"]}
    frame = pl.DataFrame({"qid": column, **plain})
    for read, table in (
        (sf.read_run, frame),
        (sf.read_scores, frame.select("qid", "score")),
        (sf.read_letor, frame.select("label", "qid", "f1")),
    ):
        table.write_parquet(path)
        if accepted:
            assert len(read(path).queries) == 2
        else:
            with pytest.raises(DataError, match=r"x\.parquet"):
                read(path)
        as_number = table.rename({"qid": "was"}).with_columns(column.alias("score"), column.alias("f1"))
        as_number.rename({"was": "qid"}).select(table.columns).write_parquet(path)
        if column.dtype != pl.Decimal:
            with pytest.raises(DataError, match=r"x\.parquet"):
                read(path)


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_parquet_of_other_writers_and_many_pages(tmp_path: Path, version: str) -> None:
    path = tmp_path / "x.parquet"
    queries = [f"query {i}" for i in range(5000)]
    table = pa.table({"query": queries, "a": np.arange(5000) / 5000, "b": [0.5] * 5000})
    pq.write_table(table, path, data_page_size=512, row_group_size=2000, data_page_version=version)
    assert list(sf.read_scores(path).queries) == queries
    pq.write_table(table.slice(0, 0), path)
    with pytest.raises(DataError, match="found 3 columns and 0 rows"):
        sf.read_scores(path)


def test_a_parquet_page_with_an_absurd_count_does_not_end_the_process(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    sf.read_scores({"a": {"q1": 0.5, "q2": 1}}).write(path)
    intact = path.read_bytes()
    count = (
        intact.index(bytes([0x2C, 0x15, 0x04]), intact.index(b"\x28\xb5\x2f\xfd")) + 2
    )  # two values, as Thrift has it
    path.write_bytes(intact[:count] + b"\x03" + intact[count + 1 :])  # minus two
    with pytest.raises(DataError, match=r"x\.parquet: cannot be read as Parquet \(a page's count is wrong\)"):
        sf.read_scores(path)


LARGE, NEXT = 2**53, 2**53 + 1  # the same float, and two scores
PAIRS = {"query_id": ["q", "q"], "doc_id": ["a", "b"]}


def table(scores: Any) -> dict[str, Any]:
    return PAIRS | {"score": scores}


def trec(path: Path, scores: list[Any]) -> Path:
    path.write_text("".join(f"q Q0 d{row} {row + 1} {score} run\n" for row, score in enumerate(scores)))
    return path


def written(frame: pl.DataFrame, path: Path) -> Path:
    if path.suffix == ".parquet":
        frame.write_parquet(path)
    else:
        frame.write_csv(path)
    return path


def as_json(path: Path, scores: list[Any]) -> Path:
    path.write_text(json.dumps({"q": {f"d{row}": score for row, score in enumerate(scores)}}))
    return path


RUNS: dict[str, Callable[[Path, list[int]], Any]] = {
    "dict": lambda folder, scores: {"q": {f"d{row}": score for row, score in enumerate(scores)}},
    "dict of uint64": lambda folder, scores: {"q": {f"d{row}": np.uint64(score) for row, score in enumerate(scores)}},
    "dict of decimals": lambda folder, scores: {"q": {f"d{row}": Decimal(score) for row, score in enumerate(scores)}},
    "dict beside floats": lambda folder, scores: {"q": {"x": 0.5, "d0": scores[0], "d1": scores[1]}},
    "columns": lambda folder, scores: table(scores),
    "columns of text": lambda folder, scores: table([str(score) for score in scores]),
    "NumPy uint64": lambda folder, scores: table(np.array(scores, np.uint64)),
    "NumPy long double": lambda folder, scores: table(np.array(scores, np.uint64).astype(np.longdouble)),
    "pandas": lambda folder, scores: pd.DataFrame(table(scores)),
    "pandas UInt64": lambda folder, scores: pd.DataFrame(table(pd.array(scores, dtype="UInt64"))),
    "pandas objects": lambda folder, scores: pd.DataFrame(table(pd.Series(scores, dtype=object))),
    "Polars": lambda folder, scores: pl.DataFrame(table(scores)),
    "Polars UInt64": lambda folder, scores: pl.DataFrame(table(pl.Series(scores, dtype=pl.UInt64))),
    "Polars texts": lambda folder, scores: pl.DataFrame(table([str(score) for score in scores])),
    "Polars decimals": lambda folder, scores: pl.DataFrame(table([Decimal(score) for score in scores])),
    "Arrow": lambda folder, scores: pl.DataFrame(table(scores)).to_arrow(),
    "Parquet": lambda folder, scores: written(pl.DataFrame(table(scores)), folder / "run.parquet"),
    "CSV": lambda folder, scores: written(pl.DataFrame(table(scores)), folder / "run.csv"),
    "JSON": lambda folder, scores: as_json(folder / "run.json", scores),
    "TREC": lambda folder, scores: trec(folder / "run.txt", scores),
    "TREC with a point": lambda folder, scores: trec(folder / "run.txt", [f"{score}.0" for score in scores]),
}  # fmt: skip


WITHOUT_SIGN = ("dict of uint64", "NumPy uint64", "NumPy long double", "pandas UInt64", "Polars UInt64")


@pytest.mark.parametrize(
    ("form", "sign"), [(form, sign) for form in RUNS for sign in (1, -1) if sign > 0 or form not in WITHOUT_SIGN]
)
def test_a_run_keeps_its_order_or_is_refused(tmp_path: Path, form: str, sign: int) -> None:
    with pytest.raises(DataError, match=f"{NEXT}.*2\\^53"):
        sf.read_run(RUNS[form](tmp_path, [sign * NEXT, sign * LARGE]))
    run = sf.read_run(RUNS[form](tmp_path, [sign * (LARGE - 1), sign * LARGE]))
    assert np.unique(run.ranking.scores).size == run.ranking.scores.size


def test_where_in_a_file_it_stands(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=f"run.txt, line 3: the score is '{NEXT}'; "):
        sf.read_run(trec(tmp_path / "run.txt", [0.5, LARGE, NEXT]))


@given(st.integers(-(2**80), 2**80))
def test_against_python(value: int) -> None:
    """A whole number is refused if and only if its float is another number."""
    expected = abs(value) > LARGE and int(float(value)) != value
    assert is_rounded(value) == is_rounded(str(value)) == is_rounded(Decimal(value)) == expected
    assert is_rounded(f"{value}.00") == expected
    assert not is_rounded(float(value))
    assert not is_rounded(repr(float(value)))
    assert not is_rounded(np.float64(value))


def test_score_matrices(tmp_path: Path) -> None:
    rows = {"query": ["x", "y"], "today": [NEXT, 1], "new": [LARGE, 2]}
    path = written(pl.DataFrame(rows), tmp_path / "scores.parquet")
    for source in (rows, pd.DataFrame(rows), pl.DataFrame(rows), path, written(pl.DataFrame(rows), tmp_path / "s.csv")):
        with pytest.raises(DataError, match=f"{NEXT}.*2\\^53"):
            sf.read_scores(source)
    matrices: tuple[Any, ...] = (
        [[NEXT, 1], [LARGE, 2]],
        [[NEXT, 0.5], [LARGE, 2]],
        np.array([[NEXT, 1], [LARGE, 2]], np.uint64),
    )
    for values in matrices:
        with pytest.raises(ArgumentError, match=f"{NEXT}.*2\\^53"):
            sf.Scores(values, ["today", "new"], ["x", "y"])
    with pytest.raises(ArgumentError, match=f"{NEXT}.*2\\^53"):
        sf.t_test([NEXT, 1, 2], [LARGE, 1, 3])
    with pytest.raises(DataError, match=f"{NEXT}.*2\\^53"):
        sf.RankingData([[1.0], [2.0]], [1, 0], qid=["a", "a"]).with_baseline("today", [NEXT, LARGE])


def test_large_floats_are_what_they_are() -> None:
    scores = sf.Scores([[1e30, 3.5], [2.0**60, 1e16]], ["today", "new"], ["x", "y"])
    assert scores["today"].tolist() == [1e30, 3.5]


@pytest.mark.parametrize("form", ["letor", "parquet", "array"])
def test_a_feature_to_rank_by_keeps_its_order_or_is_refused(tmp_path: Path, form: str) -> None:
    """Times in seconds: 1,700,000,001 and 1,700,000,000 are one float32."""
    times = [1_700_000_001, 1_700_000_000]
    if form == "array":
        data = sf.RankingData(np.array([times], dtype=float).T, [1, 0], qid=["a", "a"])
    else:
        data = sf.RankingData(np.array([[1.0], [2.0]]), [1, 0], qid=["a", "a"])
        path = tmp_path / "data.txt"
        path.write_text("".join(f"{grade} qid:a 1:{time}\n" for grade, time in zip((1, 0), times, strict=True)))
        data = sf.read_letor(path)
        if form == "parquet":
            data.write(tmp_path / "data.parquet")
            data = sf.read_letor(tmp_path / "data.parquet")
    with pytest.raises(DataError, match="float32"):
        feature_scores(data, 1)
    with pytest.raises(DataError, match="float32"):
        BaselineSpec.parse("today=feature:1").scores(data)
    small = sf.RankingData([[2.0**24 - 1], [2.0**24 - 2]], [1, 0], qid=["a", "a"])
    assert feature_scores(small, 1).tolist() == [2**24 - 1, 2**24 - 2]
