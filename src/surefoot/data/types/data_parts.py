"""Sets of labelled documents put one below the other, and one list of each user, drawn at random."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from surefoot.data.hashes import share_of
from surefoot.data.reading.traffic import QueryWeighting
from surefoot.data.types.ranking_data import RankingData
from surefoot.errors import ArgumentError, shortened


def stack(parts: Sequence[RankingData]) -> RankingData:
    """The documents of all parts, one part below the other; a query that goes on from one into the next is one query.

    >>> data = RankingData([[1.0], [2.0], [3.0]], [1, 0, 2], qid=["a", "a", "b"])
    >>> stack([data.select([0]), data.select([1])]).queries
    ('a', 'b')
    """
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    for part in parts:
        if part.n_features != first.n_features or part.feature_names != first.feature_names:
            raise ArgumentError(
                "the parts of the data have different features; all parts must have the same features in the same order"
            )
        if part.categories != first.categories:
            raise ArgumentError(
                "the parts of the data have different categories; all parts must have the same list of categories"
            )
        if list(part.baselines) != list(first.baselines):
            raise ArgumentError(
                "the parts of the data have different baselines; all parts must have the same baselines in the "
                "same order"
            )
    queries: list[str] = []
    lengths: list[int] = []
    for part in parts:
        for query, length in zip(part.queries, part.lengths.tolist(), strict=True):
            if queries and queries[-1] == query:
                lengths[-1] += length
            else:
                queries.append(query)
                lengths.append(length)
    ids = [part.doc_ids for part in parts if part.doc_ids is not None]
    stacked = RankingData.from_queries(
        np.concatenate([part.X for part in parts]),
        np.concatenate([part.y for part in parts]),
        queries,
        lengths,
        doc_ids=pl.concat(ids) if len(ids) == len(parts) else None,
        baselines={name: np.concatenate([part.baselines[name] for part in parts]) for name in first.baselines},
        feature_names=first.feature_names,
    )
    stacked.categories = first.categories
    stacked._weighting = _stacked_weighting(parts)
    return stacked


def _stacked_weighting(parts: Sequence[RankingData]) -> QueryWeighting | None:
    """The weights of all parts' queries; one that goes on into the next part has the same in both."""
    known = [part._weighting for part in parts if part._weighting is not None]
    if len(known) < len(parts):
        if known:
            raise ArgumentError("some parts of the data have weights of queries, others have none; give all or none")
        return None
    weights: list[float] = []
    last = None
    for part, weighting in zip(parts, known, strict=True):
        values = weighting.values.tolist()
        if part.queries[0] == last:
            if values[0] != weights[-1]:
                raise ArgumentError(
                    f"the documents of query {shortened(last)} have different weights, {weights[-1]:g} and "
                    f"{values[0]:g}; all documents of a query need the same"
                )
            values = values[1:]
        weights += values
        last = part.queries[-1]
    left_out = dict.fromkeys(query for weighting in known for query in weighting.left_out)
    return QueryWeighting(np.array(weights), tuple(left_out), known[0].total)


@dataclass(frozen=True)
class DrawnLists:
    """One list of each unit (a user, or a session), drawn by a seed; the other lists of the units are left out."""

    data: RankingData
    unit: str
    left_out: int
    seed: int

    @classmethod
    def one_per(cls, unit: str, data: RankingData, owners: pl.Series, seed: int) -> DrawnLists:
        """Draw one list of each owner; `owners` has that of each list."""
        if len(owners) != len(data.queries) or owners.null_count():
            raise ArgumentError(f"every list must have a {unit}: one list is drawn of each")
        # The order of lists must not matter, only their names.
        order = np.argsort(np.array(data.queries, dtype=object), kind="stable")
        shares = np.array([share_of(name, seed, "one list of each") for name in data.queries])
        drawn = order[np.argsort(shares[order], kind="stable")]
        first = owners.gather(drawn).is_first_distinct().to_numpy()
        chosen = np.sort(drawn[first])
        return cls(data.select(chosen), unit, len(order) - len(chosen), seed)

    def to_dict(self) -> dict[str, str | int]:
        """What a certificate says of it."""
        return {"name": self.unit, "drawn": len(self.data.queries), "left_out": self.left_out, "seed": self.seed}
