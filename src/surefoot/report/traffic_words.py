"""Traffic in words: which part of it is hurt, and what holds if every query counts once."""

from __future__ import annotations

from typing import Literal

from surefoot.report.numbers import percent
from surefoot.risk.assessment_data import AssessmentData, SegmentData, SystemData, TrafficData


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
