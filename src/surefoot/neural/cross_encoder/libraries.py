"""sentence-transformers and datasets, imported late; without them, the line that installs them."""

from __future__ import annotations

from typing import Any, TypeAlias

import surefoot.neural.libraries  # noqa: F401, PyTorch comes first, so that its threads wait briefly for each other
from surefoot.runtime import library

CrossEncoderModel: TypeAlias = Any  # sentence_transformers.CrossEncoder
TextDataset: TypeAlias = Any  # datasets.Dataset


def hugging_face(name: str) -> Any:
    """A module of sentence-transformers, or of what comes with it."""
    return library(name, "cross-encoder", "A cross-encoder")


def cross_encoders() -> Any:
    """The module sentence_transformers.cross_encoder."""
    return hugging_face("sentence_transformers.cross_encoder")


def to_device(features: Any, device: Any) -> Any:
    """What a model reads, on its device.

    A plain dict: in another kind of mapping `DistributedDataParallel` does not find the model's output.
    """
    return dict(hugging_face("sentence_transformers.util").batch_to_device(features, device))
