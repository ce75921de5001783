"""`--help`: every command's fits a screen, in panels, with an example and where to read more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from surefoot.cli.commands import _END, _SCREENS, application, shown_text
from surefoot.cli.commands import COMMANDS as LISTED

DOCS = Path(__file__).parents[2] / "docs"


def walk(command: Any, *names: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield names, command
    for name, below in getattr(command, "commands", {}).items():
        yield from walk(below, *names, name)


COMMANDS = dict(walk(typer.main.get_command(application())))


def options_of(command: Any) -> dict[str, Any]:
    return {one.opts[-1]: one for one in command.params if one.param_type_name == "option" and not one.hidden}


def shown_lines(out: str) -> dict[str, str]:
    """The line of each option on a screen."""
    panel = out.partition("─ Options ─")[2].partition("╰")[0]
    return {line.split()[1].partition(",")[0]: line for line in panel.splitlines() if line.startswith("│ --")}


@pytest.mark.parametrize("names", COMMANDS, ids=" ".join)
def test_help_fits_a_screen(surefoot, monkeypatch, names: tuple[str, ...]) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    command = COMMANDS[names]
    code, out, _ = surefoot(*names, "--help")
    assert code == 0
    assert len(out.strip().splitlines()) <= 45
    assert max(map(len, out.splitlines())) <= 80
    assert "<" not in out  # no <bool>, no <list[str]>
    assert "OWNER" not in out  # an address that nobody can open
    assert "More: " in out.partition("╭")[0]
    lines = shown_lines(out)
    shown = _SCREENS[names[-1] if names else "surefoot"][1].split()
    assert list(lines) == shown
    for name, line in lines.items():  # in one line, and whole
        assert shown_text(options_of(command)[name]) in line, name
    if not hasattr(command, "commands"):
        assert "Example: surefoot" in " ".join(out.partition("╭")[0].split())
        assert out.rstrip().endswith(_END)


@pytest.mark.parametrize("names", [names for names, one in COMMANDS.items() if not hasattr(one, "commands")])
def test_help_all_has_every_option(surefoot, monkeypatch, names: tuple[str, ...]) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    code, out, _ = surefoot(*names, "--help-all")
    assert code == 0
    panel = out.partition("─ Options ─")[2].partition("╰")[0]
    for name in options_of(COMMANDS[names]):
        assert f" {name} " in panel or f" {name}\n" in panel or name == "--help-all"
    assert max(map(len, out.splitlines())) <= 100


@pytest.mark.parametrize("names", COMMANDS, ids=" ".join)
def test_every_text_is_short(names: tuple[str, ...]) -> None:
    for name, one in options_of(COMMANDS[names]).items():
        text = shown_text(one)
        assert 0 < len(text) <= 46 or name == "--show-completion", (name, text, len(text))
        assert one.metavar is None or len(one.metavar) <= 5, name


@pytest.mark.parametrize("names", [names for names, one in COMMANDS.items() if not hasattr(one, "commands")])
def test_every_command_has_the_common_options(names: tuple[str, ...]) -> None:
    assert {"--force", "--quiet", "--seed", "--help-all"} <= set(options_of(COMMANDS[names]))


def test_commands_are_grouped_by_what_people_do(surefoot, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = surefoot("--help")
    for group, commands in LISTED.items():
        panel = out.partition(f"─ {group} ─")[2].partition("╰")[0]
        assert [line.split()[1] for line in panel.splitlines() if line.startswith("│")] == list(commands)
    assert sum(map(len, LISTED.values())) <= 18


def test_the_line_of_a_command_is_the_first_of_its_help() -> None:
    for name, line in (item for commands in LISTED.values() for item in commands.items()):
        assert COMMANDS[(name,)].help.partition("\n")[0] == line


def test_what_is_shown_exists() -> None:
    by_name = {names[-1] if names else "surefoot": command for names, command in COMMANDS.items()}
    assert set(_SCREENS) == set(by_name)
    for name, (page, options) in _SCREENS.items():
        assert set(options.split()) <= set(options_of(by_name[name])), name
        assert (DOCS / f"{page}.md").is_file()


def test_required_options_stand_in_the_usage(surefoot) -> None:
    _, out, _ = surefoot("train", "--help")
    assert "surefoot train TRAIN -o DIR [OPTIONS]" in " ".join(out.split())
    _, out, _ = surefoot("export", "--help")
    assert "surefoot export MODEL --to WORD --missing WORD -o DIR [OPTIONS]" in " ".join(out.split())
