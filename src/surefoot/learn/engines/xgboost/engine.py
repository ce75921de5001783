"""XGBoost as an engine: trees grown from gradients that somebody else computes, on one machine or on several.

Inside a `xgboost.collective.CommunicatorContext` each process bins and grows with the documents that it holds, and
XGBoost adds histograms up over all of them: every process then has the same trees.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.arrays import Floats
from surefoot.data.reading.matrix import FeatureMatrix
from surefoot.errors import ArgumentError
from surefoot.learn.engines.contract import (
    AfterTree,
    AtEnd,
    Booster,
    Engine,
    Gradients,
    Parameters,
    safe_names,
)
from surefoot.learn.engines.xgboost import model_text
from surefoot.learn.engines.xgboost.parameters import MAIN_NAMES, check_parameters
from surefoot.learn.import_learner import import_learner

_UNBINNED_METHODS = ("approx", "exact")  # tree methods that make their own bins, from the numbers as they are
_IMPORTANCES = {"split": "weight", "gain": "total_gain"}
_FRACTIONS = ("subsample", "colsample_bytree", "colsample_bylevel", "colsample_bynode")


def xgboost() -> Any:
    """XGBoost, or how to install it."""
    return import_learner("xgboost", "xgboost", "The engine XGBoost")


def _train_parameters(parameters: Parameters, seed: int) -> dict[str, Any]:
    """What trees are grown with: an objective's name for the file, and draws that depend on seed and tree alone."""
    values = {"verbosity": 0, **parameters.values}
    for name in ("feature_types", "enable_categorical"):  # of the data
        values.pop(name, None)
    for name in ("monotone_constraints", "interaction_constraints"):
        if name in values:
            values[name] = str(values[name]).replace(" ", "")
    if "monotone_constraints" in values:
        values["monotone_constraints"] = f"({values['monotone_constraints'][1:-1]})"
    return values | {
        "objective": model_text.OBJECTIVE, "base_score": 0.0, "disable_default_eval_metric": True, "seed": seed,
        "seed_per_iteration": True,
    }  # fmt: skip


class XGBoostBins:
    """XGBoost's data sets of documents to learn from and of others to score."""

    def __init__(
        self,
        X: FeatureMatrix,
        others: Sequence[FeatureMatrix],
        parameters: Parameters,
        feature_names: Sequence[str] | None,
    ) -> None:
        xgb = xgboost()
        names = safe_names(feature_names) if feature_names else None
        shared: dict[str, Any] = {"feature_names": names, "nthread": parameters.threads}
        if "feature_types" in parameters.values:
            shared |= {"feature_types": parameters.values["feature_types"], "enable_categorical": True}
        train, *rest = map(_aligned, (X, *others))
        with ENGINE.translated_errors():
            self._is_binned = not (parameters.unbinned or parameters.values.get("tree_method") in _UNBINNED_METHODS)
            if not self._is_binned:
                self._train = xgb.DMatrix(train, **shared)
            else:
                self._train = xgb.QuantileDMatrix(train, max_bin=parameters.values.get("max_bin"), **shared)
            # Raw numbers, since those beyond the training data's have no bin.
            self._others = [xgb.DMatrix(other, **shared) for other in rest]
            self._probe = xgb.DMatrix(np.zeros((1, X.shape[1]), np.float32), **shared)

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
        """A booster with up to `trees` more trees than `booster_before` has."""
        xgb = xgboost()
        others, probe = self._others, self._probe
        useless = 0

        class AfterTreeCallback(xgb.callback.TrainingCallback):  # type: ignore[misc, name-defined]
            def after_iteration(self, model: Any, _: int, __: Any) -> bool:
                nonlocal useless
                grown = model.num_boosted_rounds()  # XGBoost counts from 0 again where it goes on
                # A tree without a split has one node, which is number 0 and a leaf.
                if not np.ravel(model.predict(probe, pred_leaf=True))[-1]:
                    if grown == 1:
                        raise ENGINE.no_split_error()
                    useless = 1
                    return True
                return after_tree(grown, [_scores(model.predict(other, output_margin=True)) for other in others])

        with ENGINE.translated_errors():
            booster = xgb.train(
                _train_parameters(parameters, seed),
                self._train,
                num_boost_round=trees,
                obj=lambda scores, _: gradients(_scores(scores)),
                verbose_eval=False,
                xgb_model=booster_before,
                callbacks=[AfterTreeCallback()],
            )
            booster = booster[: booster.num_boosted_rounds() - 1] if useless else booster
            # XGBoost keeps the scores of what it was trained on; those by trees of other bins, such as before a machine
            # was lost, are rough.
            if at_end is not None and (booster_before is None or not self._is_binned):
                at_end(_scores(booster.predict(self._train, output_margin=True)))
        return booster


