"""All tables of one source: the runs of a file or of a folder's files, and the judgments of each judge."""

from __future__ import annotations

import os
from pathlib import Path

from surefoot.data.reading.files import existing_file, is_folder, system_name
from surefoot.data.reading.folders import files_in
from surefoot.data.reading.formats import one_part
from surefoot.data.types.runs import Qrels, RankedSource, Run
from surefoot.errors import DataError, shortened


def read_runs(source: RankedSource) -> list[Run]:
    """All runs of a source: one, but for a folder, results of the Search Relevance Workbench and MTEB's predictions.

    Each file of a folder is a run (or several), named as the file is, MTEB's predictions by their model.

    >>> read_runs({"q1": ["d1", "d2"]})
    [<Run 'run': 1 queries, 2 documents>]
    """
    if not isinstance(source, str | os.PathLike) or not is_folder(source):
        return Run._read_all(source)
    files: dict[str, Path] = {}
    runs: list[Run] = []
    for name, file in files_in(source):
        found = Run._read_all(file)
        if len(found) == 1 and found[0].name == system_name(file):  # the file does not say which system it is
            found = [found[0].renamed(name)]
        for run in found:
            if run.name in files:
                raise DataError(
                    f"{file}: {shortened(run.name)} is also the system of {files[run.name]}; give the files of one "
                    "task, such as predictions/*/NFCorpus_predictions.json, or give each run a name (NAME=FILE)"
                )
            files[run.name] = file
        runs += found
    return runs


def read_judges(source: RankedSource) -> dict[str, Qrels]:
    """Each judge's judgments by name: of a Quepid book, a table with a column `judge`, or umbrela's lines.

    A source that names no judges has one, by the name of the file.

    >>> read_judges({"q1": {"d1": 1}})
    {'judgments': <Qrels 'judgments': 1 queries, 1 documents>}
    """
    if isinstance(source, str | os.PathLike) and existing_file(source).is_file():
        found = Qrels._read_file(source, None, None)
        if not isinstance(found, dict):
            return {found.name: found}
        rows = one_part(found, source, None)
        judged = {system_name(source): rows} if rows.by_judge is None else rows.by_judge
        return {judge: Qrels._from_rows(own, judge) for judge, own in judged.items()}
    judgments = Qrels._read(source)
    return {judgments.name: judgments}
