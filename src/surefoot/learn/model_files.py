"""The files of a saved model and of checkpoints, by name; light, so that the command line can look at them first."""

from __future__ import annotations

import os
import re
from pathlib import Path

# Engines' own files, named as the engines know them; PyTorch's is a network's.
MODEL_FILE_NAMES = {"lightgbm": "model.txt", "xgboost": "model.json", "torch": "model.safetensors"}
DETAILS_FILE_NAME = "ranker.json"
TREES_SCHEMA, NETWORK_SCHEMA = "surefoot/ranker/1", "surefoot/neural-ranker/1"
_UNFINISHED_MODEL = re.compile(rf"\.({'|'.join(map(re.escape, MODEL_FILE_NAMES.values()))})\.[0-9a-f]{{64}}\.next")


def model_files(folder: str | os.PathLike[str]) -> list[str]:
    """What is read of a saved model."""
    return [str(Path(folder) / name) for name in (*MODEL_FILE_NAMES.values(), DETAILS_FILE_NAME)]


def unfinished_name(model: str, sha256: str) -> str:
    """What a new model is called until the details name it; a program that was killed leaves it."""
    return f".{model}.{sha256}.next"


def is_model_file(name: str) -> bool:
    """Whether a file of this name is a saved model's, or left by one that was being saved."""
    return name in (*MODEL_FILE_NAMES.values(), DETAILS_FILE_NAME) or _UNFINISHED_MODEL.fullmatch(name) is not None


def checkpoint_paths(path: str | os.PathLike[str] | None, models: int) -> list[Path]:
    """The files of the checkpoints of so many models; none where there is no path.

    >>> [str(file) for file in checkpoint_paths("state.json", 3)]
    ['state.json', 'state.json.2', 'state.json.3']
    """
    if path is None:
        return []
    first = Path(path)
    return [first, *(first.with_name(f"{first.name}.{number}") for number in range(2, models + 1))]
