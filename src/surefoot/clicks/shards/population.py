"""What everybody did before, for the results of a shard: the counts of `features.population`, by sorted events.

Clicks are few beside results, and so are lists: those of the whole log are sorted once, as numbers, and the results of
one shard after the other look back at them.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from surefoot.arrays import Floats, Ints
from surefoot.clicks.features import ROUNDED_DIGITS
from surefoot.clicks.shards.counting import (
    EventIndex,
    KeyTimes,
    begins,
    codes_of,
    feature,
    first_rows,
    joint_codes,
    places_of,
    ranks,
    rounded,
    segment_starts,
    sorting_order,
)
from surefoot.clicks.shards.personal import Columns, ShardEvents


class _Names:
    """Texts of the whole log as numbers."""

    def __init__(self, texts: pl.Series) -> None:
        self._table = pl.DataFrame({"text": texts.unique()}).with_row_index("code")

    def __len__(self) -> int:
        return len(self._table)

    def find(self, texts: pl.Series) -> Ints:
        """The number of each text, −1 for one that is unknown."""
        found = pl.DataFrame({"text": texts}).join(self._table, on="text", how="left", maintain_order="left")
        return found["code"].cast(pl.Int64).fill_null(-1).to_numpy()


class Population:
    """The lists and clicks of everybody.

    `lists`: query and when. `clicked`: query, document, owner (a user, or a session of nobody known), when it was
    clicked and when it was known to have satisfied; times by the clock that all sessions share.
    """

    def __init__(self, lists: pl.DataFrame, clicked: pl.DataFrame) -> None:
        self._queries, self._documents = _Names(lists["query"]), _Names(clicked["document"])
        query, document = self._queries.find(clicked["query"]), self._documents.find(clicked["document"])
        [owner] = codes_of(clicked["owner"])
        at, satisfied = clicked["clicked"].to_numpy(), clicked["satisfied"].is_not_null().to_numpy()
        pairs = query * len(self._documents) + document
        self._pairs, pair = pl.Series(pairs).unique().sort().to_numpy(), ranks(pairs)
        self._query_lists = EventIndex(self._queries.find(lists["query"]), lists["shown"].to_numpy())
        self._query_clicks = EventIndex(query, at, _entropy_steps(pair, at))
        self._pair_clicked = EventIndex(pair, at)
        self._pair_satisfied = EventIndex(pair[satisfied], clicked["satisfied"].drop_nulls().to_numpy())
        self._document_clicked = EventIndex(document, at, _entropy_steps(ranks(joint_codes(document, owner)), at))

    def features(self, events: ShardEvents) -> Columns:
        """What everybody did before each result of a shard."""
        list_times = events.list_times(shared=True)
        query = self._queries.find(events.lists["query"])
        shown, _ = self._query_lists.before(query, list_times)
        clicks, steps = self._query_clicks.before(query, list_times)
        by_list = {
            "query_lists": feature(shown),
            "query_clicks": feature(clicks),
            "query_entropy": feature(entropy_of(clicks, steps)),
        }
        document = self._documents.find(events.results["document"].gather(first_rows(events.document)))[events.document]
        times = list_times[events.list_of_row]
        first = first_rows(events.pair)
        pair = self._pair(query[events.list_of_row[first]], document[first])[events.pair]
        clicked, steps = self._document_clicked.before(document, times)
        entropy = entropy_of(clicked, steps)
        least = np.full(len(events.lists), np.inf)
        some = clicked > 0
        np.minimum.at(least, events.list_of_row[some], entropy[some])
        by_list["least_entropy"] = feature(least, np.isfinite(least))
        by_result = {
            "pair_clicked": feature(self._pair_clicked.before(pair, times)[0]),
            "pair_satisfied": feature(self._pair_satisfied.before(pair, times)[0]),
            "document_clicked": feature(clicked),
            "document_entropy": feature(entropy),
        }
        return by_result | events.for_results(by_list)

    def _pair(self, query: Ints, document: Ints) -> Ints:
        """The number of each pair of a query and a document that was clicked, −1 for others."""
        result = np.full(len(query), -1)
        rows = np.flatnonzero((query >= 0) & (document >= 0))
        if len(rows) and len(self._pairs):
            pairs = query[rows] * len(self._documents) + document[rows]
            places = np.minimum(places_of(pairs, self._pairs), len(self._pairs) - 1)
            result[rows] = np.where(self._pairs[places] == pairs, places, -1)
        return result


def _entropy_steps(keys: Ints, times: Ints) -> Floats:
    """What each click adds to Σ n·log₂ n, where n counts the clicks of one key; keys have no gaps."""
    order = sorting_order(KeyTimes(int(keys.max()) + 1 if len(keys) else 0, times).of(keys, times))
    ordinal = np.arange(len(order)) - segment_starts(begins(keys[order]))  # from 0
    n = np.arange(1.0, int(ordinal.max()) + 2 if len(ordinal) else 1)
    step = n * np.log2(n) - (n - 1) * np.log2(np.maximum(n - 1, 1))
    steps = np.empty(len(order))
    steps[order] = step[ordinal]
    return steps


def entropy_of(clicks: Ints, steps: Floats | None) -> Floats:
    """H = log₂ N − Σ n·log₂ n / N, of N clicks; 0 where there are none."""
    n = np.maximum(clicks, 1)
    entropy = rounded(np.log2(n) - (0.0 if steps is None else steps / n), ROUNDED_DIGITS)
    return np.maximum(entropy, 0.0)
