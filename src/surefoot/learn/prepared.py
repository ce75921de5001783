"""Data made ready to learn from, once for all trainings on it: measures of its queries and the engine's bins."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import cached_property

import numpy as np

from surefoot.arrays import Floats, Rows
from surefoot.data.hashes import query_fingerprints
from surefoot.data.types.ranking_data import RankingData
from surefoot.learn.engines.contract import Binned, Engine, Parameters
from surefoot.learn.inputs import alike, numbered, standardised_baseline
from surefoot.learn.target import Target
from surefoot.measures.notation import Measure

_VALIDATION = "the validation data"


class Watched:
    """A set of queries under the measure: how its baselines do, and how scores do beside them."""

    def __init__(self, data: RankingData, measure: Measure, threads: int | None, start: str | None) -> None:
        self.tie_rule = data.tie_rule
        self.target = Target.of(data, measure, threads)
        self._start = standardised_baseline(data) if start == "baseline" else None
        self.baselines = (
            np.stack([self.target.values(scores) for scores in data.baselines.values()]) if data.baselines else None
        )

    def values(self, scores: Floats) -> Floats:
        """M(q) of a model's scores."""
        return self.target.values(self.started(scores))

    def started(self, scores: Floats, rows: Rows | slice = slice(None)) -> Floats:
        """A model's scores of some rows with what it started from."""
        return scores if self._start is None else scores + self._start[rows]


class Prepared:
    """Training data and, where there is some, validation data whose features and baselines go by the same names.

    `Ranker.fit` takes it in place of data. Trainings that use it one after the other share its bins, as long as their
    parameters ask for the same ones, and its measures.
    """

    def __init__(self, train: RankingData, valid: RankingData | None = None) -> None:
        self.train = train
        self.names = list(train.feature_names or numbered(train.n_features))
        self.valid = None if valid is None else alike(valid, train, _VALIDATION)
        self._bins: dict[Hashable, Binned] = {}  # the last ones alone, shared with copies
        self._with_only: dict[tuple[str, ...], Prepared] = {}
        self._watched: dict[Hashable, tuple[Watched, Watched | None]] = {}

    @cached_property
    def fingerprints(self) -> str:
        """What the queries of both are recognised by: their hashes, in ascending order, one after the other."""
        seen = query_fingerprints(self.train) + ([] if self.valid is None else query_fingerprints(self.valid))
        return "".join(sorted(frozenset().union(*seen)))

    def with_only(self, baselines: Iterable[str]) -> Prepared:
        """The same data with these of its baselines alone, and the same bins."""
        kept = tuple(baselines)
        if kept not in self._with_only:
            new = Prepared(self.train.with_only(kept), None if self.valid is None else self.valid.with_only(kept))
            new._bins = self._bins
            new.fingerprints = self.fingerprints
            self._with_only[kept] = new
        return self._with_only[kept]

    def with_labels(self, train: Floats, valid: Floats | None = None) -> Prepared:
        """The same documents with other labels, and the same bins."""
        new = Prepared(
            self.train.with_labels(train),
            self.valid if self.valid is None or valid is None else self.valid.with_labels(valid),
        )
        new._bins = self._bins
        return new

    def watched(self, measure: Measure, threads: int | None, start: str | None) -> tuple[Watched, Watched | None]:
        """Training and validation queries under a measure, for models that start from `start`."""
        key = (str(measure), threads, start)
        if key not in self._watched:
            self._watched[key] = (
                Watched(self.train, measure, threads, start),
                None if self.valid is None else Watched(self.valid, measure, threads, start),
            )
        return self._watched[key]

    def binned(self, engine: Engine, parameters: Parameters, seed: int, *, validated: bool = False) -> Binned:
        """The engine's bins; scores of the validation data are given after each tree.

        Machines that work together need as many sets each: one without validation data, where others have some
        (`validated`), has a set of none.

        Where trees change earlier ones, gradients are computed without some of them: what all of them give training
        documents must then be asked for, and comes first.
        """
        again = parameters.changes_trees is not None
        key = (engine.name, again, engine.bins(parameters, len(self.train), seed))
        if key not in self._bins:
            others = [self.train.X] if again else []
            if self.valid is not None or validated:
                others.append(self.train.X[:0] if self.valid is None else self.valid.X)
            self._bins.clear()
            self._bins[key] = engine.bin(self.train.X, others, parameters, self.train.feature_names, seed)
        return self._bins[key]
