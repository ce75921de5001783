"""A table of features as data to learn from: lists with a satisfied click, split into three parts; those to look at."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from surefoot.arrays import Floats, Ints
from surefoot.clicks.feature_pipeline import FeatureTable
from surefoot.data.hashes import share_of
from surefoot.data.reading.files import read_json
from surefoot.data.types.data_parts import DrawnLists
from surefoot.data.types.ranking_data import RankingData
from surefoot.errors import ArgumentError, DataError, did_you_mean, expecting, shortened
from surefoot.learn.measured_queries import PARTS
from surefoot.personal.options import LABEL_MEASURES, RESULT, SAMPLE, SHARES, SPLITS
from surefoot.progress import busy
from surefoot.risk.assessment_data import Json

SHOWN_ORDER = "shown order"  # what the baseline is called
_ABOUT_RESULTS = ("impression", "session", "query", "document", "clicked", "grade")
_LISTED = 20  # names in a message
_SESSIONS = 150  # that are shown: a page that can be sent round
_LISTS = 20  # of one session


@dataclass(frozen=True)
class ShownLists:
    """A part of the lists: what rankers learn from, whose labels are clicks, and what happened on each."""

    data: RankingData
    about: pl.DataFrame  # a row for each result: impression, session, query, document, clicked, grade

    @property
    def least_entropy(self) -> Floats:
        """The entropy of each list's most particular document; infinite where none was ever clicked."""
        names = self.data.feature_names or ()
        if "least_entropy" not in names:
            return np.full(len(self.data.queries), np.inf)
        column = self.data.X[self.data.offsets[:-1], names.index("least_entropy")].astype(np.float64)
        return np.where(np.isnan(column), np.inf, column)


def read_lists(
    table: FeatureTable,
    *,
    labels: str = "satisfied",
    split: str | None = None,
    sample: int | None = None,
    seed: int = 0,
) -> dict[str, ShownLists]:
    """Training, validation and test lists, those that have a satisfied click.

    `labels` are "satisfied" (1 where a click satisfied), "grades" (the highest of each result's clicks) or "last" (the
    last satisfied click alone). Lists are split by "user", "session" or "time"; by default by user if the
    log has users. At most `sample` lists are taken, drawn by their names.
    """
    check_known("are no labels", labels, LABEL_MEASURES)
    by = split or ("user" if table.users else "session")
    check_known("is no split by", by, SPLITS)
    if by == "time" and table.clock is None:
        raise ArgumentError("the sessions of the log do not share one clock; split by session")
    if by == "user" and not table.users:
        raise ArgumentError("the log has no users; split by session or time")
    with busy("Loading lists"):
        rows = table.scan()
        label = {"satisfied": pl.col("grade") > 0, "grades": pl.col("grade"), "last": pl.col("last")}[labels]
        rows = rows.with_columns(label=label.cast(pl.Float64))
        lists = rows.group_by("impression").agg(
            pl.col("session", "user", "day", "time").first(), satisfied=(pl.col("label") > 0).any()
        )
        selected = lists.filter(pl.col("satisfied")).sort("impression").collect()
        selected = _sample(selected, sample, seed)
        part = _split(selected, table, by, seed)
        selected = selected.select("impression", part=part)
        results = rows.join(selected.lazy(), on="impression").sort("impression", "position").collect()
    result = {}
    for number, name in enumerate(PARTS):
        own = results.filter(pl.col("part") == number)
        if not len(own):
            raise DataError(
                f"no list of the {name} part has a satisfied click: {len(selected):,} lists in all, split by {by}; "
                "give a larger log, or split in another way"
            )
        sizes = own.group_by("impression", maintain_order=True).len()
        data = RankingData.from_queries(
            np.ascontiguousarray(own.select(pl.col(table.names).cast(pl.Float32)).to_numpy(), dtype=np.float32),
            own["label"].to_numpy(), sizes["impression"].to_list(), sizes["len"].to_numpy(),
            baselines={SHOWN_ORDER: -own["position"].to_numpy().astype(np.float64)}, feature_names=table.names,
        )  # fmt: skip
        result[name] = ShownLists(data, own.select(_ABOUT_RESULTS))
    return result


def check_known(there: str, name: str, known: Collection[str]) -> None:
    """Reject a name that is none of the known; `there` says what there is not, as "is no split by"."""
    if name not in known:
        listed = [*list(known)[:_LISTED], *(["…"] if len(known) > _LISTED else [])]
        raise ArgumentError(
            f"there {there} {shortened(name)}{did_you_mean(name, known) or '.'} Choose one of: {', '.join(listed)}"
        )


def _sample(lists: pl.DataFrame, sample: int | None, seed: int) -> pl.DataFrame:
    if sample is None or len(lists) <= sample:
        return lists
    drawn = np.argsort(_shares(lists["impression"], seed, "sample"), kind="stable")[:sample]
    return lists[np.sort(drawn)]


