"""Texts by id, as MS MARCO, BEIR and TREC have them."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.data.reading.frames import DOCUMENT_COLUMNS, QUERY_COLUMNS
from surefoot.data.reading.texts import read_texts
from surefoot.errors import DataError

WORDS = {"q1": "goats on ice", "q2": "Ibex & chamois"}
CLASSIC = """<top>

<num> Number: q1
<title> goats on
ice

<desc> Description:
What do <b>goats</b> do?
</top>
<top><num> Number: q2 <title> Topic: Ibex &amp; chamois
<desc> none </top>
"""
WEB = """<?xml version="1.0"?>
<webtrack2012>
<topic number="q1" type="faceted"><query>goats on ice</query>
 <description>x</description></topic>
<topic number="q2" type="ambiguous">
 <query>Ibex &amp; chamois</query></topic>
</webtrack2012>
"""


@pytest.mark.parametrize(
    "content",
    [
        "q1\tgoats on ice\nq2\tIbex & chamois\n",
        "\ufeffquery_id\ttext\r\nq1\tgoats  on ice\r\n\r\nq2\tIbex & chamois\r\n",
        "qid\tquery\nq1\tgoats on ice\nq2\tIbex & chamois",
        "docid\turl\ttitle\nq1\thttp://x\tgoats on ice\nq2\thttp://y\tIbex & chamois\n",
        "docid\ttext\ttitle\nq1\tlong\tgoats on ice\nq2\tlong\tIbex & chamois\n",
        '{"_id": "q1", "text": "goats on ice", "metadata": {}}\n\n{"_id": "q2", "text": "Ibex & chamois"}\n',
        '{"id": "q1", "title": "goats on ice", "text": "long"}\n{"id": "q2", "title": "", "text": "Ibex & chamois"}\n',
        CLASSIC,
        WEB,
    ],
)
def test_files(tmp_path: Path, content: str) -> None:
    (tmp_path / "texts").write_text(content, encoding="utf-8", newline="")
    assert read_texts(tmp_path / "texts") == WORDS
    with gzip.open(tmp_path / "texts.gz", "wt", encoding="utf-8", newline="") as file:
        file.write(content)
    assert read_texts(str(tmp_path / "texts.gz")) == WORDS
    assert read_texts(tmp_path / "texts", {"q2", "q3"}) == {"q2": "Ibex & chamois"}


def test_a_header_is_the_first_line(tmp_path: Path) -> None:
    (tmp_path / "texts").write_text("q1\ta\nid\ttext\n")
    assert read_texts(tmp_path / "texts") == {"q1": "a", "id": "text"}


def test_tables_and_dicts(tmp_path: Path) -> None:
    frame = pl.DataFrame({"qid": list(WORDS), "query": list(WORDS.values())})
    frame.write_parquet(tmp_path / "t.parquet")
    sources: list[Any] = [WORDS, {"q1": {"title": "", "text": "goats on ice"}, "q2": {"text": "Ibex & chamois"}}]
    for source in [*sources, frame, frame.to_dict(as_series=False), tmp_path / "t.parquet"]:
        assert read_texts(source) == WORDS
    assert read_texts(pl.DataFrame({"id": [1, 2], "text": ["a", None]})) == {"1": "a", "2": ""}
    assert read_texts({}) == {}


def test_a_title_and_a_text_are_joined_if_whole(tmp_path: Path) -> None:
    entries = [("d1", "Goats", "They climb."), ("d2", "", "Ibex"), ("d3", "Chamois", "")]
    expected = {"d1": "Goats They climb.", "d2": "Ibex", "d3": "Chamois"}
    lines = "".join(f'{{"_id": "{key}", "text": "{text}", "title": "{title}"}}\n' for key, title, text in entries)
    (tmp_path / "corpus.jsonl").write_text(lines)
    rows = "".join(f"{key}\t{text}\t{title}\n" for key, title, text in entries)
    (tmp_path / "corpus.tsv").write_text(f"docid\ttext\ttitle\n{rows}")
    frame = pl.DataFrame(entries, ["docid", "title", "text"], orient="row")
    for source in (tmp_path / "corpus.jsonl", tmp_path / "corpus.tsv", frame):
        assert read_texts(source, whole=True) == expected
        assert read_texts(source)["d1"] == "Goats"
    assert read_texts({"q1": {"text": "Goats"}, "q2": "Ibex"}, whole=True) == {"q1": "Goats", "q2": "Ibex"}


@pytest.mark.parametrize("name", [*QUERY_COLUMNS, *DOCUMENT_COLUMNS])
def test_ids_are_called_what_runs_call_them(name: str) -> None:
    if name != "query":  # beside an id, that is a text
        assert read_texts(pl.DataFrame({name: list(WORDS), "text": list(WORDS.values())})) == WORDS


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("q1\ta\nq1\tb\n", "line 2: the id 'q1' appears twice"),
        ("q1\ta\nq2 b\n", "line 2: expected an id and a text with one tab between, found 'q2 b'"),
        ("q1\ta\tb\n", "line 1: expected an id and a text"),
        ("\ta\n", "line 1: expected an id"),
        ("qid\turl\ttext\nq1\tu\n", "line 2: expected 3 columns"),
        ('{"_id": "q1", "text": "a"}\n{"_id": \n', "line 2: is not JSON"),
        ('{"_id": "q1", "text": "a", "text": "b"}\n', "'text' appears twice in one object"),
        ('{"_id": "q1", "text": "a", "x": NaN}\n', "NaN is not a number in JSON"),
        ('{"_id": "q1", "text": "a"}\n{"text": "b"}\n', "line 2: expected an object with an id"),
        ('{"_id": "q1", "body": "a"}\n', "line 1: expected one of title, text, query"),
        ('{"_id": "q1", "text": 5}\n', "line 1: the text is 5"),
        ('{"_id": true, "text": "a"}\n', "line 1: expected an object with an id"),
        ("<top>\n<num> 1 <title> a\n</top>\n<top>\n<title> b </top>", "line 4: the topic has no number"),
        ("<top><num> Number: 1\n<desc> b </top>", "line 1: the topic has no <title> or <query>"),
        ("<top><num>1<title>a</top>\n<top><num>1<title>b</top>", "line 2: the id '1' appears twice"),
        ("<html></html>", "no topic was found"),
        (" \n\n", "the file is empty"),
    ],
)
def test_wrong_files(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "texts").write_text(content, encoding="utf-8")
    with pytest.raises(DataError) as raised:
        read_texts(tmp_path / "texts")
    assert message in str(raised.value)
    assert str(raised.value).startswith(str(tmp_path / "texts"))


def test_wrong_sources() -> None:
    with pytest.raises(DataError, match="id 'q1': the text is 3"):
        read_texts({"q1": 3})
    with pytest.raises(DataError, match="expected a column of ids"):
        read_texts(pl.DataFrame({"a": ["x"]}))
    with pytest.raises(DataError, match="row 2: the id 'x' appears twice"):
        read_texts(pl.DataFrame({"id": ["x", "x"], "text": ["a", "b"]}))
    with pytest.raises(DataError, match="cannot be read"):
        read_texts("no such file")


@given(
    st.dictionaries(
        st.from_regex(r"[a-z0-9]{1,6}", fullmatch=True), st.from_regex(r"[^\s\x00]{1,20}", fullmatch=True), min_size=1
    )
)
def test_lines_round_trip(tmp_path_factory: pytest.TempPathFactory, texts: dict[str, str]) -> None:
    path = tmp_path_factory.mktemp("texts") / "t.tsv"
    path.write_text("".join(f"{key}\t{text}\n" for key, text in texts.items()), encoding="utf-8", newline="")
    assert read_texts(path) == texts
