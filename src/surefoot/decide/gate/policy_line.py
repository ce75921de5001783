"""The line of a policy that is wrong."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from surefoot.data.reading.files import read_text
from surefoot.decide.gate.release_policy import ReleasePolicy
from surefoot.errors import SurefootError

_MOST_LINES = 2000  # of a file that is searched
_AT_LINE = re.compile(r"\(at line (\d+), column \d+\)")


def wrong_line(path: Path, wrong: str) -> int | None:
    """The line that is wrong in the way that `ReleasePolicy.read` says, if one is.

    Errors are told in one order of the keys, so the error of the whole file is also that of every start of the file
    that holds the wrong line.
    """
    match = _AT_LINE.search(wrong)
    if match:
        return int(match[1])
    lines = read_text(path).split("\n")
    if len(lines) > _MOST_LINES or _error("") == wrong:
        return None
    return next((n for n in range(1, len(lines) + 1) if _error("\n".join(lines[:n])) == wrong), None)


def _error(text: str) -> str | None:
    """What is wrong with a policy of this text, if that can be said: a start of a file may end within a value."""
    try:
        ReleasePolicy.read(tomllib.loads(text))
    except SurefootError as error:
        return str(error).removeprefix("policy: ")
    except ValueError:
        return None
    return None
