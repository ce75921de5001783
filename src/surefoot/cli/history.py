"""`surefoot history`: releases over time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli.outputs import JSON, Output, check_outputs, files_under
from surefoot.cli.page_provenance import page_provenance
from surefoot.cli.printing import deliver, file_or_none, printing_of, show
from surefoot.cli.shared_options import Force, JsonOrTerminal, Quiet
from surefoot.decide.history.history_options import DateSource
from surefoot.decide.signatures import HISTORY_CSV, HISTORY_JSON
from surefoot.report.signatures import PAGE


def history(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder with the JSON of past decisions and assessments.")
    ],
    date_from: Annotated[
        DateSource, typer.Option(help="Take dates from the names of files and folders, or when files were changed.")
    ] = DateSource.auto,
    html_file: Annotated[str | None, typer.Option("-o", "--html", help="Write the page.", show_default=False)] = None,
    json_file: JsonOrTerminal = None,
    csv_file: Annotated[
        str | None, typer.Option("--csv", help="Write the releases as CSV.", show_default=False)
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Show gain, risk and decisions by date, and which queries were hurt repeatedly.

    **Example:** `surefoot history releases/ -o history.html`
    """
    printing = printing_of({"json": json_file})
    outputs = {"json": file_or_none(json_file), "csv": csv_file, "html": html_file}
    check_outputs(
        [
            Output("--json", outputs["json"], JSON),
            Output("--csv", csv_file, HISTORY_CSV),
            Output("--html", html_file, PAGE),
        ],
        _read_files(folder),
        force,
    )
    from surefoot.decide.history.history import history as gather
    from surefoot.decide.history.history_text import tables
    from surefoot.progress import busy

    with busy("Reading past releases"):
        found = gather(folder, date_from)
    provenance = page_provenance(html_file, [folder])
    deliver(
        found, outputs, lambda: show(tables(found.to_dict())), printing, quiet, {"html": {"provenance": provenance}}
    )


def _read_files(folder: Path) -> list[Path]:
    """The files of a folder that may be releases: JSON, but a history that was written there before."""
    from surefoot.data.reading.files import first_and_last_bytes, inner_ending

    return [
        path
        for path in files_under(folder)
        if inner_ending(path) == ".json" and not HISTORY_JSON.search(first_and_last_bytes(path, 1 << 12))
    ]
