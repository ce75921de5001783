"""The family of pages: a front that decides (headline, chip, caution, tiles), evidence, and what it was made from.

A page's template extends `family.html.j2` and fills its blocks; its scripts come after the family's own, which have
`data` (what the page hands over), `dom.js` and `family.js`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from surefoot.errors import visible
from surefoot.report.escapes import FORMULA
from surefoot.report.html import json_for_script, render_page, script_constants, script_of, trusted
from surefoot.report.provenance import Provenance
from surefoot.risk.assessment_data import Json

LAYOUT = "surefoot.report/assets/family.html.j2"
_FOLDER = "surefoot.report/assets"
_SCRIPTS = tuple(f"{_FOLDER}/{name}.js" for name in ("data", "dom", "address", "downloads", "tables", "family"))

ChipKind = Literal["ship", "keep", "wait", "neutral"]


class Chip(NamedTuple):
    """The decision in a word or two; `kind` is good (ship), bad (keep what is there), open (wait), or neither."""

    text: str
    kind: ChipKind = "neutral"


class Tile(NamedTuple):
    """One figure in large type; a script that changes it finds it by `key`, as #figure-KEY and #figure-KEY-note."""

    label: str
    value: str
    note: str = ""
    kind: ChipKind | None = None
    key: str = ""


class Front(NamedTuple):
    """What a reader sees first: one sentence that decides, a chip, a caution where there is one, four to six tiles."""

    headline: str
    chip: Chip
    caution: str | None = None
    tiles: Sequence[Tile] = ()

    def visible_copy(self) -> Front:
        """The same without characters that steer how text is shown."""
        return Front(
            visible(self.headline),
            self.chip._replace(text=visible(self.chip.text)),
            self.caution and visible(self.caution),
            [
                tile._replace(label=visible(tile.label), value=visible(tile.value), note=visible(tile.note))
                for tile in self.tiles
            ],
        )


def family_page(
    template: str,
    front: Front,
    provenance: Provenance | None,
    *,
    page_kind: str,
    title: str,
    css: Sequence[str] = (),
    scripts: Sequence[str] = (),
    data: Json | None = None,
    **values: Any,
) -> str:
    """A whole page: HTML that needs nothing else, no network and no server.

    `template` extends `LAYOUT`; `css` and `scripts` are the page's own files, beside the family's. `data` is what the
    scripts read. `page_kind` says in the top bar which page it is; `title` is the browser's, unless one was given.
    """
    provenance = (provenance or Provenance()).visible_copy()
    return render_page(
        template,
        css,
        script_of((*_SCRIPTS, *scripts)),
        front=front.visible_copy(),
        provenance=provenance,
        page_kind=page_kind,
        given_title=provenance.title,
        title=provenance.title or visible(title),
        data=trusted(json_for_script({**(data or {}), **script_constants(), "formula": FORMULA.pattern})),
        **values,
    )
