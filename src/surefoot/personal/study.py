"""Personalization from a click log: models of each method, the choice among them, and what it is worth.

Models are chosen on validation lists and judged on test lists (Bennett et al., ICTIR 2015, §3 and §5).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.arguments import LARGEST_COUNT
from surefoot.arrays import Floats
from surefoot.clicks.feature_pipeline import FeatureTable
from surefoot.clicks.labels import preference_gains
from surefoot.errors import ArgumentError, DataError
from surefoot.learn.engines.contract import engine_of, merge_parameters
from surefoot.learn.measured_queries import EVALUATION_PARTS, PARTS
from surefoot.learn.ranker import Ranker
from surefoot.learn.settings import TrainingSettings
from surefoot.personal.lists import ShownLists, check_known, example_sessions, read_lists
from surefoot.personal.methods import MODELS_FOLDER, MethodSetting, StudyRankers, by_horizon, on_preferences, settings
from surefoot.personal.options import (
    EQUAL_GAIN,
    EQUALLY_RERANKED,
    GRIDS,
    HALF_RERANKED,
    LABEL_MEASURES,
    LOWEST,
    METHOD_TITLES,
    RANDOM,
    RISK,
    SELECTIVE,
    STANDARD,
    STANDARD_REGRESSION,
    WEIGHTED,
    WEIGHTED_REGRESSION,
    WEIGHTED_RISK,
)
from surefoot.personal.page import to_page
from surefoot.personal.personal_data import SCHEMA
from surefoot.personal.position_bias import position_bias
from surefoot.personal.recommendation import recommend
from surefoot.personal.reranker_figures import (
    ShownOrderComparison,
    add_shares,
    largest_area,
    least_risk_at_gain,
    most_gain_at_half,
    most_gain_at_share,
    random_mixture,
)
from surefoot.personal.tables import tables, to_csv, to_latex, to_markdown, to_metrics, to_notebook
from surefoot.report.kinds import KINDS
from surefoot.report.result import PlainResult, Renderings
from surefoot.risk.assessment_data import Json
from surefoot.risk.assessment_parts import Segments
from surefoot.risk.outcomes import holm

_CURVE_POINTS = 50  # points of the selective curve


class Personalization(PlainResult):
    """What re-rankers gain and risk; `to_dict` is its plain data, everything else renders that."""

    _kind = KINDS["personalization"]
    _renderings = Renderings(tables, to_csv, to_page, to_markdown, to_notebook, to_metrics)
    folder: Path | None = None  # of the study, where this program made it

    def to_latex(self) -> str:
        """The paper's Table 2 in LaTeX."""
        return to_latex(self._data)

    def save(
        self,
        folder: str | os.PathLike[str],
        *,
        study: str | os.PathLike[str] | None = None,
        method: str | None = None,
    ) -> None:
        """Save the recommended re-ranker, or that of a `method` of the table, as a model that answers.

        `sf.PersonalRanker.load` reads it, with its features and the state of the log. `study` is the folder of the
        study, which is known where this program has made it.
        """
        from surefoot.personal.saved_ranker import save_ranker

        home = study or self.folder
        if home is None:
            raise ArgumentError("a result that was read from a file does not know its study; give its folder as study")
        save_ranker(self._data, home, folder, method)

    def __repr__(self) -> str:
        """How much was compared."""
        return f"<Personalization: {len(self._data['rows'])} models on {self._data['lists']['test']:,} test lists>"


