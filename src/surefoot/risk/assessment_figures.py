"""Everything known of a score matrix, as plain data: what each system gains, risks, and whether by chance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np

from surefoot.arguments import integer
from surefoot.arrays import Floats
from surefoot.risk.assessment_data import SCHEMA, AssessmentData, AtAlpha, ChurnData, Json, SystemData
from surefoot.risk.assessment_parts import Segments, add_judgments, segment_data, traffic_data, traffic_shares
from surefoot.risk.baselines import differences, population_rows, vectors_of_baselines
from surefoot.risk.bootstrap import bootstrap_intervals
from surefoot.risk.churn import Churn, compare_rankings, rank_systems
from surefoot.risk.expectation import are_counts, chi_square, deviation_sums, geo_risk_of_means
from surefoot.risk.inference import TTest, critical_value, weighted_tests
from surefoot.risk.influence import BaselineSums, influence_sums
from surefoot.risk.outcomes import apply_holm, outcomes_by_alpha, set_same
from surefoot.risk.tradeoff import count_losing_over_20, distinct_alphas, lowest_mean, weigh_losses
from surefoot.risk.vectors import CHUNK, blocks, dot, weighted_mean
from surefoot.significance import CONFIDENCE

if TYPE_CHECKING:
    from surefoot.data.types.scores import Scores

NOT_WEIGHTED_REASON = "Z_Risk and GeoRisk are not defined for queries that are weighted by traffic"
WORST = 0.05  # the share of queries whose mean difference is the mean of the worst


def assessment_data(
    scores: Scores,
    baseline: str | Sequence[str],
    alphas: Sequence[float],
    population: Sequence[str] | None = None,
    bootstrap: int = 0,
    seed: int = 0,
    depth: int | None = None,
    worst: float = WORST,
    segments: Segments | None = None,
    *,
    turns: bool = True,
) -> AssessmentData:
    """The assessment as plain data, ready for JSON; see `surefoot.assess` for the arguments.

    Without `turns` it is not looked where outcomes turn: within a segment, whose outcomes go by all segments together.
    """
    alphas_by_key = distinct_alphas(alphas)
    integer("bootstrap", bootstrap, 0)
    integer("seed", seed, 0)
    if depth is not None:
        integer("depth", depth, 1)
    rows = population_rows(scores, population)
    weights = scores._relative_weights
    against = vectors_of_baselines(scores, baseline, rows)
    matrices = differences(scores, against)
    differences_by_baseline = {name: list(matrix) for name, matrix in matrices.items()}
    systems = [
        {"system": system, "is_baseline": system in against, **figures}
        for system, figures in zip(
            scores.systems, _averaged_figures(scores, against, differences_by_baseline, worst, weights), strict=True
        )
    ]
    no_deviation = (
        NOT_WEIGHTED_REASON
        if weights is not None
        else "some scores are negative"
        if (scores.values[rows] < 0).any()
        else None
    )
    deviation = None if no_deviation else deviation_sums(scores.values[rows])
    sums = None if deviation is None else dict(zip(rows, zip(*deviation[:2], strict=True), strict=True))
    means = scores.mean()
    influence = influence_sums(differences_by_baseline, weights)
    tests = _tests(differences_by_baseline, alphas_by_key, scores._largest(), influence)
    for position, entry in enumerate(systems):
        entry["alpha"] = {}
        for key, alpha in alphas_by_key.items():
            entry["alpha"][key] = {
                "u_risk": entry["reward"] - (1 + alpha) * entry["risk"],
                **tests[key][position],
            }
            expected, reason = _expectation(means, len(scores.queries), sums, position, alpha, no_deviation)
            entry["alpha"][key] |= expected
            entry["alpha"][key]["reasons"] |= {"z_risk": reason}
    for entry, system_turns in zip(
        systems, outcomes_by_alpha(differences_by_baseline, alphas_by_key, tests, turns, influence), strict=True
    ):
        entry["outcome_by_alpha"] = system_turns
        if not entry["is_baseline"] and len(against) == 1 and not entry["wins"] and not entry["losses"]:
            set_same(entry, outcomes_by_alpha=turns)
    if bootstrap:
        _add_intervals(systems, scores, matrices, alphas_by_key, None if sums is None else rows, bootstrap, seed)
    first_baseline = next(iter(against))
    if scores.runs and len(against) == 1 and first_baseline in scores.systems:
        _add_churn(systems, scores, first_baseline, matrices[first_baseline], depth)
    agreement = {key: rank_systems(systems, key) for key in alphas_by_key}
    chi = (
        None
        if deviation is None
        else chi_square(deviation[2], len(scores.queries), deviation[2].size > 1 and are_counts(scores.values[rows]))
    )
    data: AssessmentData = {
        "schema": SCHEMA,
        "measure": scores.measure,
        "baseline": baseline if isinstance(baseline, str) else list(against),
        "population": [scores.systems[row] for row in rows],
        "queries": len(scores.queries),
        "missing": dict(scores.missing),
        "dropped": scores.dropped,
        "no_relevant": scores.no_relevant,
        "tie_rule": scores.tie_rule,
        "alphas": list(alphas_by_key.values()),
        "critical_value": critical_value(len(scores.queries)),
        "worst_share": worst,
        "bootstrap": {"replicates": bootstrap, "seed": seed, "confidence": CONFIDENCE} if bootstrap else None,
        "score_range": [float(scores.values.min()), float(scores.values.max())],
        "g_squared": (
            None if chi is None else {"value": chi.value, "df": chi.df, "p_value": chi.p, "reason": chi.reason}
        ),
        "systems": cast("list[SystemData]", systems),  # gathered figure by figure above
        "agreement": agreement,
        "segments": segment_data(
            scores,
            segments or {},
            lambda part: assessment_data(part, baseline, alphas, population, worst=worst, turns=False),
        ),
    }
    if scores._weighting is not None:
        data["traffic"] = traffic_data(scores._weighting)
    add_judgments(data, scores, list(against))
    return data


def _averaged_figures(
    scores: Scores,
    against: Mapping[str, Floats],
    differences_by_baseline: Mapping[str, Sequence[Floats]],
    worst: float,
    weights: Floats | None = None,
) -> list[Json]:
    """What needs no α, against each baseline in turn and then averaged (Dinçer et al., SIGIR 2016, Table 7)."""
    counted = {"wins", "losses", "ties", "loss_over_20"}
    rows = []
    for position, (mean, geometric_mean) in enumerate(zip(scores.mean(), scores.geometric_mean(), strict=True)):
        differences_of = {name: differences_by_baseline[name][position] for name in against}
        each = [difference_figures(differences_of[name], vector, worst, weights) for name, vector in against.items()]
        figures = {key: float(np.mean([against_one[key] for against_one in each])) for key in each[0]}
        row: Json = {"mean": float(mean), "geometric_mean": float(geometric_mean)}
        for key, value in figures.items():
            is_count = key in counted and len(each) == 1
            row[key] = int(value) if is_count else value if math.isfinite(value) else None
        if weights is not None:
            row["traffic_shares"], row["each_once"] = traffic_shares(
                scores.values[position], against, differences_of, weights
            )
        rows.append(row)
    return rows


def difference_figures(
    difference: Floats, baseline: Floats, worst: float = WORST, weights: Floats | None = None
) -> dict[str, float]:
    """Reward, risk, wins, losses and what follows from them, of differences to a baseline's scores.

    Relative weights of the queries weigh the means; counts stay counts.
    """
    above, below, won, lost = _gains_and_losses(difference, weights)
    reward, risk, wins, losses = above / len(difference), -below / len(difference), int(won), int(lost)
    return {
        "reward": reward,
        "risk": risk,
        "gain": reward - risk,
        "wins": wins,
        "losses": losses,
        "ties": len(difference) - wins - losses,
        "loss_over_20": count_losing_over_20(difference, baseline),
        "reward_over_risk": _ratio(reward, risk),
        "risk_over_reward": _ratio(risk, reward),
        "wins_over_losses": _ratio(wins, losses),
        "losses_over_wins": _ratio(losses, wins),
        "worst_mean": lowest_mean(difference, worst, weights),
    }


def _tests(
    differences_by_baseline: Mapping[str, Sequence[Floats]], alphas: Mapping[str, float], scale: float,
    influence: BaselineSums,
) -> dict[str, list[Json]]:  # fmt: skip
    """For each α, T_Risk and its inference for every system."""
    each = {
        name: [
            weighted_tests(row, list(alphas.values()), scale, None if influence is None else influence[name][at])
            for at, row in enumerate(rows)
        ]
        for name, rows in differences_by_baseline.items()
    }
    return {
        key: _tests_at({name: [own[number] for own in rows] for name, rows in each.items()}, influence is not None)
        for number, key in enumerate(alphas)
    }


def _tests_at(tests_by_baseline: Mapping[str, Sequence[TTest]], weighted: bool) -> list[Json]:
    """The tests of every system at one α; against several baselines the mean of T, which has no p-value."""
    each = list(tests_by_baseline.values())
    if len(each) == 1:
        entries = [_test_entry(test, weighted) for test in each[0]]
        apply_holm(cast("list[AtAlpha]", entries))
        return entries
    entries = []
    for tests in zip(*each, strict=True):
        reasons = {name: test.reason for name, test in zip(tests_by_baseline, tests, strict=True) if test.reason}
        reason = next((f"against {name}: {why}" for name, why in reasons.items()), None)
        entry = _test_entry(TTest(None, None, tests[0].df, None, None), weighted)
        if reason is None:
            entry["t_risk"] = float(np.mean([test.t for test in tests]))
        entry["reasons"]["t_risk"] = reason or "a mean over several baselines has no p-value"
        entries.append(entry)
    return entries


def _test_entry(test: TTest, weighted: bool) -> Json:
    traffic = {"t_traffic": test.t_traffic, "p_traffic": test.p_traffic, "df_traffic": test.df_traffic}
    return {
        "t_risk": test.t,
        "p_value": test.p,
        "df": test.df,
        "se": test.se,
        "se_jackknife": test.se_jackknife,
        "trusted": test.trusted,
        "t_skewness": test.t_skewness,
        "p_skewness": test.p_skewness,
        "u_risk_interval": None if test.interval is None else list(test.interval),
        "t_robust": test.t_robust,
        "p_robust": test.p_robust,
        **(traffic if weighted else {}),
        "p_holm": None,
        "outcome": None,
        "outcome_without_extra_query": None,
        "reasons": {"t_risk": test.reason},
    }


def _gains_and_losses(values: Floats, weights: Floats | None) -> tuple[float, float, float, float]:
    """The sums of what is above 0 and of what is below, by weights if any, and how many of each there are."""
    sums = []
    for number, part in enumerate(blocks(values)):
        gains, losses = np.maximum(part, 0), np.minimum(part, 0)
        own = None if weights is None else weights[number * CHUNK : (number + 1) * CHUNK]
        above, below = (gains.sum(), losses.sum()) if own is None else (dot(gains, own), dot(losses, own))
        sums.append((above, below, (part > 0).sum(), (part < 0).sum()))
    above, below, won, lost = np.sum(sums, axis=0).tolist()
    return above, below, won, lost


def _expectation(
    means: Floats, queries: int, sums: Mapping[int, tuple[float, float]] | None, position: int, alpha: float,
    no_deviation: str | None,
) -> tuple[Json, str | None]:  # fmt: skip
    """Z_Risk and GeoRisk, or why there are none."""
    if sums is None or position not in sums:
        return {"z_risk": None, "geo_risk": None}, no_deviation or "not in the population"
    above, below = sums[position]
    z = float(above + (1 + alpha) * below)
    geo = geo_risk_of_means(means[[position]], np.array([z / queries]))[0]
    return {"z_risk": z, "geo_risk": float(geo)}, None


def _add_intervals(
    systems: list[Json],
    scores: Scores,
    differences_by_baseline: Mapping[str, Floats],
    alphas: Mapping[str, float],
    rows: list[int] | None,
    replicates: int,
    seed: int,
) -> None:
    weighted = [
        np.mean([weigh_losses(difference, alpha) for difference in differences_by_baseline.values()], axis=0)
        for alpha in alphas.values()
    ]
    intervals = bootstrap_intervals(
        scores.values, weighted, list(alphas.values()), rows, replicates, seed, scores._relative_weights
    )
    for i, alpha in enumerate(alphas):
        for position, entry in enumerate(systems):
            figures = entry["alpha"][alpha]
            for name, key in (
                ("u_risk", "u_risk_bootstrap"), ("z_risk", "z_risk_interval"), ("geo_risk", "geo_risk_interval"),
            ):  # fmt: skip
                ends = intervals[name]
                figures[key] = None if ends is None or figures[name] is None else ends[i, position].tolist()


def _add_churn(systems: list[Json], scores: Scores, baseline: str, difference: Floats, depth: int | None) -> None:
    runs = {run.name: run for run in scores.runs}
    for position, entry in enumerate(systems):
        churn = compare_rankings(runs[entry["system"]], runs[baseline], scores.queries, depth)
        churn = replace(churn, weights=scores._relative_weights)
        entry["churn"] = _churn(churn, difference[position], depth)


def _churn(churn: Churn, difference: Floats, depth: int | None) -> ChurnData:
    return {
        "depth": depth,
        "share_reranked": churn.share_reranked,
        "mean_tau": churn.mean_tau,
        "mean_tau_reranked": churn.mean_tau_reranked,
        "gain_per_reranked": weighted_mean(difference, churn.weights) / churn.share_reranked
        if churn.share_reranked
        else None,
        "left_out": churn.left_out,
        "bins": churn.bin_figures(difference),
    }


def _ratio(part: float, total: float) -> float:
    return part / total if total else math.nan
