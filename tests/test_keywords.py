"""No public function takes a keyword that it does not know: one that is misspelt would be dropped, in silence."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import ArgumentError, MissingExtraError
from surefoot.report.result import PlainResult

ODD = {"surprise": 1}
ENGINE_PARAMETERS = {"Ranker.__init__", "Ranker.set_params"}  # which the engine's own names are checked against
TRIED = {"NeuralRanker.__init__", "NeuralRanker.set_params"}  # below
WRITING = {"to_json", "write"}  # of results: below


def _public() -> Iterator[tuple[str, Any]]:
    """All public names: of the package and of its public modules."""
    found: dict[str, Any] = {}
    for name in sf.__all__:
        try:
            value = getattr(sf, name)
            members = {member: getattr(value, member) for member in getattr(value, "__all__", ())}
        except MissingExtraError:
            continue
        found |= members if isinstance(value, ModuleType) else {name: value}
    yield from found.items()


def _callables() -> Iterator[tuple[str, Callable[..., Any]]]:
    for name, value in _public():
        if inspect.isclass(value) and not issubclass(value, Exception):
            yield f"{name}.__init__", value.__init__
            for member, found in inspect.getmembers(value, inspect.isroutine):
                own = str(getattr(found, "__module__", "")).startswith("surefoot")  # not what PyTorch's modules have
                if own and not member.startswith("_"):
                    yield f"{name}.{member}", found
        elif inspect.isfunction(value):
            yield name, value


def _takes_any(function: Callable[..., Any], kind: Any) -> bool:
    return any(parameter.kind is kind for parameter in inspect.signature(function).parameters.values())


def _results() -> list[type[PlainResult]]:
    return [value for _, value in _public() if inspect.isclass(value) and issubclass(value, PlainResult)]


def test_all_of_them_are_looked_at() -> None:
    names = {name for name, _ in _callables()}
    assert names > {
        "gate", "assess", "u_risk", "holm", "noise", "time", "preference_gains", "fetch", "history",
        "Assessment.in_words", "Ranker.fit", "runs", "t_test", "RiskGuard.calibrate", "PersonalRanker.rerank",
    }  # fmt: skip
    assert {one.__name__ for one in _results()} == {
        "Assessment",
        "Decision",
        "TradeOffs",
        "Certificate",
        "Personalization",
    }


def test_no_function_drops_a_keyword_that_it_does_not_know() -> None:
    taking = {name for name, function in _callables() if _takes_any(function, inspect.Parameter.VAR_KEYWORD)}
    of_results = {f"{result.__name__}.{name}" for result in _results() for name in WRITING}
    assert taking - of_results <= ENGINE_PARAMETERS | TRIED
    assert taking >= ENGINE_PARAMETERS | of_results
    for name, function in _callables():
        if name not in taking:
            with pytest.raises(TypeError, match="unexpected keyword argument"):
                function(**ODD)


def test_no_function_takes_any_number_of_positions() -> None:
    assert not [name for name, function in _callables() if _takes_any(function, inspect.Parameter.VAR_POSITIONAL)]


@pytest.mark.parametrize("kind", _results(), ids=lambda kind: kind.__name__)
def test_results_refuse_what_they_do_not_know(kind: type[PlainResult], tmp_path: Path) -> None:
    result = object.__new__(kind)  # it is refused before any data is looked at
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
        lambda: sf.Ranker().set_params(**ODD).fit(sf.demo.letor(queries=20)),
    ):
        with pytest.raises((TypeError, ArgumentError), match="surprise"):
            call()
    assert not list(tmp_path.iterdir())


def test_so_do_networks() -> None:
    pytest.importorskip("torch")
    for call in (lambda: sf.NeuralRanker(**ODD), lambda: sf.NeuralRanker().set_params(**ODD)):
        with pytest.raises((TypeError, ArgumentError), match="surprise"):
            call()


RUN = {"q": ["a", "b"]}


@pytest.mark.parametrize(
    "call",
    [
        lambda: sf.gate({}, "today", "new", {"risk": 0.5}),  # type: ignore[misc]
        lambda: sf.gate({}, "today"),  # type: ignore[misc]
        lambda: sf.judge_next(RUN, RUN, "AP", 5),  # type: ignore[misc]
        lambda: sf.judge_agreement({"q": {"a": 1}}, {"q": {"a": 1}}),  # type: ignore[misc]
        lambda: sf.RiskGuard(RUN, RUN, 0.02, 0.05),  # type: ignore[misc]
        lambda: sf.RiskGuard.calibrate(None, None, {"head": 1.0}),  # type: ignore[arg-type,misc]
    ],
)
def test_positions_cannot_turn_a_decision_round(call: Callable[[], Any]) -> None:
    """Which is the candidate and which the baseline, who is human, and what is δ and what the level."""
    with pytest.raises(TypeError, match="positional argument"):
        call()
