"""Judgments and runs as a command line names them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from surefoot.progress import steps

if TYPE_CHECKING:
    from surefoot.data.tables import Qrels, Run


def name_and_file(argument: str) -> tuple[str | None, str]:
    """NAME=FILE, unless a file of that very name exists."""
    from surefoot.data.files import as_text, state

    name, equals, path = argument.partition("=")
    return (as_text(name), path) if equals and name and path and state(argument) is None else (None, argument)


def read_judged_runs(files: Sequence[str]) -> tuple[Qrels, list[Run]]:
    """The judgments, which come first, and the runs; of a file of several runs all, or the one of the name given."""
    from surefoot.data.tables import read_qrels, read_run, read_runs

    named = [name_and_file(file) for file in files[1:]]
    qrels, runs = read_qrels(files[0]), []
    for name, path in steps(named, "Reading runs"):
        runs += read_runs(path) if name is None else [read_run(path, name)]
    return qrels, runs
