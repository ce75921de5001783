"""What every layout of a log becomes, in Ibis: shown lists, clicks, and the lines that say neither."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from surefoot.runtime import library

if TYPE_CHECKING:
    from surefoot.clicks.backends import Backend

IbisTable = Any  # an Ibis table, or one of its columns
LISTS = {
    "session": "string", "user": "string", "day": "int64", "time": "int64", "list": "string", "query": "string",
    "terms": "array<string>", "documents": "array<string>", "domains": "array<string>", "scores": "array<float64>",
    "number": "int64",
}  # fmt: skip
CLICKS = {"session": "string", "user": "string", "day": "int64", "time": "int64", "list": "string",
          "document": "string", "number": "int64"}  # fmt: skip
REJECTED = {"file": "string", "number": "int64", "reason": "string", "line": "string"}
TWO_USERS = "belongs to a session of two users"
TWO_DAYS = "belongs to a session of two days"
DIGITS_PATTERN = r"^[0-9]{1,15}$"


def need_ibis() -> Any:
    """Ibis; where it is not installed, the error that says how to install it."""
    return library("ibis", "clicks", "reading click logs")


class _Ibis:
    """Ibis, imported when something of it is first used: layouts can be listed without it."""

    def __getattr__(self, name: str) -> Any:
        return getattr(need_ibis(), name)


ibis: Any = _Ibis()  # what its functions take and give is known when they run


def union(tables: Sequence[IbisTable]) -> IbisTable:
    """All rows of tables with the same columns."""
    first, *others = tables
    return first.union(*others, distinct=False) if others else first


@dataclass(frozen=True)
class Log:
    """A log as three tables whose columns are those above; what a layout does not know is null throughout.

    `day` is a clock that all sessions share where `time` counts from each session's start; where `time` is such a
    clock itself, or sessions have none in common, it is null. `shared_clock` says which: "time", "day" or None.
    `linked`: clicks name the list they were on. `seconds` is what one unit of time lasts.
    """

    lists: IbisTable
    clicks: IbisTable
    rejected: IbisTable
    shared_clock: str | None
    seconds: float
    linked: bool  # clicks name the list that they were on
    users: bool  # whether the log has any; the same of the three below
    domains: bool
    terms: bool
    scores: bool
    one_file: bool = True  # lists and clicks are in one file, whose order of lines says something


def with_schema(table: IbisTable, schema: dict[str, str]) -> IbisTable:
    """A table with these columns; those that it does not have are null."""
    return table.select(
        **{name: (table[name] if name in table.columns else ibis.null()).cast(kind) for name, kind in schema.items()}
    )


def has_empty(ids: IbisTable) -> IbisTable:
    """Whether an array of ids has one that is empty or null."""
    return ids.filter(lambda id_: id_.isnull() | (id_ == "")).length() > 0


def parsed_once(backend: Backend, lines: IbisTable) -> IbisTable:
    """Parsed lines, computed once; of their texts those that `rejected_lines` gives are kept."""
    return backend.once(lines.mutate(line=ibis.cases((lines.reason.notnull(), lines.line))))


def rejected_lines(table: IbisTable, file: str) -> IbisTable:
    """The lines of a table that have a `reason`."""
    return with_schema(table.filter(table.reason.notnull()).mutate(file=ibis.literal(file)), REJECTED)


def merge_logs(logs: list[Log]) -> Log:
    """The files of one log as one; lines are numbered so that no two have the same number."""
    tables = {
        name: union(
            [
                getattr(log, name).mutate(number=lambda t, file_number=file_number: t.number * len(logs) + file_number)
                for file_number, log in enumerate(logs)
            ]
        )
        for name in ("lists", "clicks")
    }
    return replace(logs[0], **tables, rejected=union([log.rejected for log in logs]))


def without_mixed_sessions(log: Log) -> Log:
    """The log without sessions of two users or days, which are no sessions; their events are rejected.

    An event without a user is of its session's user: else the events of one session could be in two shards.
    """
    if not log.users:
        return log
    events = union([table.select("session", "user", "day") for table in (log.lists, log.clicks)])
    owners = events.group_by("session").aggregate(
        owner=events.user.max(),
        fault=ibis.cases(
            (events.user.min() != events.user.max(), TWO_USERS), (events.day.min() != events.day.max(), TWO_DAYS)
        ),
    )
    remaining, rejected = {}, [log.rejected]
    for name, columns in (("lists", LISTS), ("clicks", CLICKS)):
        table = getattr(log, name).inner_join(owners, "session")
        remaining[name] = with_schema(table.filter(table.fault.isnull()).mutate(user=table.owner), columns)
        mixed = table.filter(table.fault.notnull())
        reasons = {"reason": mixed.fault, "line": "session " + mixed.session, "file": ibis.literal(name)}
        rejected.append(with_schema(mixed.mutate(**reasons), REJECTED))
    return replace(log, **remaining, rejected=union(rejected))
