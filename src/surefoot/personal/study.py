"""Personalization from a click log: models of each method, the choice among them, and what it is worth.

Models are chosen on validation lists and judged on test lists (Bennett et al., ICTIR 2015, §3 and §5).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.arrays import Floats
from surefoot.clicks.feature_pipeline import FeatureTable
from surefoot.errors import ArgumentError, DataError, did_you_mean, shortened
from surefoot.learn.engines.contract import engine_of, replaced
from surefoot.personal.figures import (
    Judge,
    Segments,
    add_shares,
    largest_area,
    least_risk_at_gain,
    most_gain_at_half,
    most_gain_at_share,
    naive,
)
from surefoot.personal.lists import PARTS, read_lists
from surefoot.personal.methods import Setting, on_preferences, settings
from surefoot.personal.options import (
    GRIDS,
    LABELS,
    LOWEST,
    METHODS,
    RISK,
    SELECTIVE,
    STANDARD,
    STANDARD_REGRESSION,
    WEIGHTED,
    WEIGHTED_REGRESSION,
    WEIGHTED_RISK,
)
from surefoot.personal.sessions import looked_at
from surefoot.personal.trainings import HELD, MODELS, Trainings
from surefoot.report.result import PlainResult
from surefoot.risk.multiplicity import holm
from surefoot.risk.plain_data import Json

SCHEMA = "surefoot/personalization/1"
_CURVE = 50  # thresholds of the selective curve that are kept


class Personalization(PlainResult):
    """What was found; `to_dict` is its plain data, everything else renders that."""

    called = "the result of a personalization"
    schemas = (SCHEMA,)

    def to_text(self, width: int = 120) -> str:
        """The paper's Table 2, and how to read it."""
        from surefoot.personal.tables import to_text

        return to_text(self._data, width)

    def to_csv(self) -> str:
        """One row for each trained setting and part of the data, figures at full precision."""
        from surefoot.personal.tables import to_csv

        return to_csv(self._data)

    def to_markdown(self) -> str:
        """The paper's Table 2 in Markdown."""
        from surefoot.personal.tables import to_markdown

        return to_markdown(self._data)

    def to_latex(self) -> str:
        """The paper's Table 2 in LaTeX."""
        from surefoot.personal.tables import to_latex

        return to_latex(self._data)

    def page(self) -> str:
        """One self-contained page with the curves, and sessions to look at."""
        from surefoot.personal.page import to_page

        return to_page(self._data)

    @property
    def rows(self) -> list[Json]:
        """Every setting that was trained, with its figures under `valid` and `test`."""
        return list(self._data["rows"])

    @property
    def chosen(self) -> list[Json]:
        """The rows of the paper's Table 2."""
        return list(self._data["chosen"])

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
    seed: int = 0,
) -> Personalization:
    """Train every method on a table of features, choose on validation lists, and judge on test lists."""
    check_grid(preset)
    wanted: dict[str, Any] = {**GRIDS[preset], **(grid or {})}
    wanted = {**wanted, "ranker": replaced(engine_of(), wanted["ranker"], ranker or {}) | {"random_state": seed}}
    lists = read_lists(table, labels=labels, split=split, sample=sample, seed=seed)
    measure = LABELS[labels]
    trainings = Trainings(table.folder, lists, measure, wanted["ranker"])
    judges = {part: Judge(lists[part], measure) for part in HELD}
    rows, scores = _trained(trainings, judges, settings(wanted), "Training")
    standard = rows[0]
    if standard["test"]["gain"] is None or not all(standard[part]["share_reranked"] for part in HELD):
        raise DataError(
            "the standard model leaves every list as it was shown: nothing in this log tells lists apart; "
            "give it more of the log, or more trees"
        )
    for row in rows:
        add_shares(row, standard)
    by = {method: [row for row in rows if row["method"] == method] for method in METHODS}
    weighted = largest_area(by[WEIGHTED])
    if weighted is not None:
        more, more_scores = _trained(
            trainings, judges, on_preferences(weighted["beta"], wanted), "Training on preferences"
        )
        for row in more:
            add_shares(row, standard)
        rows, scores = rows + more, scores + more_scores
        by[WEIGHTED_RISK] = more
    _test(rows, scores, judges["test"])
    chosen = _chosen(by)
    selective = _selective(judges, scores[0], standard)
    if selective is not None:
        chosen.append(selective["chosen"])
    number = {row["name"]: place for place, row in enumerate(rows)}
    kept = [row for row in chosen if row["name"] in number]
    if segments:
        for row in kept:
            row["segments"] = judges["test"].by_segment(scores[number[row["name"]]]["test"], segments)
    data: Json = {
        "schema": SCHEMA, "measure": measure, "labels": labels, "preset": preset,
        "split": split or ("user" if table.users else "session"),
        "ranker": wanted["ranker"], "features": table.names, "counts": table.counts,
        "lists": {part: len(lists[part].data.queries) for part in PARTS},
        "shown": {part: float(judges[part].shown.mean()) for part in HELD},
        "rows": rows, "chosen": chosen, "selective": [] if selective is None else selective["curve"],
        "models": {row["name"]: str(Path(MODELS) / trainings.place(_setting(row)).name) for row in kept},
        "sessions": looked_at(
            lists["test"], {row["label"]: scores[number[row["name"]]]["test"] for row in kept}
        ),
    }  # fmt: skip
    return Personalization(data)


