"""How sure a claim is, in words that decisions and certificates share."""

from __future__ import annotations


def confidence(delta: float) -> str:
    """1 − δ in percent.

    >>> confidence(0.05), confidence(0.0076)
    ('95 %', '99.24 %')
    """
    return f"{100 * (1 - delta):.4g} %"
