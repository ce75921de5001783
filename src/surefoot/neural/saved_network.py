"""A neural ranker on disk: its parameters as safetensors, and a JSON beside them, which change in one step.

Neither is ever executed: safetensors holds numbers and their names alone. Both are checked when they are read: the JSON
says how many numbers there are, within bounds, and a file that is larger is not read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot.errors import DataError, shortened
from surefoot.learn import saved_ranker
from surefoot.learn.model_files import DETAILS_FILE_NAME, MODEL_FILE_NAMES, NETWORK_SCHEMA
from surefoot.learn.options import NETWORK_ENGINE
from surefoot.neural.libraries import Tensor, torch
from surefoot.neural.network import Network, NetworkShape, tensor_shapes
from surefoot.runtime import library

if TYPE_CHECKING:
    from surefoot.neural.ranker import NeuralRanker


_HEADER_BYTES = 256  # that a tensor's name, shape and place take in a file, at most


def dump(tensors: dict[str, Tensor]) -> bytes:
    """Tensors as safetensors."""
    content = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    data: bytes = library("safetensors.torch", "neural", "A network").save(content)
    return data


def parse(data: bytes) -> dict[str, Tensor]:
    """The tensors of such bytes; ValueError where they are not that."""
    safetensors = library("safetensors", "neural", "A network")
    try:
        tensors: dict[str, Tensor] = library("safetensors.torch", "neural", "A network").load(data)
    except (safetensors.SafetensorError, ValueError, KeyError, TypeError, RuntimeError) as error:
        raise ValueError(f"these are no safetensors ({str(error)[:200]})") from error
    return tensors


def check_tensors(tensors: dict[str, Tensor], shapes: Mapping[str, tuple[int, ...]]) -> None:
    """ValueError where tensors do not have these names and shapes, in float32, or are not finite."""
    if other := min(tensors.keys() ^ shapes.keys(), default=None):
        whose = "is missing" if other in shapes else "is none of this network"
        raise ValueError(f"the parameters are those of another network: {shortened(other)} {whose}")
    for name, shape in shapes.items():
        found = tensors[name]
        if (tuple(found.shape), found.dtype) != (shape, torch.float32):
            raise ValueError(
                f"the parameters are those of another network: {name} has the shape {tuple(found.shape)} and the type "
                f"{found.dtype}, and this network's has {shape} and torch.float32"
            )
        if not bool(torch.isfinite(found).all()):
            raise ValueError(f"{name} holds a number that is not finite")


def save(ranker: NeuralRanker, folder: str | os.PathLike[str]) -> None:
    """Write both files in one step; then the training's checkpoint is no longer needed, and goes."""
    model = dump(ranker.network_.state_dict())
    saved_ranker.save_model(ranker, NETWORK_ENGINE, model, folder, NETWORK_SCHEMA, ("best_iterations_",))
    for checkpoint in ranker.checkpoints_:
        checkpoint.remove()


def load(kind: type[NeuralRanker], folder: str | os.PathLike[str]) -> NeuralRanker:
    """Read both files back, and trust neither."""
    home = Path(folder)
    details = saved_ranker.read_details(home, (NETWORK_SCHEMA,))
    fitted = details["fitted"]
    try:
        ranker = kind(**details["parameters"])
        settings = ranker.check_settings()
        shape = NetworkShape(fitted["n_features_in_"], settings.hidden, settings.attention, settings.models)
    except (TypeError, ValueError) as error:
        raise DataError.at(home / DETAILS_FILE_NAME, None, f"holds parameters that no ranker has ({error})") from error
    if fitted.get("combination_") is not None or fitted.get("query_feature_") is not None:
        raise DataError.at(
            home / DETAILS_FILE_NAME, None, "combines a network with a baseline, which this version cannot do"
        )
    epochs = fitted.get("best_iterations_")
    if not _are_epochs(epochs, settings.models):
        raise DataError.at(home / DETAILS_FILE_NAME, None, "has another number of epochs than of models")
    name, shapes = MODEL_FILE_NAMES[NETWORK_ENGINE], tensor_shapes(shape)
    most_bytes = 4 * shape.parameters + _HEADER_BYTES * (len(shapes) + 1)
    try:
        tensors = parse(saved_ranker.read_model(home, name, details["model"]["sha256"], most_bytes))
        check_tensors(tensors, shapes)
    except ValueError as error:
        raise DataError.at(home / name, None, f"is not this ranker's network ({error})") from error
    ranker.network_ = Network(shape).eval()
    ranker.network_.load_state_dict(tensors)
    ranker.checkpoints_ = ()
    ranker.best_iterations_ = epochs
    saved_ranker.set_learned(ranker, fitted)
    return ranker


def _are_epochs(value: Any, models: int) -> bool:
    return isinstance(value, list) and len(value) == models and all(type(each) is int and each >= 1 for each in value)
