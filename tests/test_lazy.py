"""Public names of the packages that are loaded when they are first used."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import surefoot as sf
from surefoot.lazy import attach

NAMES = {
    "risk": [
        "compare_rankings", "deviations", "expected", "g_squared", "geo_risk", "holm", "query_scores", "t_risk",
        "t_test", "u_risk", "worst_mean", "z_risk",
    ],
    "clicks": ["FeatureTable", "lowest_click_plus_one", "preference_gains"],
    "demo": ["clicks", "judges", "letor", "preferences", "runs"],
    "stability": ["measures", "noise", "subsets", "time"],
}  # fmt: skip


@pytest.mark.parametrize("package", NAMES)
def test_the_names_are_those_that_it_lists(package: str) -> None:
    module = importlib.import_module(f"surefoot.{package}")
    assert sorted(module.__all__) == sorted(NAMES[package]) == sorted(dir(module))
    for name in NAMES[package]:
        value = getattr(module, name)
        assert vars(module)[name] is value  # found at once the next time


@pytest.mark.parametrize("package", NAMES)
def test_an_unknown_name_is_an_error_of_the_package(package: str) -> None:
    module = importlib.import_module(f"surefoot.{package}")
    with pytest.raises(AttributeError, match=rf"module 'surefoot\.{package}' has no attribute 'u_risky'"):
        _ = module.u_risky
    with pytest.raises(ImportError, match="cannot import name 'u_risky'"):
        exec(f"from surefoot.{package} import u_risky")


@pytest.mark.parametrize("package", NAMES)
def test_importing_stays_light(package: str) -> None:
    code = f"import surefoot.{package} as package, sys\ndir(package)\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & {"numpy", "scipy", "polars", "numba", "lightgbm", "rich", "typer"}
    assert {name for name in loaded if name.startswith("surefoot")} == {
        "surefoot", "surefoot.lazy", f"surefoot.{package}"
    }  # fmt: skip


def test_a_module_without_names_is_a_name_itself() -> None:
    load, names, public = attach("surefoot", {"errors": (), "risk.tradeoff": ("u_risk",)})
    assert names() == public == ["errors", "u_risk"]
    assert load("errors") is importlib.import_module("surefoot.errors")
    assert load("u_risk") is sf.u_risk
    with pytest.raises(AttributeError, match="module 'surefoot' has no attribute 'tradeoff'"):
        load("tradeoff")
