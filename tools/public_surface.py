"""What users may rely on, as plain data: public names, commands, and the kinds and schemas of files.

python tools/public_surface.py           records it for this version, as tests/stability/vVERSION.json
"""

from __future__ import annotations

import enum
import inspect
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import surefoot

ROOT = Path(__file__).resolve().parents[1]
RECORDS = ROOT / "tests" / "stability"
PACKAGE = Path(surefoot.__file__).parent
_ID = re.compile(r"\"(surefoot/[a-z][a-z-]*/\d+)\"")
Data = dict[str, Any]


def surface() -> Data:
    """All of it."""
    return {
        "version": surefoot.__version__,
        "names": {name: _name(name) for name in sorted(surefoot.__all__)},
        "commands": dict(sorted(_commands())),
        "files": sorted(_file_kinds()),
        "schemas": {path.name.removesuffix(".schema.json"): _json(path) for path in _schemas()},
    }


def _name(name: str) -> Data:
    """A public name: what it is, and what it takes."""
    try:
        value = getattr(surefoot, name)
    except surefoot.MissingExtraError:
        return {"kind": "not installed"}
    if not inspect.isclass(value):
        return {"kind": "function", "parameters": _parameters(value)}
    members = {member: found for member, found in _members(value) if not member.startswith("_")}
    kind = "error" if issubclass(value, BaseException) else "class"
    taken = {} if kind == "error" or issubclass(value, enum.Enum) else {"parameters": _parameters(value)}
    return {"kind": kind, **taken, "members": dict(sorted(members.items()))}


def _members(kind: type) -> Iterator[tuple[str, Data]]:
    """Methods, properties and fields, also inherited ones, of surefoot's own classes."""
    for base in reversed(kind.__mro__):
        if not base.__module__.startswith("surefoot"):
            continue
        for name in getattr(base, "__annotations__", {}):
            yield name, {"kind": "field"}
        for name, value in vars(base).items():
            plain = value.__func__ if isinstance(value, classmethod | staticmethod) else value
            if inspect.isfunction(plain):
                yield name, {"kind": "method", "parameters": _parameters(plain)}
            elif not name.startswith("_") and not type(value).__module__.startswith("sklearn"):
                yield name, {"kind": "field"}


def _parameters(function: Any) -> list[Data]:
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [
        {"name": one.name, "kind": one.kind.name.lower(), "required": one.default is one.empty}
        for one in found
        if one.name not in ("self", "cls")
    ]


def _commands() -> Iterator[tuple[str, list[str]]]:
    """Each command, with its options by all their names."""
    import typer

    from surefoot.cli.commands import application

    def walk(command: Any, words: str) -> Iterator[tuple[str, list[str]]]:
        for name, inner in getattr(command, "commands", {}).items():
            yield from walk(inner, f"{words} {name}".strip())
        if not hasattr(command, "commands"):
            options = [option for one in command.params for option in (*one.opts, *one.secondary_opts)]
            yield words, sorted(option for option in options if option.startswith("-"))

    yield from walk(typer.main.get_command(application()), "")


def _file_kinds() -> set[str]:
    """The kinds of JSON files that are written, by the names that stand in them."""
    return {kind for path in PACKAGE.rglob("*.py") for kind in _ID.findall(path.read_text(encoding="utf-8"))}


def _schemas() -> list[Path]:
    return sorted(PACKAGE.rglob("*.schema.json"))


def _json(path: Path) -> Data:
    found: Data = json.loads(path.read_text(encoding="utf-8"))
    return found


def record() -> Path:
    """Write what there is now as the record of this version."""
    RECORDS.mkdir(exist_ok=True)
    path = RECORDS / f"v{surefoot.__version__}.json"
    path.write_text(json.dumps(surface(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def recorded() -> Mapping[str, Data]:
    """The records of all versions, by their names."""
    return {path.stem: _json(path) for path in sorted(RECORDS.glob("v*.json"))}


if __name__ == "__main__":
    print(record().relative_to(ROOT))
