"""Examples in docstrings that have no section of their own: fenced, or Markdown takes their prompts for quotations."""

from __future__ import annotations

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"^(?:[^\S\n]*>>> .*\n?)(?:[^\S\n]*\S.*\n?)*", flags=re.MULTILINE)


def fenced(docstring: str) -> str:
    """The docstring with its examples as blocks of code, but for a section of examples, which is known as such."""
    before, head, section = docstring.partition("\nExamples\n-")
    return _EXAMPLE.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", before) + head + section


class Examples(griffe.Extension):
    """Fences the examples of everything that is loaded."""

    def on_object(self, *, obj: griffe.Object, loader: Any, **kwargs: Any) -> None:
        """One object's docstring."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
