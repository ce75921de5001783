"""What was known of a result when it was shown: features from events strictly before the list's.

Counts go by keys: the same document, domain, or query and document; before in this session (`session_…`, by the
session's time) or for this user (`user_…`, by the clock that all sessions share; of the 2014 challenge only the day is
known there, so that a user's other sessions of the same day count neither as earlier nor as later). Each result is
counted once for each of: shown, clicked, satisfied, skipped (passed over: a lower result was clicked first).

Every event has two times: `session_time`, its own within the session, and `shared_time`, by the clock that all sessions
share: the same, or the day where only that is known.

That a click satisfied is known once its dwell has reached the threshold without another event; not before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from surefoot.clicks.impressions import Impressions
from surefoot.clicks.log import IbisTable, Log, ibis, union

if TYPE_CHECKING:
    from surefoot.clicks.events import LogFacts

KINDS = ("shown", "clicked", "satisfied", "skipped")
# What a row of the table is of, and its labels.
ROW_COLUMNS = ("impression", "session", "user", "query", "document", "position", "day", "time", "grade", "last")
_KEYS = {"document": ("document",), "domain": ("domain",), "pair": ("query", "document")}
POSITIONS_TOLD_APART = 1000  # positions that are told apart in one number with a time
ROUNDED_DIGITS = 6  # of what is not a count: backends add up in different orders


def catalogue(log: Log | LogFacts) -> dict[str, str]:
    """The features that a log can have, in the order of the table's columns, and what each says."""
    features = {"position": "the position that the result was shown at"}
    if log.scores:
        features["score"] = "the score that it was shown with"
    called = {"document": "the document", "domain": "the document's domain", "pair": "the document for this query"}
    for scope, _, _, before in _scopes(log):
        for key, what in called.items():
            if key != "domain" or log.domains:
                features |= {f"{scope}_{key}_{kind}": f"how often {what} was {kind} before {before}" for kind in KINDS}
        features |= {
            f"{scope}_lists": f"lists shown before {before}",
            f"{scope}_clicks": f"results clicked before {before}",
            f"{scope}_query_lists": f"lists shown for this query before {before}",
            f"{scope}_query_clicks": f"results clicked for this query before {before}",
        }
    features |= {
        "last_click_position": "the position of the session's last click before the list",
        "last_click_age": "seconds since then",
        "session_age": "seconds since the session's first list",
        "previous_query": "1 where the session's list before was for the same query",
    }
    if log.terms:
        features["term_overlap"] = "the share of terms in common with the session's query before"
    if log.shared_clock:
        features |= {
            "query_lists": "lists shown for this query before, to anybody",
            "query_clicks": "results clicked for this query before, by anybody",
            "query_entropy": "the entropy of those clicks over documents, in bits",
            "pair_clicked": "how often anybody clicked the document for this query before",
            "pair_satisfied": "how often it satisfied anybody for this query before",
            "document_clicked": "how often anybody clicked the document before",
            "document_entropy": "the entropy of those clicks over users, or sessions, in bits",
            "least_entropy": "the least document_entropy in the list of documents that were clicked before",
        }
    return features


def _scopes(log: Log | LogFacts) -> list[tuple[str, tuple[str, ...], str, str]]:
    """Whose events are counted: a name, the columns whose values they share, the column of their time, and in words."""
    session = ("session", ("session",), "session_time", "in this session")
    user = ("user", ("user", "nobody"), "shared_time", "by or to this user")
    return [session, user] if log.users and log.shared_clock else [session]


def _nobody(table: IbisTable) -> IbisTable:
    """The session of events of no known user, each of which counts as a user of its own; null where one is known."""
    return table.user.isnull().ifelse(table.session, ibis.null("string"))


def personal(log: Log, impressions: Impressions) -> IbisTable:
    """Results of some users, or sessions, with the features that these alone decide."""
    stream = _stream(log, impressions.results)
    for scope, owner, time_column, _ in _scopes(log):
        for key, columns in _KEYS.items():
            if key != "domain" or log.domains:
                stream = _with_counts(
                    stream, [*owner, *columns], time_column, {f"{scope}_{key}_{kind}": kind for kind in KINDS}
                )
    rows = stream.filter(stream.shown == 1).drop(*KINDS, "nobody", "session_time", "shared_time")
    for lists in (_list_features(log, impressions), _activity(log, impressions)):
        rows = rows.left_join(lists, "impression").drop("impression_right")
    return rows


