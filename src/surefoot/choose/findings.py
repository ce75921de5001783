"""What a sweep says about the papers' questions, in words and figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from surefoot.choose.candidate_figures import CONVERGED_SHARE
from surefoot.choose.frontier import RiskGainPoint, mixture_hull, proportional_gain
from surefoot.choose.options import MODEL, RANKINGS
from surefoot.choose.recommendation import chosen_in_words, gain_only, pooled
from surefoot.report.numbers import fixed, measure_title, percent, signed
from surefoot.risk.assessment_data import Json
from surefoot.risk.churn import BINS

LESS_RISK = 0.3  # that a better point has at least, beside more effectiveness
NEAR_BINS = 1  # bins of Kendall's distance that are near the baseline: the first, so at most a tenth of it


def findings(data: Json) -> list[Json]:
    """Questions and answers: a headline, and the figures behind it."""
    answers = [_beats_reduction(data), _converges_faster(data), _stays_nearer(data), _better_in_both(data)]
    return [answer for answer in answers if answer is not None]


def _families(data: Json) -> dict[str, list[Json]]:
    """Each objective's models, by ascending α."""
    families: dict[str, list[Json]] = {}
    for row in data["rows"]:
        if row["kind"] == MODEL and row["alpha"] is not None:
            families.setdefault(row["objective"], []).append(row)
    return families


def _by_alpha(
    data: Json, figure: Callable[[Json], float], words: Callable[[float], str], falls: bool
) -> tuple[str, str] | None:
    """A figure of each objective's models at α = 0 and at each α, in words, and whether it falls (or rises) with α."""
    gain_row, families = gain_only(data["rows"]), _families(data)
    if gain_row is None or not families:
        return None
    parts, moves = [], []
    for objective, models in families.items():
        rows = [gain_row, *models]
        values = [figure(row) for row in rows]
        steps = [earlier - later if falls else later - earlier for earlier, later in pairwise(values)]
        steady = all(step >= 0 for step in steps)
        moves.append(steady and values[-1] != values[0])
        at = ", ".join(f"{words(value)} at {row['alpha'] or 0:g}" for value, row in zip(values, rows, strict=True))
        if falls:
            how = "never more" if steady else "not always fewer"
        else:
            how = "never less" if steady else "not always more"
        parts.append(f"{objective} {at} ({how} for a larger α)")
    return "; ".join(parts), _holds(sum(moves), len(moves))


def _beats_reduction(data: Json) -> Json | None:
    """Whether risk-sensitive models lie above proportional reduction and above selective re-ranking, on test data."""
    gain_row, models = gain_only(data["rows"]), [row for rows in _families(data).values() for row in rows]
    if gain_row is None or not models:
        return None
    gain_only_point = RiskGainPoint(gain_row["test"]["risk"], gain_row["test"]["gain"])
    proportional = [row["test"]["gain"] - proportional_gain(gain_only_point, row["test"]["risk"]) for row in models]
    above = sum(difference > 0 for difference in proportional)
    answer = (
        f"{above} of {len(models)} risk-sensitive models gain more than the gain-only model does if it is used less "
        f"often, at the same risk ({signed(float(np.mean(proportional)), 4)} on average, "
        f"{signed(max(proportional), 4)} at best)."
    )
    curve = data["curves"]["test"]["selective"]
    if curve:
        hull = mixture_hull([RiskGainPoint(point["risk"], point["gain"]) for point in curve])
        ends = [
            hull[-1].gain if row["test"]["risk"] > hull[-1].risk else _gain_at(hull, row["test"]["risk"])
            for row in models
        ]
        over = [row["test"]["gain"] - end for row, end in zip(models, ends, strict=True)]
        answer += (
            f" {sum(difference > 0 for difference in over)} of {len(models)} gain more than selective re-ranking at "
            f"the same risk, even if its thresholds are mixed ({signed(float(np.mean(over)), 4)} on average)."
        )
    question = "Are risk-sensitive models better than using the gain-only model less often?"
    return {"question": question, "answer": answer, "about": "reduction", "holds": _holds(above, len(models))}


