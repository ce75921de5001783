"""How sure is sure enough: one level for every test and interval."""

from __future__ import annotations

SIGNIFICANCE = 0.05  # of significance: a p below it is more than chance
CONFIDENCE = 1 - SIGNIFICANCE  # of intervals
CONFIDENCE_PERCENT = f"{100 * CONFIDENCE:g} %"  # the same in words
