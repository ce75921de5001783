"""What a sweep's candidates risk and gain, how fast they learn and how far they move, as plain data."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from surefoot.arrays import Floats
from surefoot.choose.candidates import Candidate, Candidates
from surefoot.choose.frontier import Point, reranking_area, selective_curve
from surefoot.choose.plan import Setting
from surefoot.choose.worker import SHOWN
from surefoot.data.files import read_json
from surefoot.learn.model_files import DETAILS
from surefoot.risk.assess import alpha_key, difference_figures
from surefoot.risk.churn import BINS, Churn
from surefoot.risk.expectation import geo_risk
from surefoot.risk.inference import t_test
from surefoot.risk.multiplicity import holm
from surefoot.risk.plain_data import Json
from surefoot.risk.tradeoff import u_risk

REACHED = 0.95  # of the final effectiveness, which tells how fast a training converges
_DIGITS = 6  # of queries' values: what a page can show, in little room


def candidate_rows(found: Candidates) -> list[Json]:
    """A row for each model and strategy, on validation and test data."""
    models = list(found.models())
    gain = next((one for one in models if one.kind == "model" and one.setting.objective == "gain"), None)
    candidates = [*models, *found.strategies(), *([] if gain is None else found.mixtures(gain))]
    against = {part: found.baseline_values(part) for part in SHOWN}
    rows = [_row(found, one, against) for one in candidates]
    for part in SHOWN:
        _compare(rows, candidates, gain, against[part][0], part)
    return rows


def _row(found: Candidates, one: Candidate, against: dict[str, Floats]) -> Json:
    row: Json = {
        "name": one.name,
        "kind": one.kind,
        "objective": one.setting.objective,
        "alpha": one.setting.alpha,
        "seeds": len(one.values["test"]),
        "parameters": one.parameters,
    }
    for part in SHOWN:
        each = [
            _figures(found, values, against[part], None if one.tau is None else one.tau[part][seed], one.share)
            for seed, values in enumerate(one.values[part])
        ]
        row[part] = _mean(each)
        if len(each) > 1:
            row[part]["deviation"] = {
                key: float(np.std([one[key] for one in each], ddof=1)) for key in ("mean", "risk")
            }
    row["per_query"] = np.round(one.values["test"][:, 0].mean(axis=0), _DIGITS).tolist()
    if one.kind == "model":
        row["convergence"] = _convergence(found, one.setting)
    return row


def _figures(found: Candidates, values: Floats, against: Floats, tau: Floats | None, chance: float | None) -> Json:
    """One seed's figures on one part: values are [measure, query], those of baselines [baseline, measure, query]."""
    baseline = against[0, 0]
    difference = values[0] - baseline
    figures: Json = {"mean": float(values[0].mean())}
    figures["measures"] = {name: float(row.mean()) for name, row in zip(found.measures, values, strict=True)}
    figures |= difference_figures(difference, baseline)
    if chance is not None:  # the model's own wins and losses happen with that chance
        counted = difference_figures(difference / chance, baseline)
        figures |= {key: chance * counted[key] for key in ("wins", "losses", "loss_over_20")}
        figures["ties"] = len(difference) - figures["wins"] - figures["losses"]
    figures["u_risk"] = {alpha_key(alpha): u_risk(values[0], baseline, alpha) for alpha in found.plan.alphas}
    if len(against) > 1:
        everything = np.vstack([against[:, 0], values[0]])
        figures["geo_risk"] = {
            alpha_key(alpha): float(geo_risk(everything, alpha)[-1]) for alpha in (0.0, *found.plan.alphas)
        }
    if tau is not None:
        churn = Churn(tau, np.nan_to_num(tau, nan=1.0) < 1, int(np.isnan(tau).sum()))
        bins = churn.bins()
        figures["share_reranked"] = churn.share_reranked
        figures["bins"] = {
            "share": [float((bins == number).mean()) for number in range(BINS)],
            "reward": [float(np.maximum(difference[bins == number], 0).sum() / len(bins)) for number in range(BINS)],
            "risk": [float(np.maximum(-difference[bins == number], 0).sum() / len(bins)) for number in range(BINS)],
        }
    return figures


