"""`--help`: every command's fits a screen, in panels, with an example and where to read more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from surefoot.cli.commands import GROUPS, application
from surefoot.cli.help_screen import _DOCS_PAGE, _FILE_OPTIONS, _PANEL_OF_OPTION

DOCS = Path(__file__).parents[2] / "docs"


def walk(command: Any, *names: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield names, command
    for name, below in getattr(command, "commands", {}).items():
        yield from walk(below, *names, name)


COMMANDS = dict(walk(typer.main.get_command(application())))


@pytest.mark.parametrize("names", COMMANDS, ids=" ".join)
def test_help_fits_a_screen(surefoot, monkeypatch, names: tuple[str, ...]) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    code, out, _ = surefoot(*names, "--help")
    assert code == 0
    assert out.count("\n") <= 60
    assert max(map(len, out.splitlines())) <= 100
    assert "<" not in out  # no <bool>, no <list[str]>
    assert "OWNER" not in out  # an address that nobody can open
    top = out.partition("╭")[0]
    assert "More: " in top
    if not hasattr(COMMANDS[names], "commands"):
        assert "Example: surefoot" in " ".join(top.split())
        for option in COMMANDS[names].params:
            assert option.param_type_name == "argument" or option.hidden or option.opts[-1] in out


def test_options_are_in_panels(surefoot, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    _, out, _ = surefoot("evaluate", "--help")
    places = [out.index(f"─ {panel} ─") for panel in ("Arguments", "Input", "What to compute", "Output", "Machine")]
    assert places == sorted(places)
    assert places[1] < out.index("--baseline  ") < places[2] < out.index("--alpha  ") < places[3] < out.index("--csv ")
    assert "[table|json|csv|markdown|latex; default: table]" in out


@pytest.mark.parametrize("command", ["evaluate", "gate"])
def test_both_defaults_of_missing_queries_are_told(surefoot, monkeypatch, command: str) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    _, out, _ = surefoot(command, "--help")
    words = " ".join(out.replace("│", " ").split())
    assert "a query that a system lacks. [zero|drop|error; default: zero; with --scores: error]" in words


def test_commands_are_grouped_by_what_people_do(surefoot, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    _, out, _ = surefoot("--help")
    for group, commands in GROUPS.items():
        panel = out.partition(f"─ {group} ─")[2].partition("╰")[0]
        assert all(f"│ {command} " in panel for command in commands)


def test_what_the_panels_name_exists() -> None:
    options = {option.name for command in COMMANDS.values() for option in command.params} | {"help"}
    assert _FILE_OPTIONS | set(_PANEL_OF_OPTION) <= options
    assert {names[-1] for names in COMMANDS if names} == set(_DOCS_PAGE)
    assert all((DOCS / f"{page}.md").is_file() for page in _DOCS_PAGE.values())
