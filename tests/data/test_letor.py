"""LETOR files: every way in and out, every digit, and files that are not what they should be."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

import surefoot as sf
from surefoot.data.letor import files as letor
from surefoot.data.letor import text as letor_text
from surefoot.data.letor.files import write_letor
from surefoot.data.letor.letor_lines import document_of, read_one_by_one
from surefoot.errors import ArgumentError, DataError

TEXT = """2 qid:7 1:0.5 2:0 3:-1.25 #docid = GX01 inc = 1
0 qid:7 1:3 2:4e-1 3:0 #docid = GX02 inc = 0.5
1 qid:x9 1:0 2:0 3:7 #docid = GX01
"""
X = np.array([[0.5, 0, -1.25], [3, 0.4, 0], [0, 0, 7]], dtype=np.float32)


def read(tmp_path: Path, text: str | bytes, name: str = "x.txt", **options) -> sf.RankingData:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return sf.read_letor(path, **options)


def same(one: sf.RankingData, other: sf.RankingData) -> None:
    assert one.X.tobytes() == other.X.tobytes()
    assert one.X.shape == other.X.shape
    assert one.y.tolist() == other.y.tolist()
    assert one.queries == other.queries
    assert one.offsets.tolist() == other.offsets.tolist()
    assert (one.doc_ids is None) == (other.doc_ids is None)
    if one.doc_ids is not None and other.doc_ids is not None:
        assert one.doc_ids.to_list() == other.doc_ids.to_list()


def test_what_lines_hold(tmp_path: Path) -> None:
    data = read(tmp_path, TEXT)
    assert np.array_equal(data.X, X)
    assert data.X.dtype == np.float32
    assert data.X.flags.c_contiguous
    assert data.y.tolist() == [2, 0, 1]
    assert data.queries == ("7", "x9")
    assert data.offsets.tolist() == [0, 2, 3]
    assert data.doc_ids is not None
    assert data.doc_ids.to_list() == ["GX01", "GX02", "GX01"]


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace(" ", "\t"),
        TEXT.replace(" ", "   "),
        TEXT.replace("\n", "\r\n"),
        TEXT.replace(" #", "#"),
        TEXT.replace("#", "  # "),
        TEXT.replace("docid = ", "docid=").replace(" inc", "\tinc"),
        "  " + TEXT.replace("\n", " \n \t "),
        "\n\n" + TEXT.replace("\n", "\n\r\n\n"),
        "# a file\n" + TEXT + "   # its end",
        "\ufeff" + TEXT,
        TEXT.rstrip("\n"),
        TEXT.replace(" 2:0 ", " ").replace(" 1:0 ", " ").replace(" 3:0 ", " "),
        TEXT.replace("0.5 ", ".5e+0 ").replace("1:3", "1:+3.").replace("-1.25", "-125E-2"),
        TEXT.replace("2 qid", "2.0 qid").replace("1 qid", "+1e0 qid"),
        TEXT.replace("1:3", "1:3.00000000000000000000000000000").replace("4e-1", "0.40000000000000000000000000001"),
    ],
)
def test_any_writing_of_the_same_lines(tmp_path: Path, text: str) -> None:
    same(read(tmp_path, text), read(tmp_path, TEXT))


@pytest.mark.parametrize("text", [TEXT.replace("\n", "\v\n"), TEXT.replace("1:3", "01:3"), TEXT.replace(" 2:", "\f2:")])
def test_rare_writings_are_read_one_by_one(tmp_path: Path, text: str) -> None:
    same(read(tmp_path, text), read(tmp_path, TEXT))


def test_width_is_the_highest_feature_or_what_is_asked_for(tmp_path: Path) -> None:
    sparse = "1 qid:1\n0 qid:1 5:1\n0 qid:2 2:1\n"
    assert read(tmp_path, sparse).X.shape == (3, 5)
    assert read(tmp_path, sparse, n_features=9).X.shape == (3, 9)
    with pytest.raises(DataError, match=r"line 2: found feature 5, but only 4 are expected"):
        read(tmp_path, sparse, n_features=4)
    with pytest.raises(ArgumentError, match="n_features is 0"):
        read(tmp_path, sparse, n_features=0)


def test_missing_values_are_nan(tmp_path: Path) -> None:
    data = read(tmp_path, "1 qid:1 1:nan 2:NaN 3:-nan 4:1\n")
    assert np.isnan(data.X[0, :3]).all()
    assert data.X[0, 3] == 1


@pytest.mark.parametrize(
    ("comments", "ids"),
    [
        (["#d1", "# d2 ", "#docid = d3 x"], ["d1", "d2", "d3"]),
        (["#docid = ünïcode-文書", "#a=b", "#a#b"], ["ünïcode-文書", "a=b", "a#b"]),
        (["#d1", "# two words", "#d3"], None),
        (["#d1", "", "#d3"], None),
        (["#docid = ", "#d2", "#d3"], None),
        (["#docid x", "#d2", "#d3"], None),
        (["#docid", "#docids=7", "# docid=q"], ["docid", "docids=7", "q"]),
    ],
)
def test_document_ids_are_kept_if_every_line_has_one(tmp_path: Path, comments: list[str], ids) -> None:
    text = "".join(f"0 qid:1 1:1 {comment}\n" for comment in comments)
    data = read(tmp_path, text)
    assert (data.doc_ids.to_list() if data.doc_ids is not None else None) == ids
    slow = [document_of(comment.encode()[1:]) for comment in comments]
    assert (None if None in slow else [name.decode() for name in slow if name is not None]) == ids


WRONG = {
    "two qid:1 1:1": "the label 'two' is not a number",
    "1_0 qid:1 1:1": "the label '1_0' is not a number",
    "qid:1 1:1": "the label is missing, found 'qid:1'",
    "-1 qid:1 1:1": "the label is -1; labels must be 0",
    "nan qid:1 1:1": "the label is nan; every label must be a finite number",
    "inf qid:1 1:1": "the label is inf; every label must be a finite number",
    "1 1:1 2:1": "expected qid:ID after the label, found '1:1'",
    "1": "expected qid:ID after the label, the line ends there",
    "1 qid: 1:1": "expected qid:ID after the label, found 'qid:'",
    "1 qid:1 2:1 1:1": "feature 1 comes after feature 2; sort the line",
    "1 qid:1 1:1 1:2": "feature 1 appears twice",
    "1 qid:1 0:1 1:2": "found feature 0 ('0:1'); features are numbered from 1",
    "1 qid:1 -1:1": "expected number:value, found '-1:1'",
    "1 qid:1 a:1": "expected number:value, found 'a:1'",
    "1 qid:1 1:1 and more": "expected number:value, found 'and'; a comment starts with '#'",
    "1 qid:1 99999999999999999999999:1": "a dense matrix may have 1,048,576",
    "1 qid:1 1048577:1": "found feature 1048577; a dense matrix may have 1,048,576",
    "1 qid:1 1:": "the value '' of feature 1 is not a number",
    "1 qid:1 1: 2:1": "the value '' of feature 1 is not a number",
    "1 qid:1 1:x": "the value 'x' of feature 1 is not a number",
    "1 qid:1 1:1e": "the value '1e' of feature 1 is not a number",
    "1 qid:1 1:1.2.3": "the value '1.2.3' of feature 1 is not a number",
    "1 qid:1 1:--1": "the value '--1' of feature 1 is not a number",
    "1 qid:1 1:1_000": "the value '1_000' of feature 1 is not a number",
    "1 qid:1 1:.": "the value '.' of feature 1 is not a number",
    "1 qid:1 1:inf": "the value 'inf' of feature 1 is infinite",
    "1 qid:1 1:-Infinity": "the value '-Infinity' of feature 1 is infinite",
    "1 qid:1 1:1e39": "is infinite or more than float32 holds",
    "1 qid:1 1:1e999999999999": "is infinite or more than float32 holds",
    "1 qid:7 1:1\udcff": "not UTF-8 text (byte 0xff)",
    "1 qid:\udcff 1:1": "not UTF-8 text (byte 0xff)",
    "1 qid:1 1:1 #docid = \udcff": "not UTF-8 text (byte 0xff)",
    "1 qid:1 1:1 #docid = a more \udcff": "not UTF-8 text (byte 0xff)",
    "0 qid:7 1:1 #docid = a": "query '7' comes again after other queries; put all its rows together (sort by query) "
    "(first at line 2)",
    "0 qid:x9 1:1 #docid = GX01": "document 'GX01' appears twice in query 'x9'; keep one of them (first at line 4)",
}


@pytest.mark.parametrize("line", WRONG)
@pytest.mark.parametrize("block", [1 << 20, 40])
def test_the_wrong_line_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, block: int) -> None:
    monkeypatch.setattr(letor_text, "_BLOCK", block)
    text = "\n" + TEXT + line + "\n0 qid:z 1:1 #docid = z\n"
    with pytest.raises(DataError) as error:
        read(tmp_path, text.encode(errors="surrogateescape"))
    assert str(error.value).startswith(f"{tmp_path / 'x.txt'}, line 5: ")
    assert WRONG[line] in str(error.value)


def test_files_that_hold_nothing(tmp_path: Path) -> None:
    for text in ("", "\n \n", "# only a comment\n"):
        with pytest.raises(DataError, match=r"x\.txt: the file is empty"):
            read(tmp_path, text)
    with pytest.raises(DataError, match="no line has a feature"):
        read(tmp_path, "1 qid:1\n0 qid:1 # nothing\n")
    with pytest.raises(DataError, match=r"nowhere\.txt: cannot be read"):
        sf.read_letor(tmp_path / "nowhere.txt")
    with pytest.raises(DataError, match="is a folder"):
        sf.read_letor(tmp_path)


def test_a_matrix_that_does_not_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr(letor_text.np, "empty", full)
        with pytest.raises(DataError, match="features does not fit in memory"):
            letor_text._allocate(tmp_path, 10, 10)


# Every digit.

FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)
DECIMALS = st.builds(
    lambda sign, whole, fraction, power: f"{sign}{whole}{'.' if fraction else ''}{fraction}{power}",
    st.sampled_from(["", "-", "+"]),
    st.text("0123456789", min_size=1, max_size=25),
    st.text("0123456789", max_size=30),
    st.one_of(st.just(""), st.integers(-60, 12).map(lambda n: f"e{n}")),
)


def check_digits(folder: Path, texts: list[str]) -> None:
    with np.errstate(over="ignore"):
        expected = np.array([np.float32(float(text)) for text in texts])
    finite = [text for text, value in zip(texts, expected, strict=True) if np.isfinite(value)]
    expected = expected[np.isfinite(expected)]
    path = folder / "digits.txt"
    path.write_text("".join(f"0 qid:1 1:{text}\n" for text in ["0", *finite]))
    assert sf.read_letor(path).X[1:, 0].tobytes() == expected.tobytes()


@settings(max_examples=60)
@given(st.lists(st.one_of(DECIMALS, FLOATS.map(repr), st.floats(-1e38, 1e38).map(repr)), min_size=1, max_size=60))
def test_every_digit_is_right(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    check_digits(tmp_path_factory.mktemp("digits"), texts)


def test_every_digit_is_right_where_rounding_is_hardest(tmp_path: Path) -> None:
    """The middle of two float32, and a little to either side of it, where a rounding too many shows."""
    rng = np.random.default_rng(0)
    low = rng.integers(0, 0x7F7FFFFF, 4000, dtype=np.uint32)
    low = np.concatenate([low, rng.integers(0, 1 << 23, 500, dtype=np.uint32)])  # subnormal numbers too
    middle = (low.view(np.float32).astype(np.float64) + (low + 1).astype(np.uint32).view(np.float32)) / 2
    near = np.concatenate([middle, np.nextafter(middle, np.inf), np.nextafter(middle, 0)])
    texts = [repr(float(value)) for value in near] + [f"{value:.17e}" for value in near] + [f"{v:.30g}" for v in middle]
    check_digits(tmp_path, texts)
    # Double rounding is part of the bargain: float64 first, then float32, as NumPy has it.
    check_digits(tmp_path, ["1.00000005960464477540", "1.000000059604644775390625", "1.0000000596046447755", "1e-46"])
    check_digits(tmp_path, ["3.4028235677973366e38", "3.4028234e38", "7.006492321624085e-46", "7.006492321624086e-46"])


@settings(max_examples=40)
@given(st.data())
def test_what_is_written_reads_back(tmp_path_factory: pytest.TempPathFactory, data) -> None:
    lengths = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=5))
    rows, width = sum(lengths), data.draw(st.integers(1, 6))
    cells = data.draw(st.lists(st.one_of(FLOATS, st.just(float("nan"))), min_size=rows * width, max_size=rows * width))
    labels = data.draw(st.lists(st.one_of(st.integers(0, 40), st.floats(0, 1e300)), min_size=rows, max_size=rows))
    named = data.draw(st.booleans())
    original = sf.RankingData(
        np.array(cells, dtype=np.float32).reshape(rows, width),
        labels,
        group=lengths,
        doc_ids=[f"d{i}" for i in range(rows)] if named else None,
        baselines={"b m": np.arange(rows) / 3},
    )
    folder = tmp_path_factory.mktemp("round")
    for name in ("x.txt", "x.parquet"):
        original.write(folder / name)
        again = sf.read_letor(folder / name)
        assert np.array_equal(again.X, original.X, equal_nan=True)
        assert np.array_equal(np.signbit(again.X), np.signbit(original.X) & ~np.isnan(original.X))
        assert again.y.tolist() == original.y.tolist()
        assert again.queries == original.queries
        assert (again.doc_ids is not None) == named
    assert again.baselines["b m"].tolist() == original.baselines["b m"].tolist()


@pytest.mark.parametrize("ending", [".txt", ".txt.gz", ".txt.bz2", ".txt.xz", ".txt.zst", ".parquet"])
def test_all_endings_in_several_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    monkeypatch.setattr(letor, "_ROWS", 16)
    monkeypatch.setattr(letor, "_COLUMNS", 4)
    data = sf.demo.letor(queries=5, documents=20, features=9)
    write_letor(data, tmp_path / f"x{ending}")
    same(sf.read_letor(tmp_path / f"x{ending}"), data)
    assert [path.name for path in tmp_path.iterdir()] == [f"x{ending}"]
    first = (tmp_path / f"x{ending}").read_bytes()
    data.write(tmp_path / f"x{ending}")
    assert (tmp_path / f"x{ending}").read_bytes() == first


def test_parquet_keeps_names_and_baselines(tmp_path: Path) -> None:
    data = sf.RankingData(pl.DataFrame({"bm25": [1.0, 2.0], "page rank": [0.5, None]}), [1, 0], qid=["a b", "#"])
    data = data.with_baseline("today", [3.0, 4.0])
    data.write(tmp_path / "x.parquet")
    again = sf.read_letor(tmp_path / "x.parquet")
    assert again.feature_names == ("bm25", "page rank")
    assert again.baselines["today"].tolist() == [3, 4]
    assert again.queries == ("a b", "#")
    assert pl.read_parquet(tmp_path / "x.parquet").columns == [
        "label",
        "qid",
        "f1:bm25",
        "f2:page rank",
        "baseline:today",
    ]
    assert sf.read_letor(tmp_path / "x.parquet", n_features=3).X.shape == (2, 3)


@pytest.mark.parametrize("wrong", ["a b", "", "tab\t", "a#b", "a\0b"])
def test_ids_that_lines_cannot_hold_are_not_written(tmp_path: Path, wrong: str) -> None:
    data = sf.RankingData([[1.0]], [1], qid=[wrong])
    with pytest.raises(DataError, match=r"the query id .* cannot be written in a LETOR line, .*NUL.*'#'.*\.parquet"):
        data.write(tmp_path / "x.txt")
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    for name in ("x.txt", "x.txt.gz", "x.parquet"):
        with pytest.raises(DataError, match="cannot be written"):
            sf.RankingData([[1.0]], [1], qid=[1]).write(tmp_path / "no" / name)


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file sizes are Unix's")
@pytest.mark.parametrize("name", ["x.txt", "x.txt.gz", "x.txt.zst", "x.parquet"])
def test_a_full_disk_leaves_the_old_file(tmp_path: Path, name: str) -> None:
    """A limit on the size of files stands in for the disk."""
    (tmp_path / name).write_bytes(b"old")
    code = f"""
