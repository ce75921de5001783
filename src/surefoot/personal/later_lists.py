"""The later days of a study's log, to guard a personal ranker with: one list of each user, of days it never saw.

Lists of one user are not independent: who likes one re-ranked list is likely to like the next. So the unit is the user.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from surefoot.clicks.feature_pipeline import FeatureTable
from surefoot.data.reading.files import read_json
from surefoot.data.types.data_parts import DrawnLists
from surefoot.data.types.ranking_data import RankingData
from surefoot.errors import ArgumentError, DataError, expecting
from surefoot.learn.measured_queries import PARTS
from surefoot.personal.lists import read_lists
from surefoot.personal.options import RESULT, SAMPLE


@dataclass(frozen=True)
class LaterLists:
    """`valid`: the days that chose the model, for a guard's scorer. `later`: those after, one list per user."""

    valid: RankingData
    later: DrawnLists


def later_lists(study: str | os.PathLike[str], *, sample: int | None = SAMPLE, seed: int = 0) -> LaterLists:
    """The later days of a study that was split by time; `sample` is the study's, `seed` draws each user's list.

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
