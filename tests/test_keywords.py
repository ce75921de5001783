"""No public function takes a keyword that it does not know: one that is misspelt would be dropped, in silence."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import ArgumentError, MissingExtraError

ENGINE_PARAMETERS = {"Ranker", "NeuralRanker"}  # which the engine's own names are checked against
ODD = {"surprise": 1}


def _callables() -> Iterator[tuple[str, Any]]:
    for name in sf.__all__:
        try:
            value = getattr(sf, name)
        except MissingExtraError:
            continue
        if inspect.isclass(value) and not issubclass(value, Exception):
            yield f"{name}.__init__", value.__init__
            for member, found in inspect.getmembers(value, inspect.isroutine):
                if not member.startswith("_"):
                    yield f"{name}.{member}", found
        elif inspect.isfunction(value):
            yield name, value


def _takes_any(function: Any) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)


def test_a_function_that_takes_any_keyword_hands_it_to_one_that_does_not() -> None:
    known = {"to_json", "to_html", "write", "set_params", "sweep"}
    taking = {name for name, function in _callables() if _takes_any(function)}
    assert {name for name in taking if name.split(".")[-1] not in known} == {
        f"{name}.__init__" for name in ENGINE_PARAMETERS if f"{name}.__init__" in taking
    }


@pytest.fixture(scope="module")
def results() -> list[Any]:
    made = sf.demo.runs(queries=30)
    scores = sf.score(made.qrels, made.runs[:2], "nDCG@10")
    return [sf.assess(scores, "today"), sf.gate(scores, baseline="today", policy={"risk": 0.5})]


def test_results_refuse_what_they_do_not_know(results: list[Any], tmp_path: Path) -> None:
    for result in results:
        for name in ("to_json", "to_html", "to_csv", "to_markdown", "to_text", "to_dict"):
            with pytest.raises(TypeError, match="surprise"):
                getattr(result, name)(**ODD)
        for ending in ("json", "html", "csv", "md"):
            with pytest.raises(TypeError, match="surprise"):
                result.write(tmp_path / f"x.{ending}", **ODD)
        assert not list(tmp_path.iterdir())


def test_what_decides_refuses_what_it_does_not_know(tmp_path: Path) -> None:
    scores = sf.Scores(np.full((2, 5), 0.5), ["today", "new"], [f"q{n}" for n in range(5)], "AP")
    for call in (
        lambda: sf.gate(scores, baseline="today", policy={"risk": 0.5}, **ODD),
        lambda: sf.sweep(sf.demo.letor(queries=20), tmp_path / "sweep", baselines=["bm25"], **ODD),
        lambda: sf.Ranker(**ODD).fit(sf.demo.letor(queries=20)),
    ):
        with pytest.raises((TypeError, ArgumentError), match="surprise"):
            call()
    assert not list(tmp_path.iterdir())


def test_positions_cannot_turn_a_decision_round() -> None:
    scores = sf.Scores(np.full((2, 5), 0.5), ["today", "new"], [f"q{n}" for n in range(5)], "AP")
    with pytest.raises(TypeError):
        sf.gate(scores, "today", "new", {"risk": 0.5})  # type: ignore[misc]
