"""Data that guards' tests share: a candidate that gains much, and loses where its features mislead it."""

from __future__ import annotations

from functools import cache

import numpy as np

import surefoot as sf

PARTS = ("train", "valid", "judged", "traffic")
MEASURE = "nDCG(dcg='exp-log2')@10"


@cache
def parts() -> dict[str, sf.RankingData]:
    """Four parts of one set of queries, so that no query is in two of them."""
    whole = sf.demo.letor(queries=1200, documents=12, features=12, misleading=0.1, seed=5)
    bounds = {"train": (0, 200), "valid": (200, 400), "judged": (400, 900), "traffic": (900, 1200)}
    return {name: whole.select(np.arange(*bounds[name])) for name in PARTS}


@cache
def ranker() -> sf.Ranker:
    """A model for gain alone."""
    settings = {"n_estimators": 25, "num_leaves": 8, "min_data_in_leaf": 10, "learning_rate": 0.15, "num_threads": 1}
    return sf.Ranker("gain", **settings).fit(parts()["train"])


def fitted(**settings: object) -> sf.RiskGuard:
    """A guard with its scorer fitted; eleven of the judged queries have no relevant document, and count."""
    chosen = {"baseline": "bm25", "risk": 0.05, "unanswered": "count", **settings}
    return sf.RiskGuard(ranker(), **chosen).fit_scorer(parts()["valid"])


@cache
def calibrated() -> sf.RiskGuard:
    """A guard that is ready to serve; not to be changed."""
    return fitted().calibrate(parts()["judged"])
