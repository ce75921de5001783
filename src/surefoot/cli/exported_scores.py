"""`surefoot check es/ SCORES` or `--url`: whether a search engine scores as the exported model does."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import typer

from surefoot.cli.outputs import Output, check_outputs
from surefoot.cli.printing import TERMINAL
from surefoot.errors import ArgumentError, visible
from surefoot.export.names import STEM


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
