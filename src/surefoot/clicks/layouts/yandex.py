r"""The lines of Yandex's two challenges, whose parts have tabs between them.

2012 (Relevance Prediction):   SessionID Time Q QueryID RegionID URL …       SessionID Time C URL
2014 (Personalized Web Search):  SessionID M Day UserID
                               SessionID Time Q SERPID QueryID Term,… URL,Domain …
                               SessionID Time C SERPID URL
"""

from __future__ import annotations

from surefoot.clicks.backends import Engine
from surefoot.clicks.expressions import Table, ibis
from surefoot.clicks.log import CLICKS, DIGITS, LISTS, Log, of_schema, rejected
from surefoot.clicks.log_files import LogFile

_UNFINISHED = "is the last line and has no end"
_UNKNOWN = "is none of the layout's lines"
_TIME = "has a time that is no whole number below 10^15"


def read_2012(engine: Engine, file: LogFile, seconds: float, clock: str | None) -> Log:
    """A log of the challenge of 2012."""
    lines = _parts(engine, file)
    part, count = lines.part, lines.part.length()
    documents = part[5:]
    lines = lines.mutate(
        kind=part[2], time=_whole(part[1]), documents=documents,
        reason=ibis.cases(
            (lines.line == (file.unfinished or ""), _UNFINISHED),
            ((count >= 6) & (part[2] == "Q"), ibis.cases(
                (_whole(part[1]).isnull(), _TIME),
                ((part[0] == "") | (part[3] == ""), "has an empty id"),
                (documents.contains(""), "has an empty URL"),
            )),
            ((count == 4) & (part[2] == "C"), ibis.cases(
                (_whole(part[1]).isnull(), _TIME), ((part[0] == "") | (part[3] == ""), "has an empty id"),
            )),
            else_=_UNKNOWN,
        ),
    )  # fmt: skip
    right = lines.filter(lines.reason.isnull()).mutate(session=lines.part[0])
    lists, clicks = right.filter(right.kind == "Q"), right.filter(right.kind == "C")
    return Log(
        of_schema(lists.mutate(query=lists.part[3]), LISTS),
        of_schema(clicks.mutate(document=clicks.part[3]), CLICKS),
        rejected(lines, str(file.path)),
        clock, seconds, linked=False, users=False, domains=False, terms=False, scores=False,
    )  # fmt: skip


def read_2014(engine: Engine, file: LogFile, seconds: float) -> Log:
    """A log of the challenge of 2014; its test queries, T in place of Q, are lists too."""
    lines = _parts(engine, file)
    part, count = lines.part, lines.part.length()
    shown = (count >= 7) & part[2].isin(["Q", "T"])
    pairs = part[6:]
    documents, domains = (pairs.map(lambda pair, side=side: pair.split(",")[side]) for side in (0, 1))
    lines = lines.mutate(
        kind=ibis.cases((part[1] == "M", "M"), (shown, "Q"), else_=part[2]),
        time=_whole(part[1]), documents=documents, domains=domains,
        reason=ibis.cases(
            (lines.line == (file.unfinished or ""), _UNFINISHED),
            ((count == 4) & (part[1] == "M"), ibis.cases(
                (_whole(part[2]).isnull(), "has a day that is no whole number below 10^15"),
                ((part[0] == "") | (part[3] == ""), "has an empty id"),
            )),
            (shown, ibis.cases(
                (_whole(part[1]).isnull(), _TIME),
                ((part[0] == "") | (part[3] == "") | (part[4] == ""), "has an empty id"),
                (pairs.filter(lambda pair: ~pair.re_search(r"^[^,]+,[^,]+$")).length() > 0,
                 "has a result that is not URL,domain"),
            )),
            ((count == 5) & (part[2] == "C"), ibis.cases(
                (_whole(part[1]).isnull(), _TIME),
                ((part[0] == "") | (part[3] == "") | (part[4] == ""), "has an empty id"),
            )),
            else_=_UNKNOWN,
        ),
    )  # fmt: skip
    right = lines.filter(lines.reason.isnull()).mutate(session=lines.part[0])
    described = right.filter(right.kind == "M")
    # A session that is described in two ways belongs to nobody; one that is described twice alike, to one user.
    day, user = described.part[2], described.part[3]
    described = described.group_by("session").aggregate(
        user=user.max(), day=_whole(day).max(), same=(user.max() == user.min()) & (day.max() == day.min())
    )
    events = right.filter(right.kind != "M").left_join(described, "session").drop("session_right")
    events = events.mutate(
        reason=ibis.cases(
            (events.same.isnull(), "is of a session without a line M"),
            (~events.same, "is of a session that is described in two ways"),
        )
    )
    kept = events.filter(events.reason.isnull())
    lists, clicks = kept.filter(kept.kind == "Q"), kept.filter(kept.kind == "C")
    wrong = rejected(lines, str(file.path)).union(rejected(events, str(file.path)), distinct=False)
    lists = lists.mutate(list=lists.part[3], query=lists.part[4], terms=lists.part[5].split(","))
    return Log(
        of_schema(lists, LISTS),
        of_schema(clicks.mutate(list=clicks.part[3], document=clicks.part[4]), CLICKS),
        wrong,
        "day", seconds, linked=True, users=True, domains=True, terms=True, scores=False,
    )  # fmt: skip


def _parts(engine: Engine, file: LogFile) -> Table:
    """Lines and their parts; tabs at the end of a line, which pad it to a width, are dropped."""
    lines = engine.lines(file.path)
    lines = lines.mutate(line=lines.line.re_replace(r"\r$", ""))
    return lines.mutate(part=lines.line.re_replace(r"[\t ]+$", "").split("\t"))


def _whole(text: Table) -> Table:
    """The whole number that a text is, null where it is none."""
    return ibis.cases((text.re_search(DIGITS), text), else_=ibis.null()).try_cast("int64")
