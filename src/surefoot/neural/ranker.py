"""`NeuralRanker`: networks over features that trade gain against risk, with the manners of `Ranker`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Never, Self

import numpy as np
import numpy.typing as npt

from surefoot.arrays import Floats
from surefoot.data.hashes import data_hash
from surefoot.data.reading.matrix import without_queries
from surefoot.data.types.ranking_data import RankingData
from surefoot.errors import ArgumentError, shortened
from surefoot.export.settings import ROWS
from surefoot.learn.criteria import history_figures
from surefoot.learn.estimator import Estimator, sampled_rows, score_sample
from surefoot.learn.inputs import (
    VALIDATION,
    as_data,
    match_training_data,
    matched_features,
    numbered_names,
    training_data,
    training_fingerprints,
)
from surefoot.learn.model_files import NETWORK_SCHEMA
from surefoot.learn.options import MEASURE, NETWORK_ENGINE, OBJECTIVE, RULE, STOP_ON
from surefoot.learn.training_weights import refuse_weights

if TYPE_CHECKING:
    from surefoot.export.package import ExportResult
    from surefoot.neural.network import Network, QueryLists
    from surefoot.neural.training import NetworkSettings

_WITHOUT_EFFECT = ("checkpoint", "checkpoint_every", "history")  # what decides no parameter of the network


class NeuralRanker(Estimator):
    """A network that scores documents by their features, trained by `RiskLoss` against one or several baselines.

    Features are transformed, sign(x)·ln(1 + 10|x|), and standardised inside the model; a missing one, NaN, counts as
    the training data's mean.

    Parameters
    ----------
    objective, alpha, measure, rule, sigma
        As `Ranker` has them; every objective with pairs.
    hidden : tuple of int
        Units of the hidden layers.
    dropout : float
        The share of units that are dropped in training.
    attention : int
        Layers of self-attention over the documents of a list, before the hidden layers. Then a document's score
        depends on the others in its list, and `predict` needs the queries.
    longest : int
        With attention, the most documents that a list may have: each is compared with all others.
    n_models : int
        How many models are trained, side by side, from seeds of their own; the score is the mean of theirs.
    epochs : int
        How often the training data is gone through.
    early_stopping_rounds : int, optional
        Stop after so many epochs in which no model has a better `stop_on` on the validation data.
    stop_on : str
        "effectiveness", or "u_risk@5", "t_risk@5", "geo_risk@5", which need a baseline. With validation data, each
        model keeps its best epoch by it.
    learning_rate, weight_decay, batch_size
        Of AdamW; a batch is so many queries.
    normalize : bool
        Whether the λ of each list are normalised, see `RiskLoss`.
    sums : {"batch", "running"}
        Where saro, faro and geo_risk take their sums over all queries from.
    history : bool
        Keep effectiveness, reward, risk, wins and losses after each epoch in `history_`.
    checkpoint : path, optional
        Where to keep the state every `checkpoint_every` epochs; a fit that finds one there goes on from it.
    random_state : int or None
        Seed; on the CPU the same gives the same model. None draws one, which `random_state_` keeps.
    device : str
        "auto" is a graphics card where there is one; "cpu", "cuda", "mps".

    Examples
    --------
    >>> import surefoot as sf
    >>> data = sf.demo.letor(queries=30, documents=20, seed=1)
    >>> r = sf.NeuralRanker(objective="u_risk", alpha=5, epochs=2, hidden=(8,), device="cpu").fit(data)
    >>> r.predict(data.X).shape == (len(data),)
    True
    """

    _model, _schema, _learned = "network_", NETWORK_SCHEMA, ("best_iterations_",)
    _takes_others = False
    engine_: str | None = None  # no learner of trees; scorers of guards that need one take their own
    engine_parameters: dict[str, Any] = {}  # noqa: RUF012, there are none
    network_: Network
    best_score_: float | None

    def __init__(
        self,
        objective: str = OBJECTIVE,
        alpha: float | None = None,
        *,
        measure: str = MEASURE,
        rule: str = RULE,
        sigma: float = 1.0,
        hidden: Sequence[int] = (128, 128),
        dropout: float = 0.3,
        attention: int = 0,
        longest: int = 1000,
        n_models: int = 1,
        epochs: int = 100,
        early_stopping_rounds: int | None = None,
        stop_on: str = STOP_ON,
        learning_rate: float = 1e-3,
        weight_decay: float = 0.01,
        batch_size: int = 128,
        normalize: bool = True,
        sums: str = "batch",
        history: bool = True,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: int = 10,
        random_state: int | None = 0,
        device: str = "auto",
        **unknown: Never,
    ) -> None:
        self._refuse_unknown(unknown)
        self.objective = objective
        self.alpha = alpha
        self.measure = measure
        self.rule = rule
        self.sigma = sigma
        self.hidden = hidden
        self.dropout = dropout
        self.attention = attention
        self.longest = longest
        self.n_models = n_models
        self.epochs = epochs
        self.early_stopping_rounds = early_stopping_rounds
        self.stop_on = stop_on
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.normalize = normalize
        self.sums = sums
        self.history = history
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.random_state = random_state
        self.device = device

    def check_settings(self) -> NetworkSettings:
        """The parameters, checked."""
        from surefoot.neural.training import NetworkSettings  # PyTorch is loaded when a network is needed

        return NetworkSettings.from_ranker(self)

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
        progress: Callable[[int, dict[str, dict[str, list[float]]]], None] | None = None,
    ) -> Self:
        """Learn from `RankingData`, or from X, y and `qid` or `group`, or from a table X with a column `qid`, and y.

        `baseline` and `valid` are as `Ranker.fit` has them. `progress` is called after each epoch.
        """
        from surefoot.neural.network import Network, NetworkShape
        from surefoot.neural.saved_network import NetworkCheckpoint
        from surefoot.neural.training import NetworkTraining

        settings = self.check_settings()
        train, valid_data = training_data(X, y, qid, group, baseline, valid, sample_weight)
        valid_data = None if valid_data is None else match_training_data(valid_data, train, VALIDATION)
        refuse_weights("networks", train, valid_data)
        self._check_data(settings, train, valid_data)
        train_lists, train_baselines = self._measured(settings, train)
        valid_lists, valid_baselines = (None, None) if valid_data is None else self._measured(settings, valid_data)
        shape = NetworkShape(train.n_features, settings.hidden, settings.attention, settings.models)
        network = Network(shape, settings.dropout)
        network.set_random(settings.seed)
        network.fit_standardisation(train.X)
        criterion = settings.criterion
        training = NetworkTraining(
            network.to(settings.device), settings.loss, train_lists, train_baselines, settings.optimizer_settings,
            settings.seed, valid_lists,
            None if valid_lists is None else lambda values: criterion(values, valid_baselines),
        )  # fmt: skip
        checkpoint = None
        if settings.checkpoint is not None:
            checkpoint = NetworkCheckpoint.at(settings.checkpoint, self._origin(settings, train, valid_data))
        stored = None if checkpoint is None else checkpoint.resume(training)
        history: dict[str, dict[str, list[float]]] = {"train": {}, "valid": {}} if stored is None else stored

        def after_epoch(epoch: int, values: Floats | None) -> None:
            if self.history:
                figures = {
                    "train": history_figures(train_lists.values(network.eval(), settings.loss)[-1], train_baselines)
                }
                if values is not None:
                    figures["valid"] = history_figures(values[-1], valid_baselines)
                for which, named in figures.items():
                    for name, value in named.items():
                        history[which].setdefault(name, []).append(value)
            if checkpoint is not None and epoch % settings.checkpoint_every == 0:
                checkpoint.write(training, history)
            if progress is not None:
                progress(epoch, history)

        training.run(after_epoch)
        self.best_score_ = None
        if valid_lists is not None:
            self.best_score_ = criterion(valid_lists.values(network, settings.loss)[-1], valid_baselines)
        self.network_ = network
        self.best_iterations_ = training.best.epochs
        self.best_iteration_ = max(training.best.epochs)
        self.history_ = history
        self.checkpoints_ = () if checkpoint is None else (checkpoint,)
        self.n_features_in_ = train.n_features
        self.feature_names_in_ = list(train.feature_names or numbered_names(train.n_features))
        self.baselines_ = list(train.baselines)
        self.tie_rule_ = train.tie_rule
        self.random_state_ = settings.seed
        self.score_sample_ = score_sample(self._predict(settings, train)[sampled_rows(len(train))])
        self.training_queries_ = training_fingerprints(train, valid_data)
        return self

    def predict(self, X: Any, *, qid: Any = None, group: npt.ArrayLike | None = None) -> Floats:
        """A score for each document, the mean of the models'.

        Columns go by name where the model and X have names. With attention the queries are needed: `RankingData`,
        `qid`, `group` or a column `qid`.
        """
        self._check_fitted()
        settings = self.check_settings()
        matrix = matched_features(X, self.feature_names_in_, "X")
        if isinstance(X, RankingData):
            return self._predict(settings, X.with_features(matrix, None))
        queries = without_queries(X)[1] if qid is None and group is None else qid
        if queries is None and group is None:
            if settings.attention:
                raise ArgumentError("with attention scores depend on the other documents; give qid, or RankingData")
            if not len(matrix):
                return np.zeros(0)
            group = np.ones(len(matrix), dtype=np.int64)
        return self._predict(settings, RankingData(matrix, np.zeros(len(matrix)), qid=queries, group=group))

    def score(
        self, X: Any, y: npt.ArrayLike | None = None, *, qid: Any = None, group: npt.ArrayLike | None = None
    ) -> float:
        """The mean of `measure` over the queries of `RankingData`, or of X, y and `qid` or `group`."""
        self._check_fitted()
        return self._effectiveness(as_data(X, y, qid, group))

    def _dump_model(self) -> tuple[str, bytes]:
        from surefoot.neural.saved_network import dump

        return NETWORK_ENGINE, dump(self.network_.state_dict())

    def _read_model(self, home: Path, details: dict[str, Any]) -> None:
        from surefoot.neural.saved_network import read_network

        read_network(self, home, details)

    def export(
        self,
        folder: str | os.PathLike[str],
        *,
        to: str,
        missing: str,
        features: Sequence[str] | None = None,
        name: str | None = None,
        rows: int = ROWS,
    ) -> ExportResult:
        """Write the network as ONNX into a folder, with the features' transformation inside, rows to check and a guide.

        `to` is "onnx", or "vespa" for a rank profile beside the ONNX file. The other arguments are those of
        `Ranker.export`.
        """
        from surefoot.neural.export import export_network

        self._check_fitted()
        return export_network(self, folder, to=to, missing=missing, name=name, rows=rows, features=features)

    def _predict(self, settings: NetworkSettings, data: RankingData) -> Floats:
        from surefoot.neural.network import QueryLists

        self._check_lengths(settings, data)
        order = data.tie_order()
        scores = np.zeros(len(data))
        network = self.network_.to(settings.device).eval()
        scores[order] = QueryLists(data.X[order], np.zeros(len(data)), data.offsets, settings.device).predict(network)
        if not np.isfinite(scores).all():
            raise ArgumentError("the network gives a score that is not finite; a feature is far too large")
        return scores

    @staticmethod
    def _measured(settings: NetworkSettings, data: RankingData) -> tuple[QueryLists, Floats | None]:
        """The lists of the data, and M(q) of each of its baselines, a row each."""
        from surefoot.neural.network import QueryLists

        order = data.tie_order()
        lists = QueryLists(data.X[order], data.y[order], data.offsets, settings.device)
        if not data.baselines:
            return lists, None
        scores = np.stack([each[order] for each in data.baselines.values()])
        return lists, lists.measure_scores(scores, settings.loss)

    def _check_data(self, settings: NetworkSettings, train: RankingData, valid: RankingData | None) -> None:
        from surefoot.neural.libraries import torch

        objective = settings.loss.objective
        if objective.needs_baseline and not train.baselines:
            raise ArgumentError(f"objective {objective.name!r} compares with a baseline; give one")
        if settings.criterion.name != "effectiveness" and not train.baselines:
            raise settings.criterion.no_baseline_error()
        if settings.optimizer_settings.patience is not None and valid is None:
            raise ArgumentError("early_stopping_rounds needs validation data; give valid=")
        if train.categories:
            raise ArgumentError(
                f"the feature {shortened(next(iter(train.categories)))} is a category, and networks take numbers; make "
                "numbers of it, or train trees"
            )
        for data in (train, *(() if valid is None else (valid,))):
            settings.loss.check_labels(torch.tensor(data.y))
            self._check_lengths(settings, data)
        known = torch.ones(len(train), dtype=torch.bool)
        gains = settings.loss.measure.gains(torch.tensor(train.y), known).numpy()
        starts = train.offsets[:-1]
        if (np.maximum.reduceat(gains, starts) == np.minimum.reduceat(gains, starts)).all():
            raise ArgumentError(
                "nothing to learn: no two documents of a query have labels that the measure tells apart"
            )

    @staticmethod
    def _check_lengths(settings: NetworkSettings, data: RankingData) -> None:
        most = int(data.lengths.max())
        if settings.attention and most > settings.longest:
            raise ArgumentError(
                f"a query has {most:,} documents, and attention compares each with all others; rank at most "
                f"{settings.longest:,} for a query, or train with a greater longest"
            )

    def _origin(self, settings: NetworkSettings, train: RankingData, valid: RankingData | None) -> dict[str, str]:
        """Everything that decides the parameters, by which a checkpoint is told from others'."""
        from surefoot.neural.libraries import torch

        origin = {name: repr(value) for name, value in self.get_params().items() if name not in _WITHOUT_EFFECT}
        origin |= {"device": str(settings.device), "random_state": str(settings.seed)}
        origin["PyTorch's version"] = torch.__version__
        origin["the training data"] = data_hash(train)
        origin["the validation data"] = "none" if valid is None else data_hash(valid)
        return origin
