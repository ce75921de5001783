"""What people call a measure: its notation, with the short form of what is long; both can be typed."""

from __future__ import annotations

import re

_EXPONENTIAL = re.compile(r"(nDCG|DCG|rNDCG|SoftNDCG)\(dcg='exp-log2'(,.*)?\)(@\d+)?")


def measure_title(notation: str) -> str:
    """The measure in tables, words and pages.

    >>> measure_title("nDCG(dcg='exp-log2')@10"), measure_title("nDCG@10"), measure_title("AP")
    ('nDCG(exp)@10', 'nDCG@10', 'AP')
    """
    match = _EXPONENTIAL.fullmatch(notation)
    return f"{match[1]}(exp{match[2] or ''}){match[3] or ''}" if match else notation


def measure_note(notation: str) -> str | None:
    """What to say of a measure whose title does not say all of it."""
    title = measure_title(notation)
    if title == notation:
        return None
    return f"{title}: grade g counts 2^g − 1. {title.replace('(exp,', '(').replace('(exp)', '')} counts g."
