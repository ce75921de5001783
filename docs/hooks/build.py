"""What the site has beyond docs/: references, notebooks, the demo's pages, charts, and files that pages link to."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

from command_reference import PAGE as COMMANDS
from command_reference import command_page
from demo_pages import demo_pages
from folders import with_folders
from name_reference import FOLDER as NAMES
from name_reference import name_pages, with_links
from notebook_pages import FOLDER as NOTEBOOKS
from notebook_pages import notebook_pages
from paper_figures import paper_figures
from source_links import ROOT, in_site, linked_sources

from surefoot.report.escapes import to_json
from surefoot.report.kinds import schema_files

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

DOCS = ROOT / "docs"


@cache
def generated_pages() -> dict[str, tuple[str, str]]:
    """Title and Markdown of every page that is made when the site is built."""
    pages = {COMMANDS: ("Commands", command_page()), **name_pages()}
    pages |= {name: (title, text) for name, (title, text, _) in notebook_pages().items()}
    pages["changelog.md"] = ("Changelog", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    return pages


def pages_of(folder: str) -> Iterable[Any]:
    """A folder's entries in the navigation."""
    if folder in (NAMES, NOTEBOOKS):
        return [{title: name} for name, (title, _) in generated_pages().items() if name.startswith(folder)]
    found = sorted((DOCS / folder).glob("*.md"), key=lambda path: (path.stem != "index", path.stem))
    return [path.relative_to(DOCS).as_posix() for path in found]


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Fill the folders of the navigation."""
    config.nav = with_folders(config.nav or [], pages_of)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what is generated, and what pages link to outside docs/."""
    from mkdocs.structure.files import File

    made: dict[str, str | bytes] = {name: text for name, (_, text) in generated_pages().items()}
    made |= {name: data for _, _, pictures in notebook_pages().values() for name, data in pictures.items()}
    made |= {f"schemas/{posixpath.basename(name)}": to_json(schema) for name, schema in schema_files().items()}
    made |= demo_pages()
    made |= paper_figures()
    for page in files.documentation_pages():
        for target in linked_sources(page.content_string, page.src_uri).values():
            if in_site(target).startswith("source/"):
                made[in_site(target)] = (ROOT / target).read_bytes()
    for name, content in made.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links out of docs/ to their copies, link names to the reference, colour examples as what they are."""
    folder = posixpath.dirname(page.file.src_uri)
    for link, target in linked_sources(markdown, page.file.src_uri).items():
        markdown = markdown.replace(f"]({link}", f"]({posixpath.relpath(in_site(target), folder or '.')}")
    if not page.file.src_uri.startswith(("reference/", NOTEBOOKS)):
        markdown = with_links(markdown, bare=folder == "papers")
    return re.sub(r"^```python\n(?=>>> )", "```pycon\n", markdown, flags=re.MULTILINE)
