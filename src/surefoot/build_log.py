"""Output that becomes a build's log: no name of a system, query or file in it is a command to the build server.

GitHub runs `::add-mask::x` at a line's start and `##[error]x` anywhere, Azure `##vso[x]`, TeamCity `##teamcity[x]`.
In such a build, what is printed has `: :` in place of the first, and `\\u005b` in place of the others' bracket: in JSON
that is the same bracket. Files are never changed, and so neither is standard output that is sent to one.
"""

from __future__ import annotations

import codecs
import io
import os
import re
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

BUILDS = ("GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION")  # variables that these build servers set
# Characters without width: some ways of comparing texts skip them, in .NET those of its users' languages.
_NO_WIDTH = (
    r"\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    r"\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff"
)
_BETWEEN = f"[{_NO_WIDTH}]*"
_BLANK = rf"[ \t\x0b\x0c\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000{_NO_WIDTH}]*"
_COLONS = re.compile(rf"((?:^|(?<=[\r\n])){_BLANK}:{_BETWEEN})(?=:)")
_START = re.compile(rf"{_BLANK}(?::{_BETWEEN})?")  # of a line that may still become a command
_WORDS = "|".join(_BETWEEN.join([*word, ""]) for word in ("vso", "teamcity"))
_BRACKET = re.compile(rf"#{_BETWEEN}#{_BETWEEN}(?:{_WORDS})?\[", re.IGNORECASE)
_LONGEST_COMMAND = 256  # letters of a line that are kept until it goes on


def harmless(text: str) -> str:
    """The text without commands to a build server.

    >>> harmless("  ::error::x"), harmless("a ##[error]x"), harmless('{"##vso[x]": "a::b"}')
    ('  : :error::x', 'a ##\\\\u005berror]x', '{"##vso\\\\u005bx]": "a::b"}')
    """
    return _BRACKET.sub(lambda found: found[0][:-1] + "\\u005b", _COLONS.sub(r"\1 ", text))


class HarmlessOutput(io.TextIOWrapper):
    """An output stream of a build; a command is found too where its line is written in several parts."""

    _line = ""  # what there is of the line so far

    def write(self, text: str, /) -> int:
        """Write the text without commands."""
        line = harmless(self._line + text)
        # What is written already stays as it is: only at its last letter is a command changed.
        super().write(line[len(self._line) :])
        self._line = line[max(line.rfind("\n"), line.rfind("\r")) + 1 :]
        if len(self._line) > _LONGEST_COMMAND and not _START.fullmatch(self._line):
            self._line = "x" + self._line[-_LONGEST_COMMAND:]  # whatever follows is not its start
        return len(text)

    def write_command(self, line: str) -> None:
        """Write a line that is a command, on a line of its own."""
        super().write(("\n" if self._line else "") + line + "\n")
        self._line = ""


def write_command(line: str, *, error: bool = False) -> None:
    """Print a command to the build server; its texts have been made harmless."""
    stream: Any = sys.stderr if error else sys.stdout
    getattr(stream, "write_command", lambda text: print(text, file=stream))(line)


@contextmanager
def harmless_in_builds(environment: Mapping[str, str] = os.environ) -> Iterator[None]:
    """Make both output streams harmless, where they go to the log of a build."""
    before = sys.stdout, sys.stderr
    made: list[HarmlessOutput | None] = [None, None]
    if any(map(environment.get, BUILDS)):
        made = [None if _is_file(sys.stdout) else _harmless(sys.stdout), _harmless(sys.stderr)]
    sys.stdout, sys.stderr = (new or old for new, old in zip(made, before, strict=True))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
        for stream in made:
            if stream is not None:
                with suppress(OSError, ValueError):
                    stream.detach()  # or the stream below would be closed with it


def _harmless(stream: Any) -> HarmlessOutput | None:
    """The same stream without commands; None for what is no stream of bytes."""
    if not isinstance(stream, io.TextIOWrapper):
        return None
    with suppress(OSError, ValueError):
        stream.flush()
    # Typer writes past a stream that says it is ASCII. Build servers read UTF-8.
    encoding = "utf-8" if codecs.lookup(stream.encoding).name == "ascii" else stream.encoding
    return HarmlessOutput(
        stream.buffer, encoding, "backslashreplace", line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )  # fmt: skip


def _is_file(stream: Any) -> bool:
    try:
        return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError, AttributeError):
        return False
