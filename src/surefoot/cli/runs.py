"""Judgments and runs, or scores, as a command line names them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from surefoot.errors import ArgumentError
from surefoot.measures.missing import Missing
from surefoot.progress import steps

if TYPE_CHECKING:
    from surefoot.data.scores import Scores
    from surefoot.data.tables import Qrels, Run

MEASURE = "nDCG@10"  # where none is given


def name_and_file(argument: str) -> tuple[str | None, str]:
    """NAME=FILE, unless a file of that very name exists."""
    from surefoot.data.files import as_text, state

    name, equals, path = argument.partition("=")
    return (as_text(name), path) if equals and name and path and state(argument) is None else (None, argument)


def read_judged_runs(files: Sequence[str]) -> tuple[Qrels, list[Run]]:
    """The judgments, which come first, and the runs."""
    from surefoot.data.tables import read_qrels, read_run

    named = [name_and_file(file) for file in files[1:]]
    return read_qrels(files[0]), [read_run(path, name) for name, path in steps(named, "Reading runs")]


def read_scored(
    command: str, files: Sequence[str], matrix: str | None, measures: Sequence[str], missing: Missing | None
) -> list[Scores]:
    """Scores by each measure, of judgments and runs, or of the one matrix that stands in their place."""
    from surefoot.data.scores import read_scores
    from surefoot.measures.notation import Measure

    if matrix is not None:
        if files:
            raise ArgumentError("give either judgments and runs or --scores, not both")
        if missing is not None:
            raise ArgumentError("--missing is about runs, which --scores does not have; leave it out")
        if len(measures) > 1:
            raise ArgumentError("--scores holds one measure; name it once, such as -m ERR@20, or leave it out")
        if measures and not measures[0].strip():
            raise ArgumentError("-m names nothing; say what the scores are, such as -m ERR@20, or leave it out")
        return [read_scores(matrix, measures[0].strip() if measures else None)]
    if len(files) < 2:
        raise ArgumentError(
            f"give judgments and at least one run: surefoot {command} QRELS RUN... --baseline NAME "
            f"(or --scores FILE); see surefoot {command} --help"
        )
    from surefoot.measures.scoring import score

    wanted = [Measure.parse(measure) for measure in measures or [MEASURE]]
    return score(*read_judged_runs(files), wanted, missing=missing or Missing.zero)
