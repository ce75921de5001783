"""The notebooks of examples/ as pages, with the outputs that are kept in them."""

from __future__ import annotations

import base64
import json
import re
import textwrap
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[2] / "examples"
FOLDER = "examples/"
WIDTH = 88  # letters of a line


def notebook_pages() -> dict[str, tuple[str, str, dict[str, bytes]]]:
    """Title, Markdown and pictures of each notebook, by its page's file."""
    pages = {}
    for path in sorted(EXAMPLES.glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        pictures: dict[str, bytes] = {}
        parts = [_cell(cell, path.stem, pictures) for cell in cells]
        text = "\n\n".join(filter(None, parts))
        title = re.search(r"^# (.+)$", text, flags=re.MULTILINE)
        note = f"*The notebook `examples/{path.name}`, with the outputs of its last run.*"
        text = re.sub(r"^(# .+)$", rf"\1\n\n{note}", text, count=1, flags=re.MULTILINE)
        pages[f"{FOLDER}{path.stem}.md"] = (title[1] if title else path.stem, text + "\n", pictures)
    return pages


def _cell(cell: dict[str, Any], name: str, pictures: dict[str, bytes]) -> str:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return source
    if not source.strip():
        return ""
    shown = [_fenced("python", source)]
    shown += [_output(output, name, pictures) for output in cell.get("outputs", [])]
    return "\n\n".join(filter(None, shown))


def _output(output: dict[str, Any], name: str, pictures: dict[str, bytes]) -> str:
    if output["output_type"] == "stream":
        return _fenced("text", wrapped("".join(output["text"])))
    data = output.get("data", {})
    if "image/png" in data:
        picture = f"{FOLDER}{name}-{len(pictures) + 1}.png"
        pictures[picture] = base64.b64decode("".join(data["image/png"]))
        return f"![{''.join(data.get('text/plain', 'A figure'))}]({picture.removeprefix(FOLDER)})"
    return _fenced("text", "".join(data["text/plain"])) if "text/plain" in data else ""


def wrapped(text: str) -> str:
    """The text with sentences that are longer than a page is wide on several lines.

    >>> wrapped("a short line\\n  " + "word " * 30).splitlines()[1:]
    ['  word word word word word word word word word word word word word word word word word',
     '  word word word word word word word word word word word word word']
    """
    lines = []
    for line in text.split("\n"):
        indent = line[: len(line) - len(line.lstrip())]
        lines += textwrap.wrap(line, WIDTH, subsequent_indent=indent) if len(line) > 110 else [line]
    return "\n".join(lines)


def _fenced(language: str, text: str) -> str:
    return f"````{language}\n{text.rstrip()}\n````"
