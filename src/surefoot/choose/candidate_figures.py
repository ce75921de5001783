"""What a sweep's candidates risk and gain, how sure that is, how fast they learn and how far they move."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, pairwise

import numpy as np

from surefoot.arrays import Floats
from surefoot.choose.candidates import Candidate, TrainedModels, mixture, random_mixtures, strategies
from surefoot.choose.frontier import RiskGainPoint, mixture_hull, reranking_area, selective_curve
from surefoot.choose.options import MODEL, PLAIN_MODELS, RANKINGS
from surefoot.choose.plan import SweepSetting
from surefoot.learn.measured_queries import EVALUATION_PARTS
from surefoot.learn.saved_ranker import saved_history
from surefoot.risk.assessment_data import Json
from surefoot.risk.assessment_figures import difference_figures
from surefoot.risk.assessment_parts import traffic_shares
from surefoot.risk.bootstrap import percentile_intervals, resamples
from surefoot.risk.churn import Churn
from surefoot.risk.expectation import geo_risk
from surefoot.risk.inference import t_test, weighted_test
from surefoot.risk.outcomes import holm
from surefoot.risk.tradeoff import alpha_key, difference_of, weigh_losses
from surefoot.risk.vectors import weighted_mean

CONVERGED_SHARE = 0.95  # of the final effectiveness, which tells how fast a training converges
_DIGITS = 6  # of queries' values: what a page can show, in little room
# Of a mixture of two models, of which each query gets one by chance.
_RATIOS = {
    "reward_over_risk": ("reward", "risk"),
    "risk_over_reward": ("risk", "reward"),
    "wins_over_losses": ("wins", "losses"),
    "losses_over_wins": ("losses", "wins"),
}
_OF_ONE_RANKING = ("share_reranked", "bins")  # what two rankings by chance do not have
_UNKNOWN = ("worst_mean", "geo_risk")  # what is not the mean of both
REPLICATES = 1000  # of queries, drawn again
SEED = 0


def candidate_rows(trained: TrainedModels, strategies_of: str = "gain") -> list[Json]:
    """A row for each model and strategy, on validation and test data."""
    models = list(trained.models())
    gain_model = next((candidate for candidate in models if candidate.setting == trained.gain_only), None)
    every_candidate = [
        *models,
        *strategies(trained, strategies_of),
        *([] if gain_model is None else random_mixtures(trained, gain_model)),
    ]
    rows = [candidate_row(trained, candidate) for candidate in every_candidate]
    if strategies_of == "all":
        mixtures = hull_mixtures(every_candidate, rows)
        rows += [candidate_row(trained, candidate) for candidate in mixtures]
        every_candidate += mixtures
    for part in EVALUATION_PARTS:
        _add_tests(trained, rows, every_candidate, gain_model, part)
        _add_intervals(trained, rows, every_candidate, part)
    _add_areas(rows, trained.gain_only, trained.part_names)
    return rows


def every_ranking(trained: TrainedModels, names: Collection[str]) -> Iterator[Candidate]:
    """The candidates of these names that give one ranking, models or whatever is made of them."""
    left = set(names)
    for candidate in chain(trained.models(), strategies(trained, "all")):
        if not left:
            return
        if candidate.name in left:
            left.discard(candidate.name)
            yield candidate


def hull_mixtures(every_candidate: Sequence[Candidate], rows: Sequence[Json]) -> list[Candidate]:
    """Mixtures of models that are neighbours on the upper hull of validation data: what else mixing can gain."""
    points = {
        RiskGainPoint(row["valid"]["risk"], row["valid"]["gain"]): candidate
        for candidate, row in reversed(list(zip(every_candidate, rows, strict=True)))
        if candidate.kind in PLAIN_MODELS
    }
    hull = [points[point] for point in mixture_hull(list(points)) if point in points]
    return [mixture(one, other) for one, other in pairwise(hull) if one.setting != other.setting]


def candidate_row(trained: TrainedModels, candidate: Candidate) -> Json:
    """A candidate's figures on every part and fold, without what compares it with the others."""
    row: Json = {
        "name": candidate.name,
        "kind": candidate.kind,
        "objective": candidate.setting.objective,
        "alpha": candidate.setting.alpha,
        "seeds": len(candidate.values["test"]),
        "parameters": candidate.parameters,
    }
    if candidate.kind in RANKINGS:
        row["made_of"] = _parts(trained, candidate)
    for part in EVALUATION_PARTS:
        each = _figures_by_seed(trained, candidate, part, slice(None))
        row[part] = _mean(each)
        if len(each) > 1:
            row[part]["deviation"] = {
                key: float(np.std([figures[key] for figures in each], ddof=1)) for key in ("mean", "risk")
            }
    row["folds"] = {fold: _fold_figures(trained, candidate, fold) for fold in trained.folds}
    row["per_query"] = np.round(candidate.values["test"][:, 0].mean(axis=0), _DIGITS).tolist()
    if candidate.kind == MODEL:
        row["convergence"] = _convergence(trained, candidate.setting)
    return row