def _split(lists: pl.DataFrame, table: FeatureTable, by: str, seed: int) -> pl.Series:
    """0, 1 or 2 for each list: to train, validate or test with."""
    if by == "time":
        when = lists["day" if table.clock == "day" else "time"].to_numpy()
        cuts = np.quantile(when, np.cumsum(SHARES)[:-1], method="higher")
        return pl.Series("part", np.searchsorted(cuts, when, side="right"))
    shares = _shares(lists[by], seed, "split")
    return pl.Series("part", np.searchsorted(np.cumsum(SHARES)[:-1], shares, side="right"))


def _shares(names: pl.Series, seed: int, draw: str) -> Floats:
    shares = {name: share_of(name, seed, draw) for name in names.unique().to_list()}
    return np.asarray(names.replace_strict(shares, return_dtype=pl.Float64).to_numpy())


def example_sessions(lists: ShownLists, models: Mapping[str, Floats], most: int = _SESSIONS) -> list[Json]:
    """Test sessions in which models differ, and some in which they do not, in the order of their names.

    Each list has what was shown, clicked and satisfied, what was known of each result (features that are not 0 and
    differ within the list), and each model's order as places in the shown list.
    """
    data = lists.data
    orders = {name: _orders(data.offsets, scores) for name, scores in models.items()}
    shown_order = np.arange(len(data))
    moved = np.zeros(len(data.queries), dtype=bool)
    for order in orders.values():
        moved |= np.add.reduceat((order != shown_order).astype(int), data.offsets[:-1]) > 0
    session = lists.about["session"].gather(data.offsets[:-1]).to_list()
    with_moves = list(dict.fromkeys(name for name, is_moved in zip(session, moved, strict=True) if is_moved))
    others = list(dict.fromkeys(name for name, is_moved in zip(session, moved, strict=True) if not is_moved))
    unmoved = [name for name in others if name not in set(with_moves)]
    selected = with_moves[: most * 4 // 5]
    selected += unmoved[: most - len(selected)]
    list_numbers: dict[str, list[int]] = {name: [] for name in selected}
    for number, name in enumerate(session):
        if name in list_numbers:
            list_numbers[name].append(number)
    return [
        {"session": name, "lists": [_list(lists, number, orders) for number in numbers[:_LISTS]]}
        for name, numbers in list_numbers.items()
    ]


def _list(lists: ShownLists, number: int, orders: Mapping[str, Ints]) -> Json:
    first, last = int(lists.data.offsets[number]), int(lists.data.offsets[number + 1])
    about = lists.about[first:last]
    names = lists.data.feature_names or ()
    rows = np.nan_to_num(lists.data.X[first:last])
    differing = [column for column in np.flatnonzero(np.ptp(rows, axis=0)).tolist() if names[column] != "position"]
    known = [{names[column]: round(float(row[column]), 3) for column in differing if row[column]} for row in rows]
    return {
        "impression": lists.data.queries[number], "query": about["query"][0], "documents": about["document"].to_list(),
        "clicked": about["clicked"].to_list(), "grade": about["grade"].to_list(), "known": known,
        "orders": {name: (order[first:last] - first).tolist() for name, order in orders.items()},
    }  # fmt: skip


def _orders(offsets: Ints, scores: Floats) -> Ints:
    """Rows in the order of their scores, descending, within each list; equal scores keep the shown order."""
    query = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return np.lexsort((-scores, query))


@dataclass(frozen=True)
class LaterLists:
    """`valid`: the days that chose the model, for a guard's scorer. `later`: those after, one list per user."""

    valid: RankingData
    later: DrawnLists


def later_lists(study: str | os.PathLike[str], *, sample: int | None = SAMPLE, seed: int = 0) -> LaterLists:
    """The later days of a study that was split by time: one list of each user, of days that its models never saw.

    Lists of one user are not independent: who likes one re-ranked list is likely to like the next. So the unit is the
    user. `sample` is the study's, `seed` draws each user's list.

    Lists without a satisfied click are not among them, as in the study: nothing can be said of them.
    """
    home = Path(study)
    result = read_json(home / RESULT)
    with expecting("the result of a study", home / RESULT, "make the study again"):
        labels, split, stored = result["labels"], result["split"], dict(result["lists"])
        split_seed = int(result["ranker"]["random_state"])
    if split != "time":
        raise ArgumentError(
            f"the study was split by {split}, so its models learned from all days; a guarantee needs days that come "
            "later: make the study with --split time"
        )
    table = FeatureTable.read(home)
    lists = read_lists(table, labels=labels, split=split, sample=sample, seed=split_seed)
    if {part: len(lists[part].data.queries) for part in PARTS} != stored:
        raise DataError.at(home, None, "was made with another sample of lists; give its sample")
    unit = "user" if table.users else "session"
    test = lists["test"].data
    who = table.scan().select("impression", "session", "user").unique("impression").collect()
    # A session of nobody known is a user of its own, as it is for the features.
    owner = pl.coalesce("u" + pl.col("user"), "s" + pl.col("session")) if unit == "user" else pl.col("session")
    names = pl.DataFrame({"impression": list(test.queries)})
    owners = names.join(who.select("impression", owner=owner), on="impression", how="left", maintain_order="left")
    return LaterLists(lists["valid"].data, DrawnLists.one_per(unit, test, owners["owner"], seed))