def _holds(number: int, of: int) -> str:
    """Whether a question is answered with yes, by how many of those that it was asked of."""
    return "no" if not number else "yes" if number == of else "in part"


def _gain_at(hull: Sequence[RiskGainPoint], risk: float) -> float:
    return float(np.interp(risk, [point.risk for point in hull], [point.gain for point in hull]))


def _converges_faster(data: Json) -> Json | None:
    """Trees, or epochs, to most of the final training effectiveness, by α."""
    found = _by_alpha(data, lambda row: float(row["convergence"]["trees"]), lambda trees: fixed(trees, 1), falls=True)
    if found is None:
        return None
    share = f"{CONVERGED_SHARE:.0%}".replace("%", " %")
    answer = (
        f"{data.get('round_name', 'trees').capitalize()} that are needed for {share} of the final training "
        f"effectiveness, at each α (mean over folds): {found[0]}."
    )
    question = "Do models with a larger α learn faster?"
    return {"question": question, "answer": answer, "about": "convergence", "holds": found[1]}


def _stays_nearer(data: Json) -> Json | None:
    """The share of test rankings that are near the baseline's, by α."""

    def near(row: Json) -> float:
        return float(sum(row["test"]["bins"]["share"][:NEAR_BINS]))

    found = _by_alpha(data, near, lambda share: percent(share, 1), falls=False)
    if found is None:
        return None
    answer = (
        f"Share of rankings with a Kendall distance of at most {NEAR_BINS / BINS:g} to the baseline's ranking, at "
        f"each α: {found[0]}."
    )
    question = "Do models with a larger α keep more rankings near the baseline's?"
    return {"question": question, "answer": answer, "about": "distance", "holds": found[1]}


def _better_in_both(data: Json) -> Json | None:
    """What has more effectiveness and far less risk than the gain-only model.

    It is looked for on each fold's validation data. Folds without such a candidate keep the gain-only model.
    """
    gain_row = gain_only(data["rows"])
    if gain_row is None:
        return None

    def fits(row: Json, fold: str) -> bool:
        mine, gain_only_figures = row["folds"][fold]["valid"], gain_row["folds"][fold]["valid"]
        return bool(
            mine["mean"] > gain_only_figures["mean"] and mine["risk"] <= (1 - LESS_RISK) * gain_only_figures["risk"]
        )

    rankings = [row for row in data["rows"] if row["kind"] in RANKINGS]
    better = {fold: [row for row in rankings if fits(row, fold)] for fold in data["folds"]}
    measure = measure_title(data["measure"])
    question = f"Does a candidate have more {measure} and at least {percent(LESS_RISK)} less risk than gain alone?"
    folds = sum(map(bool, better.values()))
    if not folds:
        answer = "No candidate does, on the validation data of any fold."
        return {"question": question, "answer": answer, "about": "both", "holds": "no"}
    chosen = {
        fold: max(rows, key=lambda row: float(row["folds"][fold]["valid"]["mean"])) if rows else gain_row
        for fold, rows in better.items()
    }
    mine, gain_only_figures = pooled(chosen), pooled(dict.fromkeys(data["folds"], gain_row))
    holds = mine["mean"] > gain_only_figures["mean"] and mine["risk"] <= (1 - LESS_RISK) * gain_only_figures["risk"]
    less = (
        f", a change of {signed(100 * (mine['risk'] / gain_only_figures['risk'] - 1), 0)} %"
        if gain_only_figures["risk"]
        else ""
    )
    answer = (
        f"On validation data, one does on {folds} of {len(better)} folds (chosen: {chosen_in_words(chosen)}). On test "
        f"data, {'this is still true' if holds else 'this is not true'}: {measure} is {mine['mean']:.4f} (gain alone "
        f"{gain_only_figures['mean']:.4f}) and risk is {mine['risk']:.4f} (gain alone "
        f"{gain_only_figures['risk']:.4f}){less}."
    )
    return {"question": question, "answer": answer, "about": "both", "holds": "yes" if holds else "no"}