def _parts(trained: TrainedModels, candidate: Candidate) -> Json:
    """What a ranking is made of, from which it can be made again."""
    parts: Json = {"setting": candidate.setting.name, "seeds": list(candidate.seeds)}
    if candidate.weight is not None:
        parts["weight"] = candidate.weight
    if candidate.share is not None:
        parts["thresholds"] = {fold: trained.threshold(fold, candidate.share) for fold in trained.folds}
    return parts


def _fold_figures(trained: TrainedModels, candidate: Candidate, fold: str) -> Json:
    """The figures of one fold on each part; of several seeds also those of the first, whose model is the one saved."""
    figures: Json = {}
    for part in trained.part_names:
        queries = trained.spans(part)[fold]
        each = _figures_by_seed(trained, candidate, part, queries, brief=True)
        figures[part] = _mean(each)
        baseline, weights = trained.baseline_values(part)[0, 0], trained.relative_weights(part, queries)
        figures[part]["standard_error"] = {
            "gain": standard_error(candidate.gains(part, baseline)[queries], weights),
            "risk": standard_error(candidate.losses(part, baseline)[queries], weights),
        }
        if part == "test" and len(each) > 1:
            figures["first_seed"] = _mean(each[:1])
    return figures


def _add_intervals(trained: TrainedModels, rows: Sequence[Json], candidates: Sequence[Candidate], part: str) -> None:
    """Add to each point how sure it is, over resampled queries."""
    baseline, columns = trained.baseline_values(part)[0, 0], []
    for candidate in candidates:
        gains = candidate.gains(part, baseline)
        columns += [gains + baseline, gains, candidate.losses(part, baseline)]
    ends = iter(mean_intervals(columns, trained.relative_weights(part)))
    for row in rows:
        row[part]["interval"] = {key: next(ends) for key in ("mean", "gain", "risk")}


def _figures_by_seed(
    trained: TrainedModels, candidate: Candidate, part: str, queries: slice, *, brief: bool = False
) -> list[Json]:
    """The figures of each seed on some of the queries of a part; for a mixture of two, what is expected of both."""
    if candidate.mixed is not None and candidate.chance is not None:
        one, other = (_mean(_figures_by_seed(trained, own, part, queries, brief=brief)) for own in candidate.mixed)
        return [mixed_figures(one, other, candidate.chance)]
    seeds = range(len(candidate.values[part]))
    return [_figures(trained, candidate, part, seed, queries, brief) for seed in seeds]


def _figures(trained: TrainedModels, candidate: Candidate, part: str, seed: int, queries: slice, brief: bool) -> Json:
    """One seed's figures on some queries: values are [measure, query], of baselines [baseline, measure, query]."""
    values, baseline_values = candidate.values[part][seed][:, queries], trained.baseline_values(part)[..., queries]
    tau = None if candidate.tau is None else candidate.tau[part][seed, queries]
    baseline, chance = baseline_values[0, 0], candidate.chance
    difference = difference_of(values[0], baseline)
    weights = trained.relative_weights(part, queries)
    figures: Json = {"mean": weighted_mean(values[0], weights), "queries": len(difference)}
    counts = trained.query_weights(part)
    if weights is not None and counts is not None:
        figures["weight"] = float(counts[queries].sum())
    figures |= difference_figures(difference, baseline, weights=weights)
    if chance is not None:  # the model's own wins and losses happen with that chance
        counted = difference_figures(difference / chance, baseline)
        figures |= {key: chance * counted[key] for key in ("wins", "losses", "loss_over_20")}
        figures["ties"] = len(difference) - figures["wins"] - figures["losses"]
    if len(baseline_values) > 1 and weights is None:
        everything = np.vstack([baseline_values[:, 0], values[0]])
        # A coin's GeoRisk is not that of the scores that it gives on average, which are all that is known here.
        figures["geo_risk"] = {
            alpha_key(alpha): None if chance is not None else float(geo_risk(everything, alpha)[-1])
            for alpha in (0.0, *trained.plan.alphas)
        }
    churn = None if tau is None else Churn(tau, np.nan_to_num(tau, nan=1.0) < 1, int(np.isnan(tau).sum()), weights)
    if churn is not None:
        figures["share_reranked"] = churn.share_reranked
    if brief:
        return figures
    figures["measures"] = {
        name: weighted_mean(row, weights) for name, row in zip(trained.measures, values, strict=True)
    }
    figures["u_risk"] = {
        alpha_key(alpha): weighted_mean(weigh_losses(difference, alpha), weights) for alpha in trained.plan.alphas
    }
    if weights is not None and chance is None:
        name = trained.baselines[0]
        figures["traffic_shares"], figures["each_once"] = traffic_shares(
            values[0], {name: baseline}, {name: difference}, weights
        )
    if churn is not None:
        bins, number = churn.bin_figures(difference), churn.bins()
        figures["bins"] = {
            "share": [weighted_mean((number == at).astype(np.float64), weights) for at in range(len(bins))],
            "reward": [bin_["reward"] for bin_ in bins],
            "risk": [bin_["risk"] for bin_ in bins],
        }
    return figures


