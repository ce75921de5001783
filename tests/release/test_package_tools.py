"""The rules of what is published, the extras' examples, and what `make package` built."""

from __future__ import annotations

import doctest
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from tests.conftest import require
from tools import package_contents, set_owner
from tools.check_extras import FILES, NOT_TRIED, PINNED, examples
from tools.package_contents import BESIDE_THE_SOURCE, faults_of_sdist, faults_of_wheel, own_files

from surefoot.report.kinds import schema_files

ROOT = Path(__file__).parents[2]
LIBRARIES = {  # that an extra brings
    "clicks": ["ibis", "duckdb"], "dask": ["dask", "distributed", "xgboost"], "fetch": ["httpx"],
    "learn": ["lightgbm", "numba"],
    "onnx": ["onnx"], "plots": ["matplotlib"],
    "serve": ["duckdb", "ibis", "lightgbm", "numba", "starlette", "uvicorn"], "xgboost": ["xgboost", "numba"],
}  # fmt: skip
OWN = own_files()
WHEEL = [f"surefoot/{name}" for name in OWN] + [
    f"surefoot-1.dist-info/{name}" for name in ("METADATA", "licenses/LICENSE")
]
SDIST = [f"src/surefoot/{name}" for name in OWN] + list(BESIDE_THE_SOURCE)


def test_the_package_has_what_it_needs() -> None:
    assert {"py.typed", "report/assets/page.css"} <= OWN
    assert {"report/assessment.schema.json", "decide/gate/decision.schema.json"} <= schema_files().keys()
    assert (faults_of_wheel(WHEEL, OWN), faults_of_sdist(SDIST, OWN)) == ([], [])


@pytest.mark.parametrize("name", ["py.typed", "report/assets/page.html.j2"])
def test_what_is_missing_is_noticed(name: str) -> None:
    wheel, sdist = ([one for one in held if not one.endswith(name)] for held in (WHEEL, SDIST))
    assert faults_of_wheel(wheel, OWN) == [f"surefoot/{name} is missing"]
    assert faults_of_sdist(sdist, OWN) == [f"src/surefoot/{name} is missing"]


def test_the_licence_is_needed() -> None:
    assert faults_of_wheel([one for one in WHEEL if "LICENSE" not in one], OWN) == ["LICENSE is missing"]
    assert faults_of_sdist([one for one in SDIST if one != "LICENSE"], OWN) == ["LICENSE is missing"]


@pytest.mark.parametrize(
    "name",
    ["benchmarks/size.py", "tests/export/fixtures/xgboost/model.json", ".github/workflows/ci.yml",
     "tools/smoke_test.py", "surefoot/__pycache__/__init__.cpython-311.pyc", ".venv/bin/python", ".ci/run"],
)  # fmt: skip
def test_what_does_not_belong_is_noticed(name: str) -> None:
    for faults, held in ((faults_of_wheel, WHEEL), (faults_of_sdist, SDIST)):
        assert faults([*held, name], OWN) == [f"{name} does not belong there"]


def test_every_extra_has_an_example_or_a_reason() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(extras) <= set(examples()) | set(NOT_TRIED)
    assert set(examples()) <= set(extras)


@pytest.mark.parametrize("module", [package_contents, set_owner])
def test_examples_of_docstrings(module: ModuleType) -> None:
    assert doctest.testmod(module) == (0, 2)


@pytest.mark.heavy
@pytest.mark.parametrize("extra", sorted(set(examples()) - set(PINNED)))
def test_examples_of_extras_run(extra: str, tmp_path: Path) -> None:
    """Here in the environment of the tests; `make package-extras` runs each where nothing else is installed."""
    for library in LIBRARIES[extra]:
        require(library)
    shutil.copy(examples()[extra], tmp_path / "example.py")
    for file in FILES.get(extra, []):
        shutil.copy(ROOT / file, tmp_path)
    line = [sys.executable, "example.py"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.package
def test_another_tag_than_the_version_is_refused() -> None:
    command = [sys.executable, "-m", "tools.check_package", "--no-build", "--tag", "v9.9.9"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "and the tag is v9.9.9" in done.stderr


@pytest.mark.package
def test_hooks_and_image_by_their_own_programs() -> None:
    folder = Path(sys.executable).parent
    lines = {
        "pre-commit": ["validate-manifest", ".pre-commit-hooks.yaml"],
        "hadolint": ["Dockerfile"],
        "shellcheck": ["action/install.sh"],
    }
    for name, arguments in lines.items():
        done = subprocess.run([folder / name, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
