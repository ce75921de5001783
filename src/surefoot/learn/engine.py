"""LightGBM: trees grown from gradients that somebody else computes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.arrays import Floats
from surefoot.errors import ArgumentError, MissingExtraError, shortened

_UNSAFE = re.compile(r'[\s\x00-\x1f\x7f"\\,:=\[\]{}]')  # what LightGBM's model text cannot hold in a feature's name

NO_SPLIT = (
    "no tree can be grown: no feature splits the documents into leaves that are large enough; give more documents or "
    "features that vary, or lower min_data_in_leaf, min_data_in_bin or min_sum_hessian_in_leaf"
)


def lightgbm() -> ModuleType:
    """LightGBM, or how to install it."""
    try:
        import lightgbm as module
    except ImportError as error:
        raise MissingExtraError.of("learn", "Learning") from error
    return module


def safe_names(names: Sequence[str]) -> list[str]:
    """Feature names that LightGBM's model text can hold, all different; Ranker keeps the true ones.

    >>> safe_names(["bm25", "title: length", "title[ length", ""])
    ['bm25', 'title__length', 'Column_2', 'Column_3']
    """
    found: list[str] = []
    taken = {name for name in names if name and not _UNSAFE.search(name)}
    for number, name in enumerate(names):
        safe = _UNSAFE.sub("_", name)
        if safe != name:
            while not safe or safe in taken:
                safe = f"Column_{number}" if safe != f"Column_{number}" else f"{safe}_"
            taken.add(safe)
        elif not name:
            safe = f"Column_{number}"
        found.append(safe)
    return found


@contextmanager
def _wrapped() -> Iterator[None]:
    """LightGBM's own errors as ours; it names the parameter or the data that it cannot work with."""
    try:
        yield
    except lightgbm().basic.LightGBMError as error:
        reason = re.sub(r" at \S+\.[ch]pp, line \d+ ?\.?", "", str(error))
        raise ArgumentError(
            f"LightGBM cannot train with these parameters and data: {shortened(reason, 300)}"
        ) from error


def _has_split(booster: Any) -> bool:
    """Whether the first tree has a split; where none can be made LightGBM gives one leaf at first, no tree later."""
    return bool(booster.dump_model(num_iteration=1)["tree_info"][0]["num_leaves"] > 1)


class Growth:
    """Trees grown one after the other on fixed documents, with other sets' scores kept up to date.

    `gradients` is called with the documents' scores and gives gradient and hessian; `after_tree` with the trees grown
    so far and the other sets' scores, and says whether to stop.
    """

    def __init__(
        self,
        parameters: Mapping[str, Any],
        X: npt.NDArray[np.float32],
        others: Sequence[npt.NDArray[np.float32]] = (),
        feature_names: Sequence[str] | None = None,
        seed: int = 0,
    ) -> None:
        lgb = lightgbm()
        categorical = parameters.get("categorical_feature", "auto")
        # One seed for the bins whatever the stretch: a training that goes on must meet the same ones.
        self._parameters = {"verbosity": -1, **parameters, "metric": "none", "data_random_seed": seed}
        self._parameters.pop("categorical_feature", None)
        self._train = lgb.Dataset(
            X, np.zeros(len(X), np.float32), params=self._parameters, free_raw_data=False,
            feature_name=safe_names(feature_names) if feature_names else "auto", categorical_feature=categorical,
        )  # fmt: skip
        with _wrapped():
            self._train.construct()
        if not any(self._train.feature_num_bin(column) for column in range(X.shape[1])):
            raise ArgumentError(NO_SPLIT)
        self._others = [
            lgb.Dataset(other, np.zeros(len(other)), reference=self._train, free_raw_data=False) for other in others
        ]

    def grow(
        self,
        trees: int,
        gradients: Callable[[Floats], tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]],
        after_tree: Callable[[int, Sequence[Floats]], bool],
        start: Any = None,
        seed: int = 0,
    ) -> Any:
        """A booster with up to `trees` more trees than `start` has: fewer once no leaf can be split."""
        lgb = lightgbm()
        begun = start.num_trees() if start is not None else 0
        held: list[Floats] = []

        def keep_scores(scores: Floats, _: Any) -> tuple[str, float, bool]:
            held.append(scores)
            return "kept", 0.0, True

        def after_iteration(environment: Any) -> None:
            grown = begun + environment.iteration - environment.begin_iteration + 1
            if grown == 1 and not _has_split(environment.model):
                raise ArgumentError(NO_SPLIT)
            stop = environment.model.num_trees() < grown or after_tree(grown, held)
            held.clear()
            if stop:
                raise lgb.callback.EarlyStopException(environment.iteration, [])

        with _wrapped():
            return lgb.train(
                {**self._parameters, "seed": seed, "objective": lambda scores, _: gradients(scores)},
                self._train,
                num_boost_round=trees,
                valid_sets=self._others,
                feval=keep_scores if self._others else None,
                init_model=start,
                callbacks=[after_iteration],
            )
