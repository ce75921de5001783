"""What a sweep's candidates risk and gain, how fast they learn and how far they move, as plain data."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from surefoot.arrays import Floats
from surefoot.choose.candidates import Candidate, Candidates
from surefoot.choose.frontier import Point, reranking_area, selective_curve
from surefoot.choose.options import MODEL
from surefoot.choose.plan import Setting
from surefoot.learn.held_out import EVALUATED
from surefoot.learn.storage import saved_history
from surefoot.risk.assess import alpha_key, difference_figures
from surefoot.risk.churn import Churn
from surefoot.risk.expectation import geo_risk
from surefoot.risk.inference import t_test
from surefoot.risk.multiplicity import holm
from surefoot.risk.plain_data import Json
from surefoot.risk.tradeoff import u_risk

REACHED = 0.95  # of the final effectiveness, which tells how fast a training converges
_DIGITS = 6  # of queries' values: what a page can show, in little room


def candidate_rows(candidates: Candidates) -> list[Json]:
    """A row for each model and strategy, on validation and test data."""
    models = list(candidates.models())
    gain = next((one for one in models if one.setting == candidates.gain_only), None)
    every_candidate = [*models, *candidates.strategies(), *([] if gain is None else candidates.mixtures(gain))]
    against = {part: candidates.baseline_values(part) for part in EVALUATED}
    rows = [_row(candidates, one, against) for one in every_candidate]
    for part in EVALUATED:
        _add_tests(rows, every_candidate, gain, against[part][0], part)
    return rows


def _row(candidates: Candidates, candidate: Candidate, against: dict[str, Floats]) -> Json:
    row: Json = {
        "name": candidate.name,
        "kind": candidate.kind,
        "objective": candidate.setting.objective,
        "alpha": candidate.setting.alpha,
        "seeds": len(candidate.values["test"]),
        "parameters": candidate.parameters,
    }
    for part in EVALUATED:
        each = _figures_by_seed(candidates, candidate, against[part], part, slice(None))
        row[part] = _mean(each)
        if len(each) > 1:
            row[part]["deviation"] = {
                key: float(np.std([figures[key] for figures in each], ddof=1)) for key in ("mean", "risk")
            }
    row["folds"] = {
        fold: {
            part: _mean(
                _figures_by_seed(candidates, candidate, against[part], part, candidates.spans(part)[fold], brief=True)
            )
            for part in EVALUATED
        }
        for fold in candidates.folds
    }
    row["per_query"] = np.round(candidate.values["test"][:, 0].mean(axis=0), _DIGITS).tolist()
    if candidate.kind == MODEL:
        row["convergence"] = _convergence(candidates, candidate.setting)
    return row


def _figures_by_seed(
    candidates: Candidates, candidate: Candidate, against: Floats, part: str, queries: slice, *, brief: bool = False
) -> list[Json]:
    """The figures of each seed on some of the queries of a part."""
    return [
        _figures(
            candidates,
            values[:, queries],
            against[..., queries],
            None if candidate.tau is None else candidate.tau[part][seed, queries],
            candidate.share,
            brief,
        )
        for seed, values in enumerate(candidate.values[part])
    ]


def _figures(
    candidates: Candidates, values: Floats, against: Floats, tau: Floats | None, chance: float | None, brief: bool
) -> Json:
    """One seed's figures: values are [measure, query], those of baselines [baseline, measure, query]."""
    baseline = against[0, 0]
    difference = values[0] - baseline
    figures: Json = {"mean": float(values[0].mean()), "queries": len(difference)}
    figures |= difference_figures(difference, baseline)
    if chance is not None:  # the model's own wins and losses happen with that chance
        counted = difference_figures(difference / chance, baseline)
        figures |= {key: chance * counted[key] for key in ("wins", "losses", "loss_over_20")}
        figures["ties"] = len(difference) - figures["wins"] - figures["losses"]
    if len(against) > 1:
        everything = np.vstack([against[:, 0], values[0]])
        # A coin's GeoRisk is not that of the scores that it gives on average, which are all that is known here.
        figures["geo_risk"] = {
            alpha_key(alpha): None if chance is not None else float(geo_risk(everything, alpha)[-1])
            for alpha in (0.0, *candidates.plan.alphas)
        }
    churn = None if tau is None else Churn(tau, np.nan_to_num(tau, nan=1.0) < 1, int(np.isnan(tau).sum()))
    if churn is not None:
        figures["share_reranked"] = churn.share_reranked
    if brief:
        return figures
    figures["measures"] = {name: float(row.mean()) for name, row in zip(candidates.measures, values, strict=True)}
    figures["u_risk"] = {alpha_key(alpha): u_risk(values[0], baseline, alpha) for alpha in candidates.plan.alphas}
    if churn is not None:
        bins = churn.bin_figures(difference)
        figures["bins"] = {
            "share": [one["queries"] / len(difference) for one in bins],
            "reward": [one["reward"] for one in bins],
            "risk": [one["risk"] for one in bins],
        }
    return figures


