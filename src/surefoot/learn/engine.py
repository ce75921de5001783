"""LightGBM: its parameters checked, and trees grown from gradients that somebody else computes."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.data.ranking import Floats
from surefoot.errors import ArgumentError, MissingExtraError

# What Ranker decides itself, and why a user's value would not do.
_RESERVED = {
    "objective": "Ranker's own `objective` decides it",
    "metric": "`stop_on` and `history_` take its place",
    "num_iterations": "give n_estimators",
    "early_stopping_round": "give early_stopping_rounds",
    "bagging_by_query": "LightGBM does nothing right with it under a custom objective",
    "lambdarank_norm": "it rescales each query and so blunts α",
    "lambdarank_truncation_level": "the cut-off of `measure` takes its place",
    "num_class": "a ranker has one score a document",
    "sigmoid": "give sigma",
}


def lightgbm() -> ModuleType:
    """LightGBM, or how to install it."""
    try:
        import lightgbm as module
    except ImportError as error:
        raise MissingExtraError.of("learn", "Learning") from error
    return module


def check_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """LightGBM parameters under their main names; unknown ones and those that Ranker decides are refused."""
    from lightgbm.basic import _ConfigAliases

    aliases = {
        alias: name for name, known in _ConfigAliases._get_all_param_aliases().items() for alias in (name, *known)
    }
    checked: dict[str, Any] = {}
    for name, value in parameters.items():
        main = aliases.get(name)
        if main is None:
            near = difflib.get_close_matches(name, aliases, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise ArgumentError(f"unknown parameter {name!r}{hint} It is neither Ranker's nor LightGBM's")
        if main in _RESERVED:
            raise ArgumentError(f"{name!r} cannot be set here: {_RESERVED[main]}")
        if main in checked:
            raise ArgumentError(f"{name!r} is given twice, under two of its names")
        checked[main] = value
    return checked


class Growth:
    """Trees grown one after the other on fixed documents, with another set's scores kept up to date.

    `gradients` is called with the documents' scores and gives gradient and hessian; `after_tree` with the trees grown
    so far and a function that gives the other set's scores, and says whether to stop.
    """

    def __init__(
        self,
        parameters: Mapping[str, Any],
        X: npt.NDArray[np.float32],
        valid: npt.NDArray[np.float32] | None = None,
        feature_names: Sequence[str] | None = None,
    ) -> None:
        lgb = lightgbm()
        self.X = X
        self._parameters = {"verbosity": -1, **parameters, "metric": "none"}
        self._train = lgb.Dataset(
            X, np.zeros(len(X), np.float32), params=self._parameters, free_raw_data=False,
            feature_name=list(feature_names) if feature_names else "auto",
        )  # fmt: skip
        self._valid = (
            None
            if valid is None
            else lgb.Dataset(valid, np.zeros(len(valid)), reference=self._train, free_raw_data=False)
        )

    def grow(
        self,
        trees: int,
        gradients: Callable[[Floats], tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]],
        after_tree: Callable[[int, Floats | None], bool],
        start: Any = None,
        seed: int = 0,
    ) -> Any:
        """A booster with `trees` more trees than `start` has."""
        lgb = lightgbm()
        begun = start.num_trees() if start is not None else 0
        held: dict[str, Floats] = {}

        def keep_scores(scores: Floats, _: Any) -> tuple[str, float, bool]:
            held["valid"] = scores
            return "kept", 0.0, True

        def after_iteration(environment: Any) -> None:
            grown = begun + environment.iteration - environment.begin_iteration + 1
            if after_tree(grown, held.get("valid")):
                raise lgb.callback.EarlyStopException(environment.iteration, [])

        return lgb.train(
            {**self._parameters, "seed": seed, "objective": lambda scores, _: gradients(scores)},
            self._train,
            num_boost_round=trees,
            valid_sets=[] if self._valid is None else [self._valid],
            feval=None if self._valid is None else keep_scores,
            init_model=start,
            callbacks=[after_iteration],
        )
