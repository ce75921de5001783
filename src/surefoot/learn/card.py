"""A model card in Hugging Face's Markdown: what a model learned from, what it gains, whom it hurts, and its limits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.arrays import Floats
from surefoot.data.types.ranking_data import RankingData
from surefoot.errors import visible
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
    from surefoot.learn.ranker import Ranker

_REPLICATES = 1000
_WORST_QUERIES = 10  # queries that are named
_SHOWN_FEATURES = 10
_TITLES = {"lightgbm": "LightGBM", "xgboost": "XGBoost"}


def model_card(ranker: Ranker, data: RankingData | None = None, *, name: str = "model", dataset: str = "") -> str:
    """The card of a fitted ranker; with labelled data that it did not learn from, also its figures there.

    `dataset` says what the data is, in the user's words.
    """
    held_out_figures = None if data is None else _figures(ranker, data)
    parts = [
        _front_matter(ranker, held_out_figures, name, dataset),
        f"# {_text(name)}\n",
        _description(ranker),
        _training(ranker),
        "## Figures\n",
        _no_figures()
        if held_out_figures is None or data is None
        else _figure_text(ranker, held_out_figures, data, dataset),
        _limits(ranker, held_out_figures),
        _usage(),
    ]
    return "\n".join(parts)


def _figures(ranker: Ranker, data: RankingData) -> dict[str, Any]:
    """Each query's measure under the model and under the mean of the baselines, with intervals over queries."""
    if ranker.init == "baseline":
        data = matched_baselines(data, ranker.baselines_, "the data")
    queries = MonitoredSet(data, Measure.parse(ranker.measure), None, None)
    values = queries.values(ranker.predict(data))
    columns: dict[str, Any] = {"effectiveness": values}
    baseline = None if queries.baselines is None else queries.baselines.mean(axis=0)
    if baseline is not None:
        difference = difference_of(values, baseline)
        hurt = which_lose_over_20(difference, baseline)
        columns |= {
            "baseline": baseline, "gain": difference, "reward": np.maximum(difference, 0),
            "risk": np.maximum(-difference, 0), "wins": difference > 0, "losses": difference < 0, "hurt": hurt,
        }  # fmt: skip
    matrix = np.stack([np.asarray(column, dtype=np.float64) for column in columns.values()])
    weights = relative_or_none(data._weighting)
    draws = np.empty((len(columns), _REPLICATES))
    for part, counts in resamples(len(values), _REPLICATES, 0):
        times = counts if weights is None else counts * weights  # queries are drawn with their weights
        draws[:, part] = matrix @ times.T / (len(values) if weights is None else times.sum(axis=1))
    ends: Floats = percentile_intervals(draws)
    return {
        "columns": columns,
        "weighted": weights is not None,
        "means": {key: weighted_mean(row, weights) for key, row in zip(columns, matrix, strict=True)},
        "intervals": {key: (float(low), float(high)) for key, (low, high) in zip(columns, ends, strict=True)},
    }


def _front_matter(ranker: Ranker, held_out_figures: dict[str, Any] | None, name: str, dataset: str) -> str:
    """YAML whose texts are written as JSON has them, which YAML reads alike."""
    lines = [
        "---", "library_name: surefoot", "pipeline_tag: text-ranking", "tags:", "- learning-to-rank", "- lambdamart",
        f"- {ranker.engine_}", *(["- risk-sensitive"] if _weighs_risk(ranker) else []), "metrics:",
        f"- {json.dumps(str(ranker.measure))}",
    ]  # fmt: skip
    if held_out_figures is not None:
        lines += [
            "model-index:", f"- name: {_quoted(name)}", "  results:", "  - task:", "      type: text-ranking",
            "    dataset:", f"      name: {_quoted(dataset or 'evaluation data')}", "      type: private",
            "    metrics:",
        ]  # fmt: skip
        for key, mean in held_out_figures["means"].items():
            if key in ("effectiveness", "gain", "risk"):
                title = str(ranker.measure) if key == "effectiveness" else f"{key} of {ranker.measure}"
                kind = str(ranker.measure) if key == "effectiveness" else key
                lines += [f"    - type: {_quoted(kind)}", f"      name: {_quoted(title)}", f"      value: {mean:.6f}"]
    return "\n".join([*lines, "---", ""])


def _description(ranker: Ranker) -> str:
    kind = OBJECTIVE_KINDS[ranker.objective]
    weighs = _weighs_risk(ranker)
    goal = f"`{ranker.objective}`" + (f" with α = {float(ranker.alpha or 0):g}" if weighs else "")
    grown = f"{ranker.best_iteration_:,} trees of {_TITLES[ranker.engine_]}"
    if ranker.models_:
        grown = f"the mean of {len(ranker.models_)} models with {grown} in total"
    risk = (
        f" Each loss against the baseline counts 1 + α = {1 + float(ranker.alpha or 0):g} times."
        if weighs
        else " The objective does not give losses against a baseline more weight."
    )
    return (
        f"This model ranks documents by their features. It was learned with surefoot: {grown}, objective {goal} "
        f"({kind.paper}) on `{ranker.measure}`.{risk}\n"
    )


