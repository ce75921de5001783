"""`Ranker`: LambdaMART that trades gain against risk, with scikit-learn's manners."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from surefoot.arrays import Floats
from surefoot.data.reading.matrix import Categories, without_queries
from surefoot.data.types.ranking_data import RankingData
from surefoot.data.types.runs import Run
from surefoot.errors import ArgumentError
from surefoot.export.settings import ROWS
from surefoot.learn import saved_ranker
from surefoot.learn.checkpoints import read_init_model
from surefoot.learn.cluster import is_dask
from surefoot.learn.combination import Combination, with_aggregate
from surefoot.learn.criteria import Criterion
from surefoot.learn.engines.contract import engine_of
from surefoot.learn.estimator import Estimator
from surefoot.learn.inputs import (
    as_data,
    matched_baselines,
    matched_features,
    standardised_baseline,
    weighted_data,
)
from surefoot.learn.options import CHECKPOINT_EVERY, ENGINE, ESTIMATE, MEASURE, OBJECTIVE, RULE, SCORE_ON, STOP_ON
from surefoot.learn.prepared_data import MonitoredSet, PreparedData
from surefoot.learn.settings import TrainingSettings, check_importance
from surefoot.learn.training import Progress, Training, TrainingResult, train
from surefoot.learn.training_weights import relative_or_none
from surefoot.measures.notation import Measure
from surefoot.measures.scoring import score as effectiveness

if TYPE_CHECKING:
    from surefoot.export.package import ExportResult
    from surefoot.learn.checkpoints import Checkpoint
    from surefoot.learn.explanation import Explanation

_NO_QUERIES = (
    "score needs the queries: give qid or group, or a table X with a column 'qid'. With GridSearchCV, first call "
    "sklearn.set_config(enable_metadata_routing=True); then call grid.fit(X, y, qid=…, baseline=…, groups=…)"
)
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

    checkpoints_: tuple[Checkpoint, ...] = ()
    models_: list[dict[str, Any]] = []  # noqa: RUF012, what a mean is the mean of
    categories_: Categories = {}  # noqa: RUF012, what the codes of features mean that are categories
    combination_: dict[str, Any] | None = None  # how scores and a baseline's become one ranking, where they do
    query_feature_: str | None = None  # the aggregate of a query that is the last feature, where one is
    trees_before_ = 0  # of init_model, whose history is not in history_
    training_queries_: str | None = None  # by what the queries of the data are recognised, where it is known
    traffic_: dict[str, Any] | None = None  # how queries counted, where they did not count the same

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
            run = data.to_run(self.predict(data), "model")
            return float(effectiveness(data.qrels(), [run], self.measure).mean()[0])
        queries = MonitoredSet(data, Measure.parse(self.measure), None, None)
        return criterion(queries.values(self.predict(data)), queries.baselines, weights=weights)

    @property
    def feature_importances_(self) -> npt.NDArray[np.generic]:
        """What each feature contributes to the trees up to the best, by `importance_type`."""
        self._check_fitted()
        kind = check_importance(self.importance_type)
        return engine_of(self.engine_).importances(self.booster_, kind, self.best_iteration_)

    def to_run(self, data: RankingData, name: str = "model") -> Run:
        """A run of the data's documents, with the sample in which rNDCG and SoftNDCG find percentiles of its scores."""
        return data.to_run(self.predict(data), name).with_score_sample(self.score_sample_)

    def _check_fitted(self) -> None:
        if not hasattr(self, "booster_"):
            raise ArgumentError("this Ranker has not learned anything yet; call fit first")

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the engine's own text file, which the engine loads and scores with alike, and a JSON beside it.

        A ranker that was saved there before is replaced in one step; other files stay.
        """
        self._check_fitted()
        saved_ranker.save(self, folder)

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
        from surefoot.learn.exporting import export_ranker

        self._check_fitted()
        return export_ranker(
            self, folder, features, to=to, missing=missing, name=name, keep_negative=keep_negative, rows=rows,
            target_version=target_version,
        )  # fmt: skip

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

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Ranker:
        """A ranker that was saved."""
        return saved_ranker.load(cls, folder)
