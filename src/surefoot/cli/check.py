"""`surefoot check`: whether policies and judgments can be used, before anything depends on them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefoot.errors import SurefootError, visible


def check(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="Policies (.toml) and judgments in any format.")
    ],
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print only errors.")] = False,
) -> None:
    """Check policies and judgments, and report each error with its line (exit code 2).

    **Example:** `surefoot check policy.toml qrels.txt`
    """
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


def _policy(path: Path) -> str:
    """A policy's conditions in words."""
    from surefoot.decide.gate.policy_line import wrong_line
    from surefoot.decide.gate.release_policy import ReleasePolicy
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
