"""A reference of every public name: pages that mkdocstrings fills from the docstrings."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path

import surefoot

FOLDER = "reference/names/"

# The packages in the order of the work, and what their pages are called.
TITLES = {
    "data": "Read and write",
    "measures": "Measure",
    "risk": "Risk",
    "report": "Assess and report",
    "stability": "Studies of stability",
    "learn": "Learn",
    "neural": "Learn with networks",
    "choose": "Choose",
    "decide": "Decide and guard",
    "clicks": "Clicks",
    "demo": "Made-up data",
    "fetching": "Fetch runs",
    "saved": "Load what was saved",
    "personal": "Personalize",
    "errors": "Errors",
}


def names_by_package() -> dict[str, list[str]]:
    """The public names by the package that holds them, classes first, in the order of `TITLES`."""
    # Read off the package's own imports: loading every name would need every extra.
    source = Path(surefoot.__file__).read_text(encoding="utf-8")
    imports = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom) and node.module]
    homes = {one.name: (node.module or "").split(".") for node in imports for one in node.names}
    names_of: dict[str, list[str]] = {package: [] for package in TITLES}
    for name in sorted(public_names(), key=lambda name: (name.rpartition(".")[2].islower(), name)):
        module, _, own = name.rpartition(".")
        names_of.setdefault(module or homes[own][1], []).append(name)
    return {package: names for package, names in names_of.items() if names}


def public_names() -> set[str]:
    """What `sf.NAME` gives, and `sf.MODULE.NAME`; the modules themselves, such as `sf.risk`, are pages."""
    own = {name for names in surefoot._PUBLIC.values() for name in names}
    modules = [module for module, names in surefoot._PUBLIC.items() if not names]
    listed = {module: import_module(f"surefoot.{module}").__all__ for module in (*modules, "errors")}
    return own | {f"{module}.{name}" for module, names in listed.items() for name in names if name not in own}


def name_pages() -> dict[str, tuple[str, str]]:
    """Title and Markdown of each page, by its file."""
    pages = {}
    for package, names in names_by_package().items():
        title = TITLES.get(package, package.capitalize())
        listed = "\n".join(f"- [`{name}`][surefoot.{name}]" for name in names)
        entries = "\n\n".join(f"::: surefoot.{name}" for name in names)
        text = f"# {title}\n\nNames of `import surefoot as sf`, such as `sf.{names[-1]}`.\n\n{listed}\n\n{entries}\n"
        pages[f"{FOLDER}{package}.md"] = (title, text)
    return pages


def with_links(markdown: str, *, bare: bool) -> str:
    """The text with each public name in code, `sf.name` or `sf.name(…)`, linked to the reference; `bare`: `name` too.

    >>> with_links("as `sf.u_risk(m, b)` has it", bare=False)
    'as [`sf.u_risk(m, b)`][surefoot.u_risk] has it'
    """
    public = public_names()

    def link(match: re.Match[str]) -> str:
        name = match["name"]
        known = name in public and (bool(match["sf"]) or (bare and not match["call"]))
        return f"[{match[0]}][surefoot.{name}]" if known else match[0]

    parts = re.split(r"(^```.*?^```$)", markdown, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else _CODE.sub(link, part) for part in parts)


_CODE = re.compile(r"(?<![\[`\w])`(?P<sf>sf\.)?(?P<name>(?:\w+\.)?\w+)(?P<call>\([^`\n]*\))?`(?![\]`])")
