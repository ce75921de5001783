"""A ranker's trees on their way to a search engine: what it can run, and what its features are called there."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from surefoot.errors import ArgumentError
from surefoot.export.package import ExportResult, export_model, read_ensemble
from surefoot.export.settings import check_feature_names
from surefoot.learn.combination import refuse_combination
from surefoot.learn.engines.contract import engine_of
from surefoot.learn.inputs import numbered_names

if TYPE_CHECKING:
    from surefoot.learn.ranker import Ranker

_LETOR_NOTE = "The training data has no names of features. feature_25 is feature 25 there, as in LETOR files."


def export_ranker(
    ranker: Ranker, folder: str | os.PathLike[str], features: Sequence[str] | None, **options: Any
) -> ExportResult:
    """Write a fitted ranker for a search engine; the options are those of `export_model`."""
    if ranker.init == "baseline":
        raise ArgumentError(
            "this model starts from its baseline's scores, standardised per query (init='baseline'); no search engine "
            "can compute them; train without init"
        )
    refuse_combination(ranker, "a search engine can run only its trees; export the model without its baseline")
    if ranker.query_feature_ is not None:
        raise ArgumentError(
            f"the last feature of this model is {ranker.query_feature_} of each query; no search engine can compute "
            "it; sweep without --selective"
        )
    engine = engine_of(ranker.engine_)
    text = engine.dump(ranker.booster_, ranker.best_iteration_)
    names = check_feature_names(ranker.feature_names_in_ if features is None else features, ranker.n_features_in_)
    return export_model(
        read_ensemble(ranker.engine_, text, names),
        lambda X: engine.predict(ranker.booster_, X, ranker.best_iteration_),
        folder,
        notes=[*([_LETOR_NOTE] if names == numbered_names(len(names)) else []), *_category_notes(ranker, names)],
        **options,
    )


def _category_notes(ranker: Ranker, names: Sequence[str]) -> list[str]:
    """What number stands for each category."""
    called = dict(zip(ranker.feature_names_in_, names, strict=True))
    return [
        f"Feature {called[name]} is a category. The search engine must store its number: "
        + ", ".join(f"{number} for {label}" for number, label in enumerate(labels))
        + ". For any other category, leave the feature unset, and export with --missing nan."
        for name, labels in ranker.categories_.items()
    ]
