"""`surefoot history`: releases over time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from surefoot.cli.option import argument, option
from surefoot.cli.outputs import check_outputs
from surefoot.cli.page_provenance import page_provenance
from surefoot.cli.printing import Delivery, show
from surefoot.cli.shared_options import Csv, Force, Html, Json, Quiet
from surefoot.decide.history.history_options import DateSource
from surefoot.decide.signatures import HISTORY_CSV


def history(
    folder: Annotated[Path, argument("DIR", "Folder with the JSON of past decisions and assessments.")],
    date_from: Annotated[DateSource, option("--date-from", "auto, name or modified.", "WORD")] = DateSource.auto,
    html_file: Html = None,
    json_file: Json = None,
    csv_file: Csv = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Show gain, risk and decisions by date, and which queries were hurt repeatedly.

    **Example:** `surefoot history releases/ --html history.html`
    """
    delivery = Delivery(json=json_file, csv=csv_file, html=html_file)
    outputs = delivery.outputs(csv=HISTORY_CSV)
    check_outputs(outputs, [], force)
    from surefoot.decide.history.history import history as gather
    from surefoot.decide.history.history_text import tables
    from surefoot.progress import busy

    with busy("Reading past releases"):
        found = gather(folder, date_from)
    releases = [folder / release["file"] for release in found.to_dict()["releases"]]
    check_outputs([output for output in outputs if output.option != "--html"], releases, force)
    provenance = page_provenance(html_file, [folder])
    delivery.finish(found, lambda: show(tables(found.to_dict())), quiet, html={"provenance": provenance})
