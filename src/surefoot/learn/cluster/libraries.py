"""Dask's libraries, imported late, and how to recognise a Dask collection without importing anything."""

from __future__ import annotations

from typing import Any

from surefoot.runtime import library


def dask_library(name: str) -> Any:
    """A library that training on many machines needs, or how to install it."""
    return library(name, "dask", "Training on many machines")


def is_dask(value: Any) -> bool:
    """Whether this is a Dask array, frame or series."""
    return type(value).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(value, "to_delayed")
