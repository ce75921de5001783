"""Every path that docs/architecture.md names is there, and every room."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
_PATH = re.compile(r"`([\w.*/-]+(?:\.(?:py|js|css|j2|md)|/|\.\*))`")


def is_there(name: str) -> bool:
    """Whether a path of the package, or of the repository, ends so; a walk leaves out the folder that it is in."""
    return any(True for start in ("src/surefoot", "src", "") for _ in (ROOT / start).glob(name.rstrip("/"))) or any(
        True for _ in (ROOT / "src" / "surefoot").rglob(name.rstrip("/"))
    )


def test_what_the_architecture_names_is_there() -> None:
    named = set(_PATH.findall(TEXT))
    assert len(named) > 100
    assert not sorted(name for name in named if not is_there(name))
    assert not is_there("cli/rerank.py")


def test_every_room_has_its_row() -> None:
    rows = set(re.findall(r"^\| `(\w+)` \|", TEXT, re.MULTILINE))
    rooms = {file.parent.name for file in (ROOT / "src" / "surefoot").glob("*/__init__.py")}
    assert rows == rooms


def test_every_shared_file_of_the_command_line_is_named() -> None:
    folder = ROOT / "src" / "surefoot" / "cli"
    files = {file.stem: file.read_text(encoding="utf-8") for file in folder.glob("[!_]*.py")}
    shared = [name for name in files if sum(f"surefoot.cli.{name} import" in text for text in files.values()) > 4]
    assert shared
    assert not [name for name in shared if f"`{name}.py`" not in TEXT and f"`cli/{name}.py`" not in TEXT]
