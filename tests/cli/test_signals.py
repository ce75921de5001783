"""Stopped at any moment: exit code 128 + signal, no traceback, no unfinished file, nothing lost."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.inputs import write_runs

import surefoot as sf
from surefoot.cli import StoppedError, stopping
from surefoot.data.writing.all_or_nothing import remove_unfinished, replacing, temporary_path

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
KILLS = int(os.environ.get("SUREFOOT_KILLS", "2"))

# Runs the command line with a module that stops in the middle of an import, or of a write, and says so.
STOPPED = """
import signal, sys, time
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it, and whoever is started so inherits that
import surefoot.cli
def wait(*_, **__):
    print("here", flush=True)
    for _ in range(600):  # a signal that comes just before a sleep is looked at only after it
        time.sleep(0.1)
{setup}
sys.argv = ["surefoot", *sys.argv[1:]]
surefoot.cli.main()
"""
DURING_IMPORTS = """
class Slow:
    def find_spec(self, name, *_):
        if name == "typer":
            wait()
sys.meta_path.insert(0, Slow())
"""
DURING_WRITES = """
import pathlib
usual = pathlib.Path.write_bytes
def slow(path, data):
    usual(path, data[: len(data) // 2])
    wait()
pathlib.Path.write_bytes = slow
"""
DURING_NATIVE_WORK = """
import pathlib
usual = pathlib.Path.write_bytes
def slow(path, data):
    usual(path, data[: len(data) // 2])
    print("here", flush=True)
    {work}
pathlib.Path.write_bytes = slow
"""
NATIVE_WORK = {  # minutes of each, in which Python's main thread hears nothing
    "c": "import hashlib; hashlib.pbkdf2_hmac('sha256', b'', b'', 10**9)",
    "duckdb": "import duckdb; duckdb.sql('SELECT sum(sqrt(a.range * b.range)) FROM range(10000000) a, range(100000) b')"
    ".fetchall()",
    "polars": "import polars as pl; a = pl.LazyFrame({'a': range(10**6)}); "
    "a.join(a, how='cross').select(pl.col('a').sqrt().sin().sum()).collect(engine='streaming')",
}
STUBBORN = (
    """
import surefoot.data.writing.all_or_nothing as files
remove = files._remove
calls = []
def slow_remove(path):
    calls.append(path)
    if len(calls) == 1:
        wait()
    remove(path)
files._remove = slow_remove
"""
    + DURING_WRITES
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_runs(tmp_path, runs=3)


EVALUATE = ("evaluate", "qrels.txt", "today.run", "bold.run", "-b", "today", "--json", "a.json", "--html", "a.html")


def start(setup: str, folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", STOPPED.format(setup=setup), *arguments],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("setup", [DURING_IMPORTS, DURING_WRITES], ids=["imports", "writes"])
def test_stopped(folder: Path, number: signal.Signals, setup: str) -> None:
    before = sorted(path.name for path in folder.iterdir())
    process = start(setup, folder, *EVALUATE)
    assert process.stdout is not None
    assert process.stdout.readline() == "here\n"
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (128 + number, "surefoot: interrupted\n")
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("work", NATIVE_WORK)
def test_stopped_within_a_second_while_a_library_works(folder: Path, number: signal.Signals, work: str) -> None:
    before = sorted(path.name for path in folder.iterdir())
    process = start(DURING_NATIVE_WORK.format(work=NATIVE_WORK[work]), folder, *EVALUATE)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        time.sleep(1)
        sent = time.monotonic()
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
        took = time.monotonic() - sent
    finally:
        process.kill()
    assert (process.returncode, err) == (128 + number, "surefoot: interrupted\n")
    assert took < 3  # half a second, and what a busy machine adds
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_second_signal_ends_at_once_and_leaves_nothing_either(folder: Path) -> None:
    before = sorted(path.name for path in folder.iterdir())
    process = start(STUBBORN, folder, *EVALUATE)
    assert process.stdout is not None
    for number in (signal.SIGTERM, signal.SIGINT):
        assert process.stdout.readline() == "here\n"
        process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert [name for name in sorted(path.name for path in folder.iterdir()) if name not in before] == []


def test_handlers_of_others_are_left_alone() -> None:
    seen: list[str] = []
    usual = signal.signal(signal.SIGTERM, lambda *_: seen.append("mine"))
    interrupt = signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background it is ignored
    try:
        with stopping():
            os.kill(os.getpid(), signal.SIGTERM)
        assert seen == ["mine"]
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        with pytest.raises(StoppedError), stopping():
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGTERM, usual)
        signal.signal(signal.SIGINT, interrupt)


def test_what_is_in_the_making_can_be_removed(tmp_path: Path) -> None:
    with temporary_path(tmp_path / "model") as folder, replacing(tmp_path / "a.txt") as file:
        (folder / "inside").mkdir(parents=True)
        file.write_text("half")
        remove_unfinished()
        assert list(tmp_path.iterdir()) == []
        file.write_text("whole")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


COMMANDS = {
    "evaluate": EVALUATE,
    "stability": ("stability", "measures", "qrels.txt", "today.run", "bold.run", "-m", "nDCG@5", "--bootstrap", "99",
                  "--json", "a.json", "--html", "a.html"),
    "rank": ("rank", "model", "test.txt", "-o", "c.run", "--qrels", "q.txt", "--force"),
    "demo": ("demo", "-o", "d", "--no-learn", "--queries", "300"),
}  # fmt: skip


@pytest.mark.heavy
@pytest.mark.parametrize("command", COMMANDS)
def test_killed_at_random_moments(folder: Path, command: str) -> None:
    """Inputs stay, and each output is absent, as it was, or whole; a signal that can be heeded leaves no `.part`."""
    if command == "rank":
        letor = sf.demo.letor(queries=300, documents=20, features=6, seed=1)
        letor.write(folder / "test.txt")
        sf.Ranker(n_estimators=2, num_leaves=4, num_threads=1).fit(letor).save(folder / "model")
    inputs = read_all(folder)
    arguments = [sys.executable, "-m", "surefoot", *COMMANDS[command]]
    began = time.monotonic()
    assert subprocess.run(arguments, cwd=folder, capture_output=True, check=False).returncode == 0
    lasts = time.monotonic() - began
    complete = read_all(folder)
    for path in complete.keys() - inputs.keys():
        (folder / path).unlink()
    draw = random.Random(command)
    for turn in range(KILLS):
        number = draw.choice([signal.SIGKILL, signal.SIGTERM])
        process = subprocess.Popen(arguments, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        time.sleep(lasts * draw.uniform(0.3, 1.05))
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
        assert process.returncode in (0, -number, 128 + number), err
        assert "Traceback" not in err
        files = read_all(folder)
        left = {path for path in files if path.endswith(".part")}
        assert number == signal.SIGKILL or not left, turn
        for path in left:
            (folder / path).unlink()
        assert {path: data for path, data in files.items() if path not in left and data != complete[path]} == {}
        assert files.items() >= inputs.items()


def read_all(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
