"""All runs of a file, or of a folder's files."""

from __future__ import annotations

import os
from pathlib import Path

from surefoot.data.reading.files import is_folder, system_name
from surefoot.data.reading.folders import files_in
from surefoot.data.types.runs import RankedSource, Run
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
