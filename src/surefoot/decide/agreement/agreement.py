"""`agreement`: what an automatic judge is worth, from documents and queries that people judged too."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.arrays import Floats
from surefoot.data.types.runs import Qrels, RankedSource, Run
from surefoot.data.types.scores import Scores
from surefoot.data.types.several_tables import read_judges
from surefoot.decide.agreement.agreement_data import (
    NOTHING_NEEDED,
    SCHEMA,
    AgreementData,
    FavourData,
    GradeBiasData,
    SavingsData,
    SystemBiasData,
    SystemsComparisonData,
)
from surefoot.decide.agreement.agreement_view import headline, tables, to_csv, to_markdown, to_notebook, to_page
from surefoot.decide.evidence.judged_queries import systems_of
from surefoot.decide.evidence.traffic import traffic_to_draw
from surefoot.decide.options import DECIDING_SHARE, DELTA, RESAMPLES
from surefoot.errors import ArgumentError, DataError, MeasureError, shortened
from surefoot.measures.notation import Measure, is_binary
from surefoot.measures.scoring import named_runs, score
from surefoot.measures.worst_case import check_bounded
from surefoot.report.kinds import KINDS
from surefoot.report.result import PlainResult, Renderings
from surefoot.risk.batches import CountBet, p_of_batch
from surefoot.risk.betting import check_unit
from surefoot.risk.control_variate import judge_moments
from surefoot.risk.inference import t_test
from surefoot.risk.judge_agreement import cohen_kappa, confusion, krippendorff_alpha
from surefoot.risk.tradeoff import ROUNDING, difference_of
from surefoot.significance import SIGNIFICANCE

MEASURE = "nDCG@10"  # where none is given
_MOST_GRADES = 12  # that a confusion has


class JudgeAgreement(PlainResult):
    """What an automatic judge is worth; `to_dict` is its plain data, everything else renders that."""

    _kind = KINDS["agreement"]
    _renderings = Renderings(tables, to_csv, to_page, to_markdown, to_notebook)

    def __repr__(self) -> str:
        """The agreement in words."""
        return f"<JudgeAgreement: {headline(self._data)}>"


def judge_agreement(
    people: RankedSource,
    *,
    automatic: RankedSource,
    runs: Any = None,
    measure: str = MEASURE,
    baseline: str | None = None,
    candidate: str | None = None,
    risk: float | None = None,
    delta: float = DELTA,
) -> JudgeAgreement:
    """How far automatic judgments agree with people's, and how many of people's judgments they would save in a gate.

    Parameters
    ----------
    people, automatic : anything `read_qrels` takes
        The judgments. Of a file with several judges the grade is their mean, and all of them count in Krippendorff's α.
    runs : runs as for `score`, optional
        Systems, for bias by system; of two or more, `baseline` and `candidate` are compared.
    risk : float, optional
        The level of the gate; twice the risk by people's judgments by default.

    Examples
    --------
    >>> found = judge_agreement({"q": {"a": 2, "b": 0, "c": 1}}, automatic={"q": {"a": 2, "b": 0, "c": 2}}).to_dict()
    >>> found["documents"], round(found["agreement"], 2), found["bias"]
    (3, 0.67, 0.3333333333333333)
    """
    by_hand, judge = Qrels._read(people), Qrels._read(automatic)
    if by_hand.origin is not None and by_hand.origin.is_automatic:
        raise DataError(
            f"a machine made the first judgments ({shortened(by_hand.name)}), where people's are expected; give "
            "people's judgments first, and the automatic judge's second"
        )
    by_people, by_judge = _joint_grades(by_hand, judge)
    grades, counts = confusion(by_people, by_judge)
    names, ratings = _all_ratings(people, automatic, by_hand, judge)
    joint = _joint_queries(by_hand, judge)
    data: AgreementData = {
        "schema": SCHEMA,
        "people": by_hand.name,
        "automatic": judge.name,
        "judges": names,
        "documents": len(by_people),
        "queries": len(joint),
        "only_people": len(by_hand) - len(by_people),
        "only_automatic": len(judge) - len(by_people),
        "identical": bool((by_people == by_judge).all()),
        "agreement": float((by_people == by_judge).mean()),
        "bias": float((by_judge - by_people).mean()),
        "outside_scale": int(((by_judge < by_people.min()) | (by_judge > by_people.max())).sum()),
        "kappa": cohen_kappa(grades, counts),
        "kappa_linear": cohen_kappa(grades, counts, "linear"),
        "kappa_quadratic": cohen_kappa(grades, counts, "quadratic"),
        "alpha_nominal": krippendorff_alpha(ratings, "nominal"),
        "alpha_interval": krippendorff_alpha(ratings, "interval"),
        "grades": grades.tolist(),
        "confusion": counts.tolist() if len(grades) <= _MOST_GRADES else None,
        "by_grade": _by_grade(by_people, by_judge),
        "measure": None,
        "systems": [],
        "comparison": None,
    }
    if runs is not None:
        systems = named_runs(runs, by_hand)
        people_scores, automatic_scores = (
            _scores_on(joint, judgments, systems, measure) for judgments in (by_hand, judge)
        )
        data["measure"] = people_scores.measure
        data["systems"] = _systems(people_scores, automatic_scores)
        if len(systems) > 1:
            candidate, baseline = systems_of(people_scores.systems, candidate, baseline)
            data["comparison"] = _comparison(people_scores, automatic_scores, systems, baseline, candidate, risk, delta)
        elif baseline is not None or candidate is not None:
            raise ArgumentError("a baseline and a candidate need two runs; give both runs")
    elif baseline is not None or candidate is not None or risk is not None:
        raise ArgumentError("a baseline, a candidate and a level of risk need runs; give the runs of two systems")
    return JudgeAgreement(dict(data))


def _joint_grades(people: Qrels, judge: Qrels) -> tuple[Floats, Floats]:
    """The grades of the documents that both judged."""
    mine, theirs = judge.ranking.match(people.ranking)
    if not len(mine):
        raise DataError(
            f"{shortened(people.name)} and {shortened(judge.name)} have no judged document in common: the first query "
            f"of one is {shortened(people.queries[0])}, of the other {shortened(judge.queries[0])}; are the ids the "
            "same?"
        )
    return people.grades[theirs], judge.grades[mine]


def _joint_queries(people: Qrels, judge: Qrels) -> list[str]:
    """The queries of the documents that both judged."""
    _, theirs = judge.ranking.match(people.ranking)
    return [people.queries[number] for number in np.unique(people.ranking.query_of_position()[theirs]).tolist()]


def _all_ratings(
    people: RankedSource, automatic: RankedSource, by_hand: Qrels, judge: Qrels
) -> tuple[list[str], Floats]:
    """All judges of both sources, and their ratings of every document; NaN where a judge gave none."""
    found: dict[str, Qrels] = {}
    for source, merged in ((people, by_hand), (automatic, judge)):
        is_file = isinstance(source, str | os.PathLike) and Path(source).is_file()  # a pipe can be read once only
        judges = read_judges(source) if is_file else {}
        for name, judgments in judges.items() if len(judges) > 1 else [(merged.name, merged)]:
            found[name if name not in found else f"{name} ({merged.name})"] = judgments
    if len(found) < 2:  # two sources of one name
        found = {"people": by_hand, "automatic": judge}
    codes = np.unique(np.concatenate([judgments.ranking.codes for judgments in found.values()]))
    ratings = np.full((len(found), len(codes)), np.nan)
    for row, judgments in enumerate(found.values()):
        at = judgments.ranking.find(codes)
        ratings[row, at >= 0] = judgments.grades[at[at >= 0]]
    return list(found), ratings


def _by_grade(by_people: Floats, by_judge: Floats) -> list[GradeBiasData]:
    grades = np.unique(by_people)
    if len(grades) > _MOST_GRADES:
        return []
    return [
        {
            "grade": float(grade),
            "documents": int((by_people == grade).sum()),
            "bias": float((by_judge - by_people)[by_people == grade].mean()),
        }
        for grade in grades
    ]


def _scores_on(queries: Sequence[str], judgments: Qrels, runs: Sequence[Run], measure: str) -> Scores:
    """Scores on the queries that both judged, in their order."""
    scores = score(judgments, list(runs), measure)
    at = {query: column for column, query in enumerate(scores.queries)}
    columns = [at[query] for query in queries]
    return Scores(scores.values[:, columns], scores.systems, list(queries), scores.measure)


def _systems(people: Scores, automatic: Scores) -> list[SystemBiasData]:
    means = people.values.mean(axis=1), automatic.values.mean(axis=1)
    return [
        {"system": name, "people": float(by_people), "automatic": float(by_judge), "bias": float(by_judge - by_people)}
        for name, by_people, by_judge in zip(people.systems, *means, strict=True)
    ]


def _comparison(
    people: Scores, automatic: Scores, runs: Sequence[Run], baseline: str, candidate: str, risk: float | None,
    delta: float,
) -> SystemsComparisonData:  # fmt: skip
    changes = {
        name: difference_of(scores[candidate], scores[baseline])
        for name, scores in (("people", people), ("automatic", automatic))
    }
    losses = {name: np.maximum(-change, 0) for name, change in changes.items()}
    return {
        "baseline": baseline,
        "candidate": candidate,
        "risk": {name: float(loss.mean()) for name, loss in losses.items()},
        "gain": {name: float(change.mean()) for name, change in changes.items()},
        "loss_correlation": correlation(losses["people"], losses["automatic"]),
        "difference_correlation": correlation(changes["people"], changes["automatic"]),
        "favours": _favours(changes, baseline, candidate),
        "savings": _savings(people, losses, {run.name: run for run in runs}, baseline, candidate, risk, delta),
    }


def correlation(first: Floats, second: Floats) -> float | None:
    """Pearson's; None where either is the same for all.

    >>> import numpy as np
    >>> correlation(np.array([0.0, 1.0]), np.array([0.5, 0.5])) is None
    True
    """
    if len(first) < 2 or np.ptp(first) <= ROUNDING or np.ptp(second) <= ROUNDING:
        return None
    return float(np.clip(np.corrcoef(first, second)[0, 1], -1, 1))


def _favours(changes: Mapping[str, Floats], baseline: str, candidate: str) -> FavourData:
    beyond = changes["automatic"] - changes["people"]
    mean = float(beyond.mean())
    if len(beyond) < 2 or np.ptp(beyond) <= ROUNDING:
        return {"mean": mean, "t": None, "p_value": None, "system": None}
    test = t_test(changes["automatic"], changes["people"])
    favoured = candidate if mean > 0 else baseline
    surely = test.p is not None and test.p < SIGNIFICANCE
    return {"mean": mean, "t": test.t, "p_value": test.p, "system": favoured if surely else None}


def _savings(
    scores: Scores, losses: Mapping[str, Floats], runs: Mapping[str, Run], baseline: str, candidate: str,
    risk: float | None, delta: float,
) -> SavingsData:  # fmt: skip
    """Draws that people must judge, the jointly judged queries taken for all traffic."""
    observed = float(losses["people"].mean())
    if risk is not None and not 0 <= risk <= 1:
        raise ArgumentError(f"risk is {risk:g}; it must be from 0 to 1, such as 0.02")
    level = min(1.0, 2 * observed) if risk is None else float(risk)
    none: SavingsData = {"level": level, "delta": delta, "alone": None, "with_judge": None, "reason": None}
    try:
        measure = check_bounded(scores.measure)
    except MeasureError as error:
        return none | {"reason": str(error)}
    weights = _weights(runs[candidate], runs[baseline], measure, scores.queries)
    able = weights > 0
    if not able.any():
        return none | {"reason": "no query can lose anything, because both systems show the same documents"}
    if observed >= level:
        why = "no query loses anything by people's judgments" if observed == 0 else "the risk is not below the level"
        return none | {"reason": why}
    h, a = (check_unit(losses[name][able] / weights[able]) for name in ("people", "automatic"))
    m = level / float(weights.mean())
    if m >= 1:
        return none | {"reason": NOTHING_NEEDED}
    exact = is_binary(scores.measure)
    return none | {
        "alone": draws_needed(h, weights[able], m, delta, exact=exact),
        "with_judge": draws_needed(h, weights[able], m, delta, a, exact=exact),
    }


def _weights(candidate: Run, baseline: Run, measure: Measure, queries: Sequence[str]) -> Floats:
    traffic = traffic_to_draw(candidate, baseline, measure, "risk")
    weight = dict(zip(traffic.queries, traffic.could_lose.tolist(), strict=True))
    return np.array([weight.get(query, 0.0) for query in queries])


_MOST_DRAWS = 4_000  # draws that are tried
_CLOSE_ENOUGH = 1.03  # how near the least number is searched for
_SEED = 0


def draws_needed(
    h: Floats, chances: Floats, m: float, delta: float, a: Floats | None = None, *, exact: bool = False
) -> int | None:
    """The least number of draws with which 80 % of resamples prove E[h] < m; None where 4,000 do not.

    `a` are an automatic judge's values of the same queries, each drawn with a chance in proportion to `chances`.
    Without a judge, values of 0 and 1 have an `exact` test.

    >>> people = np.where(np.arange(200) % 10 == 0, 0.5, 0.0)
    >>> draws_needed(people, np.ones(200), 0.1, 0.05, people) < draws_needed(people, np.ones(200), 0.1, 0.05)
    True
    """
    share = chances / chances.sum()
    drawn = np.random.default_rng(_SEED).choice(len(h), (RESAMPLES, _MOST_DRAWS), p=share)
    judge = None if a is None else judge_moments(a, chances)

    def decided(n: int) -> float:
        rows = drawn[:, :n]
        if exact and (judge is None or judge.variance == 0):
            return float((CountBet.start(m, delta, (RESAMPLES,)).after(h[rows]).p <= delta).mean())
        return float((p_of_batch(h[rows], m, delta, None if a is None else a[rows], judge) <= delta).mean())

    low, high = 0, 8
    while decided(high) < DECIDING_SHARE:
        if high == _MOST_DRAWS:
            return None
        low, high = high, min(2 * high, _MOST_DRAWS)
    while high > _CLOSE_ENOUGH * low and high - low > 1:
        middle = (low + high) // 2 if low == 0 else max(low + 1, min(high - 1, round(math.sqrt(low * high))))
        low, high = (low, middle) if decided(middle) >= DECIDING_SHARE else (middle, high)
    return high
