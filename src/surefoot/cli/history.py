"""`surefoot history`: releases over time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from surefoot.cli.option import argument, option
from surefoot.cli.outputs import HISTORY_CSV, HISTORY_JSON, files_under
from surefoot.cli.printing import Delivery, results, show
from surefoot.decide.history.history_data import DateSource


def history(
    folder: Annotated[Path, argument("DIR", "Folder with the JSON of past decisions and assessments.")],
    date_from: Annotated[DateSource, option("--date-from", "auto, name or modified.", "WORD")] = DateSource.auto,
    *,
    delivery: Annotated[Delivery, results("html json csv", csv=HISTORY_CSV)],
) -> None:
    """Show past releases, and queries that were hurt repeatedly.

    **Example:** `surefoot history releases/ --html history.html`
    """
    delivery.check(_read_files(folder))
    from surefoot.decide.history.history import history as gather
    from surefoot.decide.history.history_view import tables
    from surefoot.progress import busy

    with busy("Reading past releases"):
        found = gather(folder, date_from)
    delivery.finish(found, lambda: show(tables(found.to_dict())), [folder])


def _read_files(folder: Path) -> list[Path]:
    """The files of a folder that may be releases: JSON, but a history that was written there before."""
    from surefoot.data.reading.files import first_and_last_bytes, inner_ending

    return [
        path
        for path in files_under(folder)
        if inner_ending(path) == ".json" and not HISTORY_JSON.search(first_and_last_bytes(path, 1 << 12))
    ]
