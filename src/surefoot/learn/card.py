"""A model card in Hugging Face's Markdown: what a model learned from, what it gains, whom it hurts, and its limits."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.arrays import Floats
from surefoot.data.types.ranking_data import RankingData
from surefoot.errors import visible
from surefoot.learn.engines.contract import engine_of
from surefoot.learn.inputs import matched_baselines
from surefoot.learn.objectives import OBJECTIVE_KINDS, Objective
from surefoot.learn.prepared_data import MonitoredSet
from surefoot.learn.training_weights import relative_or_none
from surefoot.measures.notation import Measure
from surefoot.risk.bootstrap import percentile_intervals, resamples
from surefoot.risk.tradeoff import difference_of, which_lose_over_20
from surefoot.risk.vectors import weighted_mean
from surefoot.significance import CONFIDENCE

if TYPE_CHECKING:
    from jinja2 import Template

    from surefoot.learn.ranker import Ranker

_REPLICATES = 1000
_WORST_QUERIES = 10  # queries that are named
_SHOWN_FEATURES = 10
_HIDDEN_PARAMETERS = ("checkpoint", "checkpoint_every", "history", "importance_type")
_TITLES = {
    "effectiveness": "{}", "baseline": "{} of the baseline", "gain": "gain over the baseline", "reward": "reward",
    "risk": "risk", "wins": "share of queries that win", "losses": "share of queries that lose",
    "hurt": "share of queries that lose over 20 %",
}  # fmt: skip


def model_card(ranker: Ranker, data: RankingData | None = None, *, name: str = "model", dataset: str = "") -> str:
    """The card of a fitted ranker; with labelled data that it did not learn from, also its figures there.

    `dataset` says what the data is, in the user's words.
    """
    alpha = float(ranker.alpha or 0)
    given = ranker.get_params().items()
    parameters = {key: value for key, value in given if value is not None and key not in _HIDDEN_PARAMETERS}
    importances = np.asarray(ranker.feature_importances_, dtype=np.float64)
    order = np.argsort(-importances, kind="stable")[:_SHOWN_FEATURES].tolist()
    return _template().render(
        ranker=ranker,
        name=name,
        dataset=dataset,
        measure=str(ranker.measure),
        alpha=alpha,
        weighs_risk=Objective(ranker.objective, alpha).needs_baseline,
        paper=OBJECTIVE_KINDS[ranker.objective].paper,
        trees=f"{ranker.best_iteration_:,} trees of {engine_of(ranker.engine_).title}",
        weights=ranker.traffic_,
        parameters=json.dumps(parameters, default=str, ensure_ascii=False),
        most_used=[ranker.feature_names_in_[place] for place in order if importances[place] > 0],
        figures=None if data is None else _figures(ranker, data),
        titles=_TITLES,
        confidence=f"{100 * CONFIDENCE:.0f}",
        replicates=_REPLICATES,
    )


@cache
def _template() -> Template:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True,
    )  # fmt: skip
    environment.filters |= {"text": _text, "quoted": _quoted}
    return environment.get_template("card.md.j2")


def _figures(ranker: Ranker, data: RankingData) -> dict[str, Any]:
    """Means under the model and under the mean of the baselines, with intervals over queries; who loses most."""
    if ranker.init == "baseline":
        data = matched_baselines(data, ranker.baselines_, "the data")
    queries = MonitoredSet(data, Measure.parse(ranker.measure), None, None)
    values = queries.values(ranker.predict(data))
    columns: dict[str, Any] = {"effectiveness": values}
    who_is_hurt: dict[str, Any] = {}
    if queries.baselines is not None:
        baseline = queries.baselines.mean(axis=0)
        difference = difference_of(values, baseline)
        hurt = which_lose_over_20(difference, baseline)
        columns |= {
            "baseline": baseline, "gain": difference, "reward": np.maximum(difference, 0),
            "risk": np.maximum(-difference, 0), "wins": difference > 0, "losses": difference < 0, "hurt": hurt,
        }  # fmt: skip
        order = np.argsort(difference, kind="stable")[:_WORST_QUERIES].tolist()
        worst = [(data.queries[n], baseline[n], values[n], difference[n]) for n in order if difference[n] < 0]
        who_is_hurt = {"worst": worst, "worse": int((difference < 0).sum()), "hurt": int(hurt.sum())}
    matrix = np.stack([np.asarray(column, dtype=np.float64) for column in columns.values()])
    weights = relative_or_none(data._weighting)
    draws = np.empty((len(columns), _REPLICATES))
    for part, counts in resamples(len(values), _REPLICATES, 0):
        times = counts if weights is None else counts * weights  # queries are drawn with their weights
        draws[:, part] = matrix @ times.T / (len(values) if weights is None else times.sum(axis=1))
    ends: Floats = percentile_intervals(draws)
    return who_is_hurt | {
        "queries": len(data.queries),
        "documents": len(data),
        "weighted": weights is not None,
        "means": {key: weighted_mean(row, weights) for key, row in zip(columns, matrix, strict=True)},
        "intervals": dict(zip(columns, ends.tolist(), strict=True)),
    }


def _quoted(text: str) -> str:
    """A text in YAML, which reads it as JSON has it."""
    return json.dumps(visible(text), ensure_ascii=False)


def _text(text: str) -> str:
    """A name in Markdown, which cannot become a part of it."""
    return "".join(f"\\{each}" if each in "\\`*_[]<>|#" else each for each in visible(text))
