"""Fails if a page of the built site fetches anything from elsewhere, or what the site does not have.

python docs/check_site.py site
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

# Attributes that a browser follows by itself; a link that a reader clicks (a href) may lead anywhere.
FETCHED = {
    "audio": ("src",), "embed": ("src",), "iframe": ("src",), "image": ("href", "xlink:href"), "img": ("src", "srcset"),
    "input": ("src",), "link": ("href",), "object": ("data",), "script": ("src",), "source": ("src", "srcset"),
    "use": ("href", "xlink:href"), "video": ("src", "poster"),
}  # fmt: skip
HARMLESS = {"canonical", "next", "prev", "alternate", "license", "author"}  # kinds of <link> that fetch nothing
_ELSEWHERE = re.compile(r"(?:^|[\s,])(?:https?:)?//", flags=re.IGNORECASE)
_STYLE = re.compile(r"""url\(\s*['"]?\s*((?:https?:)?//[^'")]*)|@import\s+['"]((?:https?:)?//[^'"]*)""", re.IGNORECASE)


class _Fetched(HTMLParser):
    """Gathers what a page fetches from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.local: list[str] = []
        self._style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at what the browser would follow."""
        given = {name: value or "" for name, value in attrs}
        self._style = tag == "style"
        if tag == "link" and set(given.get("rel", "").lower().split()) <= HARMLESS:
            return
        fetched = [given[name] for name in FETCHED.get(tag, ()) if given.get(name)]
        self.found += [one for one in fetched if _ELSEWHERE.search(one)]
        self.local += [one for one in fetched if not _ELSEWHERE.search(one) and not one.startswith(("/", "#", "data:"))]
        self.found += in_style(given.get("style", ""))

    def handle_data(self, data: str) -> None:
        """Look into style sheets within the page."""
        if self._style:
            self.found += in_style(data)

    def handle_endtag(self, tag: str) -> None:
        """A style sheet has ended."""
        self._style = False


def in_style(text: str) -> list[str]:
    """What a style sheet fetches from elsewhere.

    >>> in_style("@import '//a.example/x.css'; p { background: url(https://b.example/y.png) } q { src: url(z.woff) }")
    ['//a.example/x.css', 'https://b.example/y.png']
    """
    return [one or other for one, other in _STYLE.findall(text)]


def in_page(text: str) -> list[str]:
    """What a page fetches from elsewhere.

    >>> in_page('<a href="https://a.example">fine</a> <img src="b.png"> <script src="https://c.example/d.js"></script>')
    ['https://c.example/d.js']
    """
    page = _Fetched()
    page.feed(text)
    return page.found


def absent(path: Path) -> list[str]:
    """Frames, pictures, scripts and styles of a page that the site does not have."""
    page = _Fetched()
    page.feed(path.read_text(encoding="utf-8"))
    return [one for one in page.local if not (path.parent / unquote(re.split("[?#]", one)[0])).exists()]


def check(site: Path) -> list[str]:
    """Every file that fetches from elsewhere or what is not there, with what."""
    found = []
    for path in sorted(site.rglob("*")):
        look = {".html": in_page, ".svg": in_page, ".css": in_style}.get(path.suffix)
        if look is not None:
            found += [f"{path.relative_to(site)}: {one}" for one in look(path.read_text(encoding="utf-8"))]
        if path.suffix == ".html":
            found += [f"{path.relative_to(site)}: {one} is not in the site" for one in absent(path)]
    return found


def main(site: Path) -> int:
    """Exit code 1 if anything is wrong, or there are no pages."""
    pages = len(list(site.rglob("*.html")))
    found = check(site)
    print("\n".join(found) or f"{pages} pages in {site}; none fetches anything from elsewhere")
    return bool(found) or not pages


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