def _mean(each: Sequence[Json]) -> Json:
    """The mean of every figure over the seeds; None for a ratio that has no value."""
    first = each[0]
    means: Json = {}
    for key, value in first.items():
        parts = [figures[key] for figures in each]
        if value is None:
            means[key] = None
        elif isinstance(value, dict):
            means[key] = _mean(parts)
        elif isinstance(value, list):
            means[key] = np.mean(parts, axis=0).tolist()
        elif key in ("queries", "weight"):  # the same for all
            means[key] = value
        else:
            mean = float(np.mean(parts))
            means[key] = mean if math.isfinite(mean) else None
    return means


def _add_tests(
    trained: TrainedModels, rows: Sequence[Json], candidates: Sequence[Candidate], gain_model: Candidate | None,
    part: str,
) -> None:  # fmt: skip
    """Add p-values against the baseline and the gain-only model, after Holm."""
    weights = trained.relative_weights(part)
    means = [candidate.values[part][:, 0].mean(axis=0) for candidate in candidates]
    sides = {"p_baseline": trained.baseline_values(part)[0, 0]}
    if gain_model is not None:
        sides["p_gain"] = gain_model.values[part][:, 0].mean(axis=0)
    for key, other in sides.items():
        tests = [
            None if candidate.chance is not None else _p_value(values, other, weights)
            for candidate, values in zip(candidates, means, strict=True)
        ]
        for row, p in zip(rows, holm(tests), strict=True):
            row[part][key] = p


def _p_value(values: Floats, other: Floats, weights: Floats | None) -> float | None:
    """Of a paired test, robust against one more bad query; with weights, by influence values."""
    if weights is None:
        return t_test(values, other).p_robust
    test = weighted_test(values - other, 0.0, float(max(abs(values).max(), abs(other).max())), weights)
    return test.p_robust if test.p_robust is None else max(test.p_robust, test.p_traffic or 0.0)


def _add_areas(rows: Sequence[Json], gain_only: SweepSetting | None, parts: Sequence[str]) -> None:
    """Add the area of re-ranking, for what re-ranks no more queries than the gain-only model."""
    gain_only_row = next((row for row in rows if gain_only is not None and row["name"] == gain_only.name), None)
    if gain_only_row is None:
        return
    for row in rows:
        pairs = [(row[part], gain_only_row[part]) for part in EVALUATION_PARTS]
        pairs += [
            (row["folds"][fold][part], gain_only_row["folds"][fold][part]) for fold in row["folds"] for part in parts
        ]
        for figures, gain_only_figures in pairs:
            share, gain_only_share = figures.get("share_reranked"), gain_only_figures["share_reranked"]
            if share is not None and share <= gain_only_share:
                figures["area"] = reranking_area(share, figures["gain"], gain_only_share, gain_only_figures["gain"])


def _histories(trained: TrainedModels, setting: SweepSetting) -> list[dict[str, list[float]]]:
    """What each training of a setting reached on its own data after each tree, up to the last that its model has."""
    histories = [saved_history(trained.store.result_path(job)) for jobs in trained.jobs(setting) for job in jobs]
    return [{name: values[:trees] for name, values in history["train"].items()} for history, trees in histories]


def _convergence(trained: TrainedModels, setting: SweepSetting) -> Json:
    """Training effectiveness after each tree, the mean over folds and seeds, and trees to 95 % of the last."""
    curves = [history["effectiveness"] for history in _histories(trained, setting)]
    reached = [
        next(tree for tree, value in enumerate(curve, 1) if value >= CONVERGED_SHARE * curve[-1]) for curve in curves
    ]
    longest = max(map(len, curves))
    padded = np.array([[*curve, *[curve[-1]] * (longest - len(curve))] for curve in curves])
    return {"trees": float(np.mean(reached)), "effectiveness": np.round(padded.mean(axis=0), _DIGITS).tolist()}


