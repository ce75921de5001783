"""The bar of long work, on a real terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from tests.cli.inputs import write_runs

import surefoot as sf
from surefoot.cli.bar import is_watched
from surefoot.cli.train import _growing

pty = pytest.importorskip("pty", reason="no terminals of this kind here")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_runs(tmp_path_factory.mktemp("runs"), runs=3, queries=20, depth=10)


def on_terminal(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """Exit code, output, and what a terminal was sent on the error stream, of a command on the runs."""
    files = ["qrels.txt", *sorted(path.name for path in folder.glob("*.run"))]
    return started(folder, *arguments, *files)


def started(folder: Path, *arguments: str) -> tuple[int, str, str]:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    command = [sys.executable, "-m", "surefoot", *arguments]
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=theirs, text=True
    ) as process:
        os.close(theirs)
        seen = b""
        with suppress(OSError):  # Linux says so at the end of a closed terminal
            while part := os.read(ours, 65536):
                seen += part
        out, _ = process.communicate()
    os.close(ours)
    return process.returncode, out, seen.decode()


def test_a_terminal_sees_a_bar_and_keeps_nothing_of_it(folder: Path) -> None:
    code, out, seen = on_terminal(folder, "evaluate", "-b", "today", "--html", "page.html", "--force")
    assert code == 0
    assert "Reading runs" in seen
    assert "Writing the page" in seen
    assert "\x1b[?25h" in seen.rpartition("Writing the page")[2]  # the cursor is back
    assert "\x1b[2K" in seen.rpartition("Writing the page")[2]  # and the line is wiped
    assert "nDCG@10 of 3 systems" in out
    assert "Reading" not in out


def test_no_bar_where_quiet_is_asked_for(folder: Path) -> None:
    assert on_terminal(folder, "evaluate", "-b", "today", "--quiet") == (0, "", "")


def test_an_error_is_readable_after_a_bar(folder: Path) -> None:
    code, _, seen = on_terminal(folder, "stability", "noise", "--query", "none")
    assert code == 2
    assert "Runs" in seen
    last = [line for line in seen.replace("\r", "\n").split("\n") if line.strip()][-1]
    assert last.startswith("surefoot: ")


def test_training_shows_trees_and_figures(folder: Path) -> None:
    sf.demo.letor(queries=8, documents=6, features=3, seed=1).write(folder / "train.txt")
    code, out, seen = started(
        folder, "train", "train.txt", "--trees", "3", "--set", "min_data_in_leaf=1", "-o", "model"
    )
    assert code == 0, seen
    assert "Growing trees" in seen
    assert "3/3" in seen
    assert "effectiveness 0." in seen
    assert "Growing" not in out


def test_nobody_looks_on_without_an_error_stream(monkeypatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    assert not is_watched(quiet=False)
    data = sf.demo.letor(queries=8, documents=6, features=3, seed=1)
    ranker = sf.Ranker(n_estimators=1, min_data_in_leaf=1, num_threads=1)
    with _growing(ranker, quiet=False) as progress:
        assert progress is None
        ranker.fit(data)
    assert ranker.best_iteration_ == 1