def _activity(log: Log, impressions: Impressions) -> IbisTable:
    """How much was shown and clicked before a list, in all and for its query."""
    lists, results = impressions.lists, impressions.results
    clicked = results.filter(results.clicked_at.notnull())
    kinds = {
        "listed": (lists, lists.time, lists.impression),
        "clicked": (clicked, clicked.clicked_at, ibis.null("string")),
    }
    parts = [
        table.select(
            "session", "user", "query", nobody=_nobody(table), impression=impression, session_time=time,
            shared_time=table.day if log.shared_clock == "day" else time,
            **{name: ibis.literal(int(name == kind)) for name in kinds},
        )
        for kind, (table, time, impression) in kinds.items()
    ]  # fmt: skip
    stream = union(parts)
    names: list[str] = []
    for scope, owner, time_column, _ in _scopes(log):
        for what, keys in (("", owner), ("query_", (*owner, "query"))):
            sums = {f"{scope}_{what}lists": "listed", f"{scope}_{what}clicks": "clicked"}
            stream, names = _with_counts(stream, keys, time_column, sums), [*names, *sums]
    return stream.filter(stream.listed == 1).select("impression", *names)


def _stream(log: Log, results: IbisTable) -> IbisTable:
    """Every result as it was shown, and as events of their own when it was clicked, satisfied and skipped."""
    keys = ["impression", "session", "user", "query", "document", "domain", "position"]
    values = ["grade", "last", "score", "time", "day", "clicked_at"]
    times = {"shown": "time", "clicked": "clicked_at", "satisfied": "satisfied_at", "skipped": "skipped_at"}
    parts = []
    for kind, time in times.items():
        rows = results.filter(results[time].notnull())
        shared_time = rows.day if log.shared_clock == "day" else rows[time]
        parts.append(
            rows.select(
                *keys, *values, nobody=_nobody(rows), session_time=rows[time], shared_time=shared_time,
                **{name: ibis.literal(int(name == kind)) for name in KINDS},
            )
        )  # fmt: skip
    return union(parts)


def _with_counts(stream: IbisTable, keys: Sequence[str], time_column: str, sums: dict[str, str]) -> IbisTable:
    """How many events of the same keys came strictly before; `sums` says of which kind, by new column."""
    before = ibis.range_window(preceding=(None, 1), group_by=list(keys), order_by=time_column)
    return stream.mutate(**{name: stream[kind].sum().over(before).fill_null(0) for name, kind in sums.items()})


