"""Runs and judgments: every way in and out, ties, duplicates, and files that are not what they should be."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.data.files import check_refused, write_file

import surefoot as sf
from surefoot.data.reading import run_lines
from surefoot.errors import DataError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

RUN = {"q1": {"d1": 1.5, "d2": 3.0, "d3": -2.0}, "q2": {"d9": 0.25}}
LINES = "q1 Q0 d2 1 3.0 tag\nq1 Q0 d1 2 1.5 tag\nq1 Q0 d3 3 -2.0 tag\nq2 Q0 d9 1 0.25 tag\n"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    ("ending", "compress"),
    [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress), (".zst", zstd.compress)],
)
def test_plain_and_compressed_files(tmp_path: Path, ending: str, compress) -> None:
    path = tmp_path / f"bm25.v2.run{ending}"
    path.write_bytes(compress(LINES.encode()))
    run = sf.read_run(path)
    assert run.name == "bm25.v2"
    assert run.to_dict() == RUN


def test_ids_with_spaces_are_not_written_as_lines(tmp_path: Path) -> None:
    run = sf.read_run({"q": {"a document": 1.0}})
    with pytest.raises(DataError, match="the document id 'a document' cannot be written in a TREC line"):
        run.write(tmp_path / "x.run")
    run.write(tmp_path / "x.parquet")
    assert names(tmp_path) == ["x.parquet"]


def test_ids_of_any_kind(tmp_path: Path) -> None:
    ids = ['"quoted', "#hash", "doc,with,commas", "ünïcode-文書", "null", "NaN", "0012", "a'b", "x" * 500]
    path = tmp_path / "x.run"
    path.write_text("".join(f"007 Q0 {d} 1 {len(ids) - i} t\n" for i, d in enumerate(ids)), encoding="utf-8")
    run = sf.read_run(path)
    assert run.queries == ("007",)
    assert run.documents().to_list() == ids


def test_frames_of_every_maker() -> None:
    rows = [(q, d, s) for q, docs in RUN.items() for d, s in docs.items()]
    query, document, score = map(list, zip(*rows, strict=True))
    for columns in ({"query_id": query, "doc_id": document, "score": score},
                    {"qid": query, "docno": document, "score": score, "rank": [0, 1, 2, 0]}):  # fmt: skip
        for frame in (pd.DataFrame(columns), pl.DataFrame(columns), pl.LazyFrame(columns), pa.table(columns)):
            assert sf.read_run(frame, name="x").to_dict() == RUN
    numbers = pd.DataFrame({"query_id": [1, 1], "doc_id": [10, 11], "relevance": [0, 2]})
    assert sf.read_qrels(numbers).to_dict() == {"1": {"11": 2.0, "10": 0.0}}
    assert sf.read_run({1: {10: 2, 11: 3}}).to_dict() == {"1": {"11": 3.0, "10": 2.0}}


@pytest.mark.parametrize("ending", [".run", ".run.gz", ".run.zst", ".run.xz", ".run.bz2"])
def test_what_is_written_reads_back(tmp_path: Path, ending: str) -> None:
    run = sf.read_run(RUN, name="a system")
    run.write(tmp_path / f"a{ending}")
    again = sf.read_run(tmp_path / f"a{ending}")
    assert again.to_dict() == RUN
    assert again.queries == run.queries
    qrels = sf.read_qrels({"q1": {"d1": 2, "d2": -1}, "q2": {"d1": 0}})
    qrels.write(tmp_path / f"q{ending}")
    assert sf.read_qrels(tmp_path / f"q{ending}").to_dict() == qrels.to_dict()
    assert names(tmp_path) == [f"a{ending}", f"q{ending}"]


def test_parquet_out_and_frame_in(tmp_path: Path) -> None:
    sf.read_run(RUN).write(tmp_path / "x.parquet")
    assert sf.read_run(pl.read_parquet(tmp_path / "x.parquet")).to_dict() == RUN


def test_ties_go_by_document_id_descending() -> None:
    run = sf.read_run({"q": {"b": 1.0, "é": 1.0, "a": 1.0, "Z": 1.0, "c": 2.0}})
    assert run.documents().to_list() == ["c", "é", "b", "a", "Z"]  # by bytes, as strcmp has it
    assert run.ranking.tie_rule == "document id descending"


@given(st.data())
def test_order_is_that_of_a_plain_sort(data) -> None:
    """Queries in pieces, coarse scores: against Python's own sort."""
    rows = data.draw(
        st.lists(
            st.tuples(st.sampled_from(["q1", "q2", "q3"]), st.text("abé", min_size=1, max_size=4), st.integers(-2, 2)),
            min_size=1, max_size=40, unique_by=lambda row: row[:2],
        )
    )  # fmt: skip
    frame = pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")
    run = sf.read_run(frame)
    assert list(run.queries) == list(dict.fromkeys(q for q, _, _ in rows))
    expected = [
        d for q in run.queries
        for _, d in sorted(((s, d.encode()) for p, d, s in rows if p == q), reverse=True)
    ]  # fmt: skip
    assert [d.encode() for d in run.documents()] == expected


