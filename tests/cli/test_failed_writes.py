"""Where writing fails the message says so, and which of the outputs are complete."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.inputs import named_letor, write_runs

RUNS = "qrels.txt today.run bold.run"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write_runs(tmp_path, runs=2, queries=8, depth=10)


def test_a_result_that_stays_is_told(surefoot, home: Path) -> None:
    line = f"evaluate {RUNS} -b today -q --json a.json --csv b.csv.gz --html /dev/full"
    code, out, err = surefoot(*line.split())
    assert (code, out) == (2, "")
    assert err == (
        "surefoot: /dev/full: cannot be written (No space left on device)\n"
        "  written before that, and complete: a.json, b.csv.gz\n"
    )
    assert (home / "a.json").exists()
    code, _, err = surefoot(*f"evaluate {RUNS} -b none -q --json c.json".split())  # nothing of the command before
    assert (code, "written before" in err) == (2, False)
    code, _, err = surefoot(*f"evaluate {RUNS} -b today -q --json /dev/full --html d.html".split())
    assert (code, "written before" in err) == (2, False)


def test_a_model_that_stays_is_told(surefoot, home: Path) -> None:
    data, _ = named_letor("D")
    data.write(home / "train.txt")
    line = "train train.txt --valid train.txt -b feature:1 --trees 2 --set num_leaves=4 --set min_data_in_leaf=5"
    code, _, err = surefoot(*line.split(), "-o", "m", "-q", "--html", "/dev/full")
    assert code == 2
    assert err.endswith("cannot be written (No space left on device)\n  written before that, and complete: m\n")


def test_a_command_that_is_killed_tells_what_is_complete(home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLED, *f"evaluate {RUNS} -b today --json a.json --html b.html".split()],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 128 + 15
    assert done.stderr == "surefoot: interrupted\n  written before that, and complete: a.json\n"


KILLED = """
import os, signal, sys
import surefoot.cli
from surefoot.report.assessment import Assessment
Assessment.to_html = lambda *_, **__: os.kill(os.getpid(), signal.SIGTERM)
sys.argv[0] = "surefoot"
surefoot.cli.main()
"""

FULL = """
import resource, sys
from pathlib import Path
import numpy as np
from surefoot.clicks.backends import DuckDB
from surefoot.data.writing.resumable import save_arrays
from surefoot.errors import SurefootError
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
backend = DuckDB(Path("."), threads=1)
rows = backend.connection.sql("SELECT hash(range) AS a, hash(range + 1) AS b FROM range(1000000)")
for write in (lambda: save_arrays(Path("x.npz"), {"x": np.zeros(1 << 20)}), lambda: backend.write(rows, Path("table"))):
    try:
        write()
    except SurefootError as error:
        print(str(error)[:60])
"""


def test_what_cannot_be_written_is_not_said_to_be_unreadable(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True,
        env=os.environ | {"PYTHONFAULTHANDLER": "0"},
    )  # fmt: skip
    first, second = done.stdout.splitlines()
    assert first == "x.npz: cannot be written (File too large)"
    assert second.startswith("table: cannot be written (")
    assert not (tmp_path / "table").exists()
