"""Shell completion, as a shell asks for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(sys.executable).parent / "surefoot"


def ask(**variables: str) -> str:
    environment = {**os.environ, **variables}
    done = subprocess.run([SCRIPT], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.skipif(not SCRIPT.exists(), reason="the command is not installed")
@pytest.mark.parametrize(
    ("words", "at", "offered"),
    [("surefoot ev", 1, ["evaluate"]), ("surefoot evaluate --ba", 2, ["--baseline"]), ("surefoot gate --uns", 2, []),
     ("surefoot stability su", 2, ["subsets"])],
)  # fmt: skip
def test_bash_is_answered(words: str, at: int, offered: list[str]) -> None:
    out = ask(_SUREFOOT_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=str(at))
    assert out.split() == offered


@pytest.mark.skipif(not SCRIPT.exists(), reason="the command is not installed")
def test_completion_is_installed(tmp_path: Path) -> None:
    # Typer would look which shell this is started from, which in a build is none that it supports.
    environment = {**os.environ, "HOME": str(tmp_path), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    done = subprocess.run(
        [SCRIPT, "--install-completion", "bash"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert any("_SUREFOOT_COMPLETE" in file.read_text() for file in tmp_path.rglob("*") if file.is_file())
