"""Dask's libraries, imported late, and how a Dask collection is told without importing anything."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from surefoot.errors import MissingExtraError


def library(name: str) -> ModuleType:
    """A library that training on many machines needs, or how to install it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtraError.of("dask", "Training on many machines") from error


def is_dask(value: Any) -> bool:
    """Whether this is a Dask array, frame or series."""
    return type(value).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(value, "to_delayed")
