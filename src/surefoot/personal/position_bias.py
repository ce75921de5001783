"""How much more often high positions are looked at: estimated from a log, shown, and never used.

The same document for the same query is clicked, at two positions, as often as each position is looked at. So a ratio
of clicks is one of looking, if looking depends on position alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.special import ndtri

from surefoot.arrays import Flags, Floats, Ints
from surefoot.clicks.feature_pipeline import FeatureTable
from surefoot.data.hashes import share_of
from surefoot.personal.personal_data import PositionBias
from surefoot.progress import busy
from surefoot.significance import SIGNIFICANCE

POSITIONS = 10  # that are compared, from the first
GROUPS = 20  # of users; the jackknife leaves out one after the other
LARGEST_ERROR = 0.25  # of ln p: beyond it the jackknife itself cannot be relied on


class PositionCounts(NamedTuple):
    """How often pairs of query and document were shown and clicked at one position: by pair and group of users."""

    pairs: Ints  # in order
    shown: Floats
    clicked: Floats


class Examination(NamedTuple):
    """x = ln p of each position, where p of the first is 1; the covariance of the others; heterogeneity."""

    log_p: Floats
    covariance: Floats
    q: float
    df: int


def position_bias(table: FeatureTable) -> PositionBias:
    """Whether the log shows position bias, how often each position is looked at, and how sure that is."""
    with busy("Estimating position bias"):
        found = examination(position_counts(table))
    if isinstance(found, Examination):
        errors = np.append(0.0, np.sqrt(np.diag(found.covariance)))
        if errors.max() > LARGEST_ERROR:
            at = f"{errors.max():.3g} at position {errors.argmax() + 1}"
            found = f"the standard error of ln p is {at}, above {LARGEST_ERROR:g}; a larger log may do"
    if isinstance(found, str):
        return {
            "status": "cannot be estimated", "reason": found, "p": [], "standard_errors": [], "low": [], "high": [],
            "q": None, "df": None, "position_alone_refuted": None,
        }  # fmt: skip
    p, reach = np.exp(found.log_p), np.exp(ndtri(1 - SIGNIFICANCE / 2) * errors)
    is_present = found.log_p[1:].mean() < -2 * np.sqrt(max(found.covariance.mean(), 0.0))  # rounded, it may be below 0
    return {
        "status": "present" if is_present else "not found", "reason": None, "p": p.tolist(),
        "standard_errors": errors.tolist(), "low": (p / reach).tolist(), "high": (p * reach).tolist(),
        "q": found.q, "df": found.df, "position_alone_refuted": found.q > 2 * found.df if found.df else None,
    }  # fmt: skip


def position_counts(table: FeatureTable) -> list[PositionCounts]:
    """What was shown and clicked at each position, of all lists; groups are drawn by the names of users or sessions."""
    rows = table.scan().filter(pl.col("position") <= POSITIONS)
    rows = rows.select("query", "document", "position", "clicked", owner=pl.coalesce("user", "session"))
    owners = rows.select("owner").unique().collect(engine="streaming")
    groups = [int(GROUPS * share_of(name, 0, "jackknife")) for name in owners["owner"].to_list()]
    owners = owners.with_columns(group=pl.Series(groups, dtype=pl.Int64))
    # A pair that nobody clicked adds 0 to every sum: without them memory goes by clicks, which are few.
    pairs = rows.filter("clicked").select("query", "document").unique().collect(engine="streaming")
    pairs = pairs.sort("query", "document").with_row_index("pair")  # sums are in one order, the same to the last digit
    place = (pl.col("pair").cast(pl.Int64) * POSITIONS + pl.col("position") - 1) * GROUPS + pl.col("group")
    rows = rows.join(owners.lazy(), on="owner").join(pairs.lazy(), on=["query", "document"])
    cells = rows.group_by(place=place).agg(shown=pl.len(), clicked=pl.col("clicked").sum()).collect(engine="streaming")
    place_of, shown, clicked = (column.to_numpy() for column in cells)
    counts = []
    for position in range(POSITIONS):
        at = np.flatnonzero(place_of // GROUPS % POSITIONS == position)
        own, row = np.unique(place_of[at] // (POSITIONS * GROUPS), return_inverse=True)
        by_group = np.zeros((2, len(own), GROUPS))
        by_group[:, row, place_of[at] % GROUPS] = shown[at], clicked[at]
        counts.append(PositionCounts(own, *by_group))
    return counts


def examination(positions: Sequence[PositionCounts]) -> Examination | str:
    """ln p of the positions down to the last that is connected with the first, or why it cannot be estimated.

    The covariance is the jackknife's: V = 19/20·Σ (x₍ⱼ₎ − x̄)(x₍ⱼ₎ − x̄)ᵀ, where x₍ⱼ₎ is estimated without group j.
    """
    ratios, variances = log_ratios(positions)
    end = 1 + max(1, int(np.flatnonzero(_connected(ratios[0]))[-1]))
    ratios, variances = ratios[:, :end, :end], variances[:, :end, :end]
    apart = np.argwhere([~_connected(ratio) for ratio in ratios])
    if len(apart):
        without, position = apart[0]
        seldom = f"; it is only by group {without} of {GROUPS} of the users" if without else ""
        return f"position {position + 1} is not connected with the first by results that were clicked at both{seldom}"
    whole, *refits = map(least_squares, ratios, variances)
    away = np.array([refit.log_p[1:] for refit in refits])
    away -= away.mean(axis=0)
    return whole._replace(covariance=(len(refits) - 1) / len(refits) * away.T @ away)


def log_ratios(positions: Sequence[PositionCounts]) -> tuple[Floats, Floats]:
    """ln(p_l/p_k) ≈ ln(R/S) and its variance v, of everybody, then without each group; NaN where nothing is known.

    R = Σ c_l·n_k/N, S = Σ c_k·n_l/N, v = Σ [(n_k·n_l·(c_k + c_l) − c_k·c_l·N)/N²] / (R·S), over all pairs shown at
    both positions, N = n_k + n_l (Mantel and Haenszel, 1959; the variance: Greenland and Robins, Biometrics 1985).
    """
    # Everybody, and everybody but each group.
    left = [[part.sum(axis=1, keepdims=True) - np.pad(part, ((0, 0), (1, 0))) for part in one[1:]] for one in positions]
    ratios, variances = np.full((2, left[0][0].shape[1], len(positions), len(positions)), np.nan)
    for k, m in itertools.combinations(range(len(positions)), 2):
        _, at_k, at_l = np.intersect1d(positions[k].pairs, positions[m].pairs, assume_unique=True, return_indices=True)
        (n_k, c_k), (n_l, c_l) = ([part[rows] for part in left[one]] for one, rows in ((k, at_k), (m, at_l)))
        total = np.maximum(n_k + n_l, 1)  # a pair that only the group left out saw adds 0
        r, s = (c_l * n_k / total).sum(axis=0), (c_k * n_l / total).sum(axis=0)
        spread = ((n_k * n_l * (c_k + c_l) - c_k * c_l * total) / total**2).sum(axis=0)
        # Without spread every result was clicked always or never: v is 0, which is no measure of how sure R/S is.
        known = (r > 0) & (s > 0) & (spread > 0)
        ratios[known, k, m] = np.log(r[known] / s[known])
        variances[known, k, m] = spread[known] / (r[known] * s[known])
    return ratios, variances


def least_squares(ratio: Floats, variance: Floats) -> Examination:
    """ln p of connected positions by least squares with weights 1/v, its covariance, and Q = Σ (ln ratio − fit)²/v."""
    k, m = np.nonzero(np.isfinite(ratio))
    design = np.eye(len(ratio))[m] - np.eye(len(ratio))[k]
    design, weights, target = design[:, 1:], 1 / variance[k, m], ratio[k, m]
    covariance = np.asarray(np.linalg.inv(design.T @ (weights[:, None] * design)), dtype=np.float64)
    x = covariance @ (design.T @ (weights * target))
    q = float((weights * (target - design @ x) ** 2).sum())
    return Examination(np.append(0.0, x), covariance, q, len(k) - len(ratio) + 1)


def _connected(ratio: Floats) -> Flags:
    """Which positions are connected with the first by known ratios."""
    links = np.eye(len(ratio)) + np.isfinite(ratio) + np.isfinite(ratio).T
    return np.asarray(np.linalg.matrix_power(links, len(ratio))[0] > 0)
