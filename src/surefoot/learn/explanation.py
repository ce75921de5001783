"""Why a query is ranked as it is: the swaps that cost it most, and which features moved the two documents."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.arguments import integer
from surefoot.arrays import Floats, Ints
from surefoot.data.types.ranking_data import RankingData
from surefoot.errors import ArgumentError, did_you_mean, shortened, visible
from surefoot.learn.engines.contract import engine_of
from surefoot.learn.inputs import matched_features
from surefoot.learn.measured_queries import MeasuredQueries
from surefoot.measures.notation import Measure

if TYPE_CHECKING:
    from surefoot.learn.ranker import Ranker

SCHEMA = "surefoot/explanation/1"
DEFAULT_PAIRS, DEFAULT_FEATURES = 3, 5  # shown by default
_DEEPEST_RANK = 50  # ranks that are looked at, where the measure has no cut-off
_BASELINE_PART = "the baseline's scores, where the model starts"


class Explanation:
    """What a model did to one query, as plain data, words and Markdown."""

    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as JSON can hold it."""
        return self._data

    def sentences(self) -> list[str]:
        """The result in words: how the query does, then each swap and what it is due to."""
        data = self._data
        value, before, measure = data["value"], data["baseline_value"], data["measure"]
        if before is None:
            lines = [f"Query {data['query']}: {measure} is {value:.4f}. There is no baseline to compare with."]
        else:
            word = "got worse" if value < before else "got better" if value > before else "is as good as before"
            lines = [
                f"Query {data['query']} {word}: {measure} is {value:.4f}, and it was {before:.4f} with "
                f"{data['baseline']} ({value - before:+.4f})."
            ]
        if not data["swaps"]:
            lines.append(
                "No document is ranked above a better one" + ("." if before is None else " that was above it before.")
            )
        for number, swap in enumerate(data["swaps"], start=1):
            lines.append(f"{number}. {_swap_sentence(swap, measure, data['baseline'])}")
        return [visible(line) for line in lines]

    def tables(self) -> list[list[list[str]]]:
        """For each swap the headings and rows of its features."""
        return [_rows(swap) for swap in self._data["swaps"]]

    def __str__(self) -> str:
        """The words, and a table of features for each swap."""
        return "\n".join(self._lines(markdown=False))

    def to_markdown(self) -> str:
        """The same as Markdown."""
        return "\n".join(self._lines(markdown=True)) + "\n"

    def _repr_markdown_(self) -> str:
        """What a notebook shows."""
        return self.to_markdown()

    def _lines(self, *, markdown: bool) -> list[str]:
        head, *swaps = self.sentences()
        lines = [f"# Query {visible(self._data['query'])}", "", head] if markdown else [head]
        for text, swap in zip(swaps, self._data["swaps"] or [None] * len(swaps), strict=True):
            lines += ["", text] if not markdown else ["", text.replace("|", "\\|")]
            if swap is not None:
                lines += ["", *_table(swap, markdown)]
        return lines


def explain(
    ranker: Ranker, data: RankingData, query: Any, *, against: str | None = None, pairs: int = DEFAULT_PAIRS,
    features: int = DEFAULT_FEATURES,
) -> Explanation:  # fmt: skip
    """Explain one query; `against` names one of the data's baselines, the first by default.

    A swap is a document that the model puts above a better one, where the baseline has them the other way round (or,
    without a baseline, wherever it does so). It costs what M(q) would gain if these two changed places again.
    """
    pairs, features = integer("pairs", pairs, 1), integer("features", features, 1)
    one = _one_query(data, query)
    baseline = _baseline_name(one, against)
    measure = Measure.parse(ranker.measure)
    measured = MeasuredQueries.from_data(one, measure, 1)
    scores = ranker.predict(one)
    order = measured.rank(scores, fully=True)
    ranks = _ranks(order)
    before = None if baseline is None else measured.rank(one.baselines[baseline], fully=True)
    ranks_before = None if before is None else _ranks(before)
    value = float(measured.measure_order(order)[0])
    swaps = _costly_swaps(one, measured, order, ranks, ranks_before)[:pairs]
    rows = sorted({row for _, high, low in swaps for row in (high, low)})
    parts = _contributions(ranker, one, rows, scores)
    names = [*ranker.feature_names_in_, _BASELINE_PART]

    def document(row: int) -> dict[str, Any]:
        return {
            "document": str(one.documents[row]),
            "label": float(one.y[row]),
            "rank": int(ranks[row]) + 1,
            "baseline_rank": None if ranks_before is None else int(ranks_before[row]) + 1,
            "score": float(scores[row]),
        }

    return Explanation(
        {
            "schema": SCHEMA,
            "query": one.queries[0],
            "measure": str(measure),
            "baseline": baseline,
            "documents": len(one),
            "value": value,
            "baseline_value": None if before is None else float(measured.measure_order(before)[0]),
            "swaps": [
                {
                    "cost": cost,
                    "lifted": document(high),
                    "lowered": document(low),
                    "score_difference": float(scores[high] - scores[low]),
                    **_swap_features(names, parts[high], parts[low], one, ranker, high, low, features),
                }
                for cost, high, low in swaps
            ],
        }
    )


def _one_query(data: RankingData, query: Any) -> RankingData:
    names = [name for name in data.queries if name == str(query)]
    if not names:
        hint = did_you_mean(str(query), data.queries) or "."
        raise ArgumentError(f"the data has no query {shortened(query)}{hint}")
    return data.select([data.queries.index(names[0])])


