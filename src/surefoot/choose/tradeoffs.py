"""A sweep's result: what every candidate risks and gains on validation and test data, and what that says."""

from __future__ import annotations

import os
from collections.abc import Sequence
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from surefoot.choose.candidate_figures import baseline_rows, candidate_rows, selective_points, training_point
from surefoot.choose.candidates import TrainedModels
from surefoot.choose.findings import findings
from surefoot.choose.frontier import (
    BASELINE_POINT,
    RiskGainPoint,
    last_alpha,
    mixture_hull,
    undominated,
)
from surefoot.choose.options import MODEL, PLAN_FILE, RANKINGS, RESULT_FILE
from surefoot.choose.page import to_page
from surefoot.choose.recommendation import gain_only, recommend
from surefoot.choose.store import SweepStore
from surefoot.choose.tables import tables, to_csv, to_latex, to_markdown, to_metrics, to_notebook
from surefoot.choose.tradeoffs_data import SCHEMA
from surefoot.choose.trainings import TrainingFailure
from surefoot.data.reading.traffic import TrafficWeights
from surefoot.errors import ArgumentError, DataError, expecting, name_list, shortened
from surefoot.learn.measured_queries import EVALUATION_PARTS
from surefoot.learn.options import OBJECTIVE
from surefoot.report.kinds import KINDS
from surefoot.report.result import PlainResult, Renderings
from surefoot.risk.assessment_data import Json
from surefoot.risk.assessment_parts import traffic_data

if TYPE_CHECKING:
    from surefoot.choose.choice import Choice
    from surefoot.neural.loading import AnyRanker


class TradeOffs(PlainResult):
    """What a sweep found; `to_dict` is its plain data, everything else renders that."""

    _kind = KINDS["tradeoffs"]
    _renderings = Renderings(tables, to_csv, to_page, to_markdown, to_notebook, to_metrics)
    _folder: Path | None = None  # of the sweep, where its models are

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """The result that a sweep left in its folder, or that was written to a file."""
        home = Path(path)
        if not home.is_dir():
            return super().read(path)
        if (home / PLAN_FILE).exists() and not (home / RESULT_FILE).exists():
            raise DataError.at(path, None, "has a sweep that is not finished; run the same command again")
        return super().read(home / RESULT_FILE)._of(home if (home / PLAN_FILE).exists() else None)

    def _of(self, folder: Path | None) -> Self:
        """With the folder that has the models."""
        self._folder = folder
        return self

    def models(self, name: str, *, seed: int | None = None) -> list[AnyRanker]:
        """The models of a candidate such as "u_risk α=5", one for each fold, of one seed (by default the first).

        Means of seeds, blends and the like are made of their models, and have no seed of their own.
        """
        from surefoot.choose.choice import chosen_ranker

        if self._folder is None:
            raise ArgumentError(
                "these are figures without models; read the folder of the sweep: TradeOffs.read(folder)"
            )
        trained = TrainedModels(SweepStore.read(self._folder))
        row = next((row for row in self.rows if row["name"] == name and row["kind"] in RANKINGS and seed is None), None)
        if name in [setting.name for setting in trained.settings]:
            seeds = trained.plan.seeds
            if seed is not None and seed not in seeds:
                raise ArgumentError(f"the sweep has no seed {seed!r}; it has {', '.join(map(str, seeds))}")
            made_of = {"setting": name, "seeds": [seeds[0] if seed is None else seed]}
            row = {"name": name, "kind": MODEL, "made_of": made_of}
        if row is None:
            known = name_list([setting.name for setting in trained.settings])
            raise ArgumentError(f"the sweep has no model {shortened(name)} on every fold; it has {known}")
        return [chosen_ranker(trained, row, fold)[0] for fold in trained.folds]

    def select(
        self,
        *,
        keep_gain: float | None = None,
        max_risk: float | None = None,
        less_risk: float | None = None,
        geo_risk: float | None = None,
        largest_area: bool = False,
        one_se: bool = False,
        nearest: bool = False,
        strategies: bool = False,
        choose_by: str | None = None,
        traffic: Any = None,
    ) -> Choice:
        """The candidate that one policy takes on each fold, how sure that is, and what it comes to on test data.

        `max_risk` takes the most gain with at most this risk; `keep_gain` the least risk that keeps this share of the
        gain-only model's gain; `less_risk` the most gain of those with this share less risk, and more gain, than it;
        `geo_risk` the highest GeoRisk at this α; `largest_area` the largest area under the curve of gain. With
        `one_se`, what is within one standard error of the best; with `nearest`, what comes nearest where nothing
        satisfies the policy. `strategies` are chosen from too, such as blends. `choose_by` is "cross-validation"
        where the sweep has it, or "validation". `Choice.save` saves the model.
        """
        from surefoot.choose.choice import select
        from surefoot.choose.options import PLAIN_MODELS
        from surefoot.choose.selection_policy import SelectionPolicy

        levels = {"keep_gain": keep_gain, "max_risk": max_risk, "less_risk": less_risk, "geo_risk": geo_risk}
        given = {name: level for name, level in levels.items() if level is not None}
        given |= {"largest_area": 0.0} if largest_area else {}
        if len(given) != 1:
            raise ArgumentError(
                "give one policy: keep_gain=0.95, max_risk=0.02, less_risk=0.3, largest_area=True or geo_risk=5"
                + (f"; found {', '.join(given)}" if given else "")
            )
        ((name, level),) = given.items()
        return select(
            self, SelectionPolicy(name, level, one_se, nearest), RANKINGS if strategies else PLAIN_MODELS,
            choose_by=choose_by, store=None if self._folder is None else SweepStore.read(self._folder), traffic=traffic,
        )  # fmt: skip

    def to_latex(self) -> str:
        """The papers' tables in LaTeX."""
        return to_latex(self._data)

    def __repr__(self) -> str:
        """How much was compared."""
        return f"<TradeOffs: {len(self._data['rows'])} candidates on {self._data['queries']['test']:,} test queries>"