import resource
import surefoot as sf
from surefoot.errors import DataError
data = sf.demo.letor(queries=30)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    data.write({str(tmp_path / name)!r})
except DataError as error:
    print(error)
"""
    done = run(code)
    assert f"{tmp_path / name}: cannot be written" in done.stdout, done.stderr
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [(name, b"old")]


# Blocks and threads.


@pytest.mark.parametrize("block", [1, 50, 333, 4096])
def test_blocks_end_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    data = sf.demo.letor(queries=6, documents=25, features=11)
    data = sf.RankingData(data.X, data.y, group=data.lengths, doc_ids=[f"d{i}" for i in range(len(data))])
    data.write(tmp_path / "x.txt")
    monkeypatch.setattr(letor_text, "_BLOCK", block)
    monkeypatch.setattr(letor_text, "cores", lambda: 4)
    same(sf.read_letor(tmp_path / "x.txt"), data)


@settings(max_examples=40)
@given(st.lists(st.dictionaries(st.integers(1, 12), FLOATS, max_size=4), min_size=1, max_size=30), st.integers(1, 200))
def test_sparse_rows_that_grow_wider(tmp_path_factory: pytest.TempPathFactory, rows, block: int) -> None:
    rows[-1][1] = 1.0
    expected = np.zeros((len(rows), max(max(row, default=1) for row in rows)), dtype=np.float32)
    for values, row in zip(expected, rows, strict=True):
        for feature, value in row.items():
            values[feature - 1] = value
    lines = [f"0 qid:1 {' '.join(f'{k}:{v!r}' for k, v in sorted(row.items()))}\n" for row in rows]
    path = tmp_path_factory.mktemp("sparse") / "x.txt"
    path.write_text("".join(lines))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(letor_text, "_BLOCK", block)
        assert sf.read_letor(path).X.tobytes() == expected.tobytes()
    slow = read_one_by_one(path, path.read_bytes(), 0, None)
    assert [{k + 1: float(v) for k, v in row.items()} for row in slow.features] == rows


def test_more_hard_numbers_than_the_kernel_keeps(tmp_path: Path) -> None:
    hard = "1.000000059604644775390625"  # the middle of two float32
    data = read(tmp_path, f"0 qid:1 1:{hard}\n" * 5000)
    assert set(data.X.ravel()) == {np.float32(float(hard))}


def test_a_pipe(tmp_path: Path) -> None:
    for text, message in ((TEXT, None), (TEXT + "0 qid:7 1:1 #x\n", "row 4: query '7' comes again")):
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        writer = threading.Thread(target=pipe.write_text, args=(text,))
        writer.start()
        if message is None:
            assert np.array_equal(sf.read_letor(pipe).X, X)
        else:
            with pytest.raises(DataError, match=message):
                sf.read_letor(pipe)
        writer.join()
        pipe.unlink()


# The surroundings.


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text(TEXT)
    code = f"import surefoot as sf; print(sf.read_letor({str(tmp_path / 'x.txt')!r}).X.sum())"
    done = run(code, NUMBA_CACHE_DIR="/dev/null/x")
    assert done.stdout.strip() == "9.65", done.stderr


def test_without_numba_the_install_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text(TEXT)
    code = f"""
