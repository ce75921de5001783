"""What a tool's file holds, as rows that know where they stand."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from surefoot.data.reading.columns import RowNamer
from surefoot.data.tools.json_location import JsonValue
from surefoot.data.tools.judges import JudgmentOrigin
from surefoot.errors import DataError, shortened

ToolFileKind: TypeAlias = Literal["run", "judgments"]


@dataclass(frozen=True)
class ToolRows:
    """Queries, documents and numbers as they were found, what they are called there, and where each row stands."""

    names: tuple[str, str, str]
    queries: Sequence[Any]
    documents: Sequence[Any]
    numbers: Sequence[Any]
    where: RowNamer


@dataclass(frozen=True)
class ToolFile:
    """A tool's file: what it is, what it holds, and the rows; those of several runs by the runs' names."""

    what: str
    holds: ToolFileKind
    parts: dict[str | None, ToolRows]
    names_judges: bool = False  # ratings say who gave them, so several judges' may be merged
    origin: JudgmentOrigin | None = None  # of judgments
    names_system: bool = False  # the parts' names are systems' names, also where there is one only
    by_judge: dict[str, ToolRows] | None = None  # what each of several judges said


@dataclass
class ToolRowsBuilder:
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

    def rows(self) -> ToolRows:
        """The rows, once all are added."""
        return ToolRows(self.names, self.queries, self.documents, self.numbers, self._where)

    def _where(self, row: int) -> str:
        at = bisect_right(self._starts, row) - 1  # of lists that start alike, all but the last are empty
        return self._lists[at].child(row - self._starts[at]).location()
