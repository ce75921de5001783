"""Small files that become large ones: refused by every reader, in little memory and time, unless that is allowed."""

from __future__ import annotations

import gzip
import lzma
import os
import resource
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import surefoot as sf
from surefoot.clicks.layouts.reading import check_file
from surefoot.data.reading import limits
from surefoot.data.reading.files import COMPRESS, read_json
from surefoot.data.reading.texts import read_texts
from surefoot.data.reading.traffic import read_traffic
from surefoot.data.writing.resumable import read_arrays
from surefoot.decide.evidence.record import open_record
from surefoot.decide.gate.release_policy import ReleasePolicy
from surefoot.errors import ArgumentError, DataError

MEMORY = 3 << 30  # bytes of addresses; threads and libraries take a part


@pytest.fixture(autouse=True)
def usual_limit() -> Iterator[None]:
    yield
    limits.set_max_input(None)


@pytest.fixture
def low_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bounds, where a small test reaches them."""
    monkeypatch.setitem(limits._allowed, "bytes", 1 << 20)


LINE = {
    "run": b"q1 Q0 d1 1 1.0 today\n", "judgments": b"q1 0 d1 1\n", "csv": b"q1,0.5\n", "letor": b"1 qid:1 1:1\n",
    "topics": b"<!-- -->\n", "json": b'{"q1": {"d1": 1.0}}' + b" " * 20, "jsonl": b'{"query_id": "q", "doc_id": "d"}\n',
}  # fmt: skip
READERS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "run": ("x.run", sf.read_run), "judgments": ("x.txt", sf.read_qrels), "csv": ("x.csv", sf.read_scores),
    "letor": ("x.txt", sf.read_letor), "topics": ("x.tsv", read_texts), "json": ("x.json", sf.read_run),
    "jsonl": ("x.jsonl", sf.read_run),
}  # fmt: skip


@pytest.mark.parametrize("ending", COMPRESS)
@pytest.mark.parametrize("kind", READERS)
def test_what_grows_too_much_is_refused_by_every_reader(
    tmp_path: Path, low_limit: None, kind: str, ending: str
) -> None:
    name, read = READERS[kind]
    path = tmp_path / f"{name}{ending}"
    header = b"query,today\n" if kind == "csv" else b""
    path.write_bytes(COMPRESS[ending](header + LINE[kind] * (8_000_000 // len(LINE[kind]))))
    assert path.stat().st_size * 200 < 8_000_000  # or it would be no bomb
    with pytest.raises(DataError, match=r"would grow from .* bytes to .* --max-input") as caught:
        read(path)
    assert str(caught.value).startswith(str(path))


def test_logs_and_traffic_and_models_too(tmp_path: Path, low_limit: None) -> None:
    log = tmp_path / "log.csv.gz"
    log.write_bytes(gzip.compress(b"session,time,query,shown,click\n" + b"s,1,q,a b,\n" * 1_000_000))
    for read in (check_file, read_traffic):
        with pytest.raises(DataError, match="would grow"):
            read(log)
    with zipfile.ZipFile(tmp_path / "arrays.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", bytes(8_000_000))
    with pytest.raises(DataError, match="would grow"):
        read_arrays(tmp_path / "arrays.npz", "save it again")


def parquet_tables(tmp_path: Path) -> dict[str, Path]:
    """Small files of many rows: numbers that repeat, texts that repeat, and one long text in every row."""
    rows = 300_000
    frames = {
        "numbers": pl.select(query_id=pl.repeat("q", rows), doc_id=pl.repeat("d", rows), score=pl.repeat(1.0, rows)),
        "texts": pl.DataFrame({"query_id": ["q"] * 200, "doc_id": ["d" * 100_000] * 200, "score": [1.0] * 200}),
        "lists": pl.DataFrame({"query_id": [["d" * 100_000] * 200], "doc_id": ["d"], "score": [1.0]}),
    }  # fmt: skip
    for name, frame in frames.items():
        frame.write_parquet(tmp_path / f"{name}.parquet", compression="zstd")
    return {name: tmp_path / f"{name}.parquet" for name in frames}


@pytest.mark.parametrize("name", ["numbers", "texts", "lists"])
def test_parquet_is_refused_by_its_metadata_and_its_texts(tmp_path: Path, low_limit: None, name: str) -> None:
    path = parquet_tables(tmp_path)[name]
    assert path.stat().st_size * 200 < 7_000_000
    for read in (sf.read_run, sf.read_scores, *([sf.read_letor] if name == "numbers" else [])):
        with pytest.raises(DataError, match="would grow from"):
            read(path)
    if name == "numbers":
        with pytest.raises(DataError, match="would grow from"):
            check_file(path, text=False)  # of a log, which DuckDB reads


def test_what_is_allowed_is_read(tmp_path: Path, low_limit: None) -> None:
    path = tmp_path / "x.txt.gz"
    path.write_bytes(gzip.compress(b"".join(b"q 0 d%d 1\n" % number for number in range(200_000)) + b" " * 4_000_000))
    assert len(sf.read_qrels(path)) == 200_000  # 200 × the file is more than this
    bomb = tmp_path / "y.txt.gz"
    bomb.write_bytes(gzip.compress(b"q 0 d 1\n" + b"\n" * 4_000_000))
    with pytest.raises(DataError, match="would grow"):
        sf.read_qrels(bomb)
    limits.set_max_input("5MB")
    assert len(sf.read_qrels(bomb)) == 1


@pytest.mark.parametrize(("written", "size"), [("500MB", 500 << 20), ("4 GB", 4 << 30), ("2g", 2 << 30), (17, 17)])
def test_sizes(written: str | int, size: int) -> None:
    assert limits.parse_size(written) == size


@pytest.mark.parametrize("written", ["", "0", "-1", "1.5GB", "lots", "4PB", True])
def test_what_is_no_size(written: str) -> None:
    with pytest.raises(ArgumentError, match="write a size as in 500MB or 4GB"):
        limits.parse_size(written)


@pytest.mark.parametrize("name", ["x.run", "x.run.gz", "x.csv", "x.jsonl"])
def test_a_line_has_an_end(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    line = b'{"query_id": "q", "doc_id": "d", "score": 1}\n' if name.endswith("jsonl") else b"q Q0 d 1 1 t\n"
    text = line * 3 + b"x" * (65 << 20)
    path.write_bytes(gzip.compress(text, 1) if name.endswith("gz") else text)
    with pytest.raises(DataError, match=r"line 4: a line is longer than 64 MB"):
        sf.read_run(path)


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/full"])
def test_what_has_no_end_is_refused(low_limit: None, device: str) -> None:
    with pytest.raises(DataError, match=rf"{device}: would grow"):
        read_json(device)
    with (
        pytest.raises(DataError, match=rf"{device}: is not a file, and a record is read and written again"),
        open_record(device),
    ):
        pass


def test_a_pipe_of_lines_without_end_is_refused(tmp_path: Path, low_limit: None) -> None:
    pipe = tmp_path / "policy.toml"
    os.mkfifo(pipe)
    line = f"import sys\nwith open({str(pipe)!r}, 'w') as pipe:\n    while True: pipe.write('risk = 0\\n' * 999)"
    with subprocess.Popen([sys.executable, "-c", line], stderr=subprocess.DEVNULL) as writer:
        try:
            with pytest.raises(DataError, match="would grow"):
                ReleasePolicy.read(pipe)
        finally:
            writer.kill()


def test_a_record_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "record.json")
    with pytest.raises(DataError, match="is not a file"), open_record(tmp_path / "record.json"):
        pass


def command(folder: Path, *arguments: str, timeout: float = 120) -> tuple[int, str, float]:
    """The exit code, what is told, and the seconds of a command that has not the memory for the bomb."""
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "surefoot", *arguments], cwd=folder, capture_output=True, text=True, timeout=timeout,
        check=False, env=os.environ | {"POLARS_MAX_THREADS": "2", "OMP_NUM_THREADS": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
    )  # fmt: skip
    return done.returncode, done.stderr, time.monotonic() - began


def test_the_command_ends_soon_in_little_memory(tmp_path: Path) -> None:
    piece = b"q 0 document 1\n" * (1 << 16)
    (tmp_path / "line.txt.gz").write_bytes(gzip.compress(b"A" * (64 << 20), 1) * 20)
    (tmp_path / "lines.txt.xz").write_bytes(lzma.compress(piece, preset=0) * 1100)  # streams end to end are one file
    (tmp_path / "lines.txt.zst").write_bytes(COMPRESS[".zst"](piece) * 1100)
    for name in ("line.txt.gz", "lines.txt.xz", "lines.txt.zst"):
        code, err, seconds = command(tmp_path, "check", name)
        assert (code, err.startswith(f"surefoot: {name}")) == (2, True), err
        assert "a line is longer than 64 MB" in err or "would grow from" in err
        assert seconds < 60, name
