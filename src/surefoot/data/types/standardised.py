"""Scores of documents made comparable within each query, and blends of them."""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Floats, Ints


def standardise(scores: Floats, lengths: Ints) -> Floats:
    """Scores less their query's mean, over their deviation within it; `lengths` are the queries' numbers of rows."""
    query = np.repeat(np.arange(len(lengths)), lengths)
    centred = scores - (np.bincount(query, scores) / lengths)[query]
    spread = np.sqrt(np.bincount(query, centred**2) / lengths)[query]
    return np.asarray(np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 0))


def blend_scores(model: Floats, baseline: Floats, lengths: Ints, weight: float) -> Floats:
    """(1 − w)·z_b + w·z_m, where z are scores standardised within each query.

    >>> blend_scores(np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.array([2]), 0.75)
    array([ 0.5, -0.5])
    """
    return (1 - weight) * standardise(baseline, lengths) + weight * standardise(model, lengths)
