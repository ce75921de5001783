"""The standard error stream is ours: what a library tells of a damaged file is not beside the message, nor instead."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from surefoot.data.reading.parquet import check_parquet
from surefoot.data.reading.polars_process import own_messages, without_native_messages
from surefoot.errors import DataError


def damaged_files(folder: Path) -> list[Path]:
    """A few damaged files whose skeleton is right: those on which Polars' reader panics, as far as it does on any."""
    rows = range(200)
    table = pl.DataFrame(
        {
            "query_id": [f"q{row // 10}" for row in rows],
            "doc_id": [f"d{row}" for row in rows],
            "score": list(map(float, rows)),
        }
    )
    table.write_parquet(folder / "good.parquet")
    good, draw = (folder / "good.parquet").read_bytes(), random.Random(1)
    panicked: list[Path] = []
    refused: list[Path] = []
    for number in range(5000):
        damaged = bytearray(good)
        damaged[draw.randrange(4, len(good) - 8)] = draw.randrange(256)
        path = folder / f"{number}.parquet"
        path.write_bytes(damaged)
        try:
            check_parquet(path)
            pl.read_parquet(path)
        except pl.exceptions.PanicException:
            panicked.append(path)
        except (DataError, pl.exceptions.PolarsError, OSError, ValueError):
            refused.append(path)
        if len(panicked) == 3:
            break
    return [*panicked, *refused][:3]


def test_a_damaged_file_is_one_message(tmp_path: Path) -> None:
    found = damaged_files(tmp_path)
    assert len(found) == 3
    for path in found:
        done = subprocess.run(
            [sys.executable, "-m", "surefoot", "check", path.name], cwd=tmp_path, capture_output=True, text=True,
            check=False, timeout=120, env=os.environ | {"RUST_BACKTRACE": "1"},
        )  # fmt: skip
        assert done.returncode == 2
        assert done.stderr.startswith(f"surefoot: {path.name}: cannot be read as Parquet")
        assert done.stderr.count("\n") == 1, done.stderr


MESSAGES = """
import os, sys, threading, time
from surefoot.data.reading.polars_process import own_messages, without_native_messages
def talk():
    for number in range(200):
        print("ours", number, file=sys.stderr)
        time.sleep(0.001)
def read():
    for _ in range(100):
        with without_native_messages():
            os.write(2, b"theirs\\n")
            time.sleep(0.001)
with own_messages():
    threads = [threading.Thread(target=work) for work in (talk, read, read)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    os.write(2, b"after\\n")
print("end", file=sys.stderr)
"""


def test_no_message_of_ours_is_lost_whatever_threads_read() -> None:
    done = subprocess.run([sys.executable, "-c", MESSAGES], capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr.splitlines() == [*(f"ours {number}" for number in range(200)), "after", "end"]


def test_a_program_of_others_keeps_its_stream(capfd: pytest.CaptureFixture[str]) -> None:
    with without_native_messages():
        os.write(2, b"told\n")
    with own_messages():  # pytest's stream is none of the process's
        pass
    assert capfd.readouterr().err == "told\n"
