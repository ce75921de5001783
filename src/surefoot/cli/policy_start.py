"""`surefoot gate --init`: a policy to start from."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from surefoot.cli.outputs import Output, check_outputs
from surefoot.errors import ArgumentError, visible


def start_policy(files: Sequence[str], has_conditions: bool, force: bool, quiet: bool) -> None:
    """Write the commented policy to the one file that is named, or to policy.toml."""
    from surefoot.decide.gate.policy_template import NAME, write_template

    if len(files) > 1:
        raise ArgumentError(f"--init writes only one file, but you gave {len(files)} names; give one, such as {NAME}")
    if has_conditions:
        raise ArgumentError("--init writes a policy to edit; remove the conditions, and change them in the file")
    path = files[0] if files else NAME
    check_outputs([Output("--init", path)], [], force)
    write_template(path)
    if not quiet:
        typer.echo(visible(f"Wrote {path}; edit its conditions, then: surefoot gate QRELS RUN... --policy {path}"))
