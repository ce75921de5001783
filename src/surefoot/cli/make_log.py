"""`surefoot make-log`: a made-up click log, in which it is known whom personalization can help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli.outputs import Output, OutputFolder, check_outputs
from surefoot.cli.printing import either
from surefoot.cli.shared_options import Force
from surefoot.clicks.layouts.registry import WRITABLE

_FOLDERS = ", ".join(name for name, layout in WRITABLE.items() if layout.files)


def make_log(
    output: Annotated[Path, typer.Argument(metavar="LOG", help=f"File to write, or for {_FOLDERS} a folder.")],
    users: Annotated[int, typer.Option(help="Number of users. Each has about 37 lines in the log.", min=1)] = 1000,
    layout: Annotated[str, typer.Option(help=f"The layout of the log: {either(WRITABLE)}.")] = next(iter(WRITABLE)),
    kinds: Annotated[
        Path | None, typer.Option(help="Also write a CSV file with the kind of each list.", show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed. The same seed gives the same log.", min=0)] = 0,
    force: Force = False,
) -> None:
    """Generate a click log of any size.

    **Example:** `surefoot make-log clicks.log --users 2000 --kinds kinds.csv`
    """
    names = WRITABLE[layout].files if layout in WRITABLE else ()
    target = OutputFolder("LOG", output, inside=dict.fromkeys(names)) if names else Output("LOG", output)
    check_outputs([target, Output("--kinds", kinds)], [], force)
    from surefoot.clicks.generator import generate_log
    from surefoot.clicks.writers import write_kinds, write_log

    written = write_log(generate_log(users, seed=seed), output, layout)
    if kinds is not None:
        write_kinds(generate_log(users, seed=seed), kinds)
    typer.echo(f"Wrote {written['lists']:,} lists and {written['clicks']:,} clicks of {users:,} users to {output}")