def _baseline_name(data: RankingData, against: str | None) -> str | None:
    if against is not None and against not in data.baselines:
        known = ", ".join(map(shortened, data.baselines)) or "none"
        raise ArgumentError(f"the data has no baseline {shortened(against)}; it has: {known}")
    return against if against is not None else next(iter(data.baselines), None)


def _ranks(order: Ints | Any) -> Ints:
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return ranks


def _costly_swaps(
    data: RankingData, measured: MeasuredQueries, order: Any, ranks: Ints, before: Ints | None
) -> list[tuple[float, int, int]]:
    """What each swap costs, the document that went up and the better one below it; the dearest first."""
    lifted = order[: min(measured.cutoff, _DEEPEST_RANK)].tolist()  # a swap below the cut-off costs nothing
    value = float(measured.measure_order(order)[0])
    swaps = []
    for high, low in product(lifted, range(len(data))):
        if data.y[low] <= data.y[high] or ranks[high] > ranks[low]:
            continue
        if before is not None and before[high] < before[low]:
            continue  # the baseline had them so, too
        changed = np.array(order)
        changed[[ranks[high], ranks[low]]] = low, high
        cost = float(measured.measure_order(changed)[0]) - value
        if cost > 1e-12:  # beyond rounding
            swaps.append((cost, high, low))
    return sorted(swaps, key=lambda swap: (-swap[0], ranks[swap[1]], ranks[swap[2]]))


def _contributions(ranker: Ranker, data: RankingData, rows: Sequence[int], scores: Floats) -> dict[int, Floats]:
    """What each feature adds to the scores of these rows, and last what the model started from."""
    if not rows:
        return {}
    matrix = matched_features(data, ranker.feature_names_in_, "the data", ranker.categories_)[list(rows)]
    parts = engine_of(ranker.engine_).contributions(
        ranker.booster_, np.ascontiguousarray(matrix), ranker.best_iteration_
    )
    start = scores[list(rows)] - parts.sum(axis=1) if ranker.init == "baseline" else np.zeros(len(rows))
    return {row: np.append(part[:-1], extra) for row, part, extra in zip(rows, parts, start, strict=True)}


def _swap_features(
    names: Sequence[str], high: Floats, low: Floats, data: RankingData, ranker: Ranker, up: int, down: int, most: int
) -> dict[str, Any]:
    """The features whose contributions to the two scores differ most, and what all others add up to."""
    difference = high - low
    chosen = [int(place) for place in np.argsort(-np.abs(difference), kind="stable")[:most] if difference[place]]
    matrix = matched_features(data, ranker.feature_names_in_, "the data", ranker.categories_)

    def value(row: int, place: int) -> Any:
        if place == len(names) - 1 or np.isnan(matrix[row, place]):
            return None
        number = float(matrix[row, place])
        labels = ranker.categories_.get(names[place])
        return number if labels is None else labels[int(number)]

    return {
        "features": [
            {
                "feature": names[place],
                "difference": float(difference[place]),
                "lifted": {"value": value(up, place), "contribution": float(high[place])},
                "lowered": {"value": value(down, place), "contribution": float(low[place])},
            }
            for place in chosen
        ],
        "other_features": float(difference.sum() - difference[chosen].sum()),
    }


def _swap_sentence(swap: dict[str, Any], measure: str, baseline: str | None) -> str:
    high, low = swap["lifted"], swap["lowered"]
    there = "" if baseline is None else f" ({baseline}: ranks {high['baseline_rank']} and {low['baseline_rank']})"
    causes = [part["feature"] for part in swap["features"] if part["difference"] > 0][:3]
    due = f" The main reason: {', '.join(causes)}." if causes else ""
    return (
        f"Document {high['document']} (label {high['label']:g}) is at rank {high['rank']}, above the better "
        f"{low['document']} (label {low['label']:g}) at rank {low['rank']}{there}. Swapping these two back would add "
        f"{swap['cost']:.4f} to {measure}.{due}"
    )


def _rows(swap: dict[str, Any]) -> list[list[str]]:
    """What each feature adds to the difference of the two scores, below the headings."""
    rows = [["feature", "effect", swap["lifted"]["document"], swap["lowered"]["document"]]]
    for part in swap["features"]:
        values = [_shown(part[which]["value"]) for which in ("lifted", "lowered")]
        rows.append([part["feature"], f"{part['difference']:+.4f}", *values])
    rows.append(["other features", f"{swap['other_features']:+.4f}", "", ""])
    scores = [f"{swap[which]['score']:.4f}" for which in ("lifted", "lowered")]
    rows.append(["total score", f"{swap['score_difference']:+.4f}", *scores])
    return [[visible(cell) for cell in row] for row in rows]


def _table(swap: dict[str, Any], markdown: bool) -> list[str]:
    cells = _rows(swap)
    if markdown:
        escaped = [[cell.replace("|", "\\|") for cell in row] for row in cells]
        escaped.insert(1, ["---", "---:", "---:", "---:"])
        return ["| " + " | ".join(row) + " |" for row in escaped]
    widths = [max(len(row[place]) for row in cells) for place in range(4)]
    return [
        "   "
        + "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        ).rstrip()
        for row in cells
    ]


def _shown(value: Any) -> str:
    return "–" if value is None else f"{value:.5g}" if isinstance(value, float) else str(value)