import sys
sys.modules["numba"] = None
import surefoot as sf
from surefoot.errors import MissingExtraError
try:
    sf.read_letor({str(tmp_path / "x.txt")!r})
except MissingExtraError as error:
    print(error)
"""
    assert 'pip install "surefoot[learn]"' in run(code).stdout


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
@pytest.mark.heavy
def test_memory_is_bounded_by_the_matrix(tmp_path: Path) -> None:
    """Read and write 60 MB of features: above what a small file needs, less than a third again may be used."""
    code = """
import sys
from pathlib import Path
import surefoot as sf
def peak():
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) * 1000
sf.read_letor(sys.argv[1]).write(sys.argv[3])
before = peak()
data = sf.read_letor(sys.argv[2])
read = peak()
data.write(sys.argv[3])
print(data.X.nbytes, read - before, peak() - before)
"""
    small, large = tmp_path / "small.txt", tmp_path / "large.txt"
    line = "1 qid:1 " + " ".join(f"{k}:{k % 7}" for k in range(1, 201)) + "\n"
    small.write_text(line * 20_000)
    large.write_text(line * 75_000)
    for name in ("x.txt.zst", "x.parquet"):
        done = subprocess.run(
            [sys.executable, "-c", code, str(small), str(large), str(tmp_path / name)],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        matrix, read_peak, write_peak = map(int, done.stdout.split())
        assert matrix == 60_000_000
        assert read_peak < 1.33 * matrix
        assert write_peak < 1.66 * matrix


# Against scikit-learn, on real files.


@pytest.mark.parametrize(
    "name", ["mq2008/Fold1/vali.txt", "mq2008/Fold5/test.txt", "mslr-sample/msn1.fold1.test.5k.txt"]
)
def test_real_files_as_scikit_learn_reads_them(data: Path, name: str) -> None:
    ours = sf.read_letor(data / name)
    features, labels, queries = load_svmlight_file(str(data / name), query_id=True)
    assert np.array_equal(features.toarray().astype(np.float32), ours.X)
    assert np.array_equal(labels, ours.y)
    assert np.array_equal(queries, np.repeat(np.array(ours.queries, dtype=np.int64), ours.lengths))
    assert (ours.doc_ids is not None) == name.startswith("mq2008")
    if ours.doc_ids is not None:
        assert all(document.startswith("GX") for document in ours.doc_ids)


def test_scikit_learn_reads_what_is_written(tmp_path: Path) -> None:
    data = sf.demo.letor(queries=4, documents=20, features=136)
    data.write(tmp_path / "x.txt")
    features, labels, queries = load_svmlight_file(str(tmp_path / "x.txt"), query_id=True)
    assert np.array_equal(features.toarray().astype(np.float32), data.X)
    assert np.array_equal(labels, data.y)
    assert np.array_equal(queries, np.repeat([1, 2, 3, 4], data.lengths))


def test_a_name_is_no_pattern(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("~", "a=1"):
        Path(folder).mkdir()
    for number, name in enumerate(("t1.parquet", "t[1].parquet", "t*.parquet", "~/t.parquet", "a=1/t.parquet")):
        sf.RankingData([[float(number)]], [1], qid=["q"]).write(name)
        sf.read_scores({"a": {"q": number}}).write(f"{name[:-8]}-s.parquet")
        sf.read_run({"q": {"d": float(number)}}).write(f"{name[:-8]}-r.parquet")
        assert sf.read_letor(name).X[0, 0] == number
        assert sf.read_scores(f"{name[:-8]}-s.parquet").values[0, 0] == number
        assert sf.read_run(f"{name[:-8]}-r.parquet").to_dict() == {"q": {"d": number}}


@pytest.mark.parametrize("last", ["", "1 qid:9 x:1\n"])
@pytest.mark.parametrize("block", [1 << 19, 64])
def test_a_matrix_out_of_proportion_to_the_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int, last: str
) -> None:
    monkeypatch.setattr(letor_text, "_BLOCK", block)
    path = tmp_path / "x.txt"
    path.write_text("1 qid:1 1:1\n" * 1500 + "1 qid:2 01048576:1\n" + last)
    with pytest.raises(DataError) as caught:
        sf.read_letor(path)
    assert last or "line 1501: found feature 1048576; a dense matrix" in str(caught.value)
    path.write_text("1 qid:1 1048576:1\n" + "1 qid:2 1:1\n" * 1500)
    with pytest.raises(DataError, match=r"line 1: found feature 1048576; .*give n_features=1048576 if this is meant"):
        sf.read_letor(path)
    path.write_text("1 qid:1 1:1\n1 qid:1 100000:1\n")
    assert sf.read_letor(path).n_features == 100_000
    path.write_text("1 qid:1 1:1\n" * 200)
    assert sf.read_letor(path, n_features=100_000).n_features == 100_000


def test_messages_quote_little(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    long = "é" * 1_000_000
    for text in (f"{long} qid:1 1:1\n", f"1 {long} 1:1\n", f"1 qid:1 {long}\n", f"1 qid:1 1:{long}\n"):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(DataError) as caught:
            sf.read_letor(path)
        assert len(str(caught.value)) < 1000
    path.write_text(f"1 qid:{long} 1:1\n1 qid:b 1:1\n1 qid:{long} 1:1\n", encoding="utf-8")
    with pytest.raises(DataError) as caught:
        sf.read_letor(path)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("text", ["1 qid:1 1:1 #d\0\n", "# \0\n1 qid:1 1:1\n", "1 qid:\0 1:1\n"])
def test_nul_is_no_text(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.txt"
    path.write_text(text)
    with pytest.raises(DataError, match="found a NUL byte"):
        sf.read_letor(path)


def test_control_characters_in_a_comment_do_not_part_words(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("1 qid:1 1:1 #d\x01e\n0 qid:1 1:1 #docid = f\x1fg\n")
    assert sf.read_letor(path).doc_ids.to_list() == ["d\x01e", "f\x1fg"]


def test_parquet_keeps_feature_names_of_any_kind(tmp_path: Path) -> None:
    names = ["a:b", "c[0]", 'say "x"', "", "f1:f2", "tab\there"]
    sf.RankingData(np.ones((1, 6)), [1], qid=["q"], feature_names=names).write(tmp_path / "x.parquet")
    assert sf.read_letor(tmp_path / "x.parquet").feature_names == tuple(names)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"f1": [1.0], "f1:x": [1.0]}, "each once, without a gap"),
        ({"f1:x": [1.0], "f2": [1.0]}, "1 of 2 feature columns have names"),
        ({"f" + "9" * 5000: [1.0]}, "without a gap"),
        ({"f1": ["x"]}, "column 'f1' contains String; features must be numbers"),
        ({"f1": [[1.0]]}, "column 'f1' contains List"),
        ({"f1": [1.0], "label": [-1]}, "row 1: the label is -1"),
        ({"f1": [1.0], "label": None}, "no column 'label'"),
        ({"f1": [1.0], "qid": None}, "no column 'qid'"),
        ({}, "without a gap"),
        ({"f2": [1.0]}, "without a gap"),
        ({"f1": [1.0] * 3, "label": [1, 0, 1], "qid": [1, 2, 1]}, "query '1' comes again"),
    ],
)
def test_parquet_that_is_nearly_right(tmp_path: Path, columns: dict, message: str) -> None:
    path = tmp_path / "x.parquet"
    table = {"label": [1], "qid": ["q"]} | columns
    pl.DataFrame({name: values for name, values in table.items() if values is not None}).write_parquet(path)
    with pytest.raises(DataError, match=message) as caught:
        sf.read_letor(path)
    assert str(path) in str(caught.value)


def test_parquet_that_is_something_else_or_too_wide(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(b"nonsense")
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        sf.read_letor(path)
    pl.DataFrame({"label": [1], "qid": [1], "f1": [1.0], "f2": [1.0]}).write_parquet(path)
    with pytest.raises(DataError, match="has 2 features, but n_features is 1"):
        sf.read_letor(path, n_features=1)