def _training(ranker: Ranker) -> str:
    parameters = {
        key: value for key, value in ranker.get_params().items()
        if value is not None and key not in ("checkpoint", "checkpoint_every", "history", "importance_type")
    }  # fmt: skip
    importances = np.asarray(ranker.feature_importances_, dtype=np.float64)
    order = [
        place for place in np.argsort(-importances, kind="stable")[:_SHOWN_FEATURES].tolist() if importances[place] > 0
    ]
    kind = "splits" if ranker.importance_type == "split" else "gain"
    lines = [
        "## Training\n",
        f"- Features: {ranker.n_features_in_:,}"
        + (f", of which {len(ranker.categories_)} are categories" if ranker.categories_ else ""),
        f"- Baselines: {', '.join(map(_text, ranker.baselines_)) or 'none'}"
        + ("; the scores start from them (standardised per query)" if ranker.init == "baseline" else ""),
        f"- Ties: {ranker.tie_rule_}",
        *([] if ranker.traffic_ is None else [_weights(ranker.traffic_)]),
        f"- Parameters: `{json.dumps(parameters, default=str, ensure_ascii=False)}`",
        f"- Features used most ({kind}): {', '.join(_text(ranker.feature_names_in_[place]) for place in order)}",
    ]
    if ranker.best_score_ is not None:
        lines.append(f"- {ranker.stop_on} on the validation data: {ranker.best_score_:.4f}")
    return "\n".join(lines) + "\n"


def _weights(weights: dict[str, Any]) -> str:
    """How queries counted in training."""
    left_out = f" {weights['left_out']:,} queries without traffic were left out." if weights["left_out"] else ""
    return (
        f"- Weights: {weights['queries']:,} queries count by their traffic, as much as "
        f"{weights['effective_queries']:,.0f} that count the same; "
        f"they have {100 * weights['traffic_share']:.0f} % of all traffic given.{left_out}"
    )


def _no_figures() -> str:
    return "This card has no figures, because no labelled data was given.\n"


def _figure_text(ranker: Ranker, held_out_figures: dict[str, Any], data: RankingData, dataset: str) -> str:
    means, ends = held_out_figures["means"], held_out_figures["intervals"]
    is_weighted = held_out_figures["weighted"]
    where = f" ({_text(dataset)})" if dataset else ""
    lines = [
        f"On {len(data.queries):,} queries and {len(data):,} documents{where}. The intervals are "
        f"{100 * CONFIDENCE:.0f} % intervals over {_REPLICATES:,} resamples of the queries."
        + (" Means and shares are weighted by traffic: by how often each query is asked." if is_weighted else "")
        + "\n",
        "| figure | mean | interval |",
        "|---|---:|---:|",
    ]
    titles = {
        "effectiveness": f"{ranker.measure}", "baseline": f"{ranker.measure} of the baseline",
        "gain": "gain over the baseline", "reward": "reward", "risk": "risk", "wins": "share of queries that win",
        "losses": "share of queries that lose", "hurt": "share of queries that lose over 20 %",
    }  # fmt: skip
    for key, mean in means.items():
        low, high = ends[key]
        lines.append(f"| {titles[key]} | {mean:.4f} | {low:.4f} to {high:.4f} |")
    lines.append("")
    lines += _who_is_hurt(held_out_figures, data.queries)
    return "\n".join(lines) + "\n"


def _who_is_hurt(held_out_figures: dict[str, Any], queries: Sequence[str]) -> list[str]:
    lines = ["## Who is hurt\n"]
    if "gain" not in held_out_figures["columns"]:
        return [*lines, "There is no baseline to compare with. Give the results that are shown today as the baseline."]
    difference, hurt = held_out_figures["columns"]["gain"], held_out_figures["columns"]["hurt"]
    worst = [
        place for place in np.argsort(difference, kind="stable")[:_WORST_QUERIES].tolist() if difference[place] < 0
    ]
    if not worst:
        return [*lines, "No query is worse than with the baseline."]
    lines += [
        f"{int((difference < 0).sum()):,} of {len(queries):,} queries are worse than with the baseline, and "
        f"{int(hurt.sum()):,} of them lose more than 20 %. These queries lose most:\n",
        "| query | baseline | model | difference |",
        "|---|---:|---:|---:|",
    ]
    for place in worst:
        before, value = (
            held_out_figures["columns"]["baseline"][place],
            held_out_figures["columns"]["effectiveness"][place],
        )
        lines.append(f"| {_text(queries[place])} | {before:.4f} | {value:.4f} | {difference[place]:+.4f} |")
    return lines


def _limits(ranker: Ranker, held_out_figures: dict[str, Any] | None) -> str:
    lines = ["## Limits\n"]
    if held_out_figures is None:
        lines.append("- This card does not say how good the model is on new queries.")
    else:
        lines.append("- The figures are for queries like the judged ones. Other queries may be worse.")
        lines.append("- If the same queries were used to choose the model, the figures are too good.")
    if not ranker.baselines_:
        lines.append("- It was trained without a baseline, so it may hurt queries that are good today.")
    if ranker.training_queries_ is None:
        lines.append(
            "- The training queries are not known, so surefoot cannot check that the judged queries are different."
        )
    lines.append("- The features must be computed as in the training data. Otherwise the scores mean nothing.")
    return "\n".join(lines) + "\n"


def _usage() -> str:
    return """## Use

```python
import surefoot as sf
ranker = sf.Ranker.load("FOLDER")
scores = ranker.predict(X)  # a score for each document, the higher the better
```
"""


def _weighs_risk(ranker: Ranker) -> bool:
    return Objective(ranker.objective, float(ranker.alpha or 0)).needs_baseline


def _quoted(text: str) -> str:
    return json.dumps(visible(text), ensure_ascii=False)


def _text(text: str) -> str:
    """A name in Markdown, which cannot become a part of it."""
    return "".join(f"\\{each}" if each in "\\`*_[]<>|#" else each for each in visible(text))
