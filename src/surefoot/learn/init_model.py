"""A model that a training goes on from, on other data: its trees stay, and more are grown after them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from surefoot.data.hashes import text_hash
from surefoot.errors import ArgumentError, name_list, shortened
from surefoot.learn.combination import refuse_combination
from surefoot.learn.engines.contract import Booster, Engine

if TYPE_CHECKING:
    from surefoot.learn.prepared_data import PreparedData
    from surefoot.learn.ranker import Ranker

# What the trees so far were grown for: trees for another goal after them would be a model for neither.
_SAME_PARAMETERS = ("objective", "alpha", "measure", "rule", "estimate", "delta_cutoff", "sigma", "init")


@dataclass(frozen=True)
class InitModel:
    """The trees that a training starts with, how many they are, and what tells them and their data from others."""

    booster: Booster
    trees: int
    sha256: str
    training_fingerprints: str | None  # hashes of the queries that they were grown on, where these are known


def read_init_model(given: Any, ranker: Ranker, engine: Engine, data: PreparedData) -> InitModel | None:
    """The trees of a ranker, or of the folder that it was saved to, for `ranker` to go on from; None for None."""
    if given is None:
        return None
    model = type(ranker).load(given) if isinstance(given, str | os.PathLike) else given
    if not isinstance(model, type(ranker)):
        raise ArgumentError(
            f"init_model is {shortened(given)}; it must be a Ranker, or the folder that one was saved to"
        )
    model._check_fitted()
    refuse_combination(model, "training can continue only from trees")
    if model.engine_ != engine.name:
        raise ArgumentError(f"init_model has trees of {model.engine_}; set engine={model.engine_!r}")
    for what, old, new in (
        *((name, _plain(getattr(model, name)), _plain(getattr(ranker, name))) for name in _SAME_PARAMETERS),
        ("features", list(model.feature_names_in_), list(data.names)),
        ("categories", *(sorted(map(str, each.items())) for each in (model.categories_, data.train.categories))),
        ("baselines", sorted(model.baselines_), sorted(data.train.baselines)),
    ):
        if old != new:
            raise ArgumentError(
                f"init_model was trained with other {what}: {_shown(old)}, but here it is {_shown(new)}; both need the "
                "same"
            )
    text = engine.dump(model.booster_, model.best_iteration_)
    return InitModel(engine.load(text), model.best_iteration_, text_hash(text), model.training_queries_)


def _plain(value: Any) -> Any:
    """Parameters that mean the same are equal: 5 and 5.0, a measure and its name."""
    return value if value is None else float(value) if isinstance(value, int | float) else str(value)


def _shown(value: Any) -> str:
    return (name_list(value, 5, shortened) or "none") if isinstance(value, list) else shortened(value)
