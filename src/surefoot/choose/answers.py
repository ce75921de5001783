"""What a sweep says about the papers' questions, in words and figures."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from surefoot.choose.frontier import Point, mixture_hull, proportional_gain
from surefoot.risk.plain_data import Json

LESS_RISK = 0.3  # that a better point has at least, beside more effectiveness
NEAR = 1  # bins of Kendall's distance that are near the baseline: the first, so at most a tenth of it


def answers(data: Json) -> list[Json]:
    """Questions and answers: a headline, and the figures behind it."""
    found = [_above_the_lines(data), _faster(data), _nearer(data), _better_in_both(data)]
    return [answer for answer in found if answer is not None]


def _gain_row(data: Json) -> Json | None:
    return next((row for row in data["rows"] if row["kind"] == "model" and row["objective"] == "gain"), None)


def _models(data: Json, objective: str | None = None) -> list[Json]:
    return [
        row
        for row in data["rows"]
        if row["kind"] == "model" and row["objective"] != "gain" and objective in (None, row["objective"])
    ]


def _above_the_lines(data: Json) -> Json | None:
    """Whether risk-sensitive models lie above proportional reduction and above selective re-ranking, on test data."""
    gain, models = _gain_row(data), _models(data)
    if gain is None or not models:
        return None
    full = Point(gain["test"]["risk"], gain["test"]["gain"])
    proportional = [row["test"]["gain"] - proportional_gain(full, row["test"]["risk"]) for row in models]
    above = sum(difference > 0 for difference in proportional)
    said = (
        f"{above} of {len(models)} risk-sensitive models gain more than proportional reduction of the gain-only model "
        f"at the same risk (by {np.mean(proportional):+.4f} on average, {max(proportional):+.4f} at best)."
    )
    curve = data["curves"]["test"]["selective"]
    if curve:
        hull = mixture_hull([Point(one["risk"], one["gain"]) for one in curve])
        ends = [
            hull[-1].gain if row["test"]["risk"] > hull[-1].risk else _at(hull, row["test"]["risk"]) for row in models
        ]
        over = [row["test"]["gain"] - end for row, end in zip(models, ends, strict=True)]
        said += (
            f" {sum(difference > 0 for difference in over)} of {len(models)} gain more than selective re-ranking at "
            f"the same risk, even where its thresholds are mixed (by {np.mean(over):+.4f} on average)."
        )
    return {"question": "Do risk-sensitive models beat reducing the gain-only model?", "answer": said}


def _at(hull: Sequence[Point], risk: float) -> float:
    return float(np.interp(risk, [point.risk for point in hull], [point.gain for point in hull]))


def _faster(data: Json) -> Json | None:
    """Trees to 95 % of the final training effectiveness, by α."""
    gain = _gain_row(data)
    objectives = dict.fromkeys(row["objective"] for row in _models(data))
    if gain is None or not objectives:
        return None
    parts = []
    for objective in objectives:
        rows = _models(data, objective)
        trees = [gain["convergence"]["trees"], *(row["convergence"]["trees"] for row in rows)]
        falls = all(later <= earlier for earlier, later in pairwise(trees))
        shown = ", ".join(f"{count:.1f}" for count in trees)
        parts.append(f"{objective} {shown} ({'fewer with each α' if falls else 'not fewer with each α'})")
    steps = ", ".join(f"{alpha:g}" for alpha in (0, *data["alphas"]))
    return {
        "question": "Do larger α converge faster?",
        "answer": (
            f"Trees to 95 % of the final training effectiveness at α = {steps}, mean over folds: {'; '.join(parts)}."
        ),
    }


def _nearer(data: Json) -> Json | None:
    """The share of test rankings whose Kendall distance to the baseline is in the first bin, by α."""
    gain = _gain_row(data)
    objectives = dict.fromkeys(row["objective"] for row in _models(data))
    if gain is None or not objectives:
        return None

    def near(row: Json) -> float:
        return float(sum(row["test"]["bins"]["share"][:NEAR]))

    parts = []
    for objective in objectives:
        shares = [near(gain), *(near(row) for row in _models(data, objective))]
        grows = all(later >= earlier for earlier, later in pairwise(shares))
        shown = ", ".join(f"{share:.1%}" for share in shares)
        parts.append(f"{objective} {shown} ({'grows with each α' if grows else 'does not grow with each α'})")
    steps = ", ".join(f"{alpha:g}" for alpha in (0, *data["alphas"]))
    return {
        "question": "Do larger α keep more rankings near the baseline's?",
        "answer": f"Share within a tenth of Kendall's distance at α = {steps}: {'; '.join(parts)}.",
    }


def _better_in_both(data: Json) -> Json | None:
    """A candidate with more effectiveness and far less risk than the gain-only model, found on validation data."""
    gain = _gain_row(data)
    if gain is None:
        return None
    wanted = [
        row
        for row in data["rows"]
        if row is not gain
        and row["kind"] != "naïve"
        and row["valid"]["mean"] > gain["valid"]["mean"]
        and row["valid"]["risk"] <= (1 - LESS_RISK) * gain["valid"]["risk"]
    ]
    question = f"Is there more {data['measure']} with at least {LESS_RISK:.0%} less risk than the gain-only model?"
    if not wanted:
        return {"question": question, "answer": "Not on validation data."}
    best = max(wanted, key=lambda row: row["valid"]["mean"])
    held = (
        best["test"]["mean"] > gain["test"]["mean"] and best["test"]["risk"] <= (1 - LESS_RISK) * gain["test"]["risk"]
    )
    return {
        "question": question,
        "answer": (
            f"{'Yes' if held else 'On validation data alone'}: {best['name']}, the best of {len(wanted)} on validation "
            f"data, has {best['test']['mean']:.4f} on test data against {gain['test']['mean']:.4f}, and a risk of "
            f"{best['test']['risk']:.4f} against {gain['test']['risk']:.4f} "
            f"({best['test']['risk'] / gain['test']['risk'] - 1:+.0%})."
        ),
    }
