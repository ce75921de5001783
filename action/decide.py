"""Runs `surefoot gate` on the action's inputs, keeps what it decided, and ends with its exit code."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workflow_files import append_summary, commands_stopped, write_output

ERROR, UNDECIDED = 2, 3
MOST_LINES = 20  # of what went wrong that the summary shows
UNKNOWN = "### The gate could not decide\n\n"
NAMED = ("scores", "baseline", "candidate", "measure", "policy", "record")


def main() -> None:
    """Decide."""
    prefix = "GATE_"
    given = {name.removeprefix(prefix).lower(): text for name, text in os.environ.items() if name.startswith(prefix)}
    with commands_stopped():
        check(given)
    folder = Path(os.environ["RUNNER_TEMP"], "surefoot-decision")
    folder.mkdir(exist_ok=True)
    json_file, markdown_file = folder / "decision.json", folder / "decision.md"
    annotations = folder / "annotations"
    for old in (json_file, markdown_file, annotations):
        old.unlink(missing_ok=True)
    files = [f"--json={json_file}", f"--markdown={markdown_file}"]
    # The command itself: `python -m surefoot` would import modules of the folder that is checked out here.
    surefoot = shutil.which("surefoot", path=str(Path(sys.executable).parent)) or "surefoot"
    environment = {**os.environ, "SUREFOOT_ANNOTATIONS": str(annotations)}
    with commands_stopped():
        process = subprocess.run(
            [surefoot, *arguments(given, files)], check=False, env=environment, stderr=subprocess.PIPE
        )
        reason = process.stderr.decode(errors="replace")
        print(reason, end="", flush=True)
    if annotations.is_file():
        print(annotations.read_text(encoding="utf-8"), end="")
    code = process.returncode
    data = json.loads(json_file.read_text(encoding="utf-8")) if json_file.is_file() else None
    if data is None:  # what an earlier push said must not remain
        said = UNKNOWN + indented(reason or "The job's log says what is wrong.")
        markdown_file.write_text(said, encoding="utf-8")
        append_summary(said)
        print(error_command(reason))
    for name, value in outputs(data, code).items():
        write_output(name, value)
    write_output("page", given["page"] if data is not None else "")
    write_output("json", str(json_file) if data is not None else "")
    write_output("markdown", str(markdown_file))
    sys.exit(0 if code == UNDECIDED and given["undecided"] == "pass" else code)


def check(given: Mapping[str, str]) -> None:
    """End with exit code 2 where an input is none of what it may be."""
    wrong = []
    if given["undecided"] not in ("fail", "pass"):
        wrong.append(f"the input 'undecided' is {given['undecided']!r}; write fail or pass")
    if len(given["page"].splitlines()) > 1:
        wrong.append("the input 'page' has several lines; name one file")
    if wrong:
        print("surefoot:", "\n".join(wrong))
        sys.exit(ERROR)


def arguments(given: Mapping[str, str], files: list[str]) -> list[str]:
    """The command line: values stay values, whatever they start with."""
    named = [f"--{name}={given[name]}" for name in NAMED if given[name]]
    page = [f"--html={given['page']}"] if given["page"] else []
    read = [given["judgments"], *_lines(given["runs"])] if given["judgments"] else _lines(given["runs"])
    return ["gate", *named, *_lines(given["options"]), *files, *page, "--", *read]


def outputs(data: Mapping[str, Any] | None, code: int) -> dict[str, str]:
    """What later steps may read."""
    if data is None:
        return {"decision": "error", "exit-code": str(code), "risk": "", "risk-bound": ""}
    risk = next((one for one in data["conditions"] if one["name"] == "risk" and one["segment"] is None), {})
    figures = {"risk": risk.get("observed"), "risk-bound": risk.get("bound")}
    shown = {name: "" if value is None else str(value) for name, value in figures.items()}
    return {"decision": str(data["decision"]), "exit-code": str(code), **shown}


def indented(text: str) -> str:
    """A text as a block of Markdown that nothing in it can end."""
    return "\n".join(f"    {line}" for line in text.splitlines()[-MOST_LINES:]) + "\n"


def error_command(reason: str) -> str:
    """The line by which the pull request shows an error; what is wrong cannot end it."""
    last = (reason.strip().splitlines() or ["the job's log says what is wrong"])[-1]
    for letter, code in (("%", "%25"), ("\r", "%0D"), ("\n", "%0A")):
        last = last.replace(letter, code)
    return f"::error title=surefoot could not decide::{last}"


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


if __name__ == "__main__":
    main()
