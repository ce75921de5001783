"""A saved ranker of either kind, trees or networks, by what its folder holds; PyTorch is loaded for networks alone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, Union

from surefoot.learn.model_files import DETAILS_FILE_NAME, NETWORK_SCHEMA

if TYPE_CHECKING:
    from surefoot.learn.ranker import Ranker
    from surefoot.neural.ranker import NeuralRanker

AnyRanker: TypeAlias = Union["Ranker", "NeuralRanker"]


def load_ranker(folder: str | os.PathLike[str]) -> AnyRanker:
    """The ranker that was saved there, a `Ranker` or a `NeuralRanker`."""
    if is_network(folder):
        from surefoot.neural.ranker import NeuralRanker

        return NeuralRanker.load(folder)
    from surefoot.learn.ranker import Ranker

    return Ranker.load(folder)


def is_network(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder holds a saved network, as its details say."""
    from surefoot.data.reading.files import read_json

    path = Path(folder) / DETAILS_FILE_NAME
    if not path.is_file():
        return False
    details = read_json(path)
    return isinstance(details, dict) and details.get("schema") == NETWORK_SCHEMA
