"""What a tool's file holds, as rows that know where they stand.

Values of a JSON file know the steps that lead to them, so that an error can name the place and its line.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from surefoot.data.reading.columns import RowNamer, RowOrTableNamer
from surefoot.data.reading.files import read_text
from surefoot.data.reading.frames import checked_columns
from surefoot.data.tools.judges import JudgmentOrigin
from surefoot.errors import DataError, shortened

Steps: TypeAlias = "tuple[str | int, ...]"

_DECODE = json.JSONDecoder().raw_decode
_SPACE = re.compile(r"\s*")
_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def json_path(steps: Steps) -> str:
    """A place as JavaScript would write it.

    >>> json_path(("requests", 3, "ratings", 0)), json_path(("details", "red dress", "hits"))
    ('requests[3].ratings[0]', "details['red dress'].hits")
    """
    path = ""
    for step in steps:
        if isinstance(step, str) and _PLAIN.fullmatch(step):
            path += f".{step}" if path else step
        else:
            path += f"[{shortened(step)}]"
    return path


def offset_of(text: str, steps: Steps) -> int:
    """Where the value at a place starts in JSON text, which must have it.

    >>> offset_of('{"a": 1, "b": [2, {"c": 3}]}', ("b", 1, "c"))
    24
    """

    def after_space(at: int) -> int:
        return _SPACE.match(text, at).end()  # type: ignore[union-attr]

    at = after_space(0)
    for step in steps:
        at = after_space(at + 1)  # behind the bracket
        passed = 0
        while True:
            if isinstance(step, str):
                key, at = _DECODE(text, at)
                at = after_space(after_space(at) + 1)  # behind the colon
                is_step = key == step
            else:
                is_step = passed == step
            if is_step:
                break
            at = after_space(after_space(_DECODE(text, at)[1]) + 1)  # behind the comma
            passed += 1
    return at


@dataclass(frozen=True)
class JsonValue:
    """A value of a JSON file, or of a line of JSON lines, and the steps that lead to it."""

    value: Any
    path: str
    line: int | None = None
    steps: Steps = ()

    def location(self) -> str:
        """Where it stands, with the file, for messages; its line is looked for only here."""
        line = self.line or self._found_line()
        parts = [self.path, *([f"line {line}"] if line else []), *([json_path(self.steps)] if self.steps else [])]
        return ", ".join(parts)

    def _found_line(self) -> int | None:
        if not Path(self.path).is_file():  # a pipe cannot be read again
            return None
        try:
            text = read_text(Path(self.path), longest=None)
            return text.count("\n", 0, offset_of(text, self.steps)) + 1
        except (DataError, ValueError, IndexError):  # the file has changed
            return None

    def json_path(self) -> str:
        """Where it stands within the file, or its line of JSON lines."""
        return json_path(self.steps) if self.line is None else f"line {self.line}"

    def error(self, message: str) -> DataError:
        """An error at this place."""
        return DataError(f"{self.location()}: {message}")

    def child(self, step: str | int) -> JsonValue:
        """What stands a step below, which may not be there."""
        value = self.value
        inside = (isinstance(value, dict) and step in value) or (isinstance(value, list) and isinstance(step, int))
        return JsonValue(value[step] if inside else None, self.path, self.line, (*self.steps, step))

    def __getitem__(self, key: str) -> JsonValue:
        """What an object has under a key, which must be there."""
        if not isinstance(self.value, dict) or key not in self.value:
            raise self.error(f"expected an object with {key!r}, found {shortened(self.value)}")
        return self.child(key)

    def __iter__(self) -> Iterator[JsonValue]:
        """What a list holds."""
        return (self.child(number) for number in range(len(self.items())))

    def members(self) -> Iterator[tuple[str, JsonValue]]:
        """What an object holds, by key."""
        if not isinstance(self.value, dict):
            raise self.error(f"expected an object {{…}}, found {shortened(self.value)}")
        return ((key, self.child(key)) for key in self.value)

    def items(self) -> list[Any]:
        """The list that it must be."""
        if not isinstance(self.value, list):
            raise self.error(f"expected a list […], found {shortened(self.value)}")
        return self.value

    def scalar(self) -> Any:
        """The single value, such as an id, that it must be."""
        if self.value is None or isinstance(self.value, dict | list):
            raise self.error(f"expected a text, found {shortened(self.value)}")
        return self.value

    def column(self, get: Callable[[Any], Any], shape: str) -> list[Any]:
        """What `get` finds in each value of a list; `shape` says how they should look."""
        values = []
        for number, value in enumerate(self.items()):
            try:
                values.append(get(value))
            except (KeyError, TypeError, IndexError):
                raise self.child(number).error(f"expected {shape}, found {shortened(value)}") from None
        return values


def is_objects(value: Any) -> bool:
    """Whether it is a list of objects, which no run or set of judgments by query holds."""
    return isinstance(value, list) and bool(value) and all(isinstance(each, dict) for each in value)


@dataclass(frozen=True)
class Rows:
    """Columns of queries, documents and numbers, where a row stands, and what else the file says of them.

    `origin` says who made judgments and `by_judge` what each of them said; `system` is the one that a run is of.
    """

    columns: tuple[pl.Series, ...]
    where: RowNamer
    origin: JudgmentOrigin | None = None
    by_judge: dict[str, Rows] | None = None
    system: str | None = None


RowsByName: TypeAlias = "dict[str | None, Rows]"  # one table, or several runs by their names


@dataclass(frozen=True)
class Content:
    """What a file holds before it is known which tool wrote it: columns by name, or what its JSON says.

    Of JSON lines `value` is what the first says, and `lines` are all, to be read once. `rating_merge` is the rule for
    several judges' ratings, if one is given.
    """

    path: str
    value: Any
    where: RowOrTableNamer
    rating_merge: str | None
    lines: Iterable[tuple[int, Any]] = ()

    @property
    def json(self) -> JsonValue:
        """The value, which knows where it stands."""
        return JsonValue(self.value, self.path)


@dataclass
class RowsBuilder:
    """Collects rows: a list of documents for each query, which may appear once only."""

    names: tuple[str, str, str]
    queries: list[Any] = field(default_factory=list)
    documents: list[Any] = field(default_factory=list)
    numbers: list[Any] = field(default_factory=list)
    _starts: list[int] = field(default_factory=list)
    _lists: list[JsonValue] = field(default_factory=list)
    _seen: dict[Any, JsonValue] = field(default_factory=dict)

    def has(self, query: JsonValue) -> bool:
        """Whether a query is there already."""
        return str(query.scalar()) in self._seen

    def add(
        self, query: JsonValue, listed: JsonValue, documents: Sequence[Any], numbers: Sequence[Any] | None = None
    ) -> None:
        """Add the documents in a list of the file; without numbers they are ranked as they stand."""
        name = query.scalar()
        first = self._seen.setdefault(str(name), query)
        if first is not query:
            raise DataError(
                f"{query.location()}: the query {shortened(name)} appears twice (first at {first.json_path()}); "
                "keep one of the two"
            )
        self._starts.append(len(self.documents))
        self._lists.append(listed)
        self.queries += [name] * len(documents)
        self.documents += documents
        self.numbers += range(-1, -1 - len(documents), -1) if numbers is None else numbers

    def rows(self, origin: JudgmentOrigin | None = None) -> Rows:
        """The rows, once all are added."""
        columns = checked_columns(self.queries, self.documents, self.numbers, self.names, self._where)
        return Rows(columns, self._where, origin)

    def _where(self, row: int) -> str:
        at = bisect_right(self._starts, row) - 1  # of lists that start alike, all but the last are empty
        return self._lists[at].child(row - self._starts[at]).location()
