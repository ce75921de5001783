"""What people call a measure; options and JSON keep its notation, which says its gains."""

from __future__ import annotations

import re

_EXPONENTIAL = re.compile(r"nDCG\(dcg='exp-log2'\)(@\d+)?")


def measure_title(notation: str) -> str:
    """The measure in tables, words and pages.

    >>> measure_title("nDCG(dcg='exp-log2')@10"), measure_title("nDCG@10"), measure_title("AP")
    ('NDCG@10', 'nDCG@10', 'AP')
    """
    match = _EXPONENTIAL.fullmatch(notation)
    return f"NDCG{match[1] or ''}" if match else notation


def measure_note(notation: str) -> str | None:
    """What to say of a measure whose title does not say all of it."""
    title = measure_title(notation)
    return None if title == notation else f"{title} has gains of 2^grade − 1: {notation} as options and JSON write it."