def study(
    table: FeatureTable,
    *,
    labels: str = "satisfied",
    split: str | None = None,
    sample: int | None = None,
    preset: str = "quick",
    grid: dict[str, Any] | None = None,
    ranker: dict[str, Any] | None = None,
    segments: Segments | None = None,
    horizons: bool = False,
    seed: int = 0,
) -> Personalization:
    """Train every method on a table of features, choose on validation lists, and judge on test lists."""
    check_known("is no preset", preset, GRIDS)
    grid_settings, ranker_settings = _tried_settings(preset, grid, ranker, seed)
    lists = read_lists(table, labels=labels, split=split, sample=sample, seed=seed)
    measure = LABEL_MEASURES[labels]
    rankers = StudyRankers(table.folder, lists, measure, ranker_settings)
    comparisons = {part: ShownOrderComparison(lists[part], measure) for part in EVALUATION_PARTS}
    tried = settings(grid_settings) + (by_horizon() if horizons else [])
    rows, scores = _train(rankers, comparisons, tried, "Training")
    standard = rows[0]
    if standard["test"]["gain"] is None or not all(standard[part]["share_reranked"] for part in EVALUATION_PARTS):
        raise DataError(
            "the standard model does not change any list, because it found no useful signal in this log; use a larger "
            "log or more trees"
        )
    for row in rows:
        add_shares(row, standard)
    groups = [row for row in rows if "features" in row]
    whole = [row for row in rows if "features" not in row]
    by_method = {method: [row for row in whole if row["method"] == method] for method in METHOD_TITLES}
    weighted = largest_area(by_method[WEIGHTED])
    if weighted is not None:
        more, more_scores = _train(
            rankers, comparisons, on_preferences(weighted["beta"], grid_settings), "Training on preferences"
        )
        for row in more:
            add_shares(row, standard)
        rows, scores = rows + more, scores + more_scores
        by_method[WEIGHTED_RISK] = more
    _add_tests(rows, scores, comparisons["test"])
    chosen = _choose(by_method)
    selective = _selective_curve(comparisons, scores[0], standard)
    if selective is not None:
        chosen.append(selective["chosen"])
    number = {row["name"]: position for position, row in enumerate(rows)}
    modelled = [row for row in chosen if row["name"] in number]
    # They say which features matter; they are not candidates to serve.
    chosen += [row | {"label": f"… {row['features']} features alone"} for row in groups]
    segments = {**(_new_users(lists["test"]) if table.users else {}), **(segments or {})}
    if segments:
        for row in [one for one in chosen if one["name"] in number]:
            row["segments"] = comparisons["test"].by_segment(scores[number[row["name"]]]["test"], segments)
    data: Json = {
        "schema": SCHEMA, "measure": measure, "labels": labels, "preset": preset,
        "split": split or ("user" if table.users else "session"),
        "ranker": ranker_settings, "features": table.names, "counts": table.counts,
        "lists": {part: len(lists[part].data.queries) for part in PARTS},
        "shown": {part: float(comparisons[part].shown.mean()) for part in EVALUATION_PARTS},
        "rows": rows, "chosen": chosen, "selective": [] if selective is None else selective["curve"],
        "models": {
            row["name"]: str(Path(MODELS_FOLDER) / rankers.model_folder(_setting(row)).name) for row in modelled
        },
        "sessions": example_sessions(
            lists["test"], {row["label"]: scores[number[row["name"]]]["test"] for row in modelled}
        ),
    }  # fmt: skip
    data["recommendation"] = recommend(data)
    data["position_bias"] = position_bias(table)  # last: nothing is learned, chosen or judged by it
    result = Personalization(data)
    result.folder = table.folder
    return result


def _new_users(lists: ShownLists) -> Segments:
    """Of which lists the user was new: nothing was shown to them before."""
    names = lists.data.feature_names or ()
    if "user_lists" not in names:
        return {}
    seen = lists.data.X[lists.data.offsets[:-1], names.index("user_lists")] > 0
    return {"user": {query: "known" if one else "new" for query, one in zip(lists.data.queries, seen, strict=True)}}


def check_study(
    measure: str, preset: str, grid: dict[str, Any] | None, ranker: dict[str, Any] | None, seed: int
) -> None:
    """Reject what no training takes, before any feature is made."""
    tried, parameters = _tried_settings(preset, grid, ranker, seed)
    betas = tried["betas"]
    for setting in [*settings(tried), *(on_preferences(float(betas[0]), tried) if len(betas) else [])]:
        if setting.beta is not None:
            strict = setting.method != LOWEST and setting.beta < 1
            preference_gains([1, 0], [2], 1.0, setting.beta, strict=strict)
        ranker_of_setting = Ranker(**setting.objective(measure), **parameters)
        TrainingSettings.from_ranker(ranker_of_setting)
        engine_of().check(ranker_of_setting.engine_parameters, LARGEST_COUNT)


