"""How far judges agree: Cohen's κ, plain and weighted, and Krippendorff's α.

Each is 1 for judges who always agree, and about 0 for those who agree as chance would have it. None is defined where
all ratings are the same: chance alone would agree then.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Floats, Ints
from surefoot.errors import ArgumentError

Weighting = Literal["none", "linear", "quadratic"]


def confusion(first: ArrayLike, second: ArrayLike) -> tuple[Floats, Ints]:
    """The grades that occur, and how often the first judge gave one (row) and the second another (column).

    >>> grades, counts = confusion([0, 1, 1], [0, 1, 0])
    >>> grades.tolist(), counts.tolist()
    ([0.0, 1.0], [[1, 0], [1, 1]])
    """
    one, other = (np.asarray(ratings, np.float64) for ratings in (first, second))
    if one.shape != other.shape or one.ndim != 1 or not len(one):
        raise ArgumentError("two judges' ratings of the same documents are needed, at least of one")
    grades, at = np.unique(np.concatenate([one, other]), return_inverse=True)
    counts = np.zeros((len(grades), len(grades)), dtype=np.int64)
    np.add.at(counts, (at[: len(one)], at[len(one) :]), 1)
    return grades, counts


def cohen_kappa(grades: Floats, counts: Ints, weighting: Weighting = "none") -> float | None:
    """κ = 1 − Σ w·O / Σ w·E, of a confusion (Cohen 1960, 1968); w is 1 off the diagonal, |g − h| or (g − h)².

    >>> cohen_kappa(*confusion([0, 1, 1, 0], [0, 1, 0, 0]))
    0.5
    """
    total = counts.sum()
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / total
    apart = np.abs(grades[:, None] - grades[None, :])
    weight = {"none": (apart > 0) * 1.0, "linear": apart, "quadratic": apart**2}[weighting]
    chance = float((weight * expected).sum())
    return None if chance == 0 else float(1 - (weight * counts).sum() / chance)


def krippendorff_alpha(ratings: ArrayLike, measurement: Literal["nominal", "interval"] = "interval") -> float | None:
    """α of judges × documents, NaN where a judge did not rate (Krippendorff 2004): 1 − D_observed / D_expected.

    Differences count 1 at the nominal level, and squared at the interval level. Documents that one judge alone rated do
    not count.

    >>> krippendorff_alpha([[0, 1, 2], [0, 1, 2]])
    1.0
    """
    values = np.asarray(ratings, np.float64)
    counted = (~np.isnan(values)).sum(axis=0)
    values, counted = values[:, counted > 1], counted[counted > 1]
    if not len(counted):
        return None
    grades = np.unique(values[~np.isnan(values)])
    per_document = np.zeros((values.shape[1], len(grades)))
    document, judge = np.nonzero(~np.isnan(values.T))
    np.add.at(per_document, (document, np.searchsorted(grades, values[judge, document])), 1)
    total = per_document.sum(axis=0)
    weight = (
        (grades[:, None] != grades[None, :]) * 1.0
        if measurement == "nominal"
        else (grades[:, None] - grades[None, :]) ** 2
    )
    shares = per_document / (counted - 1)[:, None]
    within = per_document.T @ shares - np.diag(shares.sum(axis=0))
    pairs = np.outer(total, total) - np.diag(total)
    expected = float((weight * pairs).sum()) / (total.sum() - 1)
    return None if expected == 0 else float(1 - (weight * within).sum() / expected)
