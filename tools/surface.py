"""What users may rely on, one line a name: commands, Python names and the keys of JSON.

python -m tools.surface > tests/surface.txt
"""

from __future__ import annotations

import enum
import inspect
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import surefoot
import surefoot.errors
from surefoot.report.kinds import KINDS

PACKAGE = Path(surefoot.__file__).parent
_KIND = re.compile(r"\"(surefoot/[a-z][a-z-]*/\d+)\"")
_ABSENT = "not installed"  # what an extra would bring


def surface() -> list[str]:
    """All of it: what a line is about, two spaces, and what belongs to it."""
    lines = [*_commands(), *_modules(), *_keys(), *_kinds()]
    return [f"{name}  {rest}".rstrip() for name, rest in lines]


def changes(recorded: list[str], now: list[str]) -> list[str]:
    """What differs, a line about each name.

    >>> changes(["gate  --risk --gain", "rank  -o"], ["gate  --risk --html"])
    ['gate: no longer --gain; new --html', 'rank is gone']
    """
    old, new = _by_name(recorded), _by_name(now)
    absent = tuple(name for name, words in new.items() if words == _ABSENT.split())
    old = {name: words for name, words in old.items() if not name.startswith(absent)} if absent else old
    found = []
    for name in (*old, *(name for name in new if name not in old)):
        if name not in new:
            found.append(f"{name} is gone")
        elif name not in old and name not in absent:
            found.append(f"{name} is new")
        elif name in old and old[name] != new[name]:
            gone = [word for word in old[name] if word not in new[name]]
            come = [word for word in new[name] if word not in old[name]]
            said = [f"no longer {' '.join(gone)}"] * bool(gone) + [f"new {' '.join(come)}"] * bool(come)
            found.append(f"{name}: {'; '.join(said) or 'another order'}")
    return found


def _by_name(lines: list[str]) -> dict[str, list[str]]:
    return {name: rest.split() for name, _, rest in (line.partition("  ") for line in lines)}


def _commands() -> Iterator[tuple[str, str]]:
    """Each command with its arguments, and its options by all their names."""
    import typer

    from surefoot.cli.commands import application

    def walk(command: Any, words: str) -> Iterator[tuple[str, str]]:
        inner = getattr(command, "commands", {})
        for name in sorted(inner):
            yield from walk(inner[name], f"{words} {name}")
        if not inner:
            given = [one.metavar or one.name.upper() for one in command.params if one.param_type_name == "argument"]
            options = ["/".join((*one.opts, *one.secondary_opts)) for one in command.params if one.opts[0][0] == "-"]
            yield words, " ".join([*given, *sorted(options)])

    yield from walk(typer.main.get_command(application()), "surefoot")


def _modules() -> Iterator[tuple[str, str]]:
    """The names of `surefoot` and of its public modules."""
    yield from _names(surefoot, "sf")
    yield from _names(import_module("surefoot.errors"), "surefoot.errors")


def _names(module: ModuleType, place: str) -> Iterator[tuple[str, str]]:
    for name in sorted(module.__all__):
        try:
            value = getattr(module, name)
        except surefoot.errors.MissingExtraError:
            yield f"{place}.{name}", _ABSENT
            continue
        if isinstance(value, ModuleType):
            yield f"{place}.{name}", "module"
            yield from _names(value, f"{place}.{name}")
        elif inspect.isclass(value):
            is_plain = issubclass(value, BaseException | enum.Enum)
            yield f"{place}.{name}", "" if is_plain else _signature(value)
            yield from sorted((f"{place}.{name}.{member}", what) for member, what in _members(value))
        else:
            yield f"{place}.{name}", _signature(value)


def _members(kind: type) -> Iterator[tuple[str, str]]:
    """Methods, properties and fields, also inherited ones, of surefoot's own classes."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        if not base.__module__.startswith("surefoot"):
            continue
        found |= dict.fromkeys(getattr(base, "__annotations__", {}), "")
        for name, value in vars(base).items():
            plain = value.__func__ if isinstance(value, classmethod | staticmethod) else value
            if inspect.isfunction(plain):
                found[name] = _signature(plain)
            elif not type(value).__module__.startswith("sklearn"):
                found[name] = ""
    yield from ((name, what) for name, what in found.items() if not name.startswith("_"))


def _signature(function: Any) -> str:
    """The parameters: `=` after those that may be left out."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return ""
    words, keyword_only = [], False
    for one in parameters:
        if one.name in ("self", "cls"):
            continue
        if one.kind is one.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            words.append("*")
        stars = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        words.append(f"{stars}{one.name}{'' if one.default is one.empty else '='}")
    return " ".join(words)


def _keys() -> Iterator[tuple[str, str]]:
    """The keys of each kind of JSON, by where they are first; `?` after those that may be absent."""
    for name, kind in KINDS.items():
        schema = kind.json_schema()
        yield from _objects(schema, schema, name, set())


def _objects(
    schema: Mapping[str, Any], root: Mapping[str, Any], place: str, seen: set[str]
) -> Iterator[tuple[str, str]]:
    reference = schema.get("$ref", "")
    if reference in seen:
        return
    if reference:
        seen.add(reference)
        schema = root["$defs"][reference.rpartition("/")[2]]
    for one in (*schema.get("oneOf", []), *schema.get("anyOf", [])):
        yield from _objects(one, root, place, seen)
    if properties := schema.get("properties"):
        required = schema.get("required", [])
        yield f"JSON {place}", " ".join(sorted(key if key in required else f"{key}?" for key in properties))
        for key, inner in sorted(properties.items()):
            yield from _objects(inner, root, f"{place}.{key}", seen)
    for key, end in (("items", "[]"), ("additionalProperties", ".*")):
        if isinstance(schema.get(key), Mapping):
            yield from _objects(schema[key], root, f"{place}{end}", seen)


def _kinds() -> Iterator[tuple[str, str]]:
    """The kinds of files that are written, by the names that stand in them."""
    texts = (path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    yield from sorted({(f"file {kind}", "") for text in texts for kind in _KIND.findall(text)})


if __name__ == "__main__":
    print("\n".join(surface()))
