"""JSON read strictly: no NaN, and no name twice in one object."""

from __future__ import annotations

import json
import re
from typing import Any

from surefoot.errors import shortened

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\],]', re.DOTALL)


class RepeatedNameError(ValueError):
    """A name that appears twice in one object, and the line of the second."""

    def __init__(self, name: str, lineno: int | None) -> None:
        super().__init__(f"{shortened(name)} appears twice in one object")
        self.lineno = lineno


def parse_json(text: str) -> Any:
    """What JSON says; a ValueError where it holds NaN or Infinity, or a name twice in one object.

    >>> parse_json('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ...
    surefoot.data.reading.json_text.RepeatedNameError: 'a' appears twice in one object
    """
    try:
        return _JSON.decode(text)
    except RepeatedNameError as error:
        raise _find_repeated_name(text) or error from None


def _find_repeated_name(text: str) -> RepeatedNameError | None:
    """The first name that appears twice in one object, with its line."""
    objects: list[set[str] | None] = []  # the names seen in each object that is open, None for a list
    is_name = False
    for token in _TOKEN.finditer(text):
        mark = token[0][0]
        if mark == '"':
            if is_name and objects and (names := objects[-1]) is not None:
                name = json.loads(token[0])
                if name in names:
                    return RepeatedNameError(name, text.count("\n", 0, token.start()) + 1)
                names.add(name)
            is_name = False
        elif mark in "{[":
            objects.append(set() if mark == "{" else None)
            is_name = mark == "{"
        elif mark in "}]":
            del objects[-1:]
            is_name = False
        else:
            is_name = bool(objects) and objects[-1] is not None
    return None


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is not a number in JSON")


def _dict_of_unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise RepeatedNameError(twice, None)
    return values


# Made once, so that a line is read faster.
_JSON = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_dict_of_unique_names)
