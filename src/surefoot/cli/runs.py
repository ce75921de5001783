"""Judgments and runs, or scores, as a command line names them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from surefoot.errors import ArgumentError
from surefoot.measures.missing import MissingTreatment
from surefoot.progress import steps

if TYPE_CHECKING:
    from surefoot.data.types.runs import Qrels, Run
    from surefoot.data.types.scores import Scores

EVALUATION_MEASURE = "nDCG@10"  # where none is given


def name_and_file(argument: str) -> tuple[str | None, str]:
    """NAME=FILE, unless a file of that very name exists."""
    from surefoot.data.reading.files import as_text, file_status

    name, equals, path = argument.partition("=")
    return (as_text(name), path) if equals and name and path and file_status(argument) is None else (None, argument)


def read_judged_runs(files: Sequence[str]) -> tuple[Qrels, list[Run]]:
    """The judgments, which come first, and the runs; of a file of several runs all, or the one of the name given."""
    from surefoot.data.types.runs import read_qrels

    return read_qrels(files[0]), read_named_runs(files[1:])


def read_named_runs(files: Sequence[str]) -> list[Run]:
    """The runs; of a file of several runs all, or the one of the name given."""
    from surefoot.data.types.run_files import read_runs
    from surefoot.data.types.runs import read_run

    runs: list[Run] = []
    for name, path in steps([name_and_file(file) for file in files], "Reading runs"):
        runs += read_runs(path) if name is None else [read_run(path, name)]
    return runs


def read_scored(
    command: str, files: Sequence[str], matrix: str | None, measures: Sequence[str], missing: MissingTreatment | None,
    fill: str | None = None, traffic: str | None = None,
) -> list[Scores]:  # fmt: skip
    """Scores by each measure, of judgments and runs, or of scores in their place.

    In place of judgments and runs, `matrix` is a score matrix, or with `files` the results per query of systems.
    `fill` fills holes in the judgments, and `traffic` weighs the queries.
    """
    from surefoot.measures.notation import Measure

    if matrix is not None:
        if fill is not None:
            raise ArgumentError("--fill works only with judgments and runs, but you gave --scores; remove --fill")
        given = _given_scores([matrix, *files], measures, missing)
        return given if traffic is None else [scores.with_traffic(traffic) for scores in given]
    if len(files) < 2:
        raise ArgumentError(
            f"judgments and at least one run are required: surefoot {command} QRELS RUN... --baseline NAME "
            f"(or use --scores FILE); see surefoot {command} --help"
        )
    from surefoot.measures.scoring import score

    parsed = [Measure.parse(measure) for measure in measures or [EVALUATION_MEASURE]]
    return score(
        *read_judged_runs(files), parsed, missing=missing or MissingTreatment.zero, automatic=fill, traffic=traffic
    )


def _given_scores(files: Sequence[str], measures: Sequence[str], missing: MissingTreatment | None) -> list[Scores]:
    """Scores that others computed: a matrix, or results per query, one file per system."""
    from surefoot.measures.score_reading import read_scores

    if any(not measure.strip() for measure in measures):
        raise ArgumentError("-m is empty; give the name of the measure, such as -m ERR@20, or leave -m out")
    named = [name_and_file(file) for file in files]
    source: str | dict[str, str] = named[0][1]
    if len(named) > 1 or named[0][0] is not None:
        source = _by_system(named)
    treatment = missing or MissingTreatment.error
    names = [measure.strip() for measure in measures]
    return read_scores(source, names, missing=treatment) if names else [read_scores(source, missing=treatment)]


def _by_system(files: Sequence[tuple[str | None, str]]) -> dict[str, str]:
    """The files by the names of their systems, those of folders too."""
    by_system: dict[str, str] = {}
    for name, path in files_with_names(files):
        if name in by_system:
            raise ArgumentError(f"{by_system[name]} and {path} both belong to {name}; name one of them: NAME={path}")
        by_system[name] = path
    return by_system


def files_with_names(files: Sequence[tuple[str | None, str]]) -> list[tuple[str, str]]:
    """The files, those of folders in place of these, each with the name of its system."""
    from surefoot.data.reading.files import is_folder, system_name
    from surefoot.data.reading.folders import files_in

    found: list[tuple[str, str]] = []
    for name, path in files:
        if is_folder(path):
            found += [(system, str(file)) for system, file in files_in(path)]
        else:
            found.append((name or system_name(path), path))
    return found


def input_files(files: Sequence[str]) -> list[str]:
    """The files that arguments name, those of folders too, to be told as inputs and never written over."""
    return [path for _, path in files_with_names([name_and_file(file) for file in files])]


def matrix_measure(files: Sequence[str], measures: Sequence[str], missing: MissingTreatment | None) -> str | None:
    """What a matrix's scores are called, if nothing is given beside it that it does not have."""
    if files:
        raise ArgumentError("give either judgments and runs or --scores, not both")
    if missing is not None:
        raise ArgumentError(
            "--missing works only with runs and with results per query, but this is a score matrix; leave it out"
        )
    if len(measures) > 1:
        raise ArgumentError(
            "a --scores file contains one measure only; give -m once, such as -m ERR@20, or leave -m out"
        )
    if measures and not measures[0].strip():
        raise ArgumentError("-m is empty; give the name of the measure, such as -m ERR@20, or leave -m out")
    return measures[0].strip() if measures else None


def is_streamed(matrix: str | None, requested: bool, need_all: Sequence[str]) -> bool:
    """Whether a matrix is read a part at a time: where that is requested, or it is large.

    `need_all` are options that need all of it at once.
    """
    from surefoot.data.types.streamed_scores import is_large

    if matrix is None:
        if requested:
            raise ArgumentError("--stream works only with --scores; add --scores FILE, or remove --stream")
        return False
    if not requested and not is_large(matrix):
        return False
    if need_all:
        raise ArgumentError(
            f"{need_all[0]} needs all scores in memory, but {matrix} is read in parts; remove {need_all[0]}, or use "
            "a file with fewer queries"
        )
    return True
