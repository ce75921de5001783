"""What each result adds to a measure, for pages that say what a document's move cost."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from surefoot.risk.assessment_data import Json

_KINDS = {"nDCG": "dcg", "DCG": "dcg", "ERR": "err", "AP": "ap", "RR": "rr", "P": "count", "R": "count"}


def measure_terms(notation: str, grades: Sequence[float]) -> Json | None:
    """How `termsOf` in rankings.js adds up a list of these grades; None where a measure is no sum over its results.

    >>> measure_terms("nDCG(dcg='exp-log2')@10", [0, 1, 2])
    {'kind': 'dcg', 'cutoff': 10, 'gains': [[1.0, 1.0], [2.0, 3.0]]}
    >>> measure_terms("AP(rel=2)", [0, 1, 2]), measure_terms("my own", [1])
    ({'kind': 'ap', 'cutoff': None, 'gains': [[2.0, 1.0]]}, None)
    """
    from surefoot.measures.effectiveness import gains, stopping_chance
    from surefoot.measures.notation import named_measure

    measure = named_measure(notation)
    if measure is None or measure.family not in _KINDS:
        return None
    settings = measure.settings
    relevant = np.array([grade for grade in grades if grade > 0 and grade >= settings.get("rel", 0)], dtype=np.float64)
    if "dcg" in settings:
        values = gains(relevant, settings["dcg"])
    elif "max_rel" in settings:
        values = stopping_chance(relevant, settings["max_rel"])
    else:
        values = np.ones(len(relevant))
    return {
        "kind": _KINDS[measure.family],
        "cutoff": measure.cutoff,
        "gains": np.column_stack([relevant, values]).tolist(),
    }
