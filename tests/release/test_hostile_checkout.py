"""The action and the recipes in a stranger's checkout: nothing of it is run, whatever its files are called."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.release.composite_action import INSTALLED, ROOT, Ran, Runner
from tests.release.test_action import Comments, github, inputs, made, runner, workspace

from surefoot.choose.trainings import WorkerProcess

__all__ = ["github", "made", "runner", "workspace"]

OTHERS = ("pip", "setuptools", "wheel", "hatchling", "surefoot", "numpy", "polars", "typer", "click", "rich", "jinja2",
          "scipy", "sitecustomize", "usercustomize", "workflow_files", "decide", "comment", "backend")  # fmt: skip
NAMES = sorted({*(name for name in sys.stdlib_module_names if not name.startswith("_")), *OTHERS})
# A program that a checkout may not speak to GitHub through, and a wheel that needs neither network nor other packages.
BACKEND = """
import os, zipfile
print("::set-env name=HACKED::1")
def build_wheel(folder, *_):
    name = "surefoot-9-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as wheel:
        wheel.writestr("surefoot9.py", "")
        wheel.writestr("surefoot-9.dist-info/METADATA", "Metadata-Version: 2.1\\nName: surefoot\\nVersion: 9\\n")
        kind = "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"
        wheel.writestr("surefoot-9.dist-info/WHEEL", kind)
        wheel.writestr("surefoot-9.dist-info/RECORD", "")
    return name
"""


@pytest.fixture
def hostile(workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every module that Python, pip or surefoot may import is in the checkout too; the file that tells if one was."""
    marker, flags = tmp_path / "hacked", os.O_WRONLY | os.O_CREAT | os.O_APPEND
    for name in NAMES:
        # Without any module: some are imported before files can be opened.
        code = f"import posix; posix.write(posix.open({str(marker)!r}, {flags}, 0o600), b'{name} ')\n"
        (workspace / f"{name}.py").write_text(code)
        (workspace / f"{name}.pth").write_text(code)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(workspace), "."]))
    return marker


def log_commands(said: str) -> list[str]:
    """The commands that GitHub would run, as its runner reads a log: none from a stop to its token."""
    found, token = [], None
    for line in said.splitlines():
        text = line.lstrip()
        if token is not None:
            token = None if text == f"::{token}::" else token
        elif text.startswith("::stop-commands::"):
            token = text.removeprefix("::stop-commands::")
        elif text.startswith("::") or "##[" in text:
            found.append(text)
    assert token is None, said
    return found


