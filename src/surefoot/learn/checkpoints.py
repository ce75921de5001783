"""The state of a training in one file, replaced whole, so that a killed training goes on where it was."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.data.files import write_text
from surefoot.data.ranking_data import RankingData
from surefoot.errors import DataError
from surefoot.learn.engine import lightgbm

_SCHEMA = "surefoot/checkpoint/1"
# What may differ between the training that was killed and the one that goes on.
_FREE = {"checkpoint", "n_estimators", "num_threads", "n_jobs", "nthread"}


def fingerprint(parameters: dict[str, Any], train: RankingData, valid: RankingData | None) -> str:
    """A hash of everything that decides the trees: parameters, labels, baselines, and a sample of the features."""
    digest = hashlib.sha256()
    digest.update(json.dumps({k: repr(v) for k, v in sorted(parameters.items()) if k not in _FREE}).encode())
    for data in (train, valid):
        if data is not None:
            digest.update(repr((data.X.shape, data.queries[:1], list(data.baselines))).encode())
            step = max(1, len(data) // 10_000)
            for part in (data.y, data.offsets, data.X[::step], *data.baselines.values()):
                digest.update(np.asarray(part).tobytes())
    return digest.hexdigest()


def write(path: str | os.PathLike[str], made_of: str, booster: Any, state: dict[str, Any]) -> None:
    """Keep a booster and what else there is to know."""
    content = {"schema": _SCHEMA, "fingerprint": made_of, "state": state, "model": booster.model_to_string()}
    write_text(path, json.dumps(content))


def read(path: str | os.PathLike[str], made_of: str) -> tuple[Any, dict[str, Any]] | None:
    """The booster and state kept there, None where nothing is."""
    if not Path(path).exists():
        return None
    try:
        content = json.loads(Path(path).read_text())
        matching = content["schema"] == _SCHEMA and content["fingerprint"] == made_of
        found = lightgbm().Booster(model_str=content["model"]) if matching else None
    except (OSError, ValueError, KeyError, TypeError, lightgbm().basic.LightGBMError) as error:
        raise DataError.at(
            path, None, f"is not a checkpoint that can be read ({error}); delete it to start anew"
        ) from error
    if found is None:
        raise DataError.at(
            path,
            None,
            "is the checkpoint of another training (other parameters or data); delete it, or name another file",
        )
    return found, content["state"]


def remove(path: str | os.PathLike[str]) -> None:
    """A training that has ended needs no checkpoint."""
    Path(path).unlink(missing_ok=True)
