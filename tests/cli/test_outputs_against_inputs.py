"""No command may replace what it reads: each hands every output, together with every input, to `check_outputs`.

Which options name files is asked of the commands themselves, so that a new one is found here.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from itertools import product
from typing import Any, get_args, get_type_hints

import pytest
import typer

from surefoot.cli.commands import application
from surefoot.cli.option import OptionGroup

# What is written, by the parameter of a command; whatever else names files is read.
_WRITES = {
    "output", "json", "json_file", "csv", "csv_file", "latex", "markdown", "junit", "html", "metrics", "figures",
    "card", "checkpoint", "record", "shown", "why", "documents_csv", "query_set", "save", "new_policy",
}  # fmt: skip
_ALSO_WRITES = {("rank", "qrels"), ("demo clicks", "segments")}
# Folders of unfinished work, in which surefoot goes on, and a new folder: each is checked where it is opened.
_OWN_FOLDERS = {("personalize", "output"), ("personalize", "save"), ("sweep", "output")}
_NOT_READ = {"link"}  # a page that another page leads to
_NO_FILES = {("explain", "query"), ("check", "files")}  # and those of `check` are only read, where nothing is written
_NOT_SUPPORTED = re.compile(r"not supported", re.I)


def commands() -> dict[str, Any]:
    found: dict[str, Any] = {}

    def walk(command: Any, name: str) -> None:
        for below, one in getattr(command, "commands", {}).items():
            walk(one, f"{name} {below}".strip())
        if not hasattr(command, "commands"):
            found[name] = command

    walk(typer.main.get_command(application()), "")
    return found


def files_of(name: str, command: Any) -> tuple[list[str], list[str]]:
    """The parameters that name files to write, and those that name files to read."""
    outputs, inputs = [], []
    for option in command.params:
        described = getattr(option, "type_descriptor", None)  # Typer has kept it in two places over time
        kind = str(described.annotation if described is not None else option.type)
        help_ = getattr(option, "help", None) or ""
        is_file = (
            "Path" in kind
            or option.param_type_name == "argument"
            or bool(option.metavar and re.fullmatch(r"FILE|DIR", option.metavar))
            or option.name == "baseline"
        )
        switch = any(word in kind for word in ("bool", "int", "float"))
        if not is_file or switch or option.name in _NOT_READ or _NOT_SUPPORTED.search(help_):
            continue
        if (name, option.name) in _OWN_FOLDERS | _NO_FILES:
            continue
        writes = option.name in _WRITES or (name, option.name) in _ALSO_WRITES
        reads = option.param_type_name == "argument" and option.name != "output"
        (inputs if reads or not writes else outputs).append(option.name)
    return outputs, inputs


def calls_of_check(
    function: ast.FunctionDef, module: ast.Module, groups: dict[str, set[str]]
) -> Iterator[tuple[set[str], set[str]]]:
    """For each call of `check_outputs` the options that its outputs are made of, and those that its inputs are.

    A helper in the module that calls it counts as it does, each of its arguments as both; so does what is made of a
    group of options.
    """
    helpers = {
        one.name
        for one in module.body
        if isinstance(one, ast.FunctionDef) and one is not function and "check_outputs(" in ast.unparse(one)
    }

    def options(expressions: list[ast.expr]) -> set[str]:
        names = reached(function, expressions)
        return names.union(*(groups[name] for name in names & groups.keys()))

    for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
        called = ast.unparse(call.func)
        if called == "check_outputs":
            yield options(call.args[:1]), options(call.args[1:2])
        elif called.removesuffix(".check") in groups and called.endswith(".check"):
            own = groups[called.removesuffix(".check")]
            yield own | options(call.args[1:]), own | options(call.args)
        elif called in helpers:
            every = options([*call.args, *(keyword.value for keyword in call.keywords)])
            yield every, every


def reached(function: ast.FunctionDef, expressions: list[ast.expr]) -> set[str]:
    """The names that expressions are made of, directly or by assignments in the function."""
    values: dict[str, list[ast.expr]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.For | ast.comprehension):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            value = node.iter if isinstance(node, ast.For | ast.comprehension) else node.value
            for name in {one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)}:
                values.setdefault(name, []).extend([] if value is None else [value])
    names: set[str] = set()
    waiting: list[ast.AST] = [*expressions]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name):
            if node.id not in names:
                names.add(node.id)
                waiting += values.get(node.id, [])
        else:
            waiting += ast.iter_child_nodes(node)
    return names


def unchecked(name: str, command: Any) -> list[tuple[str, str]]:
    """Each output with each input that no call compares it with."""
    function = inspect.unwrap(command.callback)
    module = ast.parse(inspect.getsource(sys.modules[function.__module__]))
    definition = next(
        node for node in ast.walk(module) if isinstance(node, ast.FunctionDef) and node.name == function.__name__
    )
    outputs, inputs = files_of(name, command)
    hints = get_type_hints(function, include_extras=True)
    groups = {
        each: set(part.options) for each in hints for part in get_args(hints[each]) if isinstance(part, OptionGroup)
    }
    calls = list(calls_of_check(definition, module, groups))
    pairs = [(output, read) for output, read in product(outputs, inputs) if output != read]
    return [(output, read) for output, read in pairs if not any(output in to and read in of for to, of in calls)]


COMMANDS = commands()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_output_is_compared_with_every_input(name: str) -> None:
    assert unchecked(name, COMMANDS[name]) == []


def test_the_files_are_found() -> None:
    assert files_of("history", COMMANDS["history"]) == (["html", "json", "csv"], ["folder"])
    outputs, inputs = files_of("rank", COMMANDS["rank"])
    assert (set(outputs), set(inputs)) == ({"output", "shown", "qrels", "html", "why"}, {"model", "data", "baseline"})
    outputs, inputs = files_of("gate", COMMANDS["gate"])
    assert set(outputs) == {"record", "json", "markdown", "junit", "html", "metrics"}
    assert {"files", "scores", "policy", "segments", "sample", "automatic"} <= set(inputs)
