"""Lists of which each is of a user of its own, drawn at random: independent, as lists of one user are not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from surefoot.data.hashes import share_of
from surefoot.data.types.ranking_data import RankingData
from surefoot.errors import ArgumentError


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