def test_blocks_and_ties_across_them(tmp_path: Path, monkeypatch) -> None:
    """A file longer than a block reads as one: queries and ties may go on in the next."""
    rng = np.random.default_rng(0)
    rows = [(f"q{q}", f"d{d:03d}", float(s)) for q in range(7) for d, s in enumerate(rng.integers(0, 9, 60))]
    rows.sort(key=lambda row: (row[0], -row[2]))
    path = tmp_path / "x.run"
    path.write_text("".join(f"{q} Q0 {d} 0 {s} t\n" for q, d, s in rows))
    run = sf.read_run(path)
    monkeypatch.setattr(run_lines, "_BLOCK", 100)
    pieces = sf.read_run(path)
    assert pieces.documents().to_list() == run.documents().to_list()
    expected = [d for q in run.queries for _, d in sorted(((s, d) for p, d, s in rows if p == q), reverse=True)]
    assert run.documents().to_list() == expected
    ranked = {q: list(documents) for q, documents in run.to_dict().items()}
    shuffled = [rows[i] for i in rng.permutation(len(rows))]
    path.write_text("".join(f"{q} Q0 {d} 0 {s} t\n" for q, d, s in shuffled))
    again = sf.read_run(path)
    assert {q: list(documents) for q, documents in again.to_dict().items()} == ranked


def test_a_pipe_is_read_like_a_file(tmp_path: Path) -> None:
    pipe = tmp_path / "x.run"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text(LINES))
    writer.start()
    run = sf.read_run(pipe)
    writer.join()
    assert run.to_dict() == RUN


def test_a_file_that_changed_is_not_mixed_up(tmp_path: Path) -> None:
    path = tmp_path / "x.run"
    path.write_text(LINES)
    run = sf.read_run(path)
    path.write_text(LINES.replace("d1", "e11"))
    with pytest.raises(DataError, match="changed since it was read"):
        run.documents()


