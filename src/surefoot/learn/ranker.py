"""`Ranker`: LambdaMART that trades gain against risk, with scikit-learn's manners."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from surefoot.arrays import Floats
from surefoot.data.reading.matrix import without_queries
from surefoot.data.types.ranking_data import RankingData
from surefoot.data.types.runs import Run
from surefoot.errors import ArgumentError
from surefoot.export.options import LETOR_NAMES, ROWS
from surefoot.learn import storage
from surefoot.learn.cluster.libraries import is_dask
from surefoot.learn.engines.contract import engine_of
from surefoot.learn.estimator import Estimator
from surefoot.learn.inputs import (
    are_numbered,
    as_data,
    as_eval_set,
    as_valid,
    matched_baselines,
    matched_features,
    numbered_names,
    standardised_baseline,
)
from surefoot.learn.options import CHECKPOINT_EVERY, ENGINE, ESTIMATE, MEASURE, OBJECTIVE, RULE, STOP_ON
from surefoot.learn.prepared_data import PreparedData
from surefoot.learn.settings import check_importance
from surefoot.learn.training import Progress, Training, TrainingResult, score_sample
from surefoot.measures.scoring import score as effectiveness

if TYPE_CHECKING:
    from surefoot.export.package import ExportResult

_LETOR_NOTE = "Features have no names in the training data: feature_25 is the one numbered 25 there, as in LETOR files."
_SAME_BASELINES = "a model that starts from a baseline needs the same one again: the data"


class Ranker(Estimator):
    """LambdaMART whose pair weights come from a risk-sensitive measure against one or several baselines.

    Or, with objective "regression", least squares on each document's share of NDCG.

    Parameters
    ----------
    objective : str
        What is optimised: "gain", "u_risk" and others, see `surefoot train --help` and docs/learn.md. Those that weigh
        risk need a baseline.
    alpha : float
        Each loss counts 1 + α times, for objectives that weigh risk; at 0 all but "geo_risk" are plain gain.
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
    **parameters
        The engine's, by its own names: LightGBM's `num_leaves`, `learning_rate`, `feature_fraction`, …, or XGBoost's
        `max_leaves`, `learning_rate`, `colsample_bytree`, …

    Examples
    --------
    >>> import surefoot as sf
    >>> data = sf.synthetic_letor(queries=30, documents=20, seed=1)
    >>> r = Ranker(objective="u_risk", alpha=5, n_estimators=5, num_leaves=4, num_threads=1).fit(data)
    >>> r.predict(data.X).shape == (len(data),)
    True
    """

    engine = ENGINE  # of rankers pickled by the first version, which know no other
    engine_ = ENGINE  # whose trees booster_ are
    training_queries_: str | None = None  # by what the queries of the data are recognised, where it is known

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
        eval_set: Any = None,
        eval_qid: Any = None,
        eval_group: Any = None,
        eval_baseline: Any = None,
        progress: Progress | None = None,
    ) -> Self:
        """Learn from `RankingData`, or from X, y and `qid` or `group`, or from a table X with a column `qid`, and y.

        `baseline` holds document scores: (n,), (n, baselines), or a dict of them by name; the data's own baselines by
        default. `valid` is RankingData, or a tuple (X, y, qid), (X, y, qid, baseline) or (RankingData, baseline). Its
        features and baselines go by name where there are names. `eval_set=[(X, y)]` with `eval_qid=[qid]` or
        `eval_group=[group]`, and `eval_baseline=[baseline]`, is LightGBM's and XGBoost's way to say the same.
        Dask arrays or frames are learned from on their cluster, with `engine="xgboost"`.
        `PreparedData`, given alone, can be learned from many times without being prepared each time. `progress` is
        called after each tree.
        """
        if eval_set is not None or eval_qid is not None or eval_group is not None or eval_baseline is not None:
            if valid is not None:
                raise ArgumentError("valid and eval_set are two names of one thing; give one of them")
            valid = as_eval_set(eval_set, eval_qid, eval_group, eval_baseline)
        if is_dask(X):
            from surefoot.learn.cluster.fit import fit_collections

            if group is not None:
                raise ArgumentError("parts of Dask data may cut a query in two; give qid, a query id for each row")
            fit_collections(self, X, y, qid=qid, baseline=baseline, valid=valid, progress=progress)
            return self
        if isinstance(X, PreparedData):
            if any(part is not None for part in (y, qid, group, baseline, valid)):
                raise ArgumentError(
                    "prepared data has its labels, queries, baselines and validation data; give it alone"
                )
            data = X
        else:
            train = as_data(X, y, qid, group, baseline)
            data = PreparedData(train, None if valid is None else as_valid(valid, list(train.baselines)))
        training = Training(self, engine_of(self.engine), data, progress)
        booster = training.run()
        result = TrainingResult(
            engine=training.engine.name,
            booster=booster,
            feature_names=data.names,
            baselines=list(data.train.baselines),
            state=training.state_dict(),
            tie_rule=training.train.tie_rule,
            score_sample=score_sample(training.sample_scores(booster)),
            training_queries=data.fingerprints,
            checkpoint=training.checkpoint,
        )
        self.set_result(result)
        return self

    def set_result(self, result: TrainingResult) -> None:
        """Become the model that a training gave, here or on other machines."""
        self.engine_ = result.engine
        self.booster_ = result.booster
        self.n_features_in_ = len(result.feature_names)
        self.feature_names_in_ = result.feature_names
        self.baselines_ = result.baselines
        self.best_iteration_ = result.state["best_iteration"]
        self.best_score_ = result.state["best_score"]
        self.history_ = result.state["history"]
        self.tie_rule_ = result.tie_rule
        self.random_state_ = result.state["seed"]
        self.score_sample_ = result.score_sample
        self.training_queries_ = result.training_queries
        self.checkpoint_ = result.checkpoint

    def predict(self, X: Any, *, qid: Any = None, group: npt.ArrayLike | None = None, baseline: Any = None) -> Floats:
        """A score for each document.

        Columns go by name where the model and X have names, by position otherwise. A model that started from its
        baselines needs them, and the queries, again.
        """
        self._check_fitted()
        matrix = matched_features(X, self.feature_names_in_, "X")
        scores = engine_of(self.engine_).predict(self.booster_, matrix, self.best_iteration_)
        if self.init != "baseline":
            return scores
        if isinstance(X, RankingData):
            data = as_data(X, None, qid, group, baseline, self.baselines_)
        else:
            queries = without_queries(X)[1] if qid is None and group is None else qid
            data = as_data(matrix, np.zeros(len(matrix)), queries, group, baseline, self.baselines_)
        return scores + standardised_baseline(matched_baselines(data, self.baselines_, _SAME_BASELINES))

    def score(
        self,
        X: Any,
        y: npt.ArrayLike | None = None,
        *,
        qid: Any = None,
        group: npt.ArrayLike | None = None,
        baseline: Any = None,
    ) -> float:
        """The mean of `measure` over the queries of `RankingData`, or of X, y and `qid` or `group`."""
        self._check_fitted()
        data = as_data(X, y, qid, group, baseline, self.baselines_)
        run = data.to_run(self.predict(data), "model")
        return float(effectiveness(data.qrels(), [run], self.measure).mean()[0])

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
        storage.save(self, folder)

    def export(
        self,
        path: str | os.PathLike[str],
        *,
        to: str,
        missing: str,
        name: str | None = None,
        target_version: str | None = None,
        positive: bool = False,
        rows: int = ROWS,
        feature_names: Sequence[str] | str | None = None,
        engine_version: str | None = None,
    ) -> ExportResult:
        """Write the model for a search engine, and beside it features, upload request, rows to replay, and a guide.

        Parameters
        ----------
        to : str
            The search engine, or its format: "elasticsearch", "solr" and others, see `surefoot export --help`.
        missing : {"zero", "nan", "never"}
            What a feature that a document lacks means to the model: the value 0; missing, as NaN in the training
            data; or that every document has every feature.
        name : str, optional
            What the model is called there; the file's name by default.
        target_version : str, optional
            The search engine's version, where versions behave differently; the newest by default. `engine_version` is
            its older name.
        positive : bool
            Add a constant that lifts the least possible score to 0.
        rows : int
            How many rows with the scores that the search engine must give.
        feature_names : sequence of str, or "letor", optional
            What the search engine calls the features, in the order of training; as the training data by default, where
            those without names are feature_1, feature_2, … by their LETOR numbers. "letor" gives a model that was
            saved by version 0.1 these names, too.

        Examples
        --------
        >>> import surefoot as sf, tempfile
        >>> data = sf.synthetic_letor(queries=30, documents=20, features=4, seed=1)
        >>> r = Ranker(n_estimators=5, num_leaves=4, num_threads=1).fit(data)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     exported = r.export(f"{folder}/model.json", to="solr", missing="zero")
        >>> [file.name for file in exported.files]
        ['model.json', 'model.features.json', 'model.rows.json', 'model.replay.py', 'model.md']
        """
        from surefoot.export.names import check_feature_names
        from surefoot.export.package import export_model, read_ensemble

        self._check_fitted()
        if engine_version is not None:
            if target_version is not None:
                raise ArgumentError("target_version and engine_version are two names of one thing; give target_version")
            target_version = engine_version
        if self.init == "baseline":
            raise ArgumentError(
                "this model starts from its baseline's scores, standardised per query (init='baseline'), which no "
                "search engine computes; train without init"
            )
        engine = engine_of(self.engine_)
        text = engine.dump(self.booster_, self.best_iteration_)
        if feature_names == LETOR_NAMES:
            if not are_numbered(self.feature_names_in_):
                raise ArgumentError("this model's features have names of their own; leave the LETOR numbers out")
            feature_names = numbered_names(self.n_features_in_)
        names = check_feature_names(
            self.feature_names_in_ if feature_names is None else feature_names, self.n_features_in_
        )
        ensemble = read_ensemble(self.engine_, text, names)
        return export_model(
            ensemble, lambda X: engine.predict(self.booster_, X, self.best_iteration_), path, to=to, missing=missing,
            name=name, target_version=target_version, positive=positive, rows=rows,
            notes=[_LETOR_NOTE] if names == numbered_names(len(names)) else [],
        )  # fmt: skip

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Ranker:
        """A ranker that was saved."""
        return storage.load(cls, folder)
