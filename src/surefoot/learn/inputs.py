"""The data that users give `Ranker`, in all its forms, as RankingData whose features and baselines go by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.arrays import Floats
from surefoot.data.hashes import query_fingerprints
from surefoot.data.reading.matrix import (
    QUERY_COLUMN,
    Categories,
    FeatureMatrix,
    feature_matrix,
    recode,
    without_queries,
)
from surefoot.data.reading.traffic import by_query, is_traffic
from surefoot.data.types.ranking_data import RankingData
from surefoot.errors import ArgumentError, name_list, shortened

VALIDATION = "the validation data"


def as_data(
    X: Any,
    y: npt.ArrayLike | None = None,
    qid: Any = None,
    group: npt.ArrayLike | None = None,
    baseline: Any = None,
    names: Sequence[str] = (),
) -> RankingData:
    """RankingData, from itself or from arrays; `baseline` is (n,), (n, baselines) or a dict of scores by name.

    `names` are what nameless baselines are called, if there are as many.
    """
    if isinstance(X, RankingData):
        if y is not None or qid is not None or group is not None:
            raise ArgumentError("RankingData has its own labels and queries; leave out y, qid and group")
        data = X
    else:
        if y is None:
            raise ArgumentError("labels are missing; give X, y and qid=…, or RankingData")
        data = RankingData(X, y, qid=qid, group=group)
    for name, scores in _baseline_scores(baseline, names).items():
        data = data.with_baseline(name, scores)
    return data


def as_valid(valid: Any, names: Sequence[str]) -> RankingData:
    """Validation data: RankingData, or a tuple (RankingData, baseline), (X, y, qid) or (X, y, qid, baseline)."""
    if not isinstance(valid, tuple | list):
        return as_data(valid)
    first, rest = valid[0] if valid else None, valid[1:]
    if isinstance(first, RankingData) and len(rest) == 1:
        return as_data(first, baseline=rest[0], names=names)
    if isinstance(first, RankingData) or not 2 <= len(rest) <= 3:
        raise ArgumentError(
            "valid must be RankingData, or a tuple (RankingData, baseline), (X, y, qid) or (X, y, qid, baseline); "
            f"found {len(valid)} parts: {', '.join(type(part).__name__ for part in valid)}"
        )
    y, qid, *baseline = rest
    return as_data(first, y, qid, baseline=baseline[0] if baseline else None, names=names)


def training_data(
    X: Any, y: Any, qid: Any, group: Any, baseline: Any, valid: Any, sample_weight: Any
) -> tuple[RankingData, RankingData | None]:
    """What `fit` is given, in all its forms, and its validation data; traffic by query id is also for the latter."""
    train = as_data(X, y, qid, group, baseline)
    sample_weight = by_query(sample_weight, train.queries, train.lengths)
    train = weighted_data(train, sample_weight)
    if valid is None:
        return train, None
    checked = as_valid(valid, list(train.baselines))
    if checked._weighting is None and is_traffic(sample_weight):
        checked = weighted_data(checked, sample_weight, VALIDATION)
    return train, checked


def training_fingerprints(train: RankingData, valid: RankingData | None) -> str:
    """What the queries of both are recognised by: their hashes, in ascending order, one after the other."""
    hashes = query_fingerprints(train) + ([] if valid is None else query_fingerprints(valid))
    return "".join(sorted(frozenset().union(*hashes)))


def weighted_data(data: RankingData, weights: Any, what: str = "the training data") -> RankingData:
    """The data with these weights of its queries; as it is without any."""
    if weights is None:
        return data
    if data._weighting is not None:
        raise ArgumentError(f"{what} has weights of its own; leave out sample_weight")
    try:
        return data.with_traffic(weights)
    except ArgumentError as error:
        raise ArgumentError(f"{what}: {error}") from None


def _baseline_scores(baseline: Any, names: Sequence[str]) -> dict[str, Any]:
    if baseline is None:
        return {}
    if isinstance(baseline, Mapping):
        return dict(baseline)
    try:
        scores = np.asarray(baseline, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"baseline has a value that is not a number ({shortened(str(error))})") from error
    if scores.ndim not in (1, 2):
        raise ArgumentError(f"baseline has shape {scores.shape}; it must be (documents,) or (documents, baselines)")
    columns = [scores] if scores.ndim == 1 else list(scores.T)
    if len(columns) != len(names):
        single = scores.ndim == 1
        names = ["baseline"] if single else [f"baseline{number}" for number in range(1, len(columns) + 1)]
    return dict(zip(names, columns, strict=True))


def standardised_baseline(data: RankingData) -> Floats:
    """Where a model that starts from its baseline starts: the baselines' mean score, each standardised in its query."""
    if not data.baselines:
        raise ArgumentError("init='baseline' starts from the scores of a baseline; give a baseline")
    return np.asarray(np.mean([data.standardised(scores) for scores in data.baselines.values()], axis=0))


