"""What `pip install` gets: the wheel's files, and what a package index shows of it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest

from surefoot.report.kinds import schema_files

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "surefoot"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as files:
        name = next(name for name in files.namelist() if name.endswith(".dist-info/METADATA"))
        return Parser().parsestr(files.read(name).decode())


def test_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as files:
        packed = {name for name in files.namelist() if ".dist-info/" not in name}
        schemas = {name: json.loads(files.read(name)) for name in packed if name.endswith(".schema.json")}
    assert schemas == {f"surefoot/{name}": schema for name, schema in schema_files().items()}
    own = {f"surefoot/{path.relative_to(SOURCE).as_posix()}" for path in SOURCE.rglob("*") if path.is_file()}
    assert packed - schemas.keys() == {name for name in own if "__pycache__" not in name}
    kinds = {Path(name).suffix for name in packed}
    assert {".css", ".j2", ".js", ".json", ".py", ".toml", ".typed"} == kinds


def test_description_has_no_picture_or_link_that_an_index_cannot_follow(metadata: Message) -> None:
    text = str(metadata.get_payload())
    assert text.startswith("# surefoot\n\n**Ranking that does not hurt people.**")
    targets = re.findall(r"\]\(([^)]*)\)", text)
    assert [target for target in targets if not target.startswith("https://")] == []
    assert "Which α? (`docs/which-alpha.md`)" in text


def test_extras_are_those_that_messages_name(metadata: Message) -> None:
    named = {
        extra
        for path in SOURCE.rglob("*.py")
        for extra in re.findall(r'(?:library|learner)\(\s*[\w."]+,\s*"([\w-]+)"', path.read_text(encoding="utf-8"))
    }
    assert set(metadata.get_all("Provides-Extra", [])) == {*named, "all"}


def test_metadata_names_licence_authors_and_tested_versions(metadata: Message) -> None:
    assert metadata["License-Expression"] == "MIT"
    assert metadata["License-File"] == "LICENSE"
    assert metadata["Author"] == "surefoot contributors"
    listed = {name.rsplit(" ", 1)[1] for name in metadata.get_all("Classifier", []) if ":: Python :: 3." in name}
    assert f"{sys.version_info.major}.{sys.version_info.minor}" in listed
