"""What can go wrong, in a few kinds; every message says what was wrong, where, and what to do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import Any

# Besides control characters: marks of direction, and halves of characters, which no file can hold.
# JavaScript reads the pattern too.
CONTROL_CHARACTERS = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

__all__ = ["ArgumentError", "DataError", "MeasureError", "MissingExtraError", "SurefootError", "SurefootWarning"]


def visible(text: str) -> str:
    """Text that cannot steer a terminal: control and direction characters shown as �."""
    return CONTROL_CHARACTERS.sub("�", text)


def shortened(value: Any, most: int = 80) -> str:
    """A value as messages quote it, the middle left out where it is long.

    >>> shortened("x" * 200, 11)
    "'xxxx…xxxx'"
    """
    if isinstance(value, str) and len(value) > 2 * most:  # no need to write out a megabyte
        value = value[:most] + value[-most:]
    try:
        text = repr(value)
    except Exception:  # any object may be met here, and an int of thousands of digits has no repr
        text = f"a {type(value).__name__}"
    return without_middle(text, most)


def without_middle(text: str, most: int) -> str:
    """The text, or where it is longer than `most` its start and its end.

    >>> without_middle("a-very-long-name", 9)
    'a-ve…name'
    """
    return text if len(text) <= most else f"{text[: most // 2]}…{text[len(text) - (most - 1) // 2 :]}"


def did_you_mean(name: Any, known: Iterable[str], cutoff: float = 0.6) -> str:
    """The known name that is nearest to an unknown one, as the rest of a message; nothing where none is so much alike.

    >>> did_you_mean("uRisk", ["gain", "u_risk", "saro"])
    '; did you mean u_risk?'
    """
    import difflib

    names = {known_name.casefold(): known_name for known_name in known}
    near = difflib.get_close_matches(str(name)[:80].casefold(), names, n=1, cutoff=cutoff)
    return f"; did you mean {_unquoted(names[near[0]])}?" if near else ""


def _unquoted(name: str) -> str:
    return shortened(name)[1:-1]


def name_list(names: Sequence[str], most: int = 12, write: Callable[[str], str] = _unquoted) -> str:
    """The first of many names, and how many more there are; `write` says how each stands there.

    >>> name_list(["a", "b", "c"], most=2), name_list(["a", "b"], write=shortened)
    ('a, b and 1 more', "'a', 'b'")
    """
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(map(write, names[:most])) + more


def other_queries_hint(what: str, others: Iterable[str], queries: Sequence[str]) -> str:
    """The rest of a message where what is given for queries is given for none of these.

    >>> other_queries_hint("dates", ["7", "8"], ["q7", "q8"])
    "the first query is 'q7', but the dates are for '7', '8'; do both use the same query ids?"
    """
    names = name_list(list(others), 3, shortened) or "no query"
    return (
        f"the first query is {shortened(queries[0])}, but the {what} are for {names}; do both use the same query ids?"
    )


class SurefootError(Exception):
    """Base of every error that surefoot raises on purpose; a command ends with its message and exit code 2."""


class DataError(SurefootError):
    """A file or table that does not hold what it should."""

    @classmethod
    def at(cls, path: str | PathLike[str], line: int | None, message: str) -> DataError:
        """An error at a line of a file, or in the file as a whole."""
        location = f"{path}, line {line}" if line is not None else f"{path}"
        return cls(f"{location}: {message}")


# What Python raises where plain data are looked through that have another shape than they should.
MISSHAPEN_ERRORS = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)


@contextmanager
def expecting(what: str, path: str | PathLike[str], remedy: str) -> Iterator[None]:
    """While plain data of a file are taken up as something: those of another shape are refused, with the way on."""
    try:
        yield
    except DataError:
        raise
    except MISSHAPEN_ERRORS as error:
        problem = str(error) if isinstance(error, SurefootError) else repr(error)
        wrong = f"is damaged or incomplete: it cannot be read as {what} ({without_middle(problem, 300)})"
        raise DataError.at(path, None, f"{wrong}; {remedy}") from error


class ArgumentError(SurefootError, ValueError):
    """An argument outside what it may be: a negative α, an unknown baseline, an unknown parameter."""


class MeasureError(ArgumentError):
    """A measure that cannot be read or does not fit the data."""


class SurefootWarning(UserWarning):
    """Something that is probably not meant, though it can be computed; the command line prints it as one line."""


class MissingExtraError(SurefootError, ImportError):
    """An optional dependency that is not installed."""

    @classmethod
    def for_extra(cls, extra: str, purpose: str) -> MissingExtraError:
        """The exact line that installs the extra which `purpose` needs."""
        return cls(f'{purpose} needs an optional dependency; install it with: pip install "surefoot[{extra}]"')
