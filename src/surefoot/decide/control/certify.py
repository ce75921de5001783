"""From a threshold to its certificate: the figures, the reason, what is assumed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.arrays import Floats
from surefoot.data.hashes import seal
from surefoot.decide.control.certificate import Certificate, sentence
from surefoot.decide.control.certificate_data import SCHEMA, CurvePoint, Figures, Weights
from surefoot.decide.control.settings import Asked
from surefoot.decide.control.thresholds import Calibration, Found, curve
from surefoot.decide.evidence.nothing_to_lose import NothingToLoseData
from surefoot.decide.evidence.nothing_to_lose import words as nothing_to_lose_words
from surefoot.risk.tradeoff import hurts


@dataclass(frozen=True)
class Outcome:
    """What a calibration came to; `found` is None where there were too few queries to look."""

    asked: Asked
    gate: str
    calibration: Calibration
    found: Found | None
    weights: Weights
    largest: float
    uses: int
    baseline: Floats  # M_b of the judged queries
    nothing_to_lose: NothingToLoseData
    budget: int | None = None  # of the anytime form
    least: int | None = None  # of that form, too


def certify(outcome: Outcome, about: Mapping[str, Any]) -> Certificate:
    """The certificate of an outcome; `about` names the systems and the set of queries."""
    asked, calibration, found = outcome.asked, outcome.calibration, outcome.found
    threshold = None if found is None else found.threshold
    shown, whole = figures(outcome, threshold), figures(outcome, -np.inf)
    least = calibration.least() if outcome.budget is None else outcome.least
    held = [
        {"loss": name, "level": level, "observed": shown[name], "bound": 0.0 if threshold is None else level}
        for name, level in asked.levels.items()
    ]
    points = [] if found is None or outcome.budget is not None else curve(calibration, list(asked.levels.values()))
    data = {
        "schema": SCHEMA,
        **{name: about[name] for name in ("candidate", "baseline")},
        "measure": str(asked.measure),
        **held[0],
        "also": held[1:],
        "delta": calibration.delta,
        "method": method_of(outcome),
        "budget": outcome.budget,
        "gate": outcome.gate,
        "blend": asked.movement.blend,
        "movement_cap": asked.movement.cap,
        "threshold": threshold,
        "certified": 0 if found is None else found.certified,
        "tried": 0 if found is None else found.tried,
        "n": len(calibration),
        "nothing_to_lose": outcome.nothing_to_lose,
        "least_n": least,
        "shown": shown,
        "whole": whole,
        "gain_kept": kept(shown["gain"], whole["gain"]),
        "largest_loss": outcome.largest,
        "weights": outcome.weights,
        "drift": asked.drift,
        "queries_sha256": about["queries_sha256"],
        "uses": outcome.uses,
        "training_known": about["training_known"],
        "assumptions": assumptions(outcome, about["training_known"]),
        "reason": reason(outcome, least),
        "curve": [with_share(point, whole["gain"]) for point in points],
    }
    return Certificate(seal(data | {"sentence": sentence(data)}))


def method_of(outcome: Outcome) -> str:
    """How it was proved; losses of 0 or 1 have an exact test in place of bets."""
    if outcome.budget is not None:
        return "anytime betting"
    exact = all(one.method == "binomial" for one in outcome.calibration.evidence)
    return "binomial" if exact and outcome.asked.method == "betting" else outcome.asked.method


def figures(outcome: Outcome, threshold: float | None) -> Figures:
    """What the judged queries said of showing the candidate from a threshold on."""
    one = outcome.calibration
    taken = np.zeros(len(one)) if threshold is None else (one.scores >= threshold) * one.counts
    hurt = hurts(one.differences, outcome.baseline)
    return {
        "share_shown": min(1.0, float(taken.sum() / len(one))),
        "risk": float((np.maximum(-one.differences, 0) * taken).sum() / len(one)),
        "share_hurt": min(1.0, float((hurt * taken).sum() / len(one))),
        "gain": float((one.differences * taken).sum() / len(one)),
    }


def kept(gain: float, whole: float) -> float | None:
    """The share of the whole gain; it is above 1 where leaving queries out gains."""
    return gain / whole if whole > 0 else None


def with_share(point: Mapping[str, Any], whole: float) -> CurvePoint:
    """A point of the curve with the share of the whole gain."""
    return {
        "level": point["level"], "gain": point["gain"], "gain_kept": kept(point["gain"], whole),
        "share_shown": min(1.0, point["share_shown"]),
    }  # fmt: skip


def reason(outcome: Outcome, least: int | None) -> str | None:
    """Why nothing but the baseline is shown, if so."""
    found, n = outcome.found, len(outcome.calibration)
    if found is not None and found.threshold is not None:
        return None
    levels = " and ".join(f"{name} at most {level:g}" for name, level in outcome.asked.levels.items())
    if found is None or (outcome.budget is not None and least is not None and n < least):
        return f"{n:,} judged queries cannot prove {levels} even without a single loss; that takes at least {least:,}"
    if not found.certified:
        return f"the {n:,} judged queries do not prove {levels} at any threshold"
    return "where it is proved to be safe, the candidate did not gain anything on the judged queries"


def assumptions(outcome: Outcome, training_known: bool) -> list[str]:
    """What must be true for the certificate to hold, in plain words."""
    kind, drift = outcome.weights["kind"], outcome.asked.drift
    drawn = {
        "plain": "The judged queries were drawn at random from the traffic that will be served.",
        "drawn": "The queries were drawn as the file of draws says, from all traffic, and all of them were judged.",
        "strata": "Within each stratum the judged queries were drawn at random, and the strata have the shares given.",
    }[kind]
    change = (
        "The traffic stays as it was when they were drawn."
        if drift == 1
        else f"No query becomes more than {drift:g} times as frequent as when they were drawn."
    )
    trained = "Neither the candidate nor the gate has seen these queries" + (
        " (the model says on which it was trained)."
        if training_known
        else "; what the candidate saw is not known here."
    )
    many = (
        "The candidate, the gate and the level were chosen before the judgments were looked at."
        if outcome.uses == 1
        else f"It is use number {outcome.uses} of this set of queries, for which δ was lowered."
    )
    return [
        drawn,
        change,
        "The judgments say what users want, for every document that either list shows.",
        trained,
        many,
        "It is a promise about the average over traffic: single queries, or kinds of queries, may lose more.",
        *nothing_to_lose_words(outcome.nothing_to_lose),
    ]