def _aligned(X: FeatureMatrix) -> FeatureMatrix:
    """The same numbers at an even address, which those that came over a network may lack and XGBoost asks for.

    NumPy calls every empty matrix aligned, whatever its address.
    """
    return np.require(X, np.float32, ("C", "ALIGNED")) if len(X) else np.empty(X.shape, np.float32)


def _scores(predicted: Any) -> Floats:
    return np.asarray(predicted, dtype=np.float64)


class XGBoost(Engine):
    """The engine for teams that deploy XGBoost, and for more than one machine."""

    name = "xgboost"
    title = "XGBoost"
    threads_parameter = "nthread"
    drawing_example = "colsample_bytree=0.7 or subsample=0.7"
    without_effect = frozenset({"verbosity", "nthread", "n_jobs"})
    leaf_parameters = "min_child_weight or min_split_loss"
    noise = re.compile(r"^\s*\[[\d:]+\] \S+:\d+: |\nStack trace.*", re.DOTALL)
    module = staticmethod(xgboost)
    check_text, mean_text = staticmethod(model_text.check), staticmethod(model_text.mean_text)

    def error(self) -> type[Exception]:
        """XGBoost's own."""
        return xgboost().core.XGBoostError  # type: ignore[no-any-return]

    def read_text(self, text: str) -> Booster:
        """XGBoost's booster."""
        return xgboost().Booster(params={"verbosity": 0}, model_file=bytearray(text.encode()))

    def main_name(self, name: str) -> str:
        """A parameter's main name."""
        return MAIN_NAMES.get(name, name)

    def check(self, parameters: Mapping[str, Any], features: int) -> Parameters:
        """Parameters by XGBoost's main names."""
        xgboost()  # a missing one shows before anything else
        values = check_parameters(parameters, features)
        return Parameters(
            values,
            threads=max(0, values.get("nthread", 0)) or None,
            draws_randomly=any(values.get(name, 1) < 1 for name in _FRACTIONS),
        )

    def with_categories(self, parameters: Mapping[str, Any], columns: Sequence[int], features: int) -> dict[str, Any]:
        """Their types; the user's own types are for data without columns of categories."""
        if parameters.get("enable_categorical") is False:
            raise ArgumentError(
                "the data has categories, but enable_categorical is False; encode them, or leave out enable_categorical"
            )
        types = list(parameters.get("feature_types") or ["q"] * features)
        if len(types) == features:
            types = ["c" if place in columns else kind for place, kind in enumerate(types)]
        return {**parameters, "feature_types": types}

    def bins_key(self, parameters: Parameters, documents: int, seed: int) -> Hashable:
        """The bins' number, and whether there are any."""
        unbinned = parameters.unbinned or parameters.values.get("tree_method") in _UNBINNED_METHODS
        return parameters.values.get("max_bin"), unbinned, repr(parameters.values.get("feature_types"))

    def bin(
        self,
        X: FeatureMatrix,
        others: Sequence[FeatureMatrix],
        parameters: Parameters,
        feature_names: Sequence[str] | None = None,
        seed: int = 0,
    ) -> XGBoostBins:
        """XGBoost's data sets."""
        return XGBoostBins(X, others, parameters, feature_names)

    def predict(self, booster: Booster, X: FeatureMatrix, trees: int | None = None) -> Floats:
        """The sum of each row's leaves."""
        return _scores(
            booster.inplace_predict(
                _aligned(X), iteration_range=(0, trees or 0), predict_type="margin", validate_features=False
            )
        )

    def contributions(self, booster: Booster, X: FeatureMatrix, trees: int) -> Floats:
        """XGBoost's own SHAP values."""
        types = booster.feature_types
        rows = xgboost().DMatrix(
            _aligned(X), feature_names=booster.feature_names, feature_types=types, enable_categorical=types is not None
        )
        return _scores(booster.predict(rows, pred_contribs=True, iteration_range=(0, trees)))

    def count_trees(self, booster: Booster) -> int:
        """How many trees a booster has."""
        return int(booster.num_boosted_rounds())

    def count_features(self, booster: Booster) -> int:
        """How many features a booster was trained on."""
        return int(booster.num_features())

    def importances(self, booster: Booster, kind: str, trees: int) -> npt.NDArray[np.generic]:
        """How often each feature splits, or what its splits gained."""
        names = booster.feature_names or [f"f{number}" for number in range(booster.num_features())]
        by_name = booster[:trees].get_score(importance_type=_IMPORTANCES[kind])
        values = [by_name.get(name, 0.0) for name in names]
        return np.array(values, dtype=np.int64 if kind == "split" else np.float64)

    def dump(self, booster: Booster, trees: int | None = None) -> str:
        """The model JSON, with an objective that other programs know."""
        cut = booster if trees is None or trees == booster.num_boosted_rounds() else booster[:trees]
        return bytes(cut.save_raw("json")).decode()


ENGINE: Engine = XGBoost()
