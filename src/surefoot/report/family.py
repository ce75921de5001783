"""The family of pages: a front that decides (headline, chip, caution, tiles), evidence, and what it was made from.

A page's template extends `family.html.j2` and fills its blocks; its scripts come after the family's own, which have
`data` (what the page hands over), `dom.js` and `family.js`.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from surefoot import __version__
from surefoot.errors import CONTROL_CHARACTERS, visible
from surefoot.report.escapes import FORMULA
from surefoot.report.provenance import Provenance
from surefoot.risk.assessment_data import Json
from surefoot.significance import SIGNIFICANCE

if TYPE_CHECKING:
    from jinja2 import Environment

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


_BASE = "surefoot.report/assets/family.css"
# A comment that has its lines to itself, an empty line, an indent. No string in our scripts spans lines.
_FOR_AUTHORS = re.compile(r"^[ \t]*(?://.*\n|/\*(?s:.*?)\*/\n|\n)?(?:[ \t]+)?", re.MULTILINE)
_NOT_IN_A_SCRIPT = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


@cache
def asset(name: str) -> str:
    """The text of a file of the package, named as in `surefoot.report/assets/page.css`."""
    package, _, path = name.partition("/")
    return files(package).joinpath(path).read_text(encoding="utf-8")


def render(template: str, **values: Any) -> str:
    """A template filled in; what is not `trusted` is escaped."""
    from jinja2 import UndefinedError

    try:
        return _environment().get_template(template).render(version=__version__, **values)
    except UndefinedError as error:  # data without a part that a page shows, as of a file that was changed
        raise LookupError(str(error)) from error


def trusted(text: str) -> Any:
    """Text of our own that goes into a page as it is."""
    from markupsafe import Markup

    return Markup(text)


def render_page(template: str, css: Sequence[str], script: str | None = None, **values: Any) -> str:
    """A whole page: its style is that of all pages and `css`, and its policy allows that and the script alone."""
    style = _without_comments("".join(map(asset, (_BASE, *css))))
    return render(template, policy=_policy(style, script), style=trusted(style), script=trusted(script or ""), **values)


def _policy(style: str, script: str | None) -> str:
    allowed = ["default-src 'none'", f"style-src {_source_hash(style)}", "base-uri 'none'", "form-action 'none'"]
    if script is not None:
        allowed += [f"script-src {_source_hash(script)}", "img-src data:"]
        allowed += ["require-trusted-types-for 'script'", "trusted-types 'none'"]
    return "; ".join(allowed)


def _source_hash(text: str) -> str:
    """What a Content-Security-Policy allows this style or script by."""
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii") + "'"


@cache
def script_of(names: tuple[str, ...]) -> str:
    """Scripts of the package in one scope of their own."""
    return '"use strict";\n(() => {\n' + _without_comments("\n".join(map(asset, names))) + "})();\n"


def _without_comments(source: str) -> str:
    """Our own script or style without the lines, comments and indents that only its authors read."""
    return _FOR_AUTHORS.sub("", source)


def script_constants() -> dict[str, Any]:
    """What `dom.js` reads on every page: characters that steer, the least p that is written, the level of tests."""
    from surefoot.report.columns import LEAST_P

    return {"control": CONTROL_CHARACTERS.pattern, "least_p": LEAST_P, "level": SIGNIFICANCE}


def json_for_script(data: Any) -> str:
    """JSON that cannot end the element it stands in, whatever the names in it."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _NOT_IN_A_SCRIPT.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    return Environment(
        loader=FunctionLoader(asset), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )


def to_page(title: str, sentences: Sequence[str], tables: Sequence[Sequence[Sequence[str]]]) -> str:
    """The page of sentences, the first of which is about the query, and of a table for each of the others."""
    headline, *others = sentences
    rows = [*tables, *([] for _ in range(len(others) - len(tables)))]
    return render_page(
        "surefoot.report/assets/explanation.html.j2",
        ["surefoot.report/assets/page.css"],
        title=title,
        headline=headline,
        swaps=list(zip(others, rows, strict=True)),
    )
