"""Links from the documentation to files of the repository, which are copied into the site."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]

_LINK = re.compile(r"\]\(((?:\.\./)+[^)#\s]+)(#[^)\s]*)?\)")


def linked_sources(markdown: str, page: str) -> dict[str, str]:
    """What links out of docs/ lead to: the link as written, and the file from the repository's top.

    >>> linked_sources("[the schema](../src/surefoot/x.json)", "decide.md")
    {'../src/surefoot/x.json': 'src/surefoot/x.json'}
    """
    found = {}
    for match in _LINK.finditer(markdown):
        target = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), match[1]))
        if not target.startswith(("docs/", "..")):
            found[match[1]] = target
    return found


def in_site(target: str) -> str:
    """Where the site has a file of the repository.

    >>> in_site("README.md"), in_site("examples/clicks.ipynb"), in_site("src/surefoot/x.json")
    ('index.md', 'examples/clicks.md', 'source/src/surefoot/x.json')
    """
    if target == "README.md":
        return "index.md"
    if target == "CHANGELOG.md":
        return "changelog.md"
    if target.startswith("examples/") and target.endswith(".ipynb"):
        return target.removesuffix(".ipynb") + ".md"
    return f"source/{target}"
