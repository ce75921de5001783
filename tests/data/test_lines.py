"""One grammar of TREC lines, whatever the block a line stands in."""

from __future__ import annotations

from pathlib import Path

import pytest

import surefoot as sf
from surefoot.data.reading import run_lines
from surefoot.errors import DataError

# Lines before a case, so that its block is regular, irregular but easily made regular, or read line by line.
BLOCKS = {
    "alone": b"",
    "tabs": b"q0\t0\td0\t1\n",
    "spaces": b"q0 0 d0 1\n",
    "two spaces": b"q0  0 d0 1\n",
    "slow": b"q0 0 d\x010 1\n",
    "windows": b"q0 0 d0 1\r\n",
}
SAME = [
    b"q1\t0\td1 \t1",
    b"q1\t0\td1\v\t1",
    b"q1\t0\td1\r\t1",
    b"q1\t0\td1\f\t1",
    b" q1 0 d1 1",
    b"q1 0 d1 1 ",
    b"q1 0 d1 1\t",
    b"q1 0 d1 1\r",
    b"q1 0 d1 1\r\r",
    b"q1  0\td1  1",
    b"\r\nq1 0 d1 1\n\n \n",
    b"q1\t0 d1 1",
    b"q1 \t 0 \t d1 \t 1",
    b"q1   0   d1   1",
    b"q1 0 d1 10e-1",
    b"q1 0 d1 +1",
    b"q1 0 d1 1.",
    b"q1 0 d1 01e0",
]
WRONG = {
    b"q1  d1 1": "expected 4 columns",
    b"q1 0  1": "expected 4 columns",
    b"q1\t\td1\t1": "expected 4 columns",
    b"q1 0 d1 1 ": None,
    b"q1 0 d1 1 1": "expected 4 columns",
    b"q1 0 d1 1_0": "'1_0' is not a number",
    b"q1 0 d1 0x1": "'0x1' is not a number",
    b"q1 0 d1 1\x1f": "is not a number",
    b"q1 0 d1 \xd9\xa3": "is not a number",
    b"q1 0 d1 inf": "must be finite",
    b"q1 0 d1 1e400": "must be finite",
    b"q1 0 d\x001 1": "NUL",
    b"q1 \xff d1 1": "not UTF-8 text (byte 0xff)",
    b"q1 0 d1 1\rq1 0 d2 1": "old Mac",
}


def read(path: Path, data: bytes) -> dict[str, dict[str, float]]:
    path.write_bytes(data)
    return sf.read_qrels(path).to_dict()


@pytest.mark.parametrize("end", [b"\n", b""])
@pytest.mark.parametrize("before", BLOCKS)
@pytest.mark.parametrize("line", SAME)
def test_white_space_is_never_part_of_an_id(tmp_path: Path, before: str, line: bytes, end: bytes) -> None:
    table = read(tmp_path / "x.txt", BLOCKS[before] + line + end)
    assert table["q1"] == {"d1": 1.0}


@pytest.mark.parametrize("before", BLOCKS)
@pytest.mark.parametrize("line", [line for line, message in WRONG.items() if message])
def test_a_wrong_line_is_wrong_in_every_block(tmp_path: Path, before: str, line: bytes) -> None:
    with pytest.raises(DataError) as caught:
        read(tmp_path / "x.txt", BLOCKS[before] + line + b"\n")
    assert f"line {1 + bool(BLOCKS[before])}: " in str(caught.value)
    assert WRONG[line] in str(caught.value)


@pytest.mark.parametrize("line", ["q2  d1 1 1 t", "q1 Q0  1 1 t", "q1\tQ0\t\t1\t1\tt", "q1 Q0 d1  1 t"])
def test_an_empty_column_is_a_missing_one(tmp_path: Path, line: str) -> None:
    path = tmp_path / "x.run"
    for before in ("", "q0 Q0 d 1 1 t\n", "q0\tQ0\td\t1\t1\tt\n"):
        path.write_text(f"{before}{line}\n")
        with pytest.raises(DataError, match="expected 6 columns"):
            sf.read_run(path)


@pytest.mark.parametrize("before", BLOCKS)
@pytest.mark.parametrize("name", ["d\u00a01", "\u3000d", "d\u2028", "\ufeffd", "d\u0085", "d\x1f"])
def test_other_characters_are_part_of_the_id(tmp_path: Path, before: str, name: str) -> None:
    table = read(tmp_path / "x.txt", BLOCKS[before] + f"q1 0 {name} 1\n".encode())
    assert table["q1"] == {name: 1.0}


@pytest.mark.parametrize("field", [1, 3])
def test_columns_that_are_not_kept_are_text_too(tmp_path: Path, field: int) -> None:
    words = [b"q1", b"Q0", b"d1", b"1", b"1", b"t"]
    words[field] = b"\xff"
    (tmp_path / "x.run").write_bytes(b" ".join(words) + b"\n")
    with pytest.raises(DataError, match="line 1: not UTF-8"):
        sf.read_run(tmp_path / "x.run")


def test_a_mark_counts_only_where_the_file_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_lines, "_BLOCK", 12)
    data = b"\xef\xbb\xbfq1 0 d1 1\n\xef\xbb\xbfq1 0 d1 1\n\xef\xbb\xbf\xef\xbb\xbfq1 0 d1 1\n"
    assert list(read(tmp_path / "x.txt", data)) == ["q1", "\ufeffq1", "\ufeff\ufeffq1"]


def test_the_line_of_a_document_that_stands_twice(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbf\n\r\nq1 0 d1 1\r\n \v\nq1 0 d2 1 \r \nq1 0 d1 1\n"
    with pytest.raises(DataError, match=r"x\.txt, line 6: document 'd1' appears twice .*first at line 3"):
        read(tmp_path / "x.txt", data)
