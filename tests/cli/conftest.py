"""The command line as a user meets it, run in this process."""

from __future__ import annotations

import sys

import pytest

from surefoot.cli import main


@pytest.fixture
def surefoot(monkeypatch, capsys):
    """Run a command; gives its exit code, output and errors."""
    monkeypatch.delenv("COLUMNS", raising=False)  # test runners set it

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["surefoot", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            main()
        output = capsys.readouterr()
        return int(caught.value.code or 0), output.out, output.err

    return run
