"""What a wheel and a source archive must hold, and what they must not."""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from surefoot.report.kinds import schema_files

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "surefoot"
NOWHERE = {"__pycache__", ".git", ".github", ".ci", ".venv", ".hypothesis", "benchmarks", "fixtures", "tests"}
BESIDE_THE_SOURCE = {
    "CHANGELOG.md", "CITATION.cff", "LICENSE", "PKG-INFO", "README.md", "hatch_build.py", "pyproject.toml",
    ".gitignore",
}  # fmt: skip
MOST_MEGABYTES = 3.0


def held_by(archive: Path) -> list[str]:
    """The names of the files in a wheel, or in a source archive without its one folder."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as files:
            return files.namelist()
    with tarfile.open(archive) as files:
        return [name.partition("/")[2] for name in files.getnames()]


def own_files() -> set[str]:
    """What the package consists of, by names within `surefoot/`: modules, `py.typed`, assets."""
    files = (path.relative_to(SOURCE) for path in SOURCE.rglob("*") if path.is_file())
    return {path.as_posix() for path in files if "__pycache__" not in path.parts}


def faults_of_wheel(names: Iterable[str], own: Iterable[str]) -> list[str]:
    """What is wrong with a wheel of these files.

    >>> faults_of_wheel(["surefoot/__init__.py", "tests/test_a.py", "s.dist-info/licenses/LICENSE"], ["__init__.py"])
    ['tests/test_a.py does not belong there']
    """
    held = set(names)
    expected = {f"surefoot/{name}" for name in own}
    beside = {name for name in held if ".dist-info/" in name}
    licence = any(name.endswith(".dist-info/licenses/LICENSE") for name in beside)
    return [
        *([] if licence else ["LICENSE is missing"]),
        *(f"{name} is missing" for name in sorted(expected - held)),
        *(f"{name} does not belong there" for name in sorted(held - expected - beside)),
    ]


def faults_of_sdist(names: Iterable[str], own: Iterable[str]) -> list[str]:
    """What is wrong with a source archive of these files.

    >>> faults_of_sdist(["src/surefoot/__init__.py", ".github/workflows/ci.yml", *BESIDE_THE_SOURCE], ["__init__.py"])
    ['.github/workflows/ci.yml does not belong there']
    """
    held = set(names)
    expected = {f"src/surefoot/{name}" for name in own}
    needed = expected | BESIDE_THE_SOURCE - {".gitignore"}
    return [
        *(f"{name} is missing" for name in sorted(needed - held)),
        *(f"{name} does not belong there" for name in sorted(held - expected - BESIDE_THE_SOURCE)),
    ]


def faults_of(archive: Path) -> list[str]:
    """What is wrong with a file that a release would publish."""
    names, own = held_by(archive), own_files()
    is_wheel = archive.suffix == ".whl"
    found = faults_of_wheel(names, own | schema_files().keys()) if is_wheel else faults_of_sdist(names, own)
    found += [f"{name} lies in a folder that is not published" for name in names if NOWHERE & _folders(name)]
    weight = archive.stat().st_size / 1e6
    return [*found, *([f"weighs {weight:.1f} MB, more than {MOST_MEGABYTES} MB"] if weight > MOST_MEGABYTES else [])]


def _folders(name: str) -> set[str]:
    return set(PurePosixPath(name).parts[:-1])
