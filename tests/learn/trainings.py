"""Small trainings on every engine, and how to stop one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

ENGINES = ["lightgbm", pytest.param("xgboost", marks=pytest.mark.engines("xgboost"))]


class StoppedError(Exception):
    """Raised in the middle of a training."""


def stop_at(trees: int) -> Callable[[int, Any], None]:
    """Progress that ends a training at so many trees."""

    def progress(grown: int, _: Any) -> None:
        if grown >= trees:
            raise StoppedError

    return progress