def _tried_settings(
    preset: str, grid: dict[str, Any] | None, ranker: dict[str, Any] | None, seed: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The grid that is tried, and the parameters of every `Ranker`."""
    tried: dict[str, Any] = {**GRIDS[preset], **(grid or {})}
    return tried, merge_parameters(engine_of(), tried["ranker"], ranker or {}) | {"random_state": seed}


def _setting(row: Json) -> MethodSetting:
    return MethodSetting(row["method"], row["beta"], row["alpha"])


def _train(
    rankers: StudyRankers, comparisons: dict[str, ShownOrderComparison], settings: Sequence[MethodSetting], doing: str
) -> tuple[list[Json], list[dict[str, Floats]]]:
    scores = rankers.run(list(settings), doing)
    rows: list[Json] = []
    for setting, by_part in zip(settings, scores, strict=True):
        row: Json = {"method": setting.method, "beta": setting.beta, "alpha": setting.alpha, "name": setting.name}
        row["parameters"] = setting.parameters
        if setting.features is not None:
            row["features"] = setting.features
        rows.append(row | {part: comparisons[part].figures(by_part[part]) for part in EVALUATION_PARTS})
    return rows, scores


def _add_tests(rows: list[Json], scores: list[dict[str, Floats]], comparison: ShownOrderComparison) -> None:
    """Add p-values of the change on test lists, after Holm."""
    p_values = holm([comparison.p_value(by_part["test"]) for by_part in scores])
    for row, p in zip(rows, p_values, strict=True):
        row["test"]["p"] = p


def _choose(by_method: dict[str, list[Json]]) -> list[Json]:
    """The rows of the paper's Table 2, each with a label; and those of regression."""
    rows: list[Json] = []

    def add(row: Json | None, label: str | None = None) -> None:
        if row is not None:
            rows.append(row | {"label": label or METHOD_TITLES[row["method"]]})

    standard = by_method[STANDARD][0]
    risk = [standard, *by_method[RISK]]
    largest = map(largest_area, (by_method[WEIGHTED], by_method[WEIGHTED_REGRESSION]))
    by_learner = [row for row in largest if row is not None]
    for row in (standard, *by_method[STANDARD_REGRESSION], *by_learner):
        add(row)
    weighted = largest_area(by_learner)
    if weighted is not None:
        add(most_gain_at_half(by_method[WEIGHTED] + by_method[WEIGHTED_REGRESSION], standard), HALF_RERANKED)
        chance = weighted["valid"]["share_reranked"] / standard["valid"]["share_reranked"]
        label = "Random, as often re-ranked"
        coin: Json = {"method": RANDOM, "beta": None, "alpha": None, "name": "Random", "label": label}
        coin = random_mixture(coin | {"parameters": f"p = {chance:.2f}"}, standard, chance)
        add_shares(coin, standard)
        add(coin, label)
    add(largest_area(by_method[RISK]))
    if weighted is not None:
        add(least_risk_at_gain(risk, weighted["valid"]["gain"]), EQUAL_GAIN)
        add(most_gain_at_share(risk, weighted["valid"]["share_reranked"]), EQUALLY_RERANKED)
        add(largest_area(by_method[WEIGHTED_RISK]))
    add(max(by_method[LOWEST], key=lambda row: row["valid"]["gain"], default=None))
    return rows


def _selective_curve(
    comparisons: dict[str, ShownOrderComparison], scores: dict[str, Floats], standard: Json
) -> Json | None:
    """The standard model where the least entropy is at most a threshold, and the shown order elsewhere."""
    entropy = comparisons["valid"].lists.least_entropy
    known = np.unique(entropy[np.isfinite(entropy)])
    if not len(known):
        return None
    thresholds = np.unique(np.quantile(known, np.linspace(0, 1, _CURVE_POINTS), method="nearest"))
    curve: list[Json] = []
    for threshold in thresholds.tolist():
        row: Json = {"method": SELECTIVE, "beta": None, "alpha": None, "name": f"Selective at {threshold:g} bits"}
        row |= {"parameters": f"entropy ≤ {threshold:.2f}", "label": "Selective, by least entropy"}
        for part in EVALUATION_PARTS:
            row[part] = comparisons[part].figures(scores[part], comparisons[part].lists.least_entropy <= threshold)
        add_shares(row, standard)
        curve.append(row)
    best = largest_area(curve) or curve[0]
    points = [{part: [row[part]["share_reranked"], row[part]["gain"]] for part in EVALUATION_PARTS} for row in curve]
    return {"chosen": best, "curve": points}
