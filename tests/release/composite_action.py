"""Runs a composite action's shell steps as GitHub's runner does: expressions first, then bash with its variables."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")


@dataclass
class Ran:
    """What the steps did: what each printed and ended with, the outputs, and the other actions that were used."""

    codes: dict[str, int] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    used: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    results: dict[str, str] = field(default_factory=dict)


class Runner:
    """A runner with a workspace and a folder for its own files."""

    def __init__(self, workspace: Path, temporary: Path, environment: Mapping[str, str]) -> None:
        self.workspace, self.temporary, self.environment = workspace, temporary, environment
        self.action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))

    def run(self, inputs: Mapping[str, str], instead: Mapping[str, dict[str, str]]) -> Ran:
        """Run the steps; those of `instead` are not run, and have these outputs."""
        known = {name: str(one.get("default", "")) for name, one in self.action["inputs"].items()}
        values = {f"inputs.{name}": value for name, value in {**known, **inputs}.items()}
        values["github.token"] = "a token"
        values["inputs.token"] = inputs.get("token", values["github.token"])
        ran, failed = Ran(), False
        for step in self.action["runs"]["steps"]:
            wanted = str(step.get("if", "success()"))
            if (failed and "cancelled()" not in wanted) or not self._holds(wanted, values):
                continue
            name = step.get("id", step["name"])
            if "uses" in step:
                ran.used.append((step["uses"], {key: _filled(str(v), values) for key, v in step["with"].items()}))
                continue
            if name in instead:
                found = instead[name]
            else:
                code, said, found = self._shell(step, values)
                ran.codes[name], ran.said[name], ran.outputs[name] = code, said, found
                failed = failed or code != 0
            values |= {f"steps.{name}.outputs.{key}": value for key, value in found.items()}
        ran.results = {name: _filled(one["value"], values) for name, one in self.action["outputs"].items()}
        return ran

    def _shell(self, step: Mapping[str, Any], values: Mapping[str, str]) -> tuple[int, str, dict[str, str]]:
        assert step["shell"] == "bash"
        output = self.temporary / f"output-{len(list(self.temporary.iterdir()))}"
        output.touch()
        environment = {
            **os.environ,
            **self.environment,
            **{name: _filled(str(value), values) for name, value in step.get("env", {}).items()},
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_WORKSPACE": str(self.workspace),
            "GITHUB_STEP_SUMMARY": str(self.temporary / "summary.md"),
            "GITHUB_OUTPUT": str(output),
            "RUNNER_TEMP": str(self.temporary),
        }
        script = self.temporary / "step.sh"
        script.write_text(_filled(step["run"], values))
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)],
            cwd=self.workspace, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr, _outputs(output.read_text())

    @staticmethod
    def _holds(condition: str, values: Mapping[str, str]) -> bool:
        """Of conditions made of comparisons, `&&` and status functions."""
        text = _EXPRESSION.sub(r"\1", condition)
        for part in text.split("&&"):
            if part.strip() in ("!cancelled()", "success()"):
                continue
            left, operator, right = re.fullmatch(r"\s*([\w.-]+) (==|!=) '([^']*)'\s*", part).groups()
            if (values.get(left, "") == right) != (operator == "=="):
                return False
        return True


def _filled(text: str, values: Mapping[str, str]) -> str:
    return _EXPRESSION.sub(lambda found: values.get(found[1], ""), text)


def _outputs(text: str) -> dict[str, str]:
    """A step's outputs, of lines `name=value` and `name<<MARK`, value, MARK."""
    found: dict[str, str] = {}
    lines = iter(text.splitlines())
    for line in lines:
        name, mark = re.fullmatch(r"([\w-]+)(?:=|<<)(.*)", line).groups()
        if line.startswith(f"{name}="):
            found[name] = mark
            continue
        held = []
        for inner in lines:
            if inner == mark:
                break
            held.append(inner)
        found[name] = "\n".join(held)
    return found


INSTALLED = {"install": {"python": sys.executable}}
