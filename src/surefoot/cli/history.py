"""`surefoot history`: releases over time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli.outputs import JSON, Output, check_outputs
from surefoot.cli.page_provenance import page_provenance
from surefoot.cli.printing import deliver, file_or_none, printing_of, show
from surefoot.cli.shared_options import Force, JsonOrTerminal, Quiet
from surefoot.decide.history.history_options import DateSource
from surefoot.decide.signatures import HISTORY_CSV
from surefoot.report.signatures import PAGE


def history(
    folder: Annotated[Path, argument("DIR", "Folder with the JSON of past decisions and assessments.")],
    date_from: Annotated[DateSource, option("--date-from", "auto, name or changed.", "WORD")] = DateSource.auto,
    html_file: Html = None,
    json_file: Json = None,
    csv_file: Csv = None,
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
        [],
        force,
    )
    from surefoot.decide.history.history import history as gather
    from surefoot.decide.history.history_text import tables
    from surefoot.progress import busy

    with busy("Reading past releases"):
        found = gather(folder, date_from)
    check_outputs(
        [Output("--json", outputs["json"], JSON), Output("--csv", csv_file, HISTORY_CSV)],
        [folder / release["file"] for release in found.to_dict()["releases"]],
        force,
    )
    provenance = page_provenance(html_file, [folder])
    deliver(
        found, outputs, lambda: show(tables(found.to_dict())), printing, quiet, {"html": {"provenance": provenance}}
    )
