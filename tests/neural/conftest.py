"""The command line in the folder of a test module's data."""

from __future__ import annotations

import sys

import pytest

from surefoot.cli import main


@pytest.fixture
def surefoot(monkeypatch, capsys, folder):
    """Run a command, typed as one line, in the module's `folder`; gives its exit code, output and errors."""
    monkeypatch.chdir(folder)

    def run(line: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["surefoot", *line.split()])
        with pytest.raises(SystemExit) as caught:
            main()
        output = capsys.readouterr()
        return int(caught.value.code or 0), output.out, output.err

    return run
