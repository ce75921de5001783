"""LightGBM as an engine: trees grown from gradients that somebody else computes."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

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
from surefoot.learn.engines.lightgbm import model_text
from surefoot.learn.engines.lightgbm.parameters import check_parameters, main_names
from surefoot.learn.import_learner import import_learner

_ALL = -1  # trees, as LightGBM counts
_FEW_ROWS = 100
_SAMPLE = 200_000  # documents that LightGBM looks at to find bins; all of fewer
# Parameters that no bin depends on. min_data_in_leaf is not among them: features that cannot fill a leaf get no bins.
_GROWING = frozenset({
    "learning_rate", "num_leaves", "max_depth", "min_sum_hessian_in_leaf", "bagging_fraction", "bagging_freq",
    "feature_fraction", "feature_fraction_bynode", "lambda_l1", "lambda_l2", "min_gain_to_split", "extra_trees",
    "path_smooth", "max_delta_step", "verbosity", "num_threads",
})  # fmt: skip

_FRACTIONS = ("feature_fraction", "feature_fraction_bynode", "bagging_fraction")


def lightgbm() -> Any:
    """LightGBM, or how to install it."""
    return import_learner("lightgbm", "learn", "Learning")


def _has_split(booster: Any) -> bool:
    """Whether the first tree has a split; where none can be made LightGBM gives one leaf at first, no tree later."""
    return bool(booster.dump_model(num_iteration=1)["tree_info"][0]["num_leaves"] > 1)


def _train_parameters(parameters: Parameters, seed: int) -> dict[str, Any]:
    """What data and trees are made with; bins have one seed, since a training that resumes must meet the same ones."""
    values = {"verbosity": -1, **parameters.values, "metric": "none", "data_random_seed": seed}
    values.pop("categorical_feature", None)
    return values


class LightGBMBins:
    """LightGBM's data sets of documents to learn from and of others to score."""

    def __init__(
        self,
        X: FeatureMatrix,
        others: Sequence[FeatureMatrix],
        parameters: Parameters,
        feature_names: Sequence[str] | None,
        seed: int,
    ) -> None:
        lgb = lightgbm()
        self._seed = seed
        self._train = lgb.Dataset(
            X, np.zeros(len(X), np.float32), params=_train_parameters(parameters, seed), free_raw_data=False,
            feature_name=safe_names(feature_names) if feature_names else "auto",
            categorical_feature=parameters.values.get("categorical_feature", "auto"),
        )  # fmt: skip
        with ENGINE.translated_errors():
            self._train.construct()
        if not any(self._train.feature_num_bin(column) for column in range(X.shape[1])):
            raise ENGINE.no_split_error()
        self._others = [
            lgb.Dataset(other, np.zeros(len(other)), reference=self._train, free_raw_data=False) for other in others
        ]

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
        lgb = lightgbm()
        trees_before = booster_before.num_trees() if booster_before is not None else 0
        scores_of_others: list[Floats] = []
        keeps_scores = at_end is not None and not parameters.changes_trees  # a look at DART's would drop trees

        def collect_scores(scores: Floats, _: Any) -> tuple[str, float, bool]:
            scores_of_others.append(scores)
            return "collected", 0.0, True

        def hand_over(scores: Floats, _: Any) -> tuple[str, float, bool]:
            if at_end is not None:
                at_end(np.array(scores, dtype=np.float64))
            return "handed over", 0.0, True

        def after_iteration(environment: Any) -> None:
            grown = trees_before + environment.iteration - environment.begin_iteration + 1
            if grown == 1 and not _has_split(environment.model):
                raise ENGINE.no_split_error()
            stop = environment.model.num_trees() < grown or after_tree(grown, scores_of_others)
            scores_of_others.clear()
            if keeps_scores and (stop or environment.iteration + 1 == environment.end_iteration):
                environment.model.eval_train(hand_over)  # LightGBM keeps the scores until the training ends
            if stop:
                raise lgb.callback.EarlyStopException(environment.iteration, [])

        with ENGINE.translated_errors():
            return lgb.train(
                {
                    **_train_parameters(parameters, self._seed),
                    "seed": seed,
                    "objective": lambda scores, _: gradients(scores),
                },
                self._train,
                num_boost_round=trees,
                valid_sets=self._others,
                feval=collect_scores if self._others else None,
                init_model=booster_before,
                callbacks=[after_iteration],
            )