def _mean(each: Sequence[Json]) -> Json:
    """The mean of every figure over the seeds; None for a ratio that has no value."""
    first = each[0]
    means: Json = {}
    for key, value in first.items():
        parts = [one[key] for one in each]
        if value is None:
            means[key] = None
        elif isinstance(value, dict):
            means[key] = _mean(parts)
        elif isinstance(value, list):
            means[key] = np.mean(parts, axis=0).tolist()
        elif key == "queries":  # the same for all
            means[key] = value
        else:
            mean = float(np.mean(parts))
            means[key] = mean if math.isfinite(mean) else None
    return means


def _add_tests(
    rows: Sequence[Json], candidates: Sequence[Candidate], gain: Candidate | None, baseline: Floats, part: str
) -> None:
    """Add p-values against the baseline and the gain-only model, after Holm, and the area of re-ranking."""
    means = [one.values[part][:, 0].mean(axis=0) for one in candidates]
    sides = {"p_baseline": baseline[0]} | ({} if gain is None else {"p_gain": gain.values[part][:, 0].mean(axis=0)})
    for key, other in sides.items():
        tests = [
            None if one.share is not None else t_test(values, other).p_sturdy
            for one, values in zip(candidates, means, strict=True)
        ]
        for row, p in zip(rows, holm(tests), strict=True):
            row[part][key] = p
    full = next((row for row, one in zip(rows, candidates, strict=True) if one is gain), None)
    if full is not None:
        for row in rows:
            _add_area(row[part], full[part])
            for fold, figures in row["folds"].items():
                _add_area(figures[part], full["folds"][fold][part])


def _add_area(figures: Json, full: Json) -> None:
    """The area of re-ranking, for what re-ranks no more queries than the gain-only model."""
    share = figures.get("share_reranked")
    if share is not None and share <= full["share_reranked"]:
        figures["area"] = reranking_area(share, figures["gain"], full["share_reranked"], full["gain"])


def _histories(candidates: Candidates, setting: Setting) -> list[dict[str, list[float]]]:
    """What each training of a setting reached on its own data after each tree, up to the last that its model has."""
    histories = [saved_history(candidates.store.place(job)) for jobs in candidates.jobs(setting) for job in jobs]
    return [{name: values[:trees] for name, values in history["train"].items()} for history, trees in histories]


def _convergence(candidates: Candidates, setting: Setting) -> Json:
    """Training effectiveness after each tree, the mean over folds and seeds, and trees to 95 % of the last."""
    curves = [history["effectiveness"] for history in _histories(candidates, setting)]
    reached = [next(tree for tree, value in enumerate(curve, 1) if value >= REACHED * curve[-1]) for curve in curves]
    longest = max(map(len, curves))
    padded = np.array([[*curve, *[curve[-1]] * (longest - len(curve))] for curve in curves])
    return {"trees": float(np.mean(reached)), "effectiveness": np.round(padded.mean(axis=0), _DIGITS).tolist()}


def training_point(candidates: Candidates, setting: Setting) -> Point:
    """Risk and gain of a setting on its own training data, the mean over folds and seeds."""
    last = [(history["risk"][-1], history["reward"][-1]) for history in _histories(candidates, setting)]
    risk, reward = np.mean(last, axis=0).tolist()
    return Point(risk, reward - risk)


def selective_points(candidates: Candidates, part: str) -> list[Json]:
    """The whole curve of selective re-ranking with the gain-only model: a point for each threshold."""
    order = candidates.aggregates(part)
    gain = next((one for one in candidates.models() if one.setting == candidates.gain_only), None)
    if order is None or gain is None:
        return []
    each = [selective_curve(values[0] - candidates.baseline_values(part)[0, 0], order) for values in gain.values[part]]
    thresholds = each[0][0]
    risk, gained = (np.mean([one[place] for one in each], axis=0) for place in (1, 2))
    return [
        {"share": float(share), "risk": float(r), "gain": float(g)}
        for share, r, g in zip(thresholds, risk, gained, strict=True)
    ]


def baseline_rows(candidates: Candidates) -> list[Json]:
    """The baselines' own means."""
    rows: list[Json] = []
    for number, name in enumerate(candidates.baselines):
        row: Json = {"name": name}
        for part in EVALUATED:
            values = candidates.baseline_values(part)[number]
            row[part] = {
                "mean": float(values[0].mean()),
                "measures": {key: float(one.mean()) for key, one in zip(candidates.measures, values, strict=True)},
            }
        row["per_query"] = np.round(candidates.baseline_values("test")[number, 0], _DIGITS).tolist()
        rows.append(row)
    return rows
