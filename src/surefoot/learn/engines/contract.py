"""The contract of a learner of trees behind `Ranker`; a shared test class checks that every engine keeps it.

An engine has no state of its own. What it grows is its booster, which `Ranker` keeps in `booster_` and which the
engine alone looks into. The caller computes gradients and hessians, from scores that it is handed before each tree:
those of the documents that this machine holds. Scores are sums of leaves, from 0; a caller that starts elsewhere
adds its start itself. So objectives, baselines and the sums over several machines are the caller's, and no engine's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from surefoot.arrays import Float32s, Floats
from surefoot.data.reading.matrix import FeatureMatrix
from surefoot.errors import ArgumentError, shortened
from surefoot.learn.options import ENGINE, ENGINES

Booster: TypeAlias = Any  # an engine's own trees; they can be pickled
Gradients: TypeAlias = Callable[[Floats], tuple[Float32s, Float32s]]
AfterTree: TypeAlias = Callable[[int, Sequence[Floats]], bool]
AtEnd: TypeAlias = Callable[[Floats], None]
_UNSAFE = re.compile(r'[\s\x00-\x1f\x7f"\\,:=\[\]{}<]')  # what LightGBM's or XGBoost's model cannot hold


class ModelTextError(ValueError):
    """A model text that the engine did not write."""


@dataclass(frozen=True)
class Parameters:
    """An engine's parameters, checked, by their main names, and what a training must know of them.

    `threads` is the number of threads (None: as many as there are). `changes_trees` quotes the parameter by which
    later trees change earlier ones (DART), if there is one: then gradients are computed without some of the trees, no
    tree is the best, and no training can resume. `draws_randomly` says whether the trees depend on the seed.
    Trees that were grown on other data split between the bins of this: to go on from them, documents are kept
    `unbinned`.
    """

    values: Mapping[str, Any]
    threads: int | None = None
    changes_trees: str | None = None
    draws_randomly: bool = False
    unbinned: bool = False


class BinnedData(Protocol):
    """Documents to learn from, in the engine's bins, and other sets that are scored after each tree.

    Trainings may use it one after the other, with other objectives and parameters, as long as what decides the bins
    (`Engine.bins_key`) is the same.
    """

    def grow(
        self,
        trees: int,
        parameters: Parameters,
        gradients: Gradients,
        after_tree: AfterTree,
        booster_before: Booster | None = None,
        seed: int = 0,
        at_end: AtEnd | None = None,
    ) -> Booster:
        """A booster with up to `trees` more trees than `booster_before` has: fewer once no leaf can be split.

        `gradients` is called before each tree with the documents' scores and gives gradient and hessian; `after_tree`
        with the number of trees and the other sets' scores, and says whether to stop; `at_end` with the documents'
        scores by all trees, where the engine knows them exactly without predicting them.
        """
        ...


class HasMainNames(Protocol):
    """Whose parameters may have several names."""

    def main_name(self, name: str) -> str:
        """A parameter's main name."""
        ...


