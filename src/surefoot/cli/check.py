"""`surefoot check`: whether policies, judgments and the installation are all right, before anything depends on them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli import shared_options as shared
from surefoot.cli.option import FILE, argument, option
from surefoot.cli.outputs import Output, check_outputs
from surefoot.cli.printing import TERMINAL
from surefoot.errors import ArgumentError, SurefootError, visible
from surefoot.export.names import STEM


def check(
    files: Annotated[
        list[str] | None, argument("[FILE]...", "Policies, judgments, or an export and its SCORES.")
    ] = None,
    new_policy: Annotated[str | None, option("--new-policy", "Write a release policy to start from.", FILE)] = None,
    url: Annotated[str | None, option("--url", "Where an export runs, to ask it for scores.", "URL")] = None,
    json_file: Annotated[str | None, option("--json", "What is installed; - prints it.", FILE)] = None,
    force: shared.Force = False,
    quiet: shared.Quiet = False,
) -> None:
    """Check policies, judgments, exports, or what is installed.

    The exit code is 2 for files that are wrong, and 1 where scores differ or the installation does not work.

    **Example:** `surefoot check release.toml qrels.txt`
    """
    if new_policy is not None:
        if files or json_file is not None or url is not None:
            raise ArgumentError("--new-policy only writes a policy to edit; leave out files, --url and --json")
        _new_policy(new_policy, force, quiet)
    elif files and is_export(files[0]):
        check_export(Path(files[0]), files[1:], url, json_file, quiet, force)
    elif url is not None:
        raise ArgumentError("--url is for the folder of an export: surefoot check es/ --url http://localhost:9200")
    elif not files:
        _check_installation(json_file, force, quiet)
    elif json_file is not None:
        raise ArgumentError("--json says what is installed, and takes no files; leave one of the two out")
    else:
        _check_files(files, quiet)


def _check_files(files: list[str], quiet: bool) -> None:
    """Say what each file has, or what is wrong with it."""
    wrong = 0
    for file in files:
        try:
            found = _policy(Path(file)) if file.lower().endswith(".toml") else _judgments(file)
        except SurefootError as error:
            wrong += 1
            typer.echo(f"surefoot: {visible(str(error))}", err=True)
        else:
            if not quiet:
                typer.echo(visible(f"{file}: {found}"))
    if wrong:
        raise typer.Exit(2)


def _new_policy(path: str, force: bool, quiet: bool) -> None:
    """Write the commented policy."""
    from surefoot.decide.gate.release_policy import write_template

    check_outputs([Output("--new-policy", path)], [], force)
    write_template(path)
    if not quiet:
        typer.echo(visible(f"Wrote {path}; edit its conditions, then: surefoot gate QRELS RUN... --policy {path}"))


def _check_installation(json_file: str | None, force: bool, quiet: bool) -> None:
    """Say which extras are installed, and whether what is there can be imported."""
    check_outputs([Output("--json", None if json_file == TERMINAL else json_file)], [], force)
    from surefoot.cli.installed_parts import PARTS, examined, found_json, found_lines, is_sound
    from surefoot.data.writing.all_or_nothing import write_text

    found = examined(PARTS)
    if json_file == TERMINAL:
        typer.echo(found_json(found), nl=False)
    elif json_file is not None:
        write_text(json_file, found_json(found))
    if not quiet and json_file != TERMINAL:
        for line in found_lines(found):
            typer.echo(visible(line))
    if not is_sound(found):
        raise typer.Exit(1)


def _policy(path: Path) -> str:
    """A policy's conditions in words."""
    from surefoot.decide.gate.release_policy import ReleasePolicy, wrong_line
    from surefoot.errors import DataError

    try:
        policy = ReleasePolicy.read(path)
    except DataError as error:
        before, colon, wrong = str(error).partition(f"{path}: ")
        line = wrong_line(path, wrong) if colon and not before and path.is_file() else None
        raise error if line is None else DataError.at(path, line, wrong) from error
    rules = (rule.words if rule.segment is None else f"{rule.words} in {rule.segment}" for rule in policy.rules)
    return f"{', '.join(rules)}, with δ = {policy.delta:g}"


def _judgments(file: str) -> str:
    """How many queries and documents are judged."""
    from surefoot.data.types.runs import read_qrels

    qrels = read_qrels(file)
    return f"{len(qrels):,} judgments of {len(qrels.queries):,} queries"


def is_export(path: str) -> bool:
    """Whether it is the folder of an export."""
    return (Path(path) / f"{STEM}.rows.json").is_file()


def check_export(
    folder: Path, scores: Sequence[str], url: str | None, json_file: str | None, quiet: bool, force: bool
) -> None:
    """Compare the scores that a search engine gives with those that it must give; other scores end with 1."""
    from surefoot.data.writing.all_or_nothing import write_text
    from surefoot.export.replay import replayed

    if (len(scores) != 1) == (url is None) or len(scores) > 1:
        raise ArgumentError(
            f"give the scores of the search engine, one per line in the order of {STEM}.rows.json, or its address: "
            f"surefoot check {folder} SCORES, or surefoot check {folder} --url http://localhost:9200"
        )
    rows = folder / f"{STEM}.rows.json"
    printed = json_file == TERMINAL
    check_outputs([Output("--json", None if printed else json_file)], [rows, *scores], force)
    try:
        result = replayed(str(rows), scores[0] if scores else None, url, [])
    except ValueError as error:
        raise ArgumentError(str(error)) from error
    text = json.dumps({"schema": "surefoot/replay/1", **result}, indent=2) + "\n"
    if printed:
        typer.echo(text, nl=False)
    elif json_file is not None:
        write_text(json_file, text)
    if not quiet and not printed:
        answer = "scores as the model does" if result["agree"] else "does NOT score as the model does"
        typer.echo(visible(f"{folder}: the search engine {answer}"))
        for name, value in result.items():
            typer.echo(f"  {name}: {value}")
    if not result["agree"]:
        raise typer.Exit(1)
