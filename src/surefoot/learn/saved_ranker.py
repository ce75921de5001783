"""A ranker on disk: its engine's own text file, and a JSON beside it; nothing in either is ever executed.

Both change in one step, the replacement of the JSON, which names the model's hash. The new model waits beside the
old one until then and takes its name afterwards, so a program that is killed leaves the old ranker or the new one. The
folder itself stays what it is (a mount point, a link, the current folder) and keeps what else is in it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import numpy as np

from surefoot.data.hashes import HASH_DIGITS
from surefoot.data.reading.files import existing_file, read_json, reason
from surefoot.data.reading.folders import describing_file
from surefoot.data.types.ranking import TieRule
from surefoot.data.writing.all_or_nothing import ensure_folder, write_bytes, write_text
from surefoot.errors import ArgumentError, DataError, shortened
from surefoot.learn.combination import Aggregate, Combination
from surefoot.learn.criteria import check_history, is_number
from surefoot.learn.engines.contract import ModelTextError, engine_of
from surefoot.learn.model_files import (
    DETAILS_FILE_NAME,
    MODEL_FILE_NAMES,
    NETWORK_SCHEMA,
    TREES_SCHEMA,
    unfinished_name,
)
from surefoot.learn.settings import SEED_COUNT
from surefoot.measures.notation import is_measure

if TYPE_CHECKING:
    from surefoot.learn.estimator import Estimator
    from surefoot.learn.ranker import Ranker

Kind = TypeVar("Kind", bound="Estimator")


def save(ranker: Estimator, folder: str | os.PathLike[str]) -> None:
    """Write both files in one step; then the training's checkpoint is no longer needed, and goes."""
    engine, model = ranker._dump_model()
    hashed = hashlib.sha256(model).hexdigest()
    name = MODEL_FILE_NAMES[engine]
    text = _details_text(ranker, engine, hashed, folder)
    with ensure_folder(folder) as home:
        unfinished = home / unfinished_name(name, hashed)
        try:
            write_bytes(unfinished, model, durable=True)
            write_text(home / DETAILS_FILE_NAME, text, durable=True)
        except BaseException:
            with suppress(OSError):
                unfinished.unlink(missing_ok=True)
            raise
    try:
        unfinished.replace(home / name)
        for other in MODEL_FILE_NAMES.values():
            for left in home.glob(unfinished_name(other, "*")):  # by programs that were killed
                left.unlink(missing_ok=True)
            if other != name:  # another engine's, which nothing names any more
                (home / other).unlink(missing_ok=True)
    except OSError as error:
        raise DataError.at(home / name, None, f"cannot be written ({reason(error)})") from error
    for checkpoint in ranker.checkpoints_:
        checkpoint.remove()


def _details_text(ranker: Estimator, engine: str, hashed: str, folder: str | os.PathLike[str]) -> str:
    from surefoot import __version__

    details = {
        "schema": ranker._schema,
        "surefoot": __version__,
        "model": {"file": MODEL_FILE_NAMES[engine], "engine": engine, "sha256": hashed},
        "parameters": ranker.get_params() | {"checkpoint": None},
        "fitted": {name: getattr(ranker, name) for name in (*FITTED_CHECKS, *ranker._learned)},
    }
    try:
        text = json.dumps(details, indent=2, ensure_ascii=False, allow_nan=False, default=_plain) + "\n"
        text.encode()  # half a character, which JSON may hold, cannot be written
    except (TypeError, ValueError) as error:
        raise DataError.at(folder, None, f"a parameter cannot be saved as JSON ({error})") from error
    return text


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if is_measure(value) or isinstance(value, os.PathLike):
        return str(value)
    raise TypeError(f"{type(value).__name__} is not a plain value")


def load(kind: type[Kind], folder: str | os.PathLike[str]) -> Kind:
    """Read both files back, and trust neither."""
    home = Path(folder)
    details = read_details(home, (kind._schema,))
    try:
        ranker = kind(**details["parameters"])
    except (TypeError, ArgumentError) as error:
        raise DataError.at(home / DETAILS_FILE_NAME, None, f"holds parameters that no ranker has ({error})") from error
    ranker._read_model(home, details)
    ranker.checkpoints_ = ()
    for fact in (*FITTED_CHECKS, *kind._learned):
        setattr(ranker, fact, details["fitted"][fact])
    return ranker