def check_grid(preset: str) -> None:
    """Reject an unknown preset."""
    if preset not in GRIDS:
        raise ArgumentError(
            f"there is no preset {shortened(preset)}{did_you_mean(preset, GRIDS)}; known are {', '.join(GRIDS)}"
        )


def _setting(row: Json) -> Setting:
    return Setting(row["method"], row["beta"], row["alpha"])


def _trained(
    trainings: Trainings, judges: dict[str, Judge], wanted: Sequence[Setting], doing: str
) -> tuple[list[Json], list[dict[str, Floats]]]:
    scores = trainings.run(list(wanted), doing)
    rows: list[Json] = []
    for setting, found in zip(wanted, scores, strict=True):
        row: Json = {"method": setting.method, "beta": setting.beta, "alpha": setting.alpha, "name": setting.name}
        row["parameters"] = setting.parameters
        rows.append(row | {part: judges[part].figures(found[part]) for part in HELD})
    return rows, scores


def _test(rows: list[Json], scores: list[dict[str, Floats]], judge: Judge) -> None:
    """Add p-values of the change on test lists, after Holm."""
    found = holm([judge.test(one["test"]) for one in scores])
    for row, p in zip(rows, found, strict=True):
        row["test"]["p"] = p


def _chosen(by: dict[str, list[Json]]) -> list[Json]:
    """The rows of the paper's Table 2, each with a label; and those of regression."""
    standard = by[STANDARD][0]
    risk = [standard, *by[RISK]]
    found = [row | {"label": METHODS[row["method"]]} for row in (standard, *by[STANDARD_REGRESSION])]
    by_learner = [row for row in map(largest_area, (by[WEIGHTED], by[WEIGHTED_REGRESSION])) if row is not None]
    found += [row | {"label": METHODS[row["method"]]} for row in by_learner]
    weighted = largest_area(by_learner)
    if weighted is not None:
        half = most_gain_at_half(by[WEIGHTED] + by[WEIGHTED_REGRESSION], standard)
        if half is not None:
            found.append(half | {"label": "… most gain at half the re-ranking"})
        chance = weighted["valid"]["share_reranked"] / standard["valid"]["share_reranked"]
        coin: Json = {
            "method": "naive",
            "beta": None,
            "alpha": None,
            "name": "Naïve",
            "label": "Naïve, as often re-ranked",
        }
        coin = naive(coin | {"parameters": f"p = {chance:.2f}"}, standard, chance)
        add_shares(coin, standard)
        found.append(coin)
    best = largest_area(by[RISK])
    if best is not None:
        found.append(best | {"label": METHODS[RISK]})
    if weighted is not None:
        parity = least_risk_at_gain(risk, weighted["valid"]["gain"])
        near = most_gain_at_share(risk, weighted["valid"]["share_reranked"])
        found.append(parity | {"label": "… least risk at equal gain"})
        found.append(near | {"label": "… most gain at equal re-ranking"})
        both = largest_area(by[WEIGHTED_RISK])
        if both is not None:
            found.append(both | {"label": METHODS[WEIGHTED_RISK]})
    if by[LOWEST]:
        lowest = max(by[LOWEST], key=lambda row: row["valid"]["gain"])
        found.append(lowest | {"label": METHODS[LOWEST]})
    return found


def _selective(judges: dict[str, Judge], scores: dict[str, Floats], standard: Json) -> Json | None:
    """The standard model where the least entropy is at most a threshold, and the shown order elsewhere."""
    entropy = judges["valid"].lists.least_entropy
    known = np.unique(entropy[np.isfinite(entropy)])
    if not len(known):
        return None
    thresholds = np.unique(np.quantile(known, np.linspace(0, 1, _CURVE), method="nearest"))
    curve: list[Json] = []
    for threshold in thresholds.tolist():
        row: Json = {"method": SELECTIVE, "beta": None, "alpha": None, "name": f"Selective at {threshold:g} bits"}
        row |= {"parameters": f"entropy ≤ {threshold:.2f}", "label": "Selective, by least entropy"}
        for part in HELD:
            row[part] = judges[part].figures(scores[part], judges[part].lists.least_entropy <= threshold)
        add_shares(row, standard)
        curve.append(row)
    best = largest_area(curve) or curve[0]
    points = [{part: [row[part]["share_reranked"], row[part]["gain"]] for part in HELD} for row in curve]
    return {"chosen": best, "curve": points}


def chosen_model(data: Json, label: str) -> str:
    """Where the model of a row of the table is kept, within the study's folder."""
    found = next((row for row in data["chosen"] if row["label"] == label and row["name"] in data["models"]), None)
    if found is None:
        labels = [row["label"] for row in data["chosen"] if row["name"] in data["models"]]
        raise ArgumentError(f"there is no model of {shortened(label)}; known are {', '.join(labels)}")
    return str(data["models"][found["name"]])
