"""`Ranker`: LambdaMART that trades gain against risk, with scikit-learn's manners."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from surefoot.arrays import Floats
from surefoot.data.reading.matrix import without_queries
from surefoot.data.types.ranking_data import RankingData
from surefoot.errors import ArgumentError
from surefoot.export.settings import ROWS
from surefoot.learn import saved_ranker
from surefoot.learn.checkpoints import read_init_model
from surefoot.learn.cluster import is_dask
from surefoot.learn.combination import Combination, refuse_combination, with_aggregate
from surefoot.learn.criteria import Criterion
from surefoot.learn.engines.contract import engine_of
from surefoot.learn.estimator import Estimator
from surefoot.learn.inputs import (
    as_data,
    matched_baselines,
    matched_features,
    numbered_names,
    standardised_baseline,
    weighted_data,
)
from surefoot.learn.model_files import TREES_SCHEMA
from surefoot.learn.options import CHECKPOINT_EVERY, ENGINE, ESTIMATE, MEASURE, OBJECTIVE, RULE, SCORE_ON, STOP_ON
from surefoot.learn.prepared_data import MonitoredSet, PreparedData
from surefoot.learn.settings import TrainingSettings, check_importance
from surefoot.learn.training import Progress, Training, TrainingResult, train
from surefoot.learn.training_weights import relative_or_none
from surefoot.measures.notation import Measure

if TYPE_CHECKING:
    from surefoot.export.package import ExportResult
    from surefoot.learn.explanation import Explanation

_NO_QUERIES = (
    "score needs the queries: give qid or group, or a table X with a column 'qid'. With GridSearchCV, first call "
    "sklearn.set_config(enable_metadata_routing=True); then call grid.fit(X, y, qid=…, baseline=…, groups=…)"
)
_LETOR_NOTE = "The training data has no names of features. feature_25 is feature 25 there, as in LETOR files."
_SAME_BASELINES = "a model that starts from a baseline needs this baseline again: the data"


class Ranker(Estimator):
    """LambdaMART whose pair weights come from a risk-sensitive measure against one or several baselines.

    Or, with objective "regression", least squares on each document's share of nDCG.

    Parameters
    ----------
    objective : str
        What is optimised: "gain", "u_risk" and others, see `surefoot train --help` and docs/learn.md. Those that weigh
        risk need a baseline.
    alpha : float
        Each loss counts 1 + α times, for objectives that weigh risk; at 0 all but "geo_risk" are plain gain. With
        "regression" it may be left out.
    measure : str
        nDCG (exponential or linear gains), AP, RR or ERR, with a cut-off or without.
    rule, estimate : str
        Dinçer 2016's Eq. 9 in place of Wang's exact Δ; s_x after the "first" tree in place of "each".
    delta_cutoff : "measure" or None
        None discounts every rank in ΔnDCG, as LightGBM's lambdarank does.
    init : None or "baseline"
        Start from the baseline's scores, standardised per query, in place of 0.
    sigma : float
        Steepness of the pairs' sigmoid.
    n_estimators : int
        Trees.
    early_stopping_rounds : int, optional
        Stop after so many trees without a better `stop_on` on the validation data.
    stop_on : str
        "effectiveness", or "u_risk@5", "t_risk@5", "geo_risk@5", which need a baseline.
    history : bool
        Keep effectiveness, reward, risk, wins and losses after each tree in `history_`.
    checkpoint : path, optional
        Where to keep the state every `checkpoint_every` trees; a fit that finds one there goes on from it. `save`
        removes it once the model is on disk.
    random_state : int or None
        Seed; the same gives the same model. None draws one, which `random_state_` keeps.
    importance_type : {"split", "gain"}
        What `feature_importances_` counts: a feature's splits, or what they gained.
    engine : {"lightgbm", "xgboost"}
        Who grows the trees; XGBoost comes with the extra `xgboost`.
    n_models : int
        Train so many models, with `random_state` and the seeds after it, and become their mean (`surefoot.average`),
        which has less risk than one of them; `models_` has each one's history, trees and best score.
    score_on : str
        What `score` gives, and so what scikit-learn's searches choose by: "effectiveness", or "u_risk@5" and others as
        for `stop_on`, so that a grid over α does not ignore risk.
    **parameters
        The engine's, by its own names: LightGBM's `num_leaves`, `learning_rate`, `feature_fraction`, …, or XGBoost's
        `max_leaves`, `learning_rate`, `colsample_bytree`, …

    Examples
    --------
    >>> import surefoot as sf
    >>> data = sf.demo.letor(queries=30, documents=20, seed=1)
    >>> r = Ranker(objective="u_risk", alpha=5, n_estimators=5, num_leaves=4, num_threads=1).fit(data)
    >>> r.predict(data.X).shape == (len(data),)
    True
    """

    _model, _schema = "booster_", TREES_SCHEMA

    def __init__(
        self,
        objective: str = OBJECTIVE,
        alpha: float | None = None,
        *,
        measure: str = MEASURE,
        rule: str = RULE,
        estimate: str = ESTIMATE,
        delta_cutoff: str | None = "measure",
        init: str | None = None,
        sigma: float = 1.0,
        n_estimators: int = 100,
        early_stopping_rounds: int | None = None,
        stop_on: str = STOP_ON,
        history: bool = True,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: int = CHECKPOINT_EVERY,
        random_state: int | None = 0,
        importance_type: str = "split",
        engine: str = ENGINE,
        n_models: int = 1,
        score_on: str = SCORE_ON,
        **parameters: Any,
    ) -> None:
        self.objective = objective
        self.alpha = alpha
        self.measure = measure
        self.rule = rule
        self.estimate = estimate
        self.delta_cutoff = delta_cutoff
        self.init = init
        self.sigma = sigma
        self.n_estimators = n_estimators
        self.early_stopping_rounds = early_stopping_rounds
        self.stop_on = stop_on
        self.history = history
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.random_state = random_state
        self.importance_type = importance_type
        self.engine = engine
        self.n_models = n_models
        self.score_on = score_on
        self.engine_parameters = dict(parameters)

    def fit(
        self,
        X: Any,
        y: npt.ArrayLike | None = None,
        *,
        qid: Any = None,
        group: npt.ArrayLike | None = None,
        baseline: Any = None,
        valid: Any = None,
        sample_weight: Any = None,
        init_model: Ranker | str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Learn from `RankingData`, or from X, y and `qid` or `group`, or from a table X with a column `qid`, and y.

        `baseline` holds document scores: (n,), (n, baselines), or a dict of them by name; the data's own baselines by
        default. `valid` is RankingData, or a tuple (X, y, qid), (X, y, qid, baseline) or (RankingData, baseline). Its
        features and baselines go by name where there are names.
        `sample_weight`, how often each query is asked, is as for `RankingData.with_traffic`; by id, for `valid`, too.
        Dask arrays or frames are learned from on their cluster, with `engine="xgboost"`.
        `PreparedData`, given alone, can be learned from many times without being prepared each time. `progress` is
        called after each tree.
        `init_model`, a Ranker or the folder of one, has the trees to go on from: `n_estimators` more are grown on this
        data, for the same objective, features and baselines; `history_` is of the new trees.
        """
        if is_dask(X):
            from surefoot.learn.cluster.fit import fit_collections

            if init_model is not None:
                raise ArgumentError("init_model works on one machine only; on a cluster, train a new model")
            if group is not None:
                raise ArgumentError("a query may be in two parts of Dask data; give qid, a query id for each row")
            fit_collections(self, X, y, qid, baseline, valid, sample_weight, progress)
            return self
        data = PreparedData.from_arguments(X, y, qid, group, baseline, valid, sample_weight)
        if TrainingSettings.from_ranker(self).models > 1:
            from surefoot.learn.means import train_mean

            self.set_result(train_mean(self, data, progress, init_model))
        else:
            engine = engine_of(self.engine)
            init_trees = read_init_model(init_model, self, engine, data)
            self.set_result(train(Training(self, engine, data, progress, init_model=init_trees)))
        return self

    def set_result(self, result: TrainingResult) -> None:
        """Become the model that a training gave, here or on other machines."""
        self.engine_ = result.engine
        self.booster_ = result.booster
        self.n_features_in_ = len(result.feature_names)
        self.feature_names_in_ = result.feature_names
        self.categories_ = result.categories
        self.baselines_ = result.baselines
        self.best_iteration_ = result.state["best_iteration"]
        self.best_score_ = result.state["best_score"]
        self.history_ = result.state["history"]
        self.trees_before_ = result.state.get("trees_before", 0)
        self.tie_rule_ = result.tie_rule
        self.random_state_ = result.state["seed"]
        self.score_sample_ = result.score_sample
        self.training_queries_ = result.training_fingerprints
        self.checkpoints_ = result.checkpoints
        self.models_ = result.models
        self.traffic_ = result.weights
        self.combination_ = self.query_feature_ = None

    def predict(self, X: Any, *, qid: Any = None, group: npt.ArrayLike | None = None, baseline: Any = None) -> Floats:
        """A score for each document.

        Columns go by name where the model and X have names, by position otherwise. A model that started from its
        baselines, or that `surefoot select` combined with one, needs them, and the queries, again.
        """
        self._check_fitted()
        if self.query_feature_ is not None:
            X = with_aggregate(self, X, qid, group)
            qid, group = (None, None) if isinstance(X, RankingData) else (qid, group)
        matrix = matched_features(X, self.feature_names_in_, "X", self.categories_)
        scores = engine_of(self.engine_).predict(self.booster_, matrix, self.best_iteration_)
        if self.init != "baseline" and self.combination_ is None:
            return scores
        if isinstance(X, RankingData):
            data = as_data(X, None, qid, group, baseline, self.baselines_)
        else:
            queries = without_queries(X)[1] if qid is None and group is None else qid
            data = as_data(matrix, np.zeros(len(matrix)), queries, group, baseline, self.baselines_)
        if self.init == "baseline":
            scores = scores + standardised_baseline(matched_baselines(data, self.baselines_, _SAME_BASELINES))
        return scores if self.combination_ is None else Combination.from_dict(self.combination_).scores(scores, data)

    def score(
        self,
        X: Any,
        y: npt.ArrayLike | None = None,
        *,
        qid: Any = None,
        group: npt.ArrayLike | None = None,
        baseline: Any = None,
        sample_weight: Any = None,
    ) -> float:
        """What `score_on` says over the queries of `RankingData`, or of X, y and `qid` or `group`.

        By default the mean of `measure`. U_Risk and the others compare with the baselines that are given.
        """
        self._check_fitted()
        criterion = Criterion.parse(self.score_on, "score_on")
        with_queries = isinstance(X, RankingData) or qid is not None or group is not None
        if not with_queries and y is not None and without_queries(X)[1] is None:
            raise ArgumentError(_NO_QUERIES)
        data = weighted_data(as_data(X, y, qid, group, baseline, self.baselines_), sample_weight, "the data")
        weights = relative_or_none(data._weighting)
        if criterion.name == "effectiveness" and weights is None:
            return self._effectiveness(data)
        queries = MonitoredSet(data, Measure.parse(self.measure), None, None)
        return criterion(queries.values(self.predict(data)), queries.baselines, weights=weights)

    @property
    def feature_importances_(self) -> npt.NDArray[np.generic]:
        """What each feature contributes to the trees up to the best, by `importance_type`."""
        self._check_fitted()
        kind = check_importance(self.importance_type)
        return engine_of(self.engine_).importances(self.booster_, kind, self.best_iteration_)

    def _dump_model(self) -> tuple[str, bytes]:
        return self.engine_, engine_of(self.engine_).dump(self.booster_, self.best_iteration_).encode()

    def _read_model(self, home: Path, details: dict[str, Any]) -> None:
        saved_ranker.read_trees(self, home, details)

    def export(
        self,
        folder: str | os.PathLike[str],
        *,
        to: str,
        missing: str,
        features: Sequence[str] | None = None,
        name: str | None = None,
        target_version: str | None = None,
        keep_negative: bool = False,
        rows: int = ROWS,
    ) -> ExportResult:
        """Write the model for a search engine into a folder, with features, upload request, rows to check and a guide.

        Parameters
        ----------
        to : str
            The search engine, or its format: "elasticsearch-plugin", "solr" and others, see docs/deploy.md.
        missing : {"zero", "nan", "never"}
            What a feature that a document lacks means to the model: the value 0; missing, as NaN in the training
            data; or that every document has every feature.
        features : sequence of str, optional
            What the search engine calls the features, in the order of training; as the training data by default, where
            those without names are feature_1, feature_2, … by their LETOR numbers.
        name : str, optional
            What the model is called there; the folder's name by default.
        target_version : str, optional
            The search engine's version, where versions behave differently; the newest by default.
        keep_negative : bool
            Leave scores below 0 as they are. By default, where the target refuses these, a constant is added to all.
        rows : int
            How many rows with the scores that the search engine must give.

        Examples
        --------
        >>> import surefoot as sf, tempfile
        >>> data = sf.demo.letor(queries=30, documents=20, features=4, seed=1)
        >>> r = Ranker(n_estimators=5, num_leaves=4, num_threads=1).fit(data)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     exported = r.export(f"{folder}/solr", to="solr", missing="zero")
        >>> [file.name for file in exported.files]
        ['model.json', 'model.features.json', 'model.rows.json', 'model.replay.py', 'model.md']
        """
        from surefoot.export.package import export_model, read_ensemble
        from surefoot.export.settings import check_feature_names

        self._check_fitted()
        if self.init == "baseline":
            raise ArgumentError(
                "this model starts from its baseline's scores, standardised per query (init='baseline'); no search "
                "engine can compute them; train without init"
            )
        refuse_combination(self, "a search engine can run only its trees; export the model without its baseline")
        if self.query_feature_ is not None:
            raise ArgumentError(
                f"the last feature of this model is {self.query_feature_} of each query; no search engine can compute "
                "it; sweep without --selective"
            )
        engine = engine_of(self.engine_)
        names = check_feature_names(self.feature_names_in_ if features is None else features, self.n_features_in_)
        notes = [_LETOR_NOTE] if names == numbered_names(len(names)) else []
        return export_model(
            read_ensemble(self.engine_, engine.dump(self.booster_, self.best_iteration_), names),
            lambda X: engine.predict(self.booster_, X, self.best_iteration_),
            folder,
            notes=[*notes, *self._category_notes(names)],
            to=to,
            missing=missing,
            name=name,
            keep_negative=keep_negative,
            rows=rows,
            target_version=target_version,
        )

    def _category_notes(self, names: Sequence[str]) -> list[str]:
        """What number stands for each category."""
        called = dict(zip(self.feature_names_in_, names, strict=True))
        return [
            f"Feature {called[name]} is a category. The search engine must store its number: "
            + ", ".join(f"{number} for {label}" for number, label in enumerate(labels))
            + ". For any other category, leave the feature unset, and export with --missing nan."
            for name, labels in self.categories_.items()
        ]

    def explain(self, data: RankingData, query: Any, *, against: str | None = None, pairs: int = 3) -> Explanation:
        """Why a query of the data is ranked so: the `pairs` of documents whose swap cost most, and what moved them.

        The data has labels, and the baseline to compare with (`against`, the first by default). What moved a document
        is said by each feature's contribution to its score: SHAP values, as the engine computes them.
        """
        from surefoot.learn.explanation import explain

        self._check_fitted()
        return explain(self, data, query, against=against, pairs=pairs)

    def card(self, data: RankingData | None = None, *, name: str = "model", dataset: str = "") -> str:
        """A model card in Hugging Face's Markdown: data, baseline, objective, who is hurt, limits.

        With labelled data that the model did not learn from, also its figures there, with intervals.
        """
        from surefoot.learn.card import model_card

        self._check_fitted()
        return model_card(self, data, name=name, dataset=dataset)
