"""What an assessment rests on, in words: few queries, traffic, who judged, and what an automatic judge filled in.

Cautions on outcomes from few queries say how often such outcomes were measured to be false.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from surefoot.errors import name_list
from surefoot.report.numbers import fixed, percent, signed
from surefoot.risk.assessment_data import AssessmentData, SegmentData, SystemData, SystemHolesData, TrafficData


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


def traffic_weights(data: AssessmentData) -> TrafficData | None:
    """The summary of the weights, where they change figures."""
    weights = data.get("traffic")
    return None if weights is None or weights["equal"] else weights


def traffic_percent(share: float) -> str:
    """A share of the traffic; a small one with a digit more.

    >>> traffic_percent(0.312), traffic_percent(0.0041)
    ('31 %', '0.4 %')
    """
    return percent(share, 0 if share >= 0.095 else 1)


def effective_words(effective: float) -> str:
    """An effective number of queries.

    >>> effective_words(1.04), effective_words(1234.5)
    ('1.0', '1,234')
    """
    return f"{effective:,.1f}" if effective < 100 else f"{effective:,.0f}"


def uneven_traffic(queries: int, effective: float) -> str:
    """What weights that differ do to the number of queries."""
    return (
        f"The traffic is so uneven that these {queries:,} queries tell only as much as {effective_words(effective)} "
        "queries that are asked equally often."
    )


def traffic_note(weights: TrafficData) -> str:
    """How the queries are weighted."""
    if weights["equal"]:
        return "All queries are asked equally often, so traffic changes no figure."
    return (
        f"Every mean, share and test counts queries as often as they are asked. These queries have "
        f"{traffic_percent(weights['traffic_share'])} of the traffic given; the most frequent one has "
        f"{traffic_percent(weights['largest_share'])} of theirs. They tell as much as "
        f"{effective_words(weights['effective_queries'])} queries that are asked equally often. "
        "A second test holds for uneven traffic; the larger p counts, "
        "and the interval of U_Risk is that of the second test."
    )


def of_traffic(row: SystemData, key: Literal["losses", "loss_over_20"]) -> str:
    """The part of the traffic that goes with a number of queries, where it is known."""
    return f" ({traffic_percent(row['traffic_shares'][key])} of traffic)" if "traffic_shares" in row else ""


def once_each(row: SystemData) -> str:
    """What holds if every query counts once, where that is not what traffic says."""
    if "each_once" not in row:
        return ""
    gain = row["each_once"]["gain"]
    if gain * row["gain"] > 0:
        return f" With every query counted once, it {'gains' if gain > 0 else 'loses'} {abs(gain):.4f}."
    change = f"gains {gain:.4f}" if gain > 0 else f"loses {-gain:.4f}" if gain < 0 else "gains and loses nothing"
    return f" But with every query counted once, it {change}: frequent and rare queries fare differently."


def segment_size(part: SegmentData) -> str:
    """How many queries a segment has, and how much traffic."""
    size = f"{part['queries']:,} queries"
    return f"{size}, {traffic_percent(part['traffic_share'])} of traffic" if "traffic_share" in part else size


_MOST = 8  # systems that are named


def judgment_cautions(data: AssessmentData) -> list[str]:
    """What a reader must know of judgments that no person made, and of judges who differ."""
    lines = []
    judgments, automatic = data.get("judgments"), data.get("automatic")
    if judgments is not None and automatic is None:
        judges = f" ({name_list(judgments['judges'], 4, str)})" if judgments["judges"] else ""
        if judgments["made_by"] == "machine":
            lines.append(
                f"A machine made all judgments{judges}. They can favour a system. No release should rest on them alone."
            )
        elif judgments["made_by"] == "people and machine":
            lines.append(f"People and machines made the judgments{judges}.")
        if judgments["differ"]:
            share = percent(judgments["differ"] / judgments["rated_by_several"])
            lines.append(f"Judges differ on {share} of {judgments['rated_by_several']:,} documents that several rated.")
    if automatic is not None:
        lines.append(
            f"The automatic judge {automatic['judge']} filled holes, documents that people did not judge. With and "
            f"without: {name_list([_one(one) for one in automatic['systems']], _MOST, str)}."
        )
        if automatic["favours"]:
            names = name_list(automatic["favours"], _MOST, str)
            lines.append(
                f"Filling raises {names} by more than the baseline (p < 0.05 for each alone): the judge may favour "
                f"{'it' if len(automatic['favours']) == 1 else 'them'}, or people judged less of "
                f"{'its' if len(automatic['favours']) == 1 else 'their'} results."
            )
    return lines


def _one(one: SystemHolesData) -> str:
    change = signed(one["mean_with"] - one["mean_without"], 4)
    return (
        f"{one['system']} {fixed(one['mean_with'], 4)} with, {fixed(one['mean_without'], 4)} without ({change}; "
        f"{one['judged']:,} of {one['holes']:,} holes filled)"
    )
