"""Judgments and runs, or scores, as a command line names them."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from surefoot.errors import ArgumentError, shortened, visible
from surefoot.measures import MissingTreatment
from surefoot.progress import steps

if TYPE_CHECKING:
    from surefoot.data.types.runs import Qrels, Run
    from surefoot.data.types.scores import Scores

EVALUATION_MEASURE = "nDCG@10"  # where none is given
_FEATURE = re.compile(r"(?:[^=]+=)?feature:\d+")
_COMMAS = re.compile(r",(?![^()]*\))")  # between measures, not between what one is made with
_BLOCK = 1 << 16


@dataclass(frozen=True)
class GivenFiles:
    """What stands on the command line: judgments and runs, or where `scores` scores; with `judged`, judgments first."""

    files: tuple[str, ...]
    scores: bool = False
    judged: bool = True

    def with_live(self, baseline: str | None) -> tuple[GivenFiles, str | None]:
        """The files with that of the live ranking, if `-b` names a file and not a name; and its name."""
        from surefoot.data.reading.files import as_text, file_status, is_folder, system_name
        from surefoot.data.reading.folders import KINDS, saved_kind

        if baseline is None or as_text(baseline) in self._names():
            return self, baseline
        name, path = name_and_file(baseline)
        if _FEATURE.fullmatch(baseline):
            raise ArgumentError(
                f"-b {baseline} is a feature, and a run is needed; make one, and give it: "
                f"surefoot rank {path.rpartition('=')[2]} DATA -o {name or 'today'}.run"
            )
        status = file_status(path)
        if status is None or (is_folder(path) and os.sep not in path and saved_kind(path) is None):
            if status is None and (os.sep in path or name is not None):
                raise ArgumentError(f"-b {shortened(baseline)}: there is no file {shortened(path)}")
            return self, baseline
        if is_folder(path):
            kind = saved_kind(path)
            what = "a folder" if kind is None else f"the folder of {KINDS[kind].partition(';')[0]}"
            raise ArgumentError(
                f"-b {path} is {what}, and a run is needed; make one of a model, and give it: "
                f"surefoot rank {path} DATA -o today.run"
            )
        for other_name, other in self._runs():
            other_status = file_status(other)
            if other_status is not None and os.path.samestat(status, other_status):
                return self, other_name or system_name(other)
        return replace(self, files=(*self.files, baseline)), name or system_name(path)

    def _runs(self) -> list[tuple[str | None, str]]:
        return [name_and_file(file) for file in self.files[0 if self.scores or not self.judged else 1 :]]

    def _names(self) -> set[str]:
        return {name for name, _ in files_with_names(self._runs())}


def scores_or_runs(files: Sequence[str], scores: str | None) -> GivenFiles:
    """What is given: one file may be scores without `--scores`, if its header says so."""
    if scores is not None:
        return GivenFiles((scores, *files), scores=True)
    return GivenFiles(tuple(files), scores=len(files) == 1 and _has_score_header(files[0]))


def _has_score_header(path: str) -> bool:
    """Whether a file is a table of scores: it has names of columns, and no column of documents."""
    from surefoot.data.reading.files import file_status, is_folder, text_lines
    from surefoot.data.reading.frames import DOCUMENT_COLUMNS, read_schema
    from surefoot.data.reading.parquet import is_parquet
    from surefoot.errors import DataError

    if file_status(path) is None or is_folder(path):
        return False
    try:
        if is_parquet(path):
            names = [*read_schema(path)]
        else:
            first = next(text_lines(path, _BLOCK), b"").decode(errors="replace").strip()
            names = re.split(r"[,\t;]", first)
    except DataError:
        return False
    is_number = re.compile(r"\s*[-+]?[\d.]+(e[-+]?\d+)?\s*", re.IGNORECASE).fullmatch
    return len(names) > 1 and not any(name.lower() in DOCUMENT_COLUMNS or is_number(name) for name in names)


def measure_names(measures: Sequence[str]) -> list[str]:
    """The measures as they were given; several in one text are refused, with what to type."""
    for measure in measures:
        if not measure.strip():
            raise ArgumentError("-m is empty; give the name of the measure, such as -m ERR@20, or leave -m out")
        if len(several := _COMMAS.split(measure)) > 1:
            line = " ".join(f"-m {one.strip()}" for one in several)
            raise ArgumentError(f"-m {shortened(measure)} is several measures; give each its own: {line}")
    return [measure.strip() for measure in measures]


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
    from surefoot.data.types.runs import read_run
    from surefoot.data.types.several_tables import read_runs

    runs: list[Run] = []
    for name, path in steps([name_and_file(file) for file in files], "Reading runs"):
        runs += read_runs(path) if name is None else [read_run(path, name)]
    return runs


def read_scored(
    command: str, given: GivenFiles, measures: Sequence[str], missing: MissingTreatment | None,
    automatic: str | None = None, traffic: str | None = None,
) -> list[Scores]:  # fmt: skip
    """Scores by each measure, of judgments and runs, or of scores in their place.

    `automatic` judgments fill holes, and `traffic` says how often each query is asked.
    """
    from surefoot.measures.notation import Measure

    names = measure_names(measures)
    if given.scores:
        if automatic is not None:
            raise ArgumentError("--automatic needs judgments and runs, but you gave scores; remove --automatic")
        read = _given_scores(given.files, names, missing)
        return read if traffic is None else [scores.with_traffic(traffic) for scores in read]
    if len(given.files) < 2:
        raise ArgumentError(
            f"judgments and at least one run are required: surefoot {command} QRELS RUN... --baseline NAME "
            f"(or one file of scores); see surefoot {command} --help"
        )
    from surefoot.measures.scoring import score

    parsed = [Measure.parse(measure) for measure in names or [EVALUATION_MEASURE]]
    treatment = missing or MissingTreatment.zero
    return score(*read_judged_runs(given.files), parsed, missing=treatment, automatic=automatic, traffic=traffic)


def _given_scores(files: Sequence[str], names: list[str], missing: MissingTreatment | None) -> list[Scores]:
    """Scores that others computed: a matrix, or results per query, one file per system."""
    from surefoot.measures.score_reading import read_scores

    named = [name_and_file(file) for file in files]
    source: str | dict[str, str] = named[0][1]
    if len(named) > 1 or named[0][0] is not None:
        source = _by_system(named)
    treatment = missing or MissingTreatment.error
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


_MOST = 20  # names that are listed
_WIDEST = 40  # letters of a name that the others are lined up with

CHOOSE_CONDITIONS = """give at least one condition, or a policy file:
  --risk 0.02         the average loss over all queries is at most 0.02
  --share-hurt 0.05   at most 5 % of queries lose over 20 %
  --gain 0            the average gain is above 0
  --u-risk 5:0        U_Risk at α = 5 is above 0
  --policy FILE       a file with these conditions; surefoot check --new-policy F writes a template"""


def choose_baseline(systems: Sequence[str], virtual: bool = True) -> str:
    """What to say where no baseline is named, which may be a mean of systems where `virtual`.

    >>> print(choose_baseline(["bold", "today"]))
    say which system is live today, with --baseline:
      --baseline bold
      --baseline today   (probably, by its name)
      --baseline mean    (the mean of all systems for each query; median and max also work)
    """
    from surefoot.risk.baselines import likely_baselines

    likely = likely_baselines(systems)
    first = [*likely, *(name for name in systems if name not in likely)] if len(systems) > _MOST else [*systems]
    names = [*first[:_MOST], *(["mean"] if virtual else [])]
    remarks = dict.fromkeys(likely, "(probably, by its name)")
    remarks |= {"mean": "(the mean of all systems for each query; median and max also work)"}
    wide = max((len(visible(name)) for name in names if len(name) <= _WIDEST), default=0)
    lines = [f"  --baseline {visible(name):<{wide}}   {remarks.get(name, '')}".rstrip() for name in names]
    if len(systems) > _MOST:
        lines.insert(_MOST, f"  … and {len(systems) - _MOST:,} more")
    return "\n".join(["say which system is live today, with --baseline:", *lines])
