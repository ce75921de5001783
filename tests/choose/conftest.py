"""One small sweep on generated data, which most tests here look at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import surefoot as sf
from surefoot.choose.store import SweepStore

SMALL: dict[str, Any] = {
    "objectives": ["u_risk", "faro@all", "geo_risk"],
    "alphas": [1, 5],
    "seeds": [0, 1],
    "grid": {"n_estimators": [3, 6], "num_leaves": [4, 6], "min_data_in_leaf": 5, "feature_fraction": 0.7},
    "selective": "mean:1",
    "folds": 3,
    "workers": 2,
}


@pytest.fixture(scope="package")
def small() -> dict[str, Any]:
    return SMALL


@pytest.fixture(scope="package")
def made() -> sf.RankingData:
    data = sf.demo.letor(queries=48, documents=10, features=6, seed=1).with_baselines_only([])
    return data.with_baseline("today", data.feature(4)).with_baseline("other", data.feature(2) - data.feature(3))


@pytest.fixture(scope="package")
def swept(made: sf.RankingData, tmp_path_factory: pytest.TempPathFactory) -> tuple[sf.TradeOffs, Path]:
    folder = tmp_path_factory.mktemp("sweep") / "kept"
    return sf.sweep(made, folder, **SMALL), folder


@pytest.fixture(scope="package")
def result(swept: tuple[sf.TradeOffs, Path]) -> sf.TradeOffs:
    return swept[0]


@pytest.fixture(scope="package")
def store(swept: tuple[sf.TradeOffs, Path]) -> SweepStore:
    return SweepStore.read(swept[1])


CROSSED: dict[str, Any] = {
    "objectives": ["u_risk"],
    "alphas": [1, 5],
    "seeds": [0, 1],
    "grid": {"n_estimators": 5, "num_leaves": 4, "min_data_in_leaf": 5, "feature_fraction": 0.5},
    "selective": "mean:1",
    "folds": 3,
    "workers": 2,
    "inner_folds": 3,
    "choose_by": "cross-validation",
    "strategies": "all",
}


@pytest.fixture(scope="package")
def crossed(made: sf.RankingData, tmp_path_factory: pytest.TempPathFactory) -> tuple[sf.TradeOffs, SweepStore]:
    """A sweep with inner folds and all strategies."""
    folder = tmp_path_factory.mktemp("crossed") / "kept"
    return sf.sweep(made, folder, **CROSSED), SweepStore.read(folder)
