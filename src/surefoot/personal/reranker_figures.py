"""What a re-ranker gains and risks against the shown order, how often it re-ranks, and which one to choose."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from surefoot.arrays import Flags, Floats
from surefoot.choose.frontier import reranking_area
from surefoot.learn.measured_queries import EvaluationQueries, MeasuredQueries
from surefoot.personal.lists import SHOWN_ORDER, ShownLists
from surefoot.risk.assessment_data import Json
from surefoot.risk.assessment_figures import difference_figures
from surefoot.risk.assessment_parts import Segments
from surefoot.risk.churn import Churn
from surefoot.risk.inference import t_test
from surefoot.risk.tradeoff import difference_of


class ShownOrderComparison:
    """The lists of one part under the measure: what the shown order does, and what other orders do beside it."""

    def __init__(self, lists: ShownLists, measure: str) -> None:
        target = MeasuredQueries.from_data(lists.data, measure)
        shown_scores = np.asarray(lists.data.baselines[SHOWN_ORDER])[None, :]
        self.evaluation = EvaluationQueries(list(lists.data.queries), [target], shown_scores)
        self.lists = lists
        self.shown = self.evaluation.values(shown_scores[0])[0]

    def figures(self, scores: Floats, used: Flags | None = None) -> Json:
        """Figures of a ranking by scores; `used` says on which lists it takes the place of the shown order."""
        values, tau = self.evaluation.values(scores)[0], np.nan_to_num(self.evaluation.tau(scores), nan=1.0)
        if used is not None:
            values, tau = np.where(used, values, self.shown), np.where(used, tau, 1.0)
        return self.figures_of_values(values, tau)

    def figures_of_values(self, values: Floats, tau: Floats, lists: Flags | None = None) -> Json:
        """Figures of M(q) and τ per list, of all lists or of some."""
        chosen = slice(None) if lists is None else lists
        values, tau, shown_values = values[chosen], tau[chosen], self.shown[chosen]
        figures = difference_figures(difference_of(values, shown_values), shown_values)
        churn = Churn(tau, tau < 1, 0)
        share_reranked = churn.share_reranked
        return {
            "mean": float(values.mean()), **{key: figures[key] for key in ("gain", "reward", "risk", "wins", "losses")},
            "share_reranked": share_reranked, "tau": churn.mean_tau, "tau_reranked": churn.mean_tau_reranked,
            "gain_per_reranked": figures["gain"] / share_reranked if share_reranked else None,
        }  # fmt: skip

    def p_value(self, scores: Floats) -> float | None:
        """The p-value of the change against the shown order, by the robust paired test."""
        return t_test(self.evaluation.values(scores)[0], self.shown).p_robust

    def by_segment(self, scores: Floats, segments: Segments) -> Json:
        """Gain and re-ranking within each segment of the lists."""
        values, tau = self.evaluation.values(scores)[0], np.nan_to_num(self.evaluation.tau(scores), nan=1.0)
        by_column: Json = {}
        for column, segment_of in segments.items():
            segment = np.array([segment_of.get(query, "") for query in self.evaluation.queries])
            by_column[column] = {
                kind: {
                    "lists": int((segment == kind).sum()),
                    **self.figures_of_values(values, tau, segment == kind),
                }
                for kind in sorted(set(segment.tolist()) - {""})
            }
        return by_column


def add_shares(row: Json, standard: Json) -> None:
    """Add gain and risk as shares of the standard model's, and the area under gain by re-ranking."""
    for part in ("valid", "test"):
        mine, full = row[part], standard[part]
        mine["share_of_gain"] = mine["gain"] / full["gain"] if full["gain"] else None
        mine["share_of_risk"] = mine["risk"] / full["risk"] if full["risk"] else None
        share_reranked, full_share = mine["share_reranked"], full["share_reranked"]
        mine["area"] = (
            reranking_area(share_reranked, mine["gain"], full_share, full["gain"])
            if share_reranked <= full_share
            else None
        )


def largest_area(rows: Sequence[Json]) -> Json | None:
    """The row with the largest area on validation data; none where all re-rank more than the standard model."""
    known = [row for row in rows if row["valid"]["area"] is not None]
    return max(known, key=lambda row: row["valid"]["area"], default=None)


def least_risk_at_gain(rows: Sequence[Json], gain: float) -> Json:
    """Of the rows that gain as much on validation data, the one of least risk; where none does, the nearest in gain."""
    enough = [row for row in rows if row["valid"]["gain"] >= gain]
    if enough:
        return min(enough, key=lambda row: row["valid"]["risk"])
    return max(rows, key=lambda row: row["valid"]["gain"])


def most_gain_at_share(rows: Sequence[Json], share: float) -> Json:
    """Of the rows that re-rank no more validation lists, the one of most gain; where none does, the nearest."""
    return _most_gain_within(rows, share) or min(rows, key=lambda row: row["valid"]["share_reranked"])


def most_gain_at_half(rows: Sequence[Json], standard: Json) -> Json | None:
    """Of the rows that re-rank at most half as many validation lists as the standard model, the one of most gain."""
    half = standard["valid"]["share_reranked"] / 2
    return _most_gain_within(rows, half)


def _most_gain_within(rows: Sequence[Json], share: float) -> Json | None:
    few = [row for row in rows if row["valid"]["share_reranked"] <= share]
    return max(few, key=lambda row: row["valid"]["gain"], default=None)


def random_mixture(row: Json, standard: Json, chance: float) -> Json:
    """What is expected if a coin decides, list by list, between the standard model and the shown order."""
    for part in ("valid", "test"):
        full = standard[part]
        row[part] = {
            key: chance * full[key] for key in ("gain", "reward", "risk", "wins", "losses", "share_reranked")
        } | {
            "mean": full["mean"] - (1 - chance) * full["gain"], "tau": 1 - chance * (1 - full["tau"]),
            "tau_reranked": full["tau_reranked"], "gain_per_reranked": full["gain_per_reranked"],
        }  # fmt: skip
    return row