BAD = {
    "too few columns": ("q1 Q0 d1 1 3.0\n", "line 1: expected 6 columns (query Q0 document rank score tag), found 5"),
    "too few later": (LINES + "q3 d1 2.0\n", "line 5: expected 6 columns"),
    "too many": (LINES + "q3 Q0 d1 1 2.0 my tag\n", "line 5: expected 6 columns"),
    "not a number": ("q1 Q0 d1 1 high tag\n", "line 1: the score 'high' is not a number"),
    "nan": (LINES + "\nq3 Q0 d1 1 nan tag\n", "line 6: the score is nan; every score must be finite"),
    "infinite": ("q1 Q0 d1 1 -inf tag\n", "line 1: the score is -inf"),
    "overflow": ("q1 Q0 d1 1 1e999 tag\n", "line 1: the score is 1e999"),
    "twice": (LINES + "\nq1 Q0 d1 9 0.1 tag\n", "line 6: document 'd1' appears twice in query 'q1' (first at line 2)"),
    "underscore": ("q1 Q0 d1 1 1_000 tag\n", "line 1: the score '1_000' is not a number"),
    "other digits": ("q1 Q0 d1 1 ٣ tag\n", "line 1: the score '٣' is not a number"),
    "old Mac": (LINES.replace("\n", "\r"), "line 1: the lines end in a carriage return only (old Mac line ends)"),
    "long": ("q1 " + "x" * 5000 + "\n", "xxx…xxx"),
    "only blanks": ("\n  \n", "the file is empty"),
    "empty": ("", "the file is empty"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_run_is_told_with_its_line(tmp_path: Path, what: str) -> None:
    text, message = BAD[what]
    check_refused(sf.read_run, write_file(tmp_path / "bad.run", text), message)


def test_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "bad.run"
    path.write_bytes(LINES.encode() + "q3 Q0 dé 1 2.0 t\n".encode("latin-1"))
    with pytest.raises(DataError, match=r"line 5: not UTF-8 text \(byte 0xe9\)"):
        sf.read_run(path)
    path.write_bytes(LINES.encode("utf-16"))
    with pytest.raises(DataError, match="line 1: not UTF-8"):
        sf.read_run(path)


@pytest.mark.parametrize(
    ("ending", "compress"),
    [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress), (".zst", zstd.compress)],
)
def test_truncated_and_false_compression(tmp_path: Path, ending: str, compress) -> None:
    path = tmp_path / f"bad.run{ending}"
    rng = np.random.default_rng(0)
    text = "".join(f"q1 Q0 d{i} {i} {x} t\n" for i, x in enumerate(rng.random(5000)))
    intact = compress(text.encode())
    for data in (intact[: len(intact) // 2], b"not compressed at all"):
        path.write_bytes(data)
        with pytest.raises(DataError, match="truncated or corrupt"):
            sf.read_run(path)


@pytest.mark.parametrize(("ending", "compress"), [(".bz2", bz2.compress), (".xz", lzma.compress)])
def test_streams_end_to_end_but_nothing_else_after_them(tmp_path: Path, ending: str, compress, monkeypatch) -> None:
    monkeypatch.setattr(run_lines, "_BLOCK", 16)
    path = tmp_path / f"x.run{ending}"
    first, second = LINES[:40], LINES[40:]
    path.write_bytes(compress(first.encode()) + compress(second.encode()) + bytes(8))
    assert sf.read_run(path).to_dict() == RUN
    path.write_bytes(compress(LINES.encode()) + b"garbage")
    with pytest.raises(DataError, match="truncated or corrupt"):
        sf.read_run(path)


@pytest.mark.parametrize("query", ["x^", "x\x01", "(\u0175/"])
def test_text_that_looks_compressed_to_polars(tmp_path: Path, query: str) -> None:
    path = tmp_path / "x.run"
    path.write_text(f"{query} Q0 d1 1 3.0 t\n")
    assert sf.read_run(path).to_dict() == {query: {"d1": 3.0}}


@pytest.mark.parametrize(
    ("ending", "compress"),
    [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress), (".zst", zstd.compress)],
)
def test_compressed_data_under_a_plain_name(tmp_path: Path, ending: str, compress) -> None:
    path = tmp_path / "x.run"
    path.write_bytes(compress(LINES.encode()))
    with pytest.raises(DataError, match=f"this is compressed data; rename the file to x.run{ending}"):
        sf.read_run(path)


def test_no_file_and_a_folder(tmp_path: Path) -> None:
    for name in ("x" * 300, "x\0y"):
        with pytest.raises(DataError, match="cannot be read"):
            sf.read_run(tmp_path / name)
    with pytest.raises(DataError, match="cannot be read"):
        sf.read_run(tmp_path / "absent.run")
    with pytest.raises(DataError, match="a file name is empty"):
        sf.read_run("")
    with pytest.raises(DataError, match="is a folder"):
        sf.read_run(tmp_path)


def test_a_line_number_past_the_first_block(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(run_lines, "_BLOCK", 64)
    path = tmp_path / "bad.run"
    path.write_text("".join(f"q1 Q0 d{i} 1 {9 - i} t\n" for i in range(8)) + "q1 Q0 d9 1 x t\n")
    with pytest.raises(DataError, match="line 9: the score 'x'"):
        sf.read_run(path)


def frame(**columns: list) -> pl.DataFrame:
    return pl.DataFrame(columns)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({}, "contains no documents"),
        ({"q": {}}, "contains no documents"),
        ({"q": ["d1"], "r": {"d1": 1}}, "expected a dict"),
        ({"q": {"d": "high"}}, "query 'q', document 'd': the number is 'high', not a number"),
        ({"q": {"d": float("nan")}}, "query 'q', document 'd': the number is nan"),
        (pl.DataFrame({"query_id": ["q"], "score": [1.0]}), "no column 'doc_id' or 'docno'"),
        (frame(query=["q", None], document=["a", "b"], score=[1.0, 2.0]), "row 2: 'query' is missing"),
        (frame(query=["q"], document=["a"], score=["high"]), "not a number"),
        (frame(query=["q", "q"], document=["a", "a"], score=[1.0, 2.0]), "row 2: document 'a' appears twice"),
        (frame(query=[], document=[], score=[]), "the table is empty"),
        (42, "cannot read a int"),
    ],
)  # fmt: skip
def test_bad_dicts_and_frames(source, message: str) -> None:
    with pytest.raises(DataError) as caught:
        sf.read_run(source)
    assert message in str(caught.value)


def test_nothing_half_written(tmp_path: Path) -> None:
    run = sf.read_run(RUN)
    with pytest.raises(DataError, match="cannot be written"):
        run.write(tmp_path / "absent" / "x.run")
    target = tmp_path / "x.run"
    target.mkdir()
    with pytest.raises(DataError, match="cannot be written"):
        run.write(target)
    assert names(tmp_path) == ["x.run"]


def test_links_are_followed_and_modes_kept(tmp_path: Path) -> None:
    target, link = tmp_path / "real.run", tmp_path / "link.run"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    sf.read_run(RUN).write(link)
    assert link.is_symlink()
    assert sf.read_run(target).to_dict() == RUN
    assert target.stat().st_mode & 0o777 == 0o640
    dangling = tmp_path / "dangling.run"
    dangling.symlink_to(tmp_path / "later.run")
    sf.read_run(RUN).write(dangling)
    assert sf.read_run(tmp_path / "later.run").to_dict() == RUN
    assert dangling.is_symlink()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(DataError, match="cannot be written"):
        sf.read_run(RUN).write(tmp_path / "loop")


def test_a_pipe_is_written_into(tmp_path: Path) -> None:
    pipe = tmp_path / "x.run"
    os.mkfifo(pipe)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    sf.read_run(RUN, name="tag").write(pipe)
    reader.join()
    assert pipe.is_fifo()
    assert got == [LINES]
