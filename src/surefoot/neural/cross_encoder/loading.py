"""A cross-encoder by its folder or name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from surefoot.errors import DataError, without_middle
from surefoot.neural.cross_encoder.libraries import CrossEncoderModel, cross_encoders


def load_cross_encoder(source: str | os.PathLike[str], **options: Any) -> CrossEncoderModel:
    """The cross-encoder of a folder, or of a name where a model hub can be reached; no code of it is executed."""
    folder = Path(source)
    if folder.exists() and not (folder / "config.json").is_file():
        raise DataError.at(source, None, "has no config.json; give the folder of a cross-encoder, or its name")
    library = cross_encoders()
    try:
        return library.CrossEncoder(os.fspath(source), **options)
    except (OSError, ValueError, RuntimeError, KeyError, ImportError) as error:
        why = without_middle(" ".join(str(error).split()), 300)
        raise DataError.at(source, None, f"cannot be loaded as a cross-encoder ({why})") from error
