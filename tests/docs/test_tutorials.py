"""Every command of the tutorials, and of the release in docs/decide.md, is typed as shown, and prints what is shown."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
TUTORIALS = sorted((DOCS / "tutorials").glob("*.md"))
LEARNED = ("learn-choose-deploy", "clicks")  # figures of learned models differ a little from one LightGBM to the next
_NUMBER = re.compile(r"[−-]?\d[\d,]*\.?\d*")


def commands(markdown: str) -> list[tuple[str, list[str]]]:
    """The commands of the blocks ```console, each with the lines that it is shown to print.

    A block with a title is a file: it is written when it is met.
    """
    found: list[tuple[str, list[str]]] = []
    blocks = re.findall(r"^```(console|\w+ title=\"[^\"]+\")\n(.*?)^```$", markdown, flags=re.MULTILINE | re.DOTALL)
    for kind, block in blocks:
        if kind != "console":
            name = kind.split('"')[1]
            found.append((f"cat > {name} <<'END OF FILE'\n{block}END OF FILE", []))
            continue
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def typed(lines: list[str], folder: Path) -> list[str]:
    """What a shell prints for each of these, typed one after the other."""
    mark = "-- end of a command --"
    script = f"mark() {{ local code=$?; echo; echo '{mark}'; return $code; }}\n"
    script += "".join(f"{line}\nmark\n" for line in lines)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "/usr/bin:/bin")])
    environment = {**os.environ, "PATH": path, "COLUMNS": "100"}
    environment.pop("GITHUB_STEP_SUMMARY", None)
    done = subprocess.run(
        ["bash"], input=script, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    return done.stdout.split(f"\n{mark}\n")[:-1]


def shows(shown: str, printed: str, loose: bool) -> bool:
    """Whether a line was printed as shown; one that ends with … only starts so."""
    start = shown.removesuffix("…").rstrip() if shown.endswith("…") else None
    if start is not None:
        return printed.startswith(start)
    if not loose:
        return printed.rstrip() == shown.rstrip()
    if _NUMBER.sub("#", printed).split() != _NUMBER.sub("#", shown).split():
        return False
    pairs = zip(_NUMBER.findall(shown), _NUMBER.findall(printed), strict=True)
    return all(_value(found) == pytest.approx(_value(wanted), rel=0.1, abs=0.01) for wanted, found in pairs)


def _value(number: str) -> float:
    return float(number.replace(",", "").replace("−", "-"))


@pytest.mark.parametrize(
    "tutorial",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.heavy] * (path.stem in LEARNED))
        for path in [*TUTORIALS, DOCS / "decide.md"]
    ],
)
def test_commands_print_what_the_tutorial_shows(tutorial: Path, tmp_path: Path) -> None:
    wanted = commands(tutorial.read_text(encoding="utf-8"))
    assert wanted
    outputs = typed([command for command, _ in wanted], tmp_path)
    assert len(outputs) == len(wanted)
    for (command, shown), output in zip(wanted, outputs, strict=True):
        printed = output.splitlines()
        lines = [line for line in shown if line.strip() not in ("", "…")]
        missing = [one for one in lines if not any(shows(one, line, tutorial.stem in LEARNED) for line in printed)]
        assert missing == [], f"$ {command}\n{output}"
        assert shown or not [line for line in printed if line.strip()], f"$ {command} prints\n{output}"


def test_all_tutorials_are_found() -> None:
    assert [path.stem for path in TUTORIALS] == ["clicks", "first-comparison", "learn-choose-deploy", "release-gate"]
