r"""The lines of Yandex's two challenges, whose parts have tabs between them.

2012 (Relevance Prediction):   SessionID Time Q QueryID RegionID URL …       SessionID Time C URL
2014 (Personalized Web Search):  SessionID M Day UserID
                               SessionID Time Q SERPID QueryID Term,… URL,Domain …
                               SessionID Time C SERPID URL
"""

from __future__ import annotations

from collections.abc import Sequence

from surefoot.clicks.backends import Backend
from surefoot.clicks.layouts.layout import LogFile, LogLayout, ReadingSettings
from surefoot.clicks.log import DIGITS_PATTERN, IbisTable, Log, ibis, parsed_once, rejected_lines

_UNFINISHED = "is the last line and has no line feed at its end"
_UNKNOWN = "is not a valid line of this layout"
_TIME = "has a time that is not a whole number below 10^15"


def _is_2012(line: str) -> bool:
    parts = line.split("\t")
    return len(parts) >= 4 and parts[2] in ("Q", "C") and "," not in parts[-1]


def _is_2014(line: str) -> bool:
    parts = line.split("\t")
    described = len(parts) == 4 and parts[1] == "M"
    return described or (len(parts) >= 4 and parts[2] in ("Q", "C") and "," in parts[-1])


def _read_2012(backend: Backend, files: Sequence[LogFile], settings: ReadingSettings) -> Log:
    (file,) = files
    lines = _parts(backend.lines(file.path))
    part, count = lines.part, lines.part.length()
    documents = part[5:]
    no_event = (
        (_integer(part[1]).isnull(), _TIME),
        ((part[0] == "") | (part[3] == ""), "has an empty id"),
    )
    lines = lines.mutate(
        kind=part[2], time=_integer(part[1]), documents=documents,
        reason=ibis.cases(
            (lines.line == (file.unfinished or ""), _UNFINISHED),
            ((count >= 6) & (part[2] == "Q"), ibis.cases(*no_event, (documents.contains(""), "has an empty URL"))),
            ((count == 4) & (part[2] == "C"), ibis.cases(*no_event)),
            else_=_UNKNOWN,
        ),
    )  # fmt: skip
    lines = parsed_once(backend, lines.mutate(session=part[0], part3=part[3]).drop("part"))
    valid = lines.filter(lines.reason.isnull())
    lists, clicks = valid.filter(valid.kind == "Q"), valid.filter(valid.kind == "C")
    lists, clicks = lists.mutate(query=lists.part3), clicks.mutate(document=clicks.part3)
    return YANDEX_2012.log(lists, clicks, rejected_lines(lines, str(file.path)), settings)


def _read_2014(backend: Backend, files: Sequence[LogFile], settings: ReadingSettings) -> Log:
    """Test queries, T in place of Q, are lists too."""
    (file,) = files
    lines = backend.lines(file.path)
    described = backend.once(_described(_parsed_2014(lines.filter(lines.line.contains("\tM\t")), file)))
    lines = _parsed_2014(lines, file).left_join(described, "session").drop("session_right")
    about = lines.kind == "M"
    lines = lines.mutate(
        reason=ibis.cases(
            (lines.reason.notnull() | about, lines.reason),
            (lines.same.isnull(), "belongs to a session without a line M"),
            (~lines.same, "belongs to a session that is described in two ways"),
        )
    )
    lines = parsed_once(backend, lines.filter(~about | lines.reason.notnull()).drop("part2", "same"))
    valid = lines.filter(lines.reason.isnull())
    lists, clicks = valid.filter(valid.kind == "Q"), valid.filter(valid.kind == "C")
    lists = lists.mutate(list=lists.part3, query=lists.part4, terms=lists.part5.split(","))
    clicks = clicks.mutate(list=clicks.part3, document=clicks.part4)
    return YANDEX_2014.log(lists, clicks, rejected_lines(lines, str(file.path)), settings)


def _parsed_2014(lines: IbisTable, file: LogFile) -> IbisTable:
    """What each line says by itself, or the reason why it says nothing."""
    lines = _parts(lines)
    part, count = lines.part, lines.part.length()
    is_list = (count >= 7) & part[2].isin(["Q", "T"])
    pairs = part[6:].map(lambda pair: pair.split(","))
    documents, domains = (pairs.map(lambda pair, side=side: pair[side]) for side in (0, 1))
    no_event = (
        (_integer(part[1]).isnull(), _TIME),
        ((part[0] == "") | (part[3] == "") | (part[4] == ""), "has an empty id"),
    )
    reason = ibis.cases(
        (lines.line == (file.unfinished or ""), _UNFINISHED),
        ((count == 4) & (part[1] == "M"), ibis.cases(
            (_integer(part[2]).isnull(), "has a day that is not a whole number below 10^15"),
            ((part[0] == "") | (part[3] == ""), "has an empty id"),
        )),
        (is_list, ibis.cases(
            *no_event,
            (pairs.filter(lambda pair: (pair.length() != 2) | (pair[0] == "") | (pair[1] == "")).length() > 0,
             "has a result that is not URL,domain"),
        )),
        ((count == 5) & (part[2] == "C"), ibis.cases(*no_event)),
        else_=_UNKNOWN,
    )  # fmt: skip
    return lines.select(
        "number", "line", reason=reason, session=part[0], time=_integer(part[1]), documents=documents, domains=domains,
        kind=ibis.cases((part[1] == "M", "M"), (is_list, "Q"), else_=part[2]),
        **{f"part{place}": part[place] for place in (2, 3, 4, 5)},
    )  # fmt: skip


def _described(lines: IbisTable) -> IbisTable:
    """The user and day of each session that has a line M.

    A session that is described in two ways belongs to nobody; one that is described twice alike, to one user.
    """
    lines = lines.filter(lines.reason.isnull() & (lines.kind == "M"))
    day, user = lines.part2, lines.part3
    return lines.group_by("session").aggregate(
        user=user.max(), day=_integer(day).max(), same=(user.max() == user.min()) & (day.max() == day.min())
    )


def _parts(lines: IbisTable) -> IbisTable:
    """Lines and their parts; tabs at the end of a line, which pad it to a width, are dropped."""
    lines = lines.mutate(line=lines.line.re_replace(r"\r$", ""))
    return lines.mutate(part=lines.line.re_replace(r"[\t ]+$", "").split("\t"))


def _integer(text: IbisTable) -> IbisTable:
    """The integer that a text is, null where it is none."""
    return ibis.cases((text.re_search(DIGITS_PATTERN), text), else_=ibis.null()).try_cast("int64")


YANDEX_2012 = LogLayout(name="yandex2012", recognizes=_is_2012, read=_read_2012, shared_clock=None)
YANDEX_2014 = LogLayout(
    name="yandex2014",
    recognizes=_is_2014,
    read=_read_2014,
    unit=1.0,
    shared_clock="day",
    linked=True,
    has_users=True,
    has_domains=True,
    has_terms=True,
    one_user_per_session=True,
    default_labels="grades",
)
