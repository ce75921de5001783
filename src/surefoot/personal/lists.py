"""A table of features as data to learn from: lists with a satisfied click, split into three parts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from surefoot.arrays import Floats
from surefoot.clicks.feature_pipeline import FeatureTable
from surefoot.data.hashes import share_of
from surefoot.data.types.ranking_data import RankingData
from surefoot.errors import ArgumentError, DataError, did_you_mean, shortened
from surefoot.learn.measured_queries import PARTS
from surefoot.personal.options import LABEL_MEASURES, SHARES, SPLITS
from surefoot.progress import busy

SHOWN_ORDER = "shown order"  # what the baseline is called
_ABOUT_RESULTS = ("impression", "session", "query", "document", "clicked", "grade")


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
    if labels not in LABEL_MEASURES:
        raise ArgumentError(
            f"there are no labels {shortened(labels)}{did_you_mean(labels, LABEL_MEASURES) or '.'} Choose one of: "
            f"{', '.join(LABEL_MEASURES)}"
        )
    by = split or ("user" if table.users else "session")
    check_split(by)
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


def check_split(by: str) -> None:
    """Reject what lists cannot be split by."""
    if by not in SPLITS:
        raise ArgumentError(
            f"there is no split by {shortened(by)}{did_you_mean(by, SPLITS) or '.'} Choose one of: {', '.join(SPLITS)}"
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