def _mean(each: Sequence[Json]) -> Json:
    """The mean of every figure over the seeds; None for a ratio that has no value."""
    first = each[0]
    found: Json = {}
    for key, value in first.items():
        parts = [one[key] for one in each]
        if isinstance(value, dict):
            found[key] = _mean(parts)
        elif isinstance(value, list):
            found[key] = np.mean(parts, axis=0).tolist()
        else:
            mean = float(np.mean(parts))
            found[key] = mean if math.isfinite(mean) else None
    return found


def _compare(
    rows: Sequence[Json], candidates: Sequence[Candidate], gain: Candidate | None, baseline: Floats, part: str
) -> None:
    """Add p-values against the baseline and the gain-only model, after Holm, and the area of re-ranking."""
    means = [one.values[part][:, 0].mean(axis=0) for one in candidates]
    sides = {"p_baseline": baseline[0]} | ({} if gain is None else {"p_gain": gain.values[part][:, 0].mean(axis=0)})
    for key, other in sides.items():
        tests = [t_test(values, other).p_adjusted for values in means]
        for row, p in zip(rows, holm(tests), strict=True):
            row[part][key] = p
    full = next((row[part] for row, one in zip(rows, candidates, strict=True) if one is gain), None)
    for row in rows:
        share = row[part].get("share_reranked")
        if full is not None and share is not None and share <= full["share_reranked"]:
            row[part]["area"] = reranking_area(share, row[part]["gain"], full["share_reranked"], full["gain"])


def _convergence(found: Candidates, setting: Setting) -> Json:
    """Training effectiveness after each tree, the mean over folds and seeds, and trees to 95 % of the last."""
    curves, reached = [], []
    for jobs in found.jobs(setting):
        for job in jobs:
            history = read_json(found.store.place(job) / DETAILS)["fitted"]["history_"]["train"]["effectiveness"]
            curves.append(history)
            reached.append(next(tree for tree, value in enumerate(history, 1) if value >= REACHED * history[-1]))
    longest = max(map(len, curves))
    padded = np.array([[*curve, *[curve[-1]] * (longest - len(curve))] for curve in curves])
    return {"trees": float(np.mean(reached)), "effectiveness": np.round(padded.mean(axis=0), _DIGITS).tolist()}


def training_point(found: Candidates, setting: Setting) -> Point:
    """Risk and gain of a setting on its own training data, the mean over folds and seeds."""
    risks, gains = [], []
    for jobs in found.jobs(setting):
        for job in jobs:
            history = read_json(found.store.place(job) / DETAILS)["fitted"]["history_"]["train"]
            risks.append(history["risk"][-1])
            gains.append(history["reward"][-1] - history["risk"][-1])
    return Point(float(np.mean(risks)), float(np.mean(gains)))


def selective_points(found: Candidates, part: str) -> list[Json]:
    """The whole curve of selective re-ranking with the gain-only model: a point for each threshold."""
    order = found.aggregates(part)
    gain = next((one for one in found.models() if one.setting.objective == "gain"), None)
    if order is None or gain is None:
        return []
    each = [selective_curve(values[0] - found.baseline_values(part)[0, 0], order) for values in gain.values[part]]
    thresholds = each[0][0]
    risk, gained = (np.mean([one[place] for one in each], axis=0) for place in (1, 2))
    return [
        {"share": float(share), "risk": float(r), "gain": float(g)}
        for share, r, g in zip(thresholds, risk, gained, strict=True)
    ]


def baseline_rows(found: Candidates) -> list[Json]:
    """The baselines' own means."""
    rows: list[Json] = []
    for number, name in enumerate(found.baselines):
        row: Json = {"name": name}
        for part in SHOWN:
            values = found.baseline_values(part)[number]
            row[part] = {
                "mean": float(values[0].mean()),
                "measures": {key: float(one.mean()) for key, one in zip(found.measures, values, strict=True)},
            }
        row["per_query"] = np.round(found.baseline_values("test")[number, 0], _DIGITS).tolist()
        rows.append(row)
    return rows