def numbered_names(features: int) -> list[str]:
    """What the features of a nameless matrix are called: by numbers from 1, as in LETOR files and `feature:25`."""
    return [f"feature_{number}" for number in range(1, features + 1)]


def matched_features(X: Any, trained: Sequence[str], what: str, categories: Categories | None = None) -> FeatureMatrix:
    """The feature matrix with its columns as in training: by name where both have names, by position otherwise.

    Features that are `categories` in training have the codes of training; others' labels are missing values there.
    """
    names: Sequence[str] | None
    known: Categories
    if isinstance(X, RankingData):
        matrix, names, known = X.X, X.feature_names, X.categories
    else:
        matrix, names, known = feature_matrix(X if QUERY_COLUMN in trained else without_queries(X)[0])
    if names is not None and (known or categories):
        matrix = _recoded(matrix, names, known, categories or {}, what)
    if names is not None and set(names) == set(trained):
        if list(names) == list(trained):
            return matrix
        column_of = {name: number for number, name in enumerate(names)}
        return np.ascontiguousarray(matrix[:, [column_of[name] for name in trained]])
    if names is not None and list(trained) != numbered_names(len(trained)):
        expected, present = set(trained), set(names)
        absent = [name for name in trained if name not in present]
        extra = [name for name in names if name not in expected]
        parts = [f"does not have {_some(absent)}" if absent else "", f"also has {_some(extra)}" if extra else ""]
        raise ArgumentError(
            f"the features of {what} are not those of the training data: it {' and '.join(filter(None, parts))}; "
            "give a table with the same columns, in any order"
        )
    if matrix.shape[1] != len(trained):
        raise ArgumentError(
            f"{what} has {matrix.shape[1]:,} features, but the model was trained on {len(trained):,} features; give "
            "the same features (read_letor(…, n_features=…) reads a LETOR file without the last ones)"
        )
    return matrix


def _recoded(
    matrix: FeatureMatrix, names: Sequence[str], known: Categories, trained: Categories, what: str
) -> FeatureMatrix:
    """The matrix with the codes that categories had in training."""
    other = next((name for name in names if (name in known) != (name in trained)), None)
    if other is not None:
        kinds = ("numbers", "a category")[:: 1 if other in trained else -1]
        raise ArgumentError(
            f"feature {shortened(other)} of {what} is {kinds[0]}, but in the training data it was {kinds[1]}; use the "
            "same type"
        )
    if all(tuple(known[name]) == tuple(trained[name]) for name in known):
        return matrix
    matrix = matrix.copy()
    for column, name in enumerate(names):
        if name in known:
            matrix[:, column] = recode(matrix[:, column], known[name], trained[name])
    return matrix


def match_training_data(data: RankingData, train: RankingData, what: str) -> RankingData:
    """The data with its features and baselines as the training data has them: by name where there are names."""
    names = list(train.feature_names or numbered_names(train.n_features))
    ordered = matched_baselines(data, list(train.baselines), what)
    matrix = matched_features(ordered, names, what, train.categories)
    matched = ordered.with_features(matrix, train.feature_names)
    matched.categories = train.categories
    return matched


def matched_baselines(data: RankingData, trained: Sequence[str], what: str) -> RankingData:
    """The data with its baselines in the order of training; they must be the same ones."""
    if set(data.baselines) != set(trained):
        raise ArgumentError(
            f"{what} has the baselines {_some(list(data.baselines))}, but the training data has {_some(trained)}; "
            "both need the same"
        )
    return data.with_baselines_only(trained)


def _some(names: Sequence[str]) -> str:
    return name_list(names, 5, shortened) or "none"
