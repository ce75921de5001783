"""Texts that may hold anything, as CSV, Markdown, LaTeX and JSON take them for text."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from surefoot.errors import CONTROL_CHARACTERS, visible

# What a spreadsheet would take for a formula. The page's script reads the pattern too, where \s has U+FEFF in it.
FORMULA = re.compile(r"^[\s\ufeff]*[=+\-@＝＋－＠]")
_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "<": "$<$", ">": "$>$",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "−": "$-$", "–": "--", "α": r"$\alpha$",
    "|": r"\textbar{}", "†": r"\dag{}", "`": "{`}", "\u00a0": "~", "�": "?",
    # After \\ and \midrule a bare [ or * would be their argument.
    "[": "{[}", "]": "{]}", "*": "{*}",
}  # fmt: skip
# Letters that every LaTeX sets, whatever its engine, font encoding and packages.
_LATIN = frozenset("ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝßàáâãäåæçèéêëìíîïñòóôõöøùúûüýÿ")
# Others stop pdfLaTeX; there their number stands in.
LETTER = r"\providecommand{\surefootletter}[2]{\ifdefined\Umathchar#1\else(U+#2)\fi}"


def csv_text(header: Sequence[str], lines: Iterable[Sequence[Any]]) -> str:
    """CSV whose names a spreadsheet takes as text."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([csv_name(cell) if isinstance(cell, str) else cell for cell in line] for line in lines)
    return stream.getvalue()


def csv_name(name: str) -> str:
    """A name that a spreadsheet takes as text: one that it would take for a formula gets a ' in front."""
    visible_name = visible(name)
    return f"'{visible_name}" if FORMULA.search(visible_name) else visible_name


def markdown(text: str) -> str:
    """Text that Markdown shows as it is."""
    return re.sub(r"([\\|`*_\[\]<>#&$~])", r"\\\1", visible(text))


def latex(text: str) -> str:
    """Text that LaTeX sets as it is; letters that not every LaTeX has need the command `LETTER` before them."""
    return "".join(map(_latex_letter, re.sub("-(?=-)", "-\0", visible(text)))).replace("\0", "{}")


def _latex_letter(letter: str) -> str:
    if letter in _LATEX:
        return _LATEX[letter]
    if letter.isascii() or letter in _LATIN:
        return letter
    return rf"\surefootletter{{{letter}}}{{{ord(letter):04X}}}"


def to_json(data: Any) -> str:
    r"""Readable JSON; characters that steer a terminal, or that UTF-8 cannot hold, are written as escapes.

    >>> to_json("α\x9b31m")
    '"α\\u009b31m"\n'
    """
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    # Outside of strings JSON holds none of them but line feeds, which are its own.
    return CONTROL_CHARACTERS.sub(lambda match: match[0] if match[0] == "\n" else f"\\u{ord(match[0]):04x}", text)