class LightGBM(Engine):
    """The default engine."""

    name = "lightgbm"
    title = "LightGBM"
    threads_parameter = "num_threads"
    drawing_example = "feature_fraction=0.7, or bagging_fraction=0.7 with bagging_freq=1"
    without_effect = frozenset({"verbosity", "verbose", "num_threads", "n_jobs", "nthread", "nthreads", "num_thread"})
    leaf_parameters = "min_data_in_leaf, min_data_in_bin or min_sum_hessian_in_leaf"
    noise = re.compile(r" at \S+\.[ch]pp, line \d+ ?\.?")
    module = staticmethod(lightgbm)
    check_text, mean_text = staticmethod(model_text.check), staticmethod(model_text.mean_text)

    def error(self) -> type[Exception]:
        """LightGBM's own."""
        return lightgbm().basic.LightGBMError  # type: ignore[no-any-return]

    def read_text(self, text: str) -> Booster:
        """LightGBM's booster."""
        return lightgbm().Booster(model_str=text)

    def main_name(self, name: str) -> str:
        """A parameter's main name."""
        lightgbm()
        return main_names().get(name, name)

    def check(self, parameters: Mapping[str, Any], features: int) -> Parameters:
        """Parameters by LightGBM's main names, with those set that make the same trees grow every time."""
        lightgbm()  # a missing one shows before anything else
        values = {"deterministic": True} | check_parameters(parameters, features)
        if not values.get("force_row_wise"):
            values.setdefault("force_col_wise", True)
        return Parameters(
            values,
            threads=max(0, values.get("num_threads", 0)) or None,
            changes_trees="boosting='dart'" if values.get("boosting") == "dart" else None,
            draws_randomly=any(values.get(name, 1) < 1 for name in _FRACTIONS)
            or any(values.get(name) for name in ("extra_trees", "use_quantized_grad"))
            or "goss" in values.values()
            or "dart" in values.values(),
        )

    def with_categories(self, parameters: Mapping[str, Any], columns: Sequence[int], features: int) -> dict[str, Any]:
        """Those that the user names, and these."""
        name = next(
            (each for each in parameters if self.main_name(each) == "categorical_feature"), "categorical_feature"
        )
        given = (
            check_parameters({name: parameters[name]}, features)["categorical_feature"] if name in parameters else []
        )
        return {**parameters, name: sorted({*given, *columns})}

    def bins_key(self, parameters: Parameters, documents: int, seed: int) -> Hashable:
        """Every parameter that is not known to matter for growing alone, and the seed where bins are sampled."""
        deciding = {name: value for name, value in parameters.values.items() if name not in _GROWING}
        sampled = documents > parameters.values.get("bin_construct_sample_cnt", _SAMPLE)
        return repr(sorted(deciding.items())), seed if sampled else None

    def bin(
        self,
        X: FeatureMatrix,
        others: Sequence[FeatureMatrix],
        parameters: Parameters,
        feature_names: Sequence[str] | None = None,
        seed: int = 0,
    ) -> LightGBMBins:
        """LightGBM's data sets."""
        return LightGBMBins(X, others, parameters, feature_names, seed)

    def predict(self, booster: Booster, X: FeatureMatrix, trees: int | None = None) -> Floats:
        """The sum of each row's leaves."""
        trees = _ALL if trees is None else trees
        return np.asarray(booster.predict(X, num_iteration=trees, **_threads(X)), dtype=np.float64)

    def contributions(self, booster: Booster, X: FeatureMatrix, trees: int) -> Floats:
        """LightGBM's own SHAP values."""
        if _has_linear_leaves(booster):
            raise ArgumentError("LightGBM has no contributions for linear leaves (linear_tree); train without them")
        found = booster.predict(X, num_iteration=trees, pred_contrib=True, **_threads(X))
        return np.asarray(found, dtype=np.float64)

    def count_trees(self, booster: Booster) -> int:
        """How many trees a booster has."""
        return int(booster.num_trees())

    def count_features(self, booster: Booster) -> int:
        """How many features a booster was trained on."""
        return int(booster.num_feature())

    def importances(self, booster: Booster, kind: str, trees: int) -> npt.NDArray[np.generic]:
        """How often each feature splits, or what its splits gained."""
        importances: npt.NDArray[np.generic] = booster.feature_importance(kind, trees)
        return importances

    def dump(self, booster: Booster, trees: int | None = None) -> str:
        """The model text, with an objective that other programs know."""
        return model_text.canonical(booster.model_to_string(num_iteration=_ALL if trees is None else trees))


def _threads(X: FeatureMatrix) -> dict[str, int]:
    """One thread for few rows: to wake more takes longer than the rows do, much longer on a busy machine."""
    return {"num_threads": 1} if X.shape[0] <= _FEW_ROWS else {}


def _has_linear_leaves(booster: Booster) -> bool:
    """Whether leaves are linear models; looked up once for each booster, in its text."""
    if booster not in _LINEAR:
        _LINEAR[booster] = "\nis_linear=1\n" in booster.model_to_string(num_iteration=1)
    return _LINEAR[booster]


_LINEAR: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()

ENGINE: Engine = LightGBM()
