"""A reference of every command, from what `--help` shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from inspect import cleandoc
from pathlib import PurePath
from typing import Any

import typer

PAGE = "reference/commands.md"

_KINDS = {
    "str": "text", "text": "text", "list": "text", "Path": "path",
    "int": "number", "integer": "number", "integer range": "number",
    "float": "number", "float range": "number",
}  # fmt: skip

_HEAD = """# Commands

What `--help` shows, of every command. All of them end with exit code 2 and one message where a file or an option is
wrong. [What they may overwrite](../evaluate.md#what-may-be-overwritten) is the same for all.

"""


def commands() -> dict[str, Any]:
    """Every command that can be typed, by its whole name: `surefoot gate`, `surefoot stability noise`, …"""
    from surefoot.cli.commands import application

    return dict(_walk("surefoot", typer.main.get_command(application())))


def _walk(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    children = getattr(command, "commands", None)
    if children is None:
        yield name, command
        return
    if command.invoke_without_command:
        yield name, command
    for child in sorted(children):
        if not children[child].hidden:
            yield from _walk(f"{name} {child}", children[child])


def command_page() -> str:
    """The page in Markdown."""
    return _HEAD + "\n".join(_section(name, command) for name, command in commands().items())


def _section(name: str, command: Any) -> str:
    shown = [parameter for parameter in command.params if not getattr(parameter, "hidden", False)]
    arguments = [parameter for parameter in shown if parameter.param_type_name == "argument"]
    options = [parameter for parameter in shown if parameter.param_type_name == "option" and parameter.name != "help"]
    usage = " ".join([name, *["[OPTIONS]"] * bool(options), *(_metavar(argument) for argument in arguments)])
    parts = [f"## {name}", _help(command.help), f"```text\n{usage}\n```"]
    if arguments:
        parts.append(_table("Argument", [(f"`{_metavar(one)}`", one) for one in arguments]))
    if options:
        parts.append(_table("Option", [(_option(one), one) for one in options]))
    return "\n\n".join(parts) + "\n"


def _help(text: str | None) -> str:
    """A command's help: Markdown as it is written, up to what only a terminal understands."""
    return cleandoc((text or "").split("\f")[0]).strip()


def _table(head: str, rows: list[tuple[str, Any]]) -> str:
    lines = ['<div class="options" markdown>', "", f"| {head} | |", "|---|---|"]
    lines += [f"| {_cell(name)} | {_cell(_meaning(parameter))} |" for name, parameter in rows]
    return "\n".join([*lines, "", "</div>"])


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|").strip()


def _metavar(parameter: Any) -> str:
    return str(parameter.metavar or (parameter.name or "").upper())


def _option(parameter: Any) -> str:
    names = ", ".join(f"`{name}`" for name in sorted(parameter.opts, key=len, reverse=True))
    if parameter.secondary_opts:
        names += " or " + ", ".join(f"`{name}`" for name in parameter.secondary_opts)
    if getattr(parameter, "is_flag", False):
        return names
    return f"{names} *{parameter.metavar or _kind(parameter)}*"


def _kind(parameter: Any) -> str:
    """What an option takes; Typer has kept it in two places over time."""
    described = getattr(parameter, "type_descriptor", None)
    kind = described.annotation if described is not None else getattr(parameter.type, "name", "text")
    if isinstance(kind, type) and issubclass(kind, Enum):
        return " or ".join(str(one.value) for one in kind)
    name = getattr(kind, "__name__", str(kind))
    return _KINDS.get(name, _KINDS.get(str(kind).partition("[")[2].rstrip("]"), name.lower()))


def _meaning(parameter: Any) -> str:
    said = [getattr(parameter, "help", None) or ""]
    shown, default = getattr(parameter, "show_default", None), parameter.default
    if isinstance(shown, str):
        said.append(f"Default: {shown}.")
    elif shown and isinstance(default, str | int | float | PurePath) and not isinstance(default, bool):
        said.append(f"Default: `{default}`.")
    if parameter.required:
        said.append("Required.")
    return " ".join(filter(None, said))
