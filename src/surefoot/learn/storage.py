"""A ranker on disk: LightGBM's own text file, and a JSON beside it; nothing in either is ever executed."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot.data.files import existing_file, write_text
from surefoot.errors import DataError
from surefoot.learn.engine import lightgbm

if TYPE_CHECKING:
    from surefoot.learn.ranker import Ranker

_SCHEMA = "surefoot/ranker/1"
MODEL, DETAILS = "model.txt", "ranker.json"
_FITTED = (
    "n_features_in_", "feature_names_in_", "baselines_", "best_iteration_", "best_score_", "history_", "tie_rule_",
    "score_sample_",
)  # fmt: skip


def save(ranker: Ranker, folder: str | os.PathLike[str]) -> None:
    """Write both files, each all or nothing; the JSON names the model's hash, so that a mixed pair is noticed."""
    from surefoot import __version__

    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError.at(folder, None, f"cannot be made ({error.strerror or error})") from error
    model = ranker.booster_.model_to_string(num_iteration=ranker.best_iteration_)
    parameters = ranker.get_params() | {"checkpoint": None}
    details = {
        "schema": _SCHEMA,
        "surefoot": __version__,
        "model": {"file": MODEL, "engine": "lightgbm", "sha256": hashlib.sha256(model.encode()).hexdigest()},
        "parameters": parameters,
        "fitted": {name: getattr(ranker, name) for name in _FITTED},
    }
    try:
        text = json.dumps(details, indent=2, ensure_ascii=False) + "\n"
    except (TypeError, ValueError) as error:
        raise DataError.at(folder, None, f"a parameter cannot be saved as JSON ({error})") from error
    write_text(target / MODEL, model)
    write_text(target / DETAILS, text)


def load(kind: type[Ranker], folder: str | os.PathLike[str]) -> Ranker:
    """Read both files back, and trust neither."""
    home = Path(folder)
    if not home.is_dir():
        raise DataError.at(folder, None, "is not a folder; give the one that a ranker was saved to")
    details = _details(home / DETAILS)
    model = existing_file(home / MODEL).read_bytes()
    if hashlib.sha256(model).hexdigest() != details["model"]["sha256"]:
        raise DataError.at(home / MODEL, None, f"is not the file that {DETAILS} was written for; save the ranker again")
    fitted = details["fitted"]
    try:
        booster = lightgbm().Booster(model_str=model.decode())
        if booster.num_feature() != fitted["n_features_in_"]:
            raise DataError.at(home, None, f"{MODEL} has {booster.num_feature()} features, {DETAILS} another number")
    except (UnicodeDecodeError, lightgbm().basic.LightGBMError) as error:
        raise DataError.at(home / MODEL, None, f"is not a LightGBM model ({error})") from error
    try:
        ranker = kind(**details["parameters"])
    except TypeError as error:
        raise DataError.at(home / DETAILS, None, f"holds parameters that no ranker has ({error})") from error
    ranker.booster_ = booster
    for name in _FITTED:
        setattr(ranker, name, fitted[name])
    return ranker


def _details(path: Path) -> dict[str, Any]:
    try:
        details = json.loads(existing_file(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataError.at(path, None, f"is not JSON ({error})") from error
    wanted = {"schema": str, "model": dict, "parameters": dict, "fitted": dict}
    if not isinstance(details, dict) or any(not isinstance(details.get(key), type_) for key, type_ in wanted.items()):
        raise DataError.at(path, None, f"does not describe a ranker; expected the keys {', '.join(wanted)}")
    if details["schema"] != _SCHEMA:
        raise DataError.at(path, None, f"has schema {details['schema']!r}; this version reads {_SCHEMA!r}")
    absent = [name for name in _FITTED if name not in details["fitted"]]
    if absent or not isinstance(details["fitted"]["n_features_in_"], int) or "sha256" not in details["model"]:
        raise DataError.at(
            path, None, f"lacks {', '.join(absent) or 'the number of features or the hash of the model'}"
        )
    return details
