"""Folders: of many systems' files, and those that surefoot saves, where one file tells the kind."""

from __future__ import annotations

import os
from pathlib import Path

from surefoot.data.reading.files import is_folder, reason, system_name
from surefoot.errors import DataError


def files_in(folder: str | os.PathLike[str]) -> list[tuple[str, Path]]:
    """The files of a folder and of those in it, by name, each with the name that its system has.

    A file's system has the file's name without its endings, in a folder within with that folder's before it. What is
    hidden is left out.
    """
    root = Path(folder)
    try:
        paths = sorted(path for path in root.rglob("*") if path.is_file())
    except OSError as error:
        raise DataError.at(folder, None, f"cannot be read ({reason(error)})") from error
    files = []
    for path in paths:
        within = path.relative_to(root)
        if not any(part.startswith(".") for part in within.parts):
            files.append((str(within.parent / system_name(within)), path))
    if not files:
        raise DataError.at(folder, None, "the folder has no files; expected one file per system")
    names = [name for name, _ in files]
    for name, path in files:
        if names.count(name) > 1:
            raise DataError.at(
                path, None, f"two files of the folder {folder} belong to the system {name!r}; keep one, or rename one"
            )
    return files


# The file of each kind, in the order in which they tell it: a personal ranker's folder holds a ranker too.
GUARD, PERSONAL, RANKER = "guard.json", "personal.json", "ranker.json"
KINDS = {
    GUARD: "a guard; `surefoot rank` shows its lists, and sf.RiskGuard.load loads it",
    PERSONAL: "a personal ranker; `surefoot rank`, `surefoot serve` and sf.PersonalRanker.load take it",
    "personalization.json": "a study of `surefoot personalize`, which has a model per folder",
    "sweep.json": "a sweep; `surefoot select` saves one of its models",
    RANKER: "a ranker; `surefoot rank`, sf.Ranker.load or, if it is a network, sf.NeuralRanker.load takes it",
    "config.json": "a model of the library transformers, and surefoot loads none of those",
}


def saved_kind(folder: str | os.PathLike[str]) -> str | None:
    """Which of `KINDS` a saved folder is; None if it is none of them."""
    return next((file for file in KINDS if (Path(folder) / file).is_file()), None)


def describing_file(folder: str | os.PathLike[str], name: str, remedy: str) -> Path:
    """The file of a saved folder that says what was saved; where it is none, the error says what the folder is."""
    home = Path(folder)
    if not is_folder(home):
        raise DataError.at(folder, None, f"is not a folder; {remedy}")
    if (home / name).is_file():  # a pipe of this name would be waited for
        return home / name
    kind = saved_kind(home)
    reason = remedy if kind is None else f"{folder} is the folder of {KINDS[kind]}"
    raise DataError.at(home / name, None, f"there is no such file: {reason}")