def trade_offs(store: SweepStore, failures: Sequence[TrainingFailure] = (), strategies_of: str = "gain") -> TradeOffs:
    """The result of what a sweep has stored; settings that are not complete are left out, and named."""
    with expecting("a sweep", store.folder, "start it in a new folder"):
        return _trade_offs(store, TrainedModels(store), failures, strategies_of)


def _trade_offs(
    store: SweepStore, trained: TrainedModels, failures: Sequence[TrainingFailure], strategies_of: str
) -> TradeOffs:
    if not trained.settings:
        whys = [f"{failure.job.name}: {failure.message}" for failure in failures[:3]]
        raise DataError.at(store.folder, None, "; ".join(["no setting was trained on every fold", *whys]))
    _check_tested(store, trained.folds)
    rows = candidate_rows(trained, strategies_of)
    largest = inf if trained.gain_only is None else last_alpha(training_point(trained, trained.gain_only))
    data: Json = {
        "schema": SCHEMA,
        "origin": store.settings_hash,
        "measure": trained.measures[0],
        "measures": trained.measures,
        "baselines": baseline_rows(trained),
        "folds": trained.folds,
        "seeds": list(trained.plan.seeds),
        "alphas": list(trained.plan.alphas),
        "queries": {part: len(trained.queries(part)) for part in EVALUATION_PARTS},
        "names": trained.queries("test"),
        "tie_rule": store.fold(trained.folds[0])["tie_rule"],
        "rule": trained.plan.rule(),
        "selective": store.source.selective,
        "inner_folds": trained.plan.inner_folds,
        "round_name": getattr(trained.plan.engine, "round_name", "trees"),
        "last_alpha": largest if isfinite(largest) else None,
        "rows": rows,
        "curves": {part: _curves(trained, rows, part) for part in EVALUATION_PARTS},
        "left_out": [setting.name for setting in trained.plan.settings() if setting not in trained.settings],
        "failures": [_failure_data(failure) for failure in failures if not failure.job.trial],
        "failed_trials": [_failure_data(failure) for failure in failures if failure.job.trial],
    }
    weights = trained.query_weights("test")
    if weights is not None:
        left_out = sum(store.fold(fold)["left_out"]["test"] for fold in trained.folds)
        share = min(1.0, float(weights.sum()) / sum((store.traffic or {}).values()))
        weighting = TrafficWeights(weights, left_out, share, not trained.is_weighted("test"))
        data["traffic"] = dict(traffic_data(weighting))
        data["traffic_sha256"] = store.source.traffic
        data["counts"] = weights.tolist()
    data["answers"] = findings(data)
    data["recommendation"] = recommend(data)
    return TradeOffs(data)._of(store.folder)


def _failure_data(failure: TrainingFailure) -> Json:
    return {"name": failure.job.name, "message": failure.message}


def _check_tested(store: SweepStore, folds: Sequence[str]) -> None:
    """Reject a query that two folds test: it would count twice."""
    seen: dict[str, str] = {}
    for fold in folds:
        for query, digest in zip(store.fold(fold)["queries"]["test"], store.fold(fold)["tested"], strict=True):
            if seen.setdefault(digest, fold) != fold:
                raise DataError.at(
                    store.source.path,
                    None,
                    f"query {shortened(query)} is in the test data of {seen[digest]} and {fold}",
                )


def _curves(trained: TrainedModels, rows: Sequence[Json], part: str) -> Json:
    """The lines of the plane of risk and gain."""
    points = {row["name"]: RiskGainPoint(row[part]["risk"], row[part]["gain"]) for row in rows}
    models = [row for row in rows if row["kind"] == MODEL]
    best = gain_only(rows)
    gain_point = None if best is None else points[best["name"]]
    lines: dict[str, list[list[float]]] = {}
    for objective in dict.fromkeys(row["objective"] for row in models if row["objective"] != OBJECTIVE):
        own = [points[row["name"]] for row in models if row["objective"] == objective]
        # The points of a sweep as they come, and from the last one to the baseline: random reduction of it.
        lines[objective] = _pairs([*([] if gain_point is None else [gain_point]), *own, BASELINE_POINT])
    names = [row["name"] for row in rows if row["kind"] in RANKINGS]
    best_numbers = undominated([points[name] for name in names])
    return {
        "lines": lines,
        "hull": _pairs(mixture_hull([points[row["name"]] for row in models])),
        "proportional": None if gain_point is None else _pairs([BASELINE_POINT, gain_point]),
        "selective": selective_points(trained, part),
        "undominated": [names[number] for number in best_numbers],
    }


def _pairs(points: Sequence[RiskGainPoint]) -> list[list[float]]:
    """Risk and gain of each point, as plain lists."""
    return [list(point) for point in points]
