"""Cautions on outcomes from few queries, with how often they were measured to be false."""

from __future__ import annotations

from typing import NamedTuple

from surefoot.report.traffic_words import traffic_weights, uneven_traffic
from surefoot.risk.assessment_data import AssessmentData


class Caution(NamedTuple):
    """What to say of outcomes on fewer than so many `queries`, from some `alpha` on.

    With a `ratio`, only where there are more than so many times as many queries as effective ones, which then count.
    """

    queries: int
    alpha: float
    text: str
    ratio: float = 0.0


# How often outcomes are false was measured on TREC runs, moved so that reward and risk truly balance at α.
CAUTIONS = (
    Caution(
        50, 0.0,
        "With fewer than 50 queries, “better” and “worse” are often only chance. We tested ten systems that are truly "
        "as good as the baseline, on samples of 25 queries. In 9 % of the samples at α = 0, and in 28 % at α = 5, at "
        "least one of them seemed better or worse. Judge more queries before you rely on this.",
    ),
    Caution(
        100, 5.0,
        "With fewer than 100 queries and losses that count this much, “better” and “worse” are too often only chance. "
        "We tested ten systems that are truly as good as the baseline, on samples of 50 queries. In 7 % of the samples "
        "at α = 5, and in 11 % at α = 10, at least one of them seemed better or worse. Judge more queries before you "
        "rely on this.",
    ),
)  # fmt: skip


# The same of weights that go with the size of the differences; where they do not, no caution is needed.
UNEVEN = Caution(
    2000, 3.0,
    "With losses that count this much, up to 16 % of such results are false if frequent queries differ more from the "
    "baseline than rare ones.",
    ratio=1.5,
)  # fmt: skip


def few_queries(queries: float, alpha: float) -> str | None:
    """What to say of an outcome at α on so many queries, where they are too few to rely on.

    >>> few_queries(100, 10), few_queries(99, 1)
    (None, None)
    >>> few_queries(50, 5)[:26], few_queries(49, 0)[:25]
    ('With fewer than 100 querie', 'With fewer than 50 querie')
    """
    return next((caution.text for caution in CAUTIONS if queries < caution.queries and alpha >= caution.alpha), None)


def too_few(data: AssessmentData, alpha: float) -> str | None:
    """What to say of an outcome at α, where the queries are too few; with weights, by the effective number of them."""
    weights = traffic_weights(data)
    if weights is None:
        return few_queries(data["queries"], alpha)
    return too_few_of(data["queries"], weights["effective_queries"], alpha)


def too_few_of(queries: int, effective: float, alpha: float) -> str | None:
    """What to say at α where uneven traffic leaves too few effective queries."""
    uneven = effective < min(UNEVEN.queries, queries / UNEVEN.ratio) and alpha >= UNEVEN.alpha
    # Of the other cautions, only that for fewer than 50 names more false outcomes than this one.
    few = few_queries(effective, 0.0 if uneven else alpha)
    found = [*filter(None, [few]), *([UNEVEN.text] if uneven else [])]
    return " ".join([uneven_traffic(queries, effective), *found]) if found else None


def too_few_elsewhere(data: AssessmentData, alpha: float) -> list[str]:
    """What to say of outcomes at other α than the one looked at, beyond what is said there; each names its α."""
    said = too_few(data, alpha) or ""
    others: dict[str, list[float]] = {}
    for other in data["alphas"]:
        if (more := (too_few(data, other) or "").removeprefix(said).strip()) and more not in said:
            others.setdefault(more, []).append(other)
    return [f"At α = {_and(alphas)}: {caution[0].lower()}{caution[1:]}" for caution, alphas in others.items()]


def _and(alphas: list[float]) -> str:
    *first, last = (f"{alpha:g}" for alpha in alphas)
    return f"{', '.join(first)} and {last}" if first else last
