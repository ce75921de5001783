"""One small study of a generated log, made once for all tests that look at it."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from tests.clicks.logs import GRADES, YANDEX14, generated, made

from surefoot.clicks.feature_pipeline import FeatureTable
from surefoot.personal.study import Personalization, study

SMALL: dict[str, Any] = {
    "grid": {"betas": (0.1, 0.5), "alphas": (1.0,), "lowest": (1.0,)},
    "ranker": {"n_estimators": 15, "min_data_in_leaf": 20},
}


@cache
def small_table() -> FeatureTable:
    """The features of a log of 150 users."""
    folder = Path(tempfile.mkdtemp(prefix="surefoot-personal-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return made(generated(folder, 150, queries=40), folder / "made", YANDEX14, GRADES)


@cache
def small_study() -> Personalization:
    """Every method on that log, with few parameters and trees."""
    return study(small_table(), labels="grades", **SMALL)
