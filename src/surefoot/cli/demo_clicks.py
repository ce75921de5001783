"""`surefoot demo clicks`: a made-up click log, in which it is known whom personalization can help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli.outputs import Output, OutputFolder, check_outputs
from surefoot.cli.printing import either
from surefoot.cli.shared_options import Force, Quiet
from surefoot.clicks.layouts.registry import WRITABLE

LAYOUT = "ubi"
_FOLDERS = ", ".join(name for name, layout in WRITABLE.items() if layout.files)


def demo_clicks(
    output: Annotated[Path, typer.Option("-o", "--output", help=f"The log: a file, or for {_FOLDERS} a folder.")],
    users: Annotated[int, typer.Option(help="Number of users. Each has about 37 lines in the log.", min=1)] = 1000,
    layout: Annotated[str, typer.Option(help=f"The layout of the log: {either(WRITABLE)}.")] = LAYOUT,
    segments: Annotated[
        Path | None, typer.Option(help="Also write the kind of each list, as CSV.", show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed. The same seed gives the same log.", min=0)] = 0,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Generate a click log of any size.

    **Example:** `surefoot demo clicks --users 2000 -o ubi/`
    """
    names = WRITABLE[layout].files if layout in WRITABLE else ()
    target = OutputFolder("--output", output, inside=dict.fromkeys(names)) if names else Output("--output", output)
    check_outputs([target, Output("--segments", segments)], [], force)
    from surefoot.clicks.generator import generate_log
    from surefoot.clicks.writers import write_kinds, write_log

    written = write_log(generate_log(users, seed=seed), output, layout)
    if segments is not None:
        write_kinds(generate_log(users, seed=seed), segments)
    if quiet:
        return
    typer.echo(f"Wrote {written['lists']:,} lists and {written['clicks']:,} clicks of {users:,} users to {output}")
