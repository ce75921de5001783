"""What a page that a command writes says of itself: the command, the files it read, and pages to look at beside it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from surefoot.cli.printing import command_line

if TYPE_CHECKING:
    from surefoot.report.provenance import Link, Provenance


def page_provenance(
    page: str | Path | None, inputs: Iterable[str | Path], links: Sequence[str | Path] = ()
) -> Provenance | None:
    """The provenance of a page; None where none is written, so that no file is read again to hash it."""
    if page is None:
        return None
    from surefoot.report.provenance import Provenance, SourceFile

    once = dict.fromkeys(map(str, inputs))
    return Provenance(
        command=command_line(),
        sources=[SourceFile.of(path) for path in once],
        links=[link_from(page, link) for link in links],
    )


def link_from(page: str | Path, other: str | Path) -> Link:
    """A link from one page to another, wherever both are moved together."""
    from surefoot.data.reading.files import as_text
    from surefoot.report.provenance import Link

    path = os.path.relpath(Path(other).absolute(), Path(page).absolute().parent)
    return Link(as_text(Path(other).name), as_text(Path(path).as_posix()))