def _list_features(log: Log, impressions: Impressions) -> IbisTable:
    """What is known of a list as a whole within its session."""
    lists, clicks = impressions.lists, impressions.clicks
    of_query = ["impression", "query", *(["terms"] if log.terms else [])]
    before = ibis.range_window(preceding=(None, 1), group_by="session", order_by="time")
    events = lists.select(
        "session", "time", *of_query, place=lists.place, position=ibis.null("int64"), clicked=ibis.null("int64")
    ).union(
        clicks.select(
            "session", "time", **{name: ibis.null(lists[name].type()) for name in of_query}, place=ibis.null("int64"),
            position=clicks.position, clicked=clicks.time,
        ),
        distinct=False,
    )  # fmt: skip
    # The last click's time and position in one number; of clicks at one time the lowest counts.
    code = events.clicked * POSITIONS_TOLD_APART + events.position.clip(upper=POSITIONS_TOLD_APART - 1)
    events = events.mutate(
        code=code.max().over(before), first=events.time.min().over(before), former=events.place.max().over(before)
    )
    rows = events.filter(events.impression.notnull()).mutate(former=lambda t: t.former.cast("int64"))
    former = lists.select(
        "session", former=lists.place.cast("int64"), **{f"old_{name}": lists[name] for name in of_query[1:]}
    )
    rows = rows.left_join(former, ["session", "former"])
    overlap = {}
    if log.terms:
        # Of a term that a query has twice, DuckDB's intersection has two.
        common = rows.terms.unique().intersect(rows.old_terms.unique()).length()
        every = rows.terms.union(rows.old_terms).length()
        overlap["term_overlap"] = (common / every).round(ROUNDED_DIGITS).fill_null(0.0)
    return rows.select(
        "impression",
        last_click_position=(rows.code % POSITIONS_TOLD_APART).fill_null(0),
        last_click_age=((rows.time - rows.code // POSITIONS_TOLD_APART) * log.seconds).round(ROUNDED_DIGITS),
        session_age=((rows.time - rows.first) * log.seconds).round(ROUNDED_DIGITS).fill_null(0.0),
        previous_query=(rows.query == rows.old_query).fill_null(False).cast("int64"),
        **overlap,
    )


def population(log: Log, results: IbisTable, also: Sequence[str] = ()) -> tuple[IbisTable, IbisTable]:
    """What everybody did before: a row for each list, and one for each result whose document was ever clicked.

    `also` are columns of the results that the rows keep.
    """
    day = log.shared_clock == "day"
    shown_results = results.mutate(shared_time=results.day if day else results.time)
    clicked = results.filter(results.clicked_at.notnull())
    clicked = clicked.mutate(shared_time=clicked.day if day else clicked.clicked_at, nobody=_nobody(clicked))
    return _query_features(shown_results, clicked, also), _document_features(shown_results, clicked, also, day=day)


def _query_features(shown_results: IbisTable, clicked: IbisTable, also: Sequence[str]) -> IbisTable:
    no_event, one_event = ibis.literal(0), ibis.literal(1)
    lists = shown_results.filter(shown_results.position == 1).mutate(
        shown=one_event, clicked=no_event, step=ibis.literal(0.0)
    )
    clicks = clicked.mutate(
        impression=ibis.null("string"), shown=no_event, clicked=one_event, step=_entropy_step(["query", "document"])
    )
    columns = ["impression", "query", "shared_time", "shown", "clicked", "step", *also]
    stream = lists.select(*columns).union(clicks.select(*columns), distinct=False)
    stream = _with_counts(
        stream, ["query"], "shared_time", {"query_lists": "shown", "query_clicks": "clicked", "steps": "step"}
    )
    rows = stream.filter(stream.impression.notnull())
    entropy = _entropy(rows.query_clicks, rows.steps)
    return rows.select("impression", *also, "query_lists", "query_clicks", query_entropy=entropy)


def _document_features(shown_results: IbisTable, clicked: IbisTable, also: Sequence[str], *, day: bool) -> IbisTable:
    known = clicked.select("document").distinct()
    no_event, one_event, no_step = ibis.literal(0), ibis.literal(1), ibis.literal(0.0)
    columns = ["impression", "query", "document", "shared_time", "clicked", "satisfied", "step", *also]
    probes = shown_results.semi_join(known, "document").mutate(clicked=no_event, satisfied=no_event, step=no_step)
    clicks = clicked.mutate(
        impression=ibis.null("string"),
        clicked=one_event,
        satisfied=no_event,
        step=_entropy_step(["document", "user", "nobody"]),
    )
    satisfied = clicked.filter(clicked.satisfied_at.notnull())
    satisfied = satisfied.mutate(
        impression=ibis.null("string"), shared_time=satisfied.day if day else satisfied.satisfied_at, clicked=no_event,
        satisfied=one_event, step=no_step,
    )  # fmt: skip
    stream = probes.select(*columns).union(clicks.select(*columns), satisfied.select(*columns), distinct=False)
    stream = _with_counts(
        stream, ["query", "document"], "shared_time", {"pair_clicked": "clicked", "pair_satisfied": "satisfied"}
    )
    stream = _with_counts(stream, ["document"], "shared_time", {"document_clicked": "clicked", "steps": "step"})
    rows = stream.filter(stream.impression.notnull())
    return rows.select(
        "impression", *also, "document", "pair_clicked", "pair_satisfied", "document_clicked",
        document_entropy=_entropy(rows.document_clicked, rows.steps),
    )  # fmt: skip


def _entropy_step(keys: list[str]) -> IbisTable:
    """What each click adds to Σ n·log₂ n, where n counts the clicks of one document, or one user."""
    n = 1 + ibis.row_number().over(group_by=keys, order_by="shared_time")
    before = (n > 1).ifelse((n - 1) * (n - 1).nullif(0).log2(), 0.0)
    return n * n.log2() - before


def _entropy(clicks: IbisTable, steps: IbisTable) -> IbisTable:
    """H = log₂ N − Σ n·log₂ n / N, of N clicks; 0 where there are none."""
    entropy = clicks.nullif(0).log2() - steps / clicks.nullif(0)
    return entropy.round(ROUNDED_DIGITS).clip(lower=0.0).fill_null(0.0)


def with_population(rows: IbisTable, by_list: IbisTable, by_result: IbisTable) -> IbisTable:
    """Results with what everybody did before beside what one did."""
    rows = rows.left_join(by_list, "impression").drop("impression_right")
    rows = rows.left_join(by_result, ["impression", "document"]).drop("impression_right", "document_right")
    known = by_result.filter(by_result.document_clicked > 0)
    least = known.group_by("impression").aggregate(least_entropy=known.document_entropy.min())
    rows = rows.left_join(least, "impression").drop("impression_right")
    return rows.mutate(
        **{name: rows[name].fill_null(0) for name in ("pair_clicked", "pair_satisfied", "document_clicked")},
        document_entropy=rows.document_entropy.fill_null(0.0),
    )


def table(log: Log, rows: IbisTable) -> IbisTable:
    """The columns of the table of features: what a row is of, its labels, then the features as 32-bit floats."""
    names = [name for name in catalogue(log) if name != "position"]
    return rows.select(
        *ROW_COLUMNS, clicked=rows.clicked_at.notnull(), **{name: rows[name].cast("float32") for name in names}
    )