def read_trees(ranker: Ranker, home: Path, details: dict[str, Any]) -> None:
    """Give a ranker the trees beside its details, if these are of such trees."""
    file, fitted = home / DETAILS_FILE_NAME, details["fitted"]
    try:
        engine = engine_of(details["model"].get("engine"))
    except ArgumentError as error:
        raise DataError.at(file, None, f"cannot be used: {error}") from error
    name = MODEL_FILE_NAMES[engine.name]
    try:
        booster = engine.load(read_model(home, name, details["model"]["sha256"]).decode())
    except (UnicodeDecodeError, ModelTextError) as error:
        raise DataError.at(home / name, None, f"is not a {engine.title} model ({error})") from error
    for what, count, key in (
        ("features", engine.count_features(booster), "n_features_in_"),
        ("trees", engine.count_trees(booster), "best_iteration_"),
    ):
        if count != fitted[key]:
            raise DataError.at(home, None, f"{name} has {count} {what}, but {DETAILS_FILE_NAME} has another number")
    if ranker.init not in (None, "baseline") or (ranker.init and not fitted["baselines_"]):
        raise DataError.at(file, None, f"has init {shortened(ranker.init)}, but its baselines are missing or different")
    if ranker.engine != engine.name:
        raise DataError.at(file, None, f"names two engines, {shortened(ranker.engine)} and {engine.name}")
    ranker.engine_, ranker.booster_ = engine.name, booster


def saved_history(folder: str | os.PathLike[str]) -> tuple[dict[str, dict[str, list[float]]], int]:
    """The history of a ranker that was saved, and how many trees it has, without loading these."""
    fitted = read_details(folder, (TREES_SCHEMA, NETWORK_SCHEMA))["fitted"]
    return fitted["history_"], fitted["best_iteration_"]


def read_model(home: Path, name: str, hashed: str, most_bytes: float = float("inf")) -> bytes:
    """The model that the details were written for, under its own name or, if a program was killed, still waiting.

    A file of more than `most_bytes` is not that one, and is not read.
    """
    try:
        for path in (home / name, home / unfinished_name(name, hashed)):
            data = path.read_bytes() if path.is_file() and path.stat().st_size <= most_bytes else b""
            if hashlib.sha256(data).hexdigest() == hashed:
                return data
        existing_file(home / name)
    except OSError as error:
        raise DataError.at(home / name, None, f"cannot be read ({reason(error)})") from error
    raise DataError.at(
        home / name, None, f"is not the file that {DETAILS_FILE_NAME} was written for; save the ranker again"
    )


def read_details(folder: str | os.PathLike[str], schemas: Sequence[str]) -> dict[str, Any]:
    """What was saved beside a model, with its parts checked."""
    path = describing_file(folder, DETAILS_FILE_NAME, "give the folder that a ranker was saved to")
    details = read_json(path)
    keys = {"schema": str, "model": dict, "parameters": dict, "fitted": dict}
    if not isinstance(details, dict) or any(not isinstance(details.get(key), type_) for key, type_ in keys.items()):
        raise DataError.at(path, None, f"does not describe a ranker; expected the keys {', '.join(keys)}")
    if details["schema"] not in schemas:
        known = " or ".join(map(repr, schemas))
        other = _LOADED_BY.get(details["schema"])
        hint = f"load it with {other}" if other else f"this version reads {known}"
        raise DataError.at(path, None, f"has schema {shortened(details['schema'])}; {hint}")
    if details["parameters"].get("checkpoint") is not None:
        raise DataError.at(path, None, "names a checkpoint, a file to write to, which no saved ranker does")
    fitted, hashed = details["fitted"], details["model"].get("sha256")
    if not isinstance(hashed, str) or not re.fullmatch("[0-9a-f]{64}", hashed):
        raise DataError.at(path, None, "does not have the hash of the model")
    absent = [name for name in FITTED_CHECKS if name not in fitted]
    if absent:
        raise DataError.at(path, None, f"does not have {', '.join(absent)}")
    for name, fits in FITTED_CHECKS.items():
        if not fits(fitted[name]):
            raise DataError.at(path, None, f"has a {name} that is not valid: {shortened(fitted[name])}")
    if not set(fitted["categories_"]) <= set(fitted["feature_names_in_"]):
        raise DataError.at(path, None, "has categories for a feature that the model does not have")
    if len(fitted["feature_names_in_"]) != fitted["n_features_in_"]:
        raise DataError.at(path, None, "does not have one name for each feature")
    return details


