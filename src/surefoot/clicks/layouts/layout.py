"""What a layout of click logs is: one `LogLayout` holds all that the rest of surefoot knows about it.

Importing a layout does not load Ibis, which comes when a log is read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from surefoot.clicks.backends import Backend
from surefoot.clicks.log import CLICKS, DIGITS_PATTERN, LISTS, IbisTable, Log, ibis, with_schema
from surefoot.errors import ArgumentError

_ISO = (
    r"^([0-9]{4})-([0-9]{2})-([0-9]{2})[T ]([0-9]{2}):([0-9]{2}):([0-9]{2})([.,][0-9]{1,9})?"
    r"(Z|z|[+-][0-9]{2}:?[0-9]{2})?$"
)


@dataclass(frozen=True)
class ReadingSettings:
    """How a log is read: the name of its layout, seconds per unit of time, and what counts as a click.

    `clock` is for layouts that do not say it themselves: times count from each session's start
    ("session"), or by one clock for all sessions ("log"). Users say it with `--clock`.
    """

    layout: str
    seconds: float | None = None
    clock: str = "session"
    actions: tuple[str, ...] = ("click",)


@dataclass(frozen=True)
class LogFile:
    """A file of a log: its path, a hash of what it holds, and its last line where that has no end."""

    path: Path
    digest: str
    unfinished: str | None = None


@dataclass(frozen=True)
class LogLayout:
    """A layout of click logs.

    name
        What `--layout` takes.
    recognizes
        Whether the first line of a file, without its line end, is of this layout. Where several say so,
        the first in the table wins.
    read
        A log of one file; of a layout with `files`, of these in their order.
    files
        The names of the files of a log, where it is a folder of several. Other endings are read too.
    endings
        Endings of files that are always of this layout.
    unit
        Seconds per unit of time; None where the log does not say it and `--unit` must.
    fixed_unit
        Times are dates or milliseconds, whatever `--unit` says.
    shared_clock
        What all sessions share: "time", "day", or None where `--clock` says it.
    linked
        Clicks name the list that they were on.
    has_users, has_domains, has_terms, has_scores
        What a log knows besides.
    one_user_per_session
        A session cannot have two users. Where it can, such sessions are rejected.
    takes_actions
        `--actions` says which events are clicks.
    default_labels
        What labels are made of clicks by default.
    """

    name: str
    recognizes: Callable[[str], bool]
    read: Callable[[Backend, Sequence[LogFile], ReadingSettings], Log]
    files: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()
    unit: float | None = None
    fixed_unit: bool = False
    shared_clock: str | None = "time"
    linked: bool = False
    has_users: bool = False
    has_domains: bool = False
    has_terms: bool = False
    has_scores: bool = False
    one_user_per_session: bool = False
    takes_actions: bool = False
    default_labels: str = "satisfied"

    def seconds(self, settings: ReadingSettings) -> float:
        """What a unit of time lasts."""
        seconds = self.unit if self.fixed_unit else settings.seconds or self.unit
        if seconds is None:
            raise ArgumentError("the log does not contain its time unit; set it with --unit, such as --unit ms")
        return seconds

    def log(
        self, lists: IbisTable, clicks: IbisTable, rejected: IbisTable, settings: ReadingSettings, **known: bool
    ) -> Log:
        """A log of this layout; `known` is what differs from log to log, such as whether there are `users`."""
        for name, table in (("lists", lists), ("clicks", clicks)):
            if "number" not in table.columns:  # without the order of rows clicks would be lost unseen
                raise TypeError(f"layout {self.name}: its {name} have no column number, the place of a row in the file")
        facts = {name: getattr(self, f"has_{name}") for name in ("users", "domains", "terms", "scores")}
        return Log(
            with_schema(lists, LISTS),
            with_schema(clicks, CLICKS),
            rejected,
            shared_clock=self.shared_clock or ("time" if settings.clock == "log" else None),
            seconds=self.seconds(settings),
            one_file=not self.files,
            linked=self.linked,
            **(facts | known),
        )


def of_their_lists(clicks: IbisTable, lists: IbisTable, named: str) -> IbisTable:
    """Clicks with the session and user of the lists that they name; without one, a session `named` after the list."""
    owners = lists.group_by("list").aggregate(list_session=lists.session.min(), list_user=lists.user.min())
    clicks = clicks.left_join(owners, "list").drop("list_right")
    session = clicks.list_session.coalesce(clicks.session, named + clicks.list)
    return clicks.mutate(session=session, user=clicks.list_user)


def milliseconds(text: IbisTable) -> IbisTable:
    """Milliseconds of a moment, null where it is none: an integer number of them, or ISO 8601, in UTC unless it says.

    Worked out from the text's parts, since backends read dates in ways of their own.
    """
    is_iso = text.re_search(_ISO)
    year, month, day, hour, minute, second = (_number(text, part) for part in range(1, 7))
    fraction = (text.re_extract(_ISO, 7).substr(1) + "000").substr(0, 3).try_cast("int64")
    zone = text.re_extract(_ISO, 8).re_replace("[Zz:]", "")
    minutes = zone.substr(1, 2).try_cast("int64") * 60 + zone.substr(3, 2).try_cast("int64")
    offset = ibis.cases((zone == "", 0), (zone.startswith("-"), -minutes), else_=minutes)
    # Days since 1970-01-01 in the Gregorian calendar, the year taken to begin in March.
    march = (month <= 2).ifelse(year - 1, year)
    since = (month <= 2).ifelse(month + 9, month - 3)
    days = march * 365 + march // 4 - march // 100 + march // 400 + (153 * since + 2) // 5 + day - 719_469
    moment = (((days * 24 + hour) * 60 + minute - offset) * 60 + second) * 1000 + fraction
    valid = is_iso & month.between(1, 12) & day.between(1, 31) & (hour < 24) & (minute < 60) & (second < 61)
    return ibis.cases(
        (text.re_search(DIGITS_PATTERN), text.try_cast("int64")), (valid, moment), else_=ibis.null("int64")
    )


def _number(text: IbisTable, part: int) -> IbisTable:
    return text.re_extract(_ISO, part).try_cast("int64")