def test_the_marker_tells(hostile: Path, workspace: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--help"], cwd=workspace, capture_output=True, check=False)
    assert hostile.exists()


@pytest.mark.parametrize("candidate", ["steady", "bold"])
def test_a_decision_runs_nothing_of_it(runner: Runner, hostile: Path, github: Comments, candidate: str) -> None:
    ran = runner.run(inputs(candidate, comment="true"), INSTALLED)
    assert ran.codes == {"decide": int(candidate == "bold"), "Comment": 0}, ran.said
    assert not hostile.exists(), hostile.read_text()
    assert len(github.comments) == 1


@pytest.mark.parametrize("named", [True, False])
def test_an_installation_runs_nothing_of_it(
    workspace: Path, hostile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: bool
) -> None:
    """A real environment and the real pip, with a package that needs no other; PYTHONPATH may name the checkout."""
    if not named:
        monkeypatch.delenv("PYTHONPATH")
    source, temporary = tmp_path / "source", tmp_path / "temporary"
    temporary.mkdir()
    source.mkdir()
    (source / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        '[project]\nname = "surefoot"\nversion = "9"\n'
    )
    (source / "backend.py").write_text(BACKEND)
    environment = {
        **os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "RUNNER_TEMP": str(temporary), "GITHUB_OUTPUT": str(tmp_path / "output"), "SUREFOOT_VERSION": "",
        "GITHUB_ACTION_PATH": str(source), "PIP_NO_INDEX": "1",
    }  # fmt: skip
    done = subprocess.run(
        ["bash", str(ROOT / "action" / "install.sh")], cwd=workspace, env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert not hostile.exists(), hostile.read_text()
    assert (log_commands(done.stdout), done.stderr) == ([], "")
    python = (tmp_path / "output").read_text().removeprefix("python=").strip()
    assert subprocess.run([python, "-I", "-c", "import surefoot9"], check=False).returncode == 0


def test_workers_of_a_sweep_run_nothing_of_it(
    workspace: Path, hostile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sweep is started in a checkout too."""
    monkeypatch.delenv("PYTHONPATH")
    monkeypatch.chdir(workspace)
    worker = WorkerProcess(str(tmp_path / "none"))
    worker.answer()
    worker.end()
    assert not hostile.exists(), hostile.read_text()


def test_a_failed_installation_ends_the_stopped_part(workspace: Path, tmp_path: Path) -> None:
    python = tmp_path / "bin" / "python3"
    python.parent.mkdir()
    python.write_text("#!/bin/bash\necho '::add-path::hacked'\necho '##[error]x' >&2\nexit 7\n")
    python.chmod(0o755)
    environment = {"PATH": f"{python.parent}:{os.environ['PATH']}", "RUNNER_TEMP": str(tmp_path),
                   "GITHUB_OUTPUT": str(tmp_path / "output"), "GITHUB_ACTION_PATH": str(ROOT)}  # fmt: skip
    done = subprocess.run(
        ["bash", str(ROOT / "action" / "install.sh")], cwd=workspace, env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr, log_commands(done.stdout)) == (7, "", [])
    assert "add-path" in done.stdout


def decided(runner: Runner, tmp_path: Path, program: str) -> Ran:
    """The action with a stand-in for surefoot, one that no longer guards its output."""
    folder = tmp_path / "stand-in"
    folder.mkdir()
    (folder / "python").symlink_to(Path(sys.executable).resolve())
    (folder / "surefoot").write_text(f"#!/bin/bash\n{program}")
    (folder / "surefoot").chmod(0o755)
    return runner.run(inputs("steady"), {"install": {"python": str(folder / "python")}})


def test_what_the_action_runs_gives_no_commands(runner: Runner, tmp_path: Path) -> None:
    program = "printf '::add-mask::x\\n  ##[error]y\\nno end'\nprintf '::error::z\\n' >&2\nexit 2\n"
    ran = decided(runner, tmp_path, program)
    assert ran.codes == {"decide": 2}
    assert "::add-mask::x" in ran.said["decide"]
    assert log_commands(ran.said["decide"]) == ["::error title=surefoot could not decide::::error::z"]


def test_tokens_differ(runner: Runner, tmp_path: Path) -> None:
    said = decided(runner, tmp_path, "exit 2\n").said["decide"]
    tokens = re.findall(r"::stop-commands::(.*)", said)
    assert len(tokens) == len(set(tokens)) > 1
    assert all(re.fullmatch(r"[0-9a-f]{32}", token) for token in tokens)


def test_annotations_still_count(runner: Runner, workspace: Path, github: Comments) -> None:
    for name in ("bold", "today"):
        (workspace / f"##[{name}].run").write_bytes((workspace / f"{name}.run").read_bytes())
    runs = "::add-mask::a=##[today].run\n##[error]b=##[bold].run"
    given = inputs("bold") | {"runs": runs, "baseline": "::add-mask::a"}
    ran = runner.run(given, INSTALLED)
    assert ran.codes == {"decide": 1}, ran.said
    found = log_commands(ran.said["decide"])
    assert found
    assert all(re.fullmatch(r"::error title=[^:,]*::.*", line) and "##[" not in line for line in found), found


def test_a_wrong_input_is_no_command(runner: Runner) -> None:
    ran = runner.run(inputs("steady", undecided="##[error]x"), INSTALLED)
    assert (ran.codes, log_commands(ran.said["decide"])) == ({"decide": 2}, [])


# `make` runs the code of the checkout itself, and so do the lines that tell developers how to try it.
PLACES = (
    "action/*", "action.yml", "docs/**/*.md", "docs/**/*.py", "README.md", "examples/*", ".github/**/*", "Dockerfile",
    ".devcontainer/*", ".pre-commit-hooks.yaml", "tools/**/*.py", "src/surefoot/**/*.py",
)  # fmt: skip
RUNS_A_MODULE = re.compile(
    r"""(?:python[\w.]*["'}]*|"?\$\{?\w*(?:python|here)\w*\}?"?|sys\.executable,|self\.python,)((?:\s+["']?-\w+["']?,?)+)""",
    re.I,
)
OF_THE_CHECKOUT = re.compile(r"-m (?:tools\.|pytest|surefoot\.)|`python -m surefoot")


def test_no_module_is_run_from_a_checkout() -> None:
    wrong: list[Any] = []
    count = 0
    for place in PLACES:
        for path in sorted(ROOT.glob(place)):
            if not path.is_file() or path.suffix in (".png", ".ipynb"):
                continue
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                for found in RUNS_A_MODULE.finditer(line):
                    options = re.findall(r"-(\w+)", found[1])
                    if not {"m", "c"}.intersection(options) or OF_THE_CHECKOUT.search(line):
                        continue
                    count += 1
                    if not {"I", "P"}.intersection(options):
                        wrong.append((str(path.relative_to(ROOT)), number, line.strip()))
    assert not wrong
    assert count >= 9
