"""The papers' own studies by name, so that whoever has their data types one line."""

from __future__ import annotations

from typing import Any

from surefoot.choose.options import PRESETS
from surefoot.errors import ArgumentError, did_you_mean, name_list, shortened

_STUDIES: dict[str, dict[str, Any]] = {
    # Wang et al. (SIGIR 2012), §5.2: the grid is searched at α = 0 on each fold, and what it finds reused for α > 0.
    "wang2012": {
        "objectives": ("u_risk",),
        "alphas": (1, 5, 10, 20),
        "grid": {
            "min_data_in_leaf": (500, 1000, 1500),
            "num_leaves": (10, 25, 50),
            "n_estimators": (50, 100, 200, 400, 800),
            "learning_rate": (0.025, 0.05, 0.075),
        },
        "tune": "gain",
    },
    # Dinçer et al. (SIGIR 2014), §6.1.
    "dincer2014": {
        "objectives": ("u_risk", "saro", "faro"),
        "alphas": (1, 5, 10, 20),
        "grid": {
            "min_data_in_leaf": (500, 1000),
            "num_leaves": (50,),
            "n_estimators": (800,),
            "learning_rate": (0.075,),
        },
        "tune": "gain",
    },
    # Dinçer et al. (SIGIR 2016), §6.1: 2,000 queries held out, on which four baselines are learned.
    "dincer2016": {
        "objectives": ("u_risk@all", "saro@all", "faro@all", "geo_risk"),
        "alphas": (1, 5),
        "grid": {
            "min_data_in_leaf": (1500,),
            "num_leaves": (50,),
            "n_estimators": (500,),
            "learning_rate": (0.1,),
        },
        "tune": "none",
        "learn_baselines": True,
        "held_out": 2000,
    },
}


def preset(name: str) -> dict[str, Any]:
    """A preset's arguments of `sweep`."""
    if name not in _STUDIES:
        raise ArgumentError(
            f"there is no preset {shortened(name)}{did_you_mean(name, PRESETS)}; the presets are: {name_list(PRESETS)}"
        )
    return _STUDIES[name]
