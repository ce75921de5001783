"""Data made ready to learn from, once for all trainings on it: measures of its queries and the engine's bins.

Users may call features by name in engine parameters; engines take them by position in the data.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from surefoot.arrays import Floats, Ints
from surefoot.data.types.ranking_data import RankingData
from surefoot.errors import ArgumentError, did_you_mean, shortened
from surefoot.learn.engines.contract import BinnedData, Engine, Parameters
from surefoot.learn.inputs import (
    VALIDATION,
    match_training_data,
    numbered_names,
    standardised_baseline,
    training_data,
    training_fingerprints,
)
from surefoot.learn.measured_queries import MeasuredQueries
from surefoot.measures.notation import Measure


class MonitoredSet:
    """A set of queries under the measure: how its baselines do, and how scores do beside them."""

    def __init__(self, data: RankingData, measure: Measure, threads: int | None, init: str | None) -> None:
        self.tie_rule = data.tie_rule
        self.measured = MeasuredQueries.from_data(data, measure, threads)
        self._init_scores = standardised_baseline(data) if init == "baseline" else None
        self._scores_of_baselines = list(data.baselines.values())
        self.baselines = (
            np.stack([self.measured.values(scores) for scores in data.baselines.values()]) if data.baselines else None
        )

    def baseline_places(self) -> Floats | None:
        """The mean of the baselines' ranks of each document, from 0; None where there is no baseline."""
        if not self._scores_of_baselines:
            return None
        return np.asarray(np.mean([self.measured.places(scores) for scores in self._scores_of_baselines], axis=0))

    def values(self, scores: Floats) -> Floats:
        """M(q) of a model's scores."""
        return self.measured.values(self.with_init_scores(scores))

    def with_init_scores(self, scores: Floats, rows: Ints | slice = slice(None)) -> Floats:
        """A model's scores of some rows, with the scores that it started from added."""
        return scores if self._init_scores is None else scores + self._init_scores[rows]


class PreparedData:
    """Training data and, where there is some, validation data whose features and baselines go by the same names.

    `Ranker.fit` takes it in place of data. Trainings that use it one after the other share its bins, as long as their
    parameters need the same ones, and its measures.
    """

    def __init__(self, train: RankingData, valid: RankingData | None = None) -> None:
        self.train = train
        self.names = list(train.feature_names or numbered_names(train.n_features))
        self.valid = None if valid is None else match_training_data(valid, train, VALIDATION)
        self._bins: dict[Hashable, BinnedData] = {}  # the last ones alone, shared with copies
        self._with_only: dict[tuple[str, ...], PreparedData] = {}
        self._monitored: dict[Hashable, tuple[MonitoredSet, MonitoredSet | None]] = {}

    @cached_property
    def fingerprints(self) -> str:
        """What the queries of both are recognised by."""
        return training_fingerprints(self.train, self.valid)

    @classmethod
    def from_arguments(
        cls, X: Any, y: Any, qid: Any, group: Any, baseline: Any, valid: Any, sample_weight: Any
    ) -> PreparedData:
        """The data that `Ranker.fit` is given, in all its forms."""
        if isinstance(X, cls):
            if any(part is not None for part in (y, qid, group, baseline, valid, sample_weight)):
                raise ArgumentError(
                    "prepared data already has labels, queries, baselines, weights and validation data; leave the "
                    "others out"
                )
            return X
        return cls(*training_data(X, y, qid, group, baseline, valid, sample_weight))

    def with_baselines_only(self, baselines: Iterable[str]) -> PreparedData:
        """The same data with only these of its baselines, and the same bins."""
        names = tuple(baselines)
        if names not in self._with_only:
            new = PreparedData(
                self.train.with_baselines_only(names),
                None if self.valid is None else self.valid.with_baselines_only(names),
            )
            new._bins = self._bins
            new.fingerprints = self.fingerprints
            self._with_only[names] = new
        return self._with_only[names]

    def with_labels(self, train: Floats, valid: Floats | None = None) -> PreparedData:
        """The same documents with other labels, and the same bins."""
        new = PreparedData(
            self.train.with_labels(train),
            self.valid if self.valid is None or valid is None else self.valid.with_labels(valid),
        )
        new._bins = self._bins
        return new

    def monitored(
        self, measure: Measure, threads: int | None, init: str | None
    ) -> tuple[MonitoredSet, MonitoredSet | None]:
        """Training and validation queries under a measure, for models that start from `init`."""
        key = (str(measure), threads, init)
        if key not in self._monitored:
            self._monitored[key] = (
                MonitoredSet(self.train, measure, threads, init),
                None if self.valid is None else MonitoredSet(self.valid, measure, threads, init),
            )
        return self._monitored[key]

    def bins(self, engine: Engine, parameters: Parameters, seed: int, *, has_validation: bool = False) -> BinnedData:
        """The data in the engine's bins; the engine scores the validation data after each tree.

        Machines that work together need equally many sets: one without validation data, where others have some
        (`has_validation`), has an empty set.

        Where trees change earlier ones, gradients are computed without some of them: then the engine also scores the
        training documents with all trees, as the first of the other sets.
        """
        rescored = parameters.changes_trees is not None
        key = (engine.name, rescored, engine.bins_key(parameters, len(self.train), seed))
        if key not in self._bins:
            others = [self.train.X] if rescored else []
            if self.valid is not None or has_validation:
                others.append(self.train.X[:0] if self.valid is None else self.valid.X)
            self._bins.clear()
            self._bins[key] = engine.bin(self.train.X, others, parameters, self.train.feature_names, seed)
        return self._bins[key]


def checked_parameters(engine: Engine, parameters: Mapping[str, Any], data: PreparedData) -> Parameters:
    """A ranker's engine parameters for this data: features by position, and those that are categories as such."""
    values = by_position(engine, parameters, data.names)
    columns = [place for place, name in enumerate(data.names) if name in data.train.categories]
    if columns:
        values = engine.with_categories(values, columns, len(data.names))
    return engine.check(values, len(data.names))


def by_position(engine: Engine, parameters: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The parameters with positions in place of features' names; what is not a name stays as it is.

    >>> from surefoot.learn.engines.contract import engine_of
    >>> by_position(engine_of(), {"monotone_constraints": {"bm25": 1}, "num_leaves": 8}, ["age", "bm25"])
    {'monotone_constraints': [0, 1], 'num_leaves': 8}
    """
    places = {name: place for place, name in enumerate(names)}
    result = dict(parameters)
    for name, value in parameters.items():
        main = engine.main_name(name)
        if main == "monotone_constraints" and isinstance(value, Mapping):
            constraints: list[Any] = [0] * len(names)
            for feature, direction in value.items():
                constraints[_place(name, feature, places)] = direction
            result[name] = constraints
        elif main == "categorical_feature" and _has_names(value):
            result[name] = [_place(name, feature, places) for feature in value]
        elif main == "interaction_constraints" and isinstance(value, list | tuple) and any(map(_has_names, value)):
            result[name] = [[_place(name, feature, places) for feature in group] for group in value]
    return result


def _has_names(value: Any) -> bool:
    return isinstance(value, list | tuple) and any(isinstance(one, str) and not one.strip().isdigit() for one in value)


def _place(parameter: str, feature: Any, places: Mapping[str, int]) -> int:
    if not isinstance(feature, str) or feature not in places:
        hint = did_you_mean(feature, places) or "."
        raise ArgumentError(f"{parameter} names the feature {shortened(feature)}, but the data does not have it{hint}")
    return places[feature]
