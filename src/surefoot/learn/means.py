"""Means of models: one booster of all their trees, which is saved, ranks and is exported as any other.

The mean of several models that differ in their seeds alone has less risk, and no less effectiveness, than each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.arguments import finite_number
from surefoot.data.hashes import joined_fingerprints
from surefoot.errors import ArgumentError, shortened
from surefoot.learn.checkpoints import read_init_model, shown
from surefoot.learn.combination import refuse_combination
from surefoot.learn.engines.contract import engine_of
from surefoot.learn.estimator import score_sample
from surefoot.learn.model_files import checkpoint_paths
from surefoot.learn.prepared_data import PreparedData, checked_parameters
from surefoot.learn.ranker import Ranker
from surefoot.learn.settings import SEED_COUNT, TrainingSettings
from surefoot.learn.training import Progress, Training, TrainingResult, train

if TYPE_CHECKING:
    from surefoot.learn.training import History

_QUANTILES = np.linspace(0, 1, 2001)


def average(rankers: Sequence[Ranker], weights: Sequence[float] | None = None) -> Ranker:
    """One Ranker whose scores are the mean of the rankers' scores, or their mean weighted by `weights`.

    Its booster has all their trees, of each those up to its best iteration, with leaves divided by the number of
    rankers. All need the same engine, features, `init` and baselines. Its parameters are the first ranker's; `models_`
    says what each one was. `score_sample_` is the mean of the rankers' quantiles.

    >>> import surefoot as sf
    >>> data = sf.demo.letor(queries=30, documents=20, seed=1)
    >>> small = dict(n_estimators=5, num_leaves=4, feature_fraction=0.5, num_threads=1)
    >>> rankers = [sf.Ranker(random_state=seed, **small).fit(data) for seed in range(3)]
    >>> mean = sf.average(rankers)
    >>> scores = [ranker.predict(data) for ranker in rankers]
    >>> bool(abs(mean.predict(data) - sum(scores) / 3).max() < 1e-12), mean.best_iteration_
    (True, 15)
    """
    models = _check_rankers(rankers)
    shares = _check_weights(weights, len(models))
    first = models[0]
    mean = type(first)(**(first.get_params() | {"n_models": len(models), "checkpoint": None}))
    mean.set_result(_mean_result(models, shares))
    mean.query_feature_ = first.query_feature_
    return mean


def train_mean(
    ranker: Ranker, data: PreparedData, progress: Progress | None = None, init_model: Any = None
) -> TrainingResult:
    """Train `n_models` models on the same bins, with one seed after the other, and give their mean."""
    settings = TrainingSettings.from_ranker(ranker)
    engine = engine_of(ranker.engine)
    checked = checked_parameters(engine, ranker.engine_parameters, data)
    init_trees = read_init_model(init_model, ranker, engine, data)
    if not checked.draws_randomly:
        raise ArgumentError(
            f"n_models={settings.models} would train the same model {settings.models} times, because nothing is drawn "
            f"at random; give {engine.drawing_example}"
        )
    paths = checkpoint_paths(settings.checkpoint, settings.models)
    models: list[Ranker] = []
    for number in range(settings.models):
        seed = None if ranker.random_state is None else (settings.seed + number) % SEED_COUNT
        changes = {"n_models": 1, "random_state": seed, "checkpoint": paths[number] if paths else None}
        model = type(ranker)(**(ranker.get_params() | changes))
        report = None if progress is None else partial(_report_after, number * settings.trees, progress)
        training = Training(
            model, engine, data, report,
            bins_seed=models[0].random_state_ if models else None, keeps_finished=True, init_model=init_trees,
        )  # fmt: skip
        model.set_result(train(training))
        models.append(model)
    result = _mean_result(models, [1 / len(models)] * len(models))
    result.score_sample[:] = score_sample(training.sample_scores(result.booster, trees=result.state["best_iteration"]))
    result.state["best_score"] = training.validate(result.booster)
    return result


def _report_after(trees: int, progress: Progress, grown: int, history: History) -> None:
    """The progress of a model that is grown after others of so many trees."""
    progress(trees + grown, history)


def _mean_result(models: Sequence[Ranker], weights: Sequence[float]) -> TrainingResult:
    first = models[0]
    engine = engine_of(first.engine_)
    booster = engine.mean([(model.booster_, model.best_iteration_) for model in models], weights)
    fingerprints = [model.training_queries_ for model in models]
    known = [part for part in fingerprints if part is not None]
    return TrainingResult(
        engine=engine.name,
        booster=booster,
        feature_names=list(first.feature_names_in_),
        baselines=list(first.baselines_),
        categories=first.categories_,
        state={
            "history": {"train": {}, "valid": {}},  # a prefix of the trees is no model
            "best_iteration": engine.count_trees(booster),
            "best_score": None,
            "seed": first.random_state_,
        },
        tie_rule=first.tie_rule_,
        score_sample=_mean_sample([model.score_sample_ for model in models], weights),
        training_fingerprints=joined_fingerprints(known) if len(known) == len(fingerprints) else None,
        checkpoints=tuple(checkpoint for model in models for checkpoint in model.checkpoints_),
        weights=first.traffic_ if all(model.traffic_ == first.traffic_ for model in models) else None,
        models=[
            part | {"weight": part["weight"] * weight}
            for model, weight in zip(models, weights, strict=True)
            for part in model.models_ or [_summary(model)]
        ],
    )


def _summary(model: Ranker) -> dict[str, Any]:
    """What `models_` says of one model."""
    return {
        "objective": model.objective,
        "alpha": model.alpha,
        "measure": str(model.measure),
        "random_state": model.random_state_,
        "trees": model.best_iteration_,
        "best_score": model.best_score_,
        "weight": 1.0,
        "history": model.history_,
    }


def _mean_sample(samples: Sequence[Sequence[float]], weights: Sequence[float]) -> list[float]:
    """The weighted mean of quantiles: of scores that go together it is the quantiles of their mean."""
    columns = [np.interp(_QUANTILES, np.linspace(0, 1, len(sample)), sample) for sample in samples]
    return [float(value) for value in np.maximum.accumulate(np.average(columns, axis=0, weights=weights))]


def _check_rankers(rankers: Any) -> list[Ranker]:
    models = list(rankers) if isinstance(rankers, list | tuple) else None
    if not models or not all(isinstance(model, Ranker) for model in models):
        raise ArgumentError("average takes a list of one or more Rankers")
    for model in models:
        model._check_fitted()
        refuse_combination(model, "only its trees have a mean")
    first = models[0]
    for number, model in enumerate(models[1:], start=2):
        for what, mine, other in (
            ("engine", first.engine_, model.engine_),
            ("features", first.feature_names_in_, model.feature_names_in_),
            ("categories", _listed_categories(first), _listed_categories(model)),
            ("init", first.init, model.init),
            ("aggregates", first.query_feature_, model.query_feature_),
            ("baselines", sorted(first.baselines_), sorted(model.baselines_)),
        ):
            if mine != other:
                raise ArgumentError(
                    f"ranker {number} has other {what} than the first one: {shown(other)} instead of {shown(mine)}; "
                    "only rankers with the same engine, features (in the same order), init and baselines have a mean"
                )
    return models


def _listed_categories(model: Ranker) -> list[str]:
    return [f"{name}: {', '.join(labels)}" for name, labels in sorted(model.categories_.items())]


def _check_weights(weights: Any, count: int) -> list[float]:
    if weights is None:
        return [1 / count] * count
    numbers = [finite_number(weight) for weight in weights]
    values = [number for number in numbers if number is not None and number >= 0]
    total = sum(values)
    if len(values) != len(numbers) or len(values) != count or not total > 0:
        raise ArgumentError(
            f"weights is {shortened(weights)}; it must have a number of at least 0 for each of the {count} rankers, "
            "and at least one above 0"
        )
    return [value / total for value in values]
