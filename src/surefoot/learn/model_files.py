"""The files of a saved model, by name; light, so that the command line can look before anything heavy is loaded."""

from __future__ import annotations

import os
import re
from pathlib import Path

MODELS = {"lightgbm": "model.txt", "xgboost": "model.json"}  # engines' own texts, named as the engines know them
DETAILS = "ranker.json"
_WAITING = re.compile(rf"\.({'|'.join(map(re.escape, MODELS.values()))})\.[0-9a-f]{{64}}\.next")


def model_files(folder: str | os.PathLike[str]) -> list[str]:
    """What is read of a saved model."""
    return [str(Path(folder) / name) for name in (*MODELS.values(), DETAILS)]


def waiting_name(model: str, sha256: str) -> str:
    """What a new model is called until the details name it; a program that was killed leaves it."""
    return f".{model}.{sha256}.next"


def is_model_file(name: str) -> bool:
    """Whether a file of this name is a saved model's, or left by one that was being saved."""
    return name in (*MODELS.values(), DETAILS) or _WAITING.fullmatch(name) is not None
