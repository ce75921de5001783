"""`surefoot demo clicks`: a made-up click log, in which it is known whom personalization can help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli import shared_options as shared
from surefoot.cli.option import FILE, option
from surefoot.cli.outputs import Output, OutputFolder, check_outputs
from surefoot.clicks.options import GENERATED_FILES

LAYOUT = "ubi"


def demo_clicks(
    output: Annotated[Path, option("-o --output", "The log; for ubi a folder.", FILE)],
    users: Annotated[int, option("--users", "Each has about 37 lines.", min=1)] = 1000,
    layout: Annotated[str, option("--layout", f"{', '.join(GENERATED_FILES)}.", "WORD", shown="")] = LAYOUT,
    segments: Annotated[Path | None, option("--segments", "Also the kind of each list, as CSV.", FILE)] = None,
    seed: Annotated[int, option("--seed", "The same seed gives the same log.", min=0)] = 0,
    force: shared.Force = False,
    quiet: shared.Quiet = False,
) -> None:
    """Generate a click log of any size.

    **Example:** `surefoot demo clicks --users 2000 -o ubi/`
    """
    names = GENERATED_FILES.get(layout, ())
    target = OutputFolder("--output", output, inside=dict.fromkeys(names)) if names else Output("--output", output)
    check_outputs([target, Output("--segments", segments)], [], force)
    from surefoot.demo.click_log import clicks

    written = clicks(output, users=users, layout=layout, segments=segments, seed=seed)
    if quiet:
        return
    typer.echo(f"Wrote {written['lists']:,} lists and {written['clicks']:,} clicks of {users:,} users to {output}")