class Engine(Protocol):
    """A learner of trees, with what all do alike. Its errors are ArgumentError, or ModelTextError from `load`."""

    name: str  # as ranker.json writes it
    title: str  # as messages write it
    without_effect: frozenset[str]  # parameters that change no tree, by all their names
    threads_parameter: str  # the parameter that says how many threads there are
    drawing_example: str  # parameters by which seeds make a difference, as messages write them
    leaf_parameters: str  # those that keep leaves large, as messages write them
    noise: re.Pattern[str]  # what the library's own messages have that no user needs
    module: Callable[[], Any]  # the engine's, or how to install it
    check_text: Callable[[str], int]  # the number of trees of a model text that the engine wrote, or ModelTextError
    mean_text: Callable[[Sequence[str], Sequence[float]], str]  # all trees, their leaves multiplied by the weights

    def error(self) -> type[Exception]:
        """What the library raises."""
        ...

    def read_text(self, text: str) -> Booster:
        """The booster of a text that was checked."""
        ...

    @property
    def version(self) -> str:
        """The library's version: another one may grow other trees."""
        return str(self.module().__version__)

    @contextmanager
    def translated_errors(self) -> Iterator[None]:
        """The library's own errors as ours; it names the parameter or the data that it cannot work with."""
        try:
            yield
        except self.error() as error:
            reason = shortened(self.noise.sub("", str(error)).strip(), 300)
            raise ArgumentError(f"{self.title} cannot train with these parameters and data: {reason}") from error

    def no_split_error(self) -> ArgumentError:
        """The error where no tree can be grown."""
        return ArgumentError(
            "no tree can be grown, because no feature splits the documents into leaves that are large enough; give "
            f"more documents, or features with different values, or lower {self.leaf_parameters}"
        )

    def main_name(self, name: str) -> str:
        """A parameter's main name, whichever of its names is given; an unknown one stays as it is."""
        ...

    def check(self, parameters: Mapping[str, Any], features: int) -> Parameters:
        """What the user gave for data of so many features; unknown names and impossible values are rejected."""
        ...

    def with_categories(self, parameters: Mapping[str, Any], columns: Sequence[int], features: int) -> dict[str, Any]:
        """The user's parameters with these of the columns as categories, whose values are codes from 0."""
        ...

    def bins_key(self, parameters: Parameters, documents: int, seed: int) -> Hashable:
        """What decides the bins of so many documents: where it is the same, so are they."""
        ...

    def bin(
        self,
        X: FeatureMatrix,
        others: Sequence[FeatureMatrix],
        parameters: Parameters,
        feature_names: Sequence[str] | None = None,
        seed: int = 0,
    ) -> BinnedData:
        """Documents to learn from and other sets to score, which may be empty; feature names may hold anything."""
        ...

    def predict(self, booster: Booster, X: FeatureMatrix, trees: int | None = None) -> Floats:
        """The score of each row of raw features: the sum of its leaves in the first `trees`, or in all."""
        ...

    def contributions(self, booster: Booster, X: FeatureMatrix, trees: int) -> Floats:
        """What each feature adds to each row's score (SHAP values), and in the last column what all rows have."""
        ...

    def count_trees(self, booster: Booster) -> int:
        """How many trees a booster has."""
        ...

    def count_features(self, booster: Booster) -> int:
        """How many features a booster was trained on."""
        ...

    def importances(self, booster: Booster, kind: str, trees: int) -> npt.NDArray[np.generic]:
        """How often the first `trees` split by each feature ("split"), or what those splits gained ("gain")."""
        ...

    def dump(self, booster: Booster, trees: int | None = None) -> str:
        """The first trees, or all, as the engine's own text, which its other programs load and score with alike."""
        ...

    def mean(self, models: Sequence[tuple[Booster, int]], weights: Sequence[float]) -> Booster:
        """One booster of the first trees of each, whose scores are the weighted sum of theirs."""
        return self.load(self.mean_text([self.dump(booster, trees) for booster, trees in models], weights))

    def load(self, text: str) -> Booster:
        """The booster of such a text, whose structure is checked before the library sees it: texts are not trusted."""
        trees = self.check_text(text)
        try:
            booster = self.read_text(text)
        except (self.error(), KeyError, TypeError, ValueError, RecursionError) as error:
            raise ModelTextError(f"{self.title} rejects it: {shortened(str(error), 200)}") from error
        if self.count_trees(booster) != trees:
            raise ModelTextError(f"{self.title} finds {self.count_trees(booster)} trees instead of {trees}")
        return booster


def merge_parameters(engine: HasMainNames, defaults: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """The defaults, with the overrides in the place of those that they name, by whichever of their names.

    >>> merge_parameters(engine_of(), {"min_data_in_leaf": 500, "num_leaves": 50}, {"min_child_samples": 20})
    {'num_leaves': 50, 'min_child_samples': 20}
    """
    names = {engine.main_name(name) for name in overrides}
    return {name: value for name, value in defaults.items() if engine.main_name(name) not in names} | dict(overrides)


def engine_of(name: Any = ENGINE) -> Engine:
    """An engine by name; its library is not loaded before it is needed.

    >>> engine_of().title
    'LightGBM'
    """
    if not isinstance(name, str) or name not in ENGINES:
        raise ArgumentError(f"unknown engine {shortened(name)}; the engines are: {', '.join(ENGINES)}")
    engine: Engine = import_module(f"surefoot.learn.engines.{name}.engine").ENGINE
    return engine


def safe_names(names: Sequence[str]) -> list[str]:
    """The names with other characters in place of those that a model cannot hold, all different.

    >>> safe_names(["bm25", "title: length", "title[ length", ""])
    ['bm25', 'title__length', 'Column_2', 'Column_3']
    """
    safe_list: list[str] = []
    taken = {name for name in names if name and not _UNSAFE.search(name)}
    for number, name in enumerate(names):
        safe = _UNSAFE.sub("_", name)
        if safe != name:
            while not safe or safe in taken:
                safe = f"Column_{number}" if safe != f"Column_{number}" else f"{safe}_"
            taken.add(safe)
        elif not name:
            safe = f"Column_{number}"
        safe_list.append(safe)
    return safe_list