def _is_count(value: Any) -> bool:
    return type(value) is int and 1 <= value < 2**31


def _are_names(value: Any) -> bool:
    """Whether this is a list of different texts that can be written."""
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        return False
    try:
        "".join(value).encode()
    except UnicodeEncodeError:
        return False
    return len(set(value)) == len(value)


def _accepted_by(check: Callable[[Any], Any]) -> Callable[[Any], bool]:
    """Whether a check raises nothing."""

    def accepts(value: Any) -> bool:
        try:
            check(value)
        except ValueError:
            return False
        return True

    return accepts


def _none_or(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or fits(value)


_is_history = _accepted_by(check_history)


def _is_sample(value: Any) -> bool:
    """Whether this is a list of numbers that ascend."""
    return isinstance(value, list) and bool(value) and all(map(is_number, value)) and value == sorted(value)


def _are_fingerprints(value: Any) -> bool:
    return isinstance(value, str) and not len(value) % HASH_DIGITS and re.fullmatch("[0-9a-f]*", value) is not None


def _are_models(value: Any) -> bool:
    """Whether this is what a mean knows of its models."""
    return isinstance(value, list) and all(
        isinstance(one, dict)
        and set(one) == _MODEL_KEYS
        and _is_count(one["trees"])
        and is_number(one["weight"])
        and all(_none_or(is_number)(one[name]) for name in ("best_score", "random_state"))
        and _is_history(one["history"])
        for one in value
    )


def _are_categories(value: Any) -> bool:
    return isinstance(value, dict) and all(_are_names(labels) for labels in value.values())


def _are_weights(value: Any) -> bool:
    """Whether this is a summary of training queries' weights."""
    if not isinstance(value, dict) or set(value) != _WEIGHTS_KEYS or not all(map(is_number, value.values())):
        return False
    counts = type(value["left_out"]) is int and value["left_out"] >= 0 and _is_count(value["queries"])
    effective, share = value["effective_queries"], value["traffic_share"]
    return counts and 0 < effective <= value["queries"] * (1 + 1e-9) and 0 < share <= 1


_LOADED_BY = {TREES_SCHEMA: "sf.Ranker.load", NETWORK_SCHEMA: "sf.NeuralRanker.load"}
_WEIGHTS_KEYS = {"queries", "effective_queries", "left_out", "traffic_share"}
_MODEL_KEYS = {"objective", "alpha", "measure", "random_state", "trees", "best_score", "weight", "history"}

# What a ranker has learned beside its trees, and the check that each part must pass.
FITTED_CHECKS: dict[str, Callable[[Any], bool]] = {
    "n_features_in_": _is_count,
    "feature_names_in_": _are_names,
    "baselines_": _are_names,
    "best_iteration_": _is_count,
    "best_score_": _none_or(is_number),
    "history_": _is_history,
    "tie_rule_": lambda value: value in get_args(TieRule),
    "score_sample_": _is_sample,
    "random_state_": _none_or(lambda value: type(value) is int and 0 <= value < SEED_COUNT),
    "training_queries_": _none_or(_are_fingerprints),
    "models_": _are_models,
    "categories_": _are_categories,
    "trees_before_": lambda value: value == 0 or _is_count(value),
    "combination_": _none_or(_accepted_by(Combination.from_dict)),
    "query_feature_": _none_or(_accepted_by(Aggregate.parse)),
    "traffic_": _none_or(_are_weights),
}