def training_point(trained: TrainedModels, setting: SweepSetting) -> RiskGainPoint:
    """Risk and gain of a setting on its own training data, the mean over folds and seeds."""
    last = [(history["risk"][-1], history["reward"][-1]) for history in _histories(trained, setting)]
    risk, reward = np.mean(last, axis=0).tolist()
    return RiskGainPoint(risk, reward - risk)


def selective_points(trained: TrainedModels, part: str) -> list[Json]:
    """The whole curve of selective re-ranking with the gain-only model: a point for each threshold."""
    order = trained.aggregate_ranks(part)
    gain_model = next((candidate for candidate in trained.models() if candidate.setting == trained.gain_only), None)
    if order is None or gain_model is None:
        return []
    each = [
        selective_curve(values[0] - trained.baseline_values(part)[0, 0], order, trained.relative_weights(part))
        for values in gain_model.values[part]
    ]
    thresholds = each[0][0]
    risk, gained = (np.mean([curve[column] for curve in each], axis=0) for column in (1, 2))
    return [
        {"share": float(share), "risk": float(r), "gain": float(g)}
        for share, r, g in zip(thresholds, risk, gained, strict=True)
    ]


def baseline_rows(trained: TrainedModels) -> list[Json]:
    """The baselines' own means."""
    rows: list[Json] = []
    for number, name in enumerate(trained.baselines):
        row: Json = {"name": name}
        for part in EVALUATION_PARTS:
            values, weights = trained.baseline_values(part)[number], trained.relative_weights(part)
            row[part] = {
                "mean": weighted_mean(values[0], weights),
                "measures": {
                    key: weighted_mean(row_values, weights)
                    for key, row_values in zip(trained.measures, values, strict=True)
                },
            }
        row["per_query"] = np.round(trained.baseline_values("test")[number, 0], _DIGITS).tolist()
        rows.append(row)
    return rows


def mixed_figures(one: Json, other: Json, chance: float) -> Json:
    """The figures of a mixture: means of both models' own, weighted by the chance of the first.

    >>> mixed_figures({"risk": 0.1, "queries": 4}, {"risk": 0.3, "queries": 4}, 0.5)
    {'risk': 0.2, 'queries': 4}
    """
    mixed: Json = {}
    for key, value in one.items():
        if key in (*_OF_ONE_RANKING, *_RATIOS):
            continue
        if key in ("queries", "weight"):
            mixed[key] = value
        elif key in _UNKNOWN:
            mixed[key] = dict.fromkeys(value) if isinstance(value, dict) else None
        elif isinstance(value, dict):
            mixed[key] = mixed_figures(value, other[key], chance)
        else:
            mixed[key] = chance * value + (1 - chance) * other[key]
    for key, (above, below) in _RATIOS.items():
        if key in one:
            mixed[key] = mixed[above] / mixed[below] if mixed[below] else None
    return mixed


def resampled_means(
    columns: Sequence[Floats], weights: Floats | None = None, replicates: int = REPLICATES, seed: int = SEED
) -> Floats:
    """The mean of each column of queries' values in each resample of the queries: [column, replicate].

    Queries are drawn with their weights, all with the same chance.
    """
    matrix = np.stack(columns)
    means = np.empty((len(matrix), replicates))
    for part, counts in resamples(matrix.shape[1], replicates, seed):
        times = counts if weights is None else counts * weights
        means[:, part] = matrix @ times.T / (matrix.shape[1] if weights is None else times.sum(axis=1))
    return means


def mean_intervals(columns: Sequence[Floats], weights: Floats | None = None) -> list[list[float]]:
    """The 95 % interval of each column's mean over resampled queries.

    >>> mean_intervals([np.array([1.0, 1.0, 1.0])])
    [[1.0, 1.0]]
    """
    ends: list[list[float]] = percentile_intervals(resampled_means(columns, weights)).tolist()
    return ends


def standard_error(values: Floats, weights: Floats | None = None) -> float | None:
    """Of the mean of queries' values; None for a single query.

    With weights, whose mean is 1, it goes by the influence values w·(x − mean).

    >>> standard_error(np.array([0.0, 2.0])), round(standard_error(np.array([0.0, 2.0]), np.array([1.5, 0.5])), 6)
    (1.0, 0.75)
    """
    if weights is not None:
        values = weights * (values - weighted_mean(values, weights))
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None
