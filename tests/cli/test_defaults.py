"""Options that are not given mean what the library takes where nothing is said."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import surefoot as sf
from surefoot.cli.evaluate import evaluate
from surefoot.cli.stability import measures, noise, subsets, time
from surefoot.cli.train import train
from surefoot.learn.objectives import Objective
from surefoot.learn.options import OBJECTIVES

ROOT = Path(sf.__file__).parent


def default(function: Callable[..., Any], name: str) -> Any:
    return inspect.signature(function).parameters[name].default


@pytest.mark.parametrize(
    ("command", "function", "names"),
    [
        (train, sf.Ranker, "objective measure stop_on rule estimate checkpoint_every"),
        (noise, sf.stability.noise, "seed"),
        (subsets, sf.stability.subsets, "subsets seed"),
        (time, sf.stability.time, "period size subsets seed"),
        (measures, sf.stability.measures, "most seed"),
        (evaluate, sf.assess, "bootstrap seed"),
    ],
)
def test_of_the_same_name(command: Callable[..., Any], function: Callable[..., Any], names: str) -> None:
    for name in names.split():
        assert default(command, name) == default(function, name), name


def test_alphas() -> None:
    assert [float(alpha) for alpha in default(evaluate, "alpha").split(",")] == list(default(sf.assess, "alphas"))


def test_what_is_not_given_is_shown(surefoot) -> None:
    _, shown, _ = surefoot("stability", "noise", "--help")
    assert all(measure in shown for measure in default(sf.stability.noise, "measures")[:2])


def test_are_light_to_import() -> None:
    files = sorted(ROOT.glob("*/options.py"))
    assert files
    code = f"import sys, {', '.join(f'surefoot.{file.parent.name}.options' for file in files)}\nprint(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not set(loaded) & {"numpy", "scipy", "polars", "numba", "lightgbm", "rich", "typer"}


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_which_objectives_need_a_baseline(objective: str) -> None:
    assert Objective(objective, 5).needs_baseline == (objective != "gain")
    assert Objective(objective, 0).needs_baseline == (objective not in ("gain", "regression"))
