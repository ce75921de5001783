"""What was released stays: public names, commands and files only grow (docs/stability.md)."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest
from tools.compatibility import losses
from tools.public_surface import recorded, surface

import surefoot as sf

ROOT = Path(__file__).parents[2]
RECORDS = recorded()


@pytest.fixture(scope="module")
def now() -> dict[str, Any]:
    return surface()


@pytest.mark.parametrize("version", RECORDS)
def test_nothing_that_was_released_is_gone(now: dict[str, Any], version: str) -> None:
    assert losses(RECORDS[version], now) == []


def test_this_version_is_recorded() -> None:
    assert f"v{sf.__version__}" in RECORDS, "run: python tools/public_surface.py"


def parameter(name: str, kind: str = "positional_or_keyword", required: bool = False) -> dict[str, Any]:
    return {"name": name, "kind": kind, "required": required}


SMALL: dict[str, Any] = {
    "names": {
        "test": {"kind": "function", "parameters": [parameter("model", required=True), parameter("alpha")]},
        "Ranker": {"kind": "class", "parameters": [], "members": {"predict": {"kind": "method", "parameters": []}}},
    },
    "commands": {"gate": ["--json", "--policy"]},
    "files": ["surefoot/decision/1"],
    "schemas": {
        "decision": {
            "oneOf": [{"$ref": "#/$defs/D"}],
            "$defs": {
                "D": {
                    "type": "object",
                    "properties": {
                        "schema": {"const": "surefoot/decision/1"},
                        "decision": {"enum": ["ship", "stop", None]},
                        "conditions": {"type": "array", "items": {"$ref": "#/$defs/C"}},
                    },
                    "required": ["schema", "decision", "conditions"],
                },
                "C": {
                    "type": "object",
                    "properties": {"bound": {"type": "number"}, "inner": {"$ref": "#/$defs/C"}},
                    "required": ["bound"],
                },
            },
        }
    },
}
D = ["schemas", "decision", "$defs", "D"]
C = ["schemas", "decision", "$defs", "C"]
CHANGES: list[tuple[list[Any], Any, str]] = [  # where, what instead, and what is said of it
    (["names", "test"], None, "test is gone"),
    (["names", "test", "kind"], "class", "test was a function and is a class"),
    (["names", "Ranker", "members", "predict"], None, "Ranker.predict is gone"),
    (["names", "test", "parameters", 1, "name"], "a", "test(alpha=) is gone"),
    (["names", "test", "parameters", 1, "required"], True, "test(alpha=) is required now"),
    (["names", "test", "parameters", 1, "kind"], "keyword_only", "test(alpha=) is keyword only now"),
    (["names", "test", "parameters"], [parameter("alpha"), parameter("model", required=True)], "in another order"),
    (["names", "Ranker", "parameters"], [parameter("x", required=True)], "Ranker(x=) is new and required"),
    (["commands", "gate"], None, "the command gate is gone"),
    (["commands", "gate"], ["--policy"], "gate --json is gone"),
    (["files"], [], "files of the kind surefoot/decision/1"),
    (["schemas", "decision"], None, "the schema decision is gone"),
    ([*D, "properties", "schema", "const"], "surefoot/decision/2", "is not always 'surefoot/decision/1' any more"),
    ([*D, "properties", "decision", "enum"], ["ship", None], "decision.decision is never stop any more"),
    ([*C, "properties", "bound"], None, "decision.conditions[].bound is gone"),
    ([*C, "required"], [], "decision.conditions[].bound may be absent now"),
    ([*C, "properties", "bound", "type"], ["number", "null"], "decision.conditions[].bound may be null now"),
]


@pytest.mark.parametrize(("place", "instead", "said"), CHANGES)
def test_what_is_taken_away_is_noticed(place: list[Any], instead: Any, said: str) -> None:
    changed = copy.deepcopy(SMALL)
    holder: Any = changed
    for part in place[:-1]:
        holder = holder[part]
    if instead is None:
        del holder[place[-1]]
    else:
        holder[place[-1]] = instead
    found = losses(SMALL, changed)
    assert any(said in one for one in found), found


def test_what_is_added_takes_nothing_away() -> None:
    grown = copy.deepcopy(SMALL)
    grown["names"]["new_name"] = {"kind": "function", "parameters": []}
    grown["names"]["test"]["parameters"].append(parameter("new", "keyword_only"))
    grown["commands"]["gate"].append("--new")
    grown["files"].append("surefoot/new/1")
    kinds = grown["schemas"]["decision"]["$defs"]
    kinds["C"]["properties"]["new"] = {"type": "string"}
    kinds["D"]["properties"]["decision"]["enum"].append("later")
    kinds["C"]["properties"]["bound"]["type"] = "integer"
    kinds["Renamed"] = kinds.pop("C")
    kinds["D"]["properties"]["conditions"]["items"] = {"$ref": "#/$defs/Renamed"}
    kinds["Renamed"]["properties"]["inner"] = {"$ref": "#/$defs/Renamed"}
    assert losses(SMALL, grown) == []


def test_exit_codes_are_those_that_the_page_promises(surefoot, tmp_path: Path) -> None:
    text = (ROOT / "docs" / "stability.md").read_text(encoding="utf-8")
    promised = {what: int(code) for code, what in re.findall(r"^\| (\d) \| (\w+)", text, re.MULTILINE)}
    made = sf.synthetic_runs(queries=100)
    sf.score(made.qrels, made.runs, "nDCG@10").write(tmp_path / "scores.csv")
    line = ["gate", "--scores", tmp_path / "scores.csv", "-b", "today", "-q"]
    found = {
        "ship": surefoot(*line, "-c", "steady", "--risk", "0.5")[0],
        "stop": surefoot(*line, "-c", "bold", "--risk", "0.001")[0],
        "error": surefoot(*line, "-c", "none", "--risk", "0.5")[0],
        "undecided": surefoot(*line, "-c", "bold", "--gain", "0.13")[0],
    }
    assert found == promised
