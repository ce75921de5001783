"""`Ranker.fit` on a Dask cluster: the same objectives, criteria and history, from sums over all machines."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot.data.hashes import json_hash
from surefoot.data.reading.traffic import Traffic, is_traffic
from surefoot.errors import ArgumentError
from surefoot.learn.checkpoints import Checkpoint, training_origin
from surefoot.learn.cluster import dask_library, is_dask
from surefoot.learn.cluster.clusters import Client
from surefoot.learn.cluster.parts import (
    Delayed,
    PartSummary,
    parts_from_collections,
    parts_from_data,
    parts_from_files,
    summarize_part,
    with_complete_queries,
)
from surefoot.learn.cluster.rounds import Machines, gather_parts, grow_in_rounds, subscribe_progress
from surefoot.learn.cluster.worker import BatchResult, TreeBatch
from surefoot.learn.engines.contract import engine_of
from surefoot.learn.estimator import score_sample
from surefoot.learn.inputs import VALIDATION, as_valid, numbered_names, weighted_data
from surefoot.learn.prepared_data import by_position
from surefoot.learn.settings import TrainingSettings
from surefoot.learn.training import Progress, TrainingResult, next_batch_end
from surefoot.learn.training_weights import weights_that_count

if TYPE_CHECKING:
    from surefoot.learn.ranker import Ranker

_TRAINING = "the training data"


def fit_collections(
    ranker: Ranker, X: Any, y: Any, qid: Any, baseline: Any, valid: Any, sample_weight: Any, progress: Progress | None
) -> None:
    """Learn from Dask arrays or frames, on the cluster of the client that is there."""
    client = _client()
    train = parts_from_collections(X, y, qid, baseline, _TRAINING, sample_weight)
    traffic = sample_weight if is_traffic(sample_weight) else None
    valid_parts: list[Delayed] = []
    if isinstance(valid, tuple | list) and valid and is_dask(valid[0]):
        labels, queries, scores = [*valid[1:], None, None, None][:3]
        valid_parts = parts_from_collections(valid[0], labels, queries, scores, VALIDATION, traffic)
    elif valid is not None:
        names = list(baseline) if isinstance(baseline, dict) else []
        checked = as_valid(valid, names)
        checked = checked if checked._weighting is not None else weighted_data(checked, traffic, VALIDATION)
        valid_parts = parts_from_data(checked, len(train))
    _fit(ranker, client, train, valid_parts, progress)


def fit_files(
    ranker: Ranker,
    client: Client,
    train: Path,
    valid: Path | None,
    baselines: Sequence[str],
    progress: Progress | None = None,
    traffic: Traffic | None = None,
) -> None:
    """Learn from folders of Parquet parts, which every machine can read under the same path."""
    valid_parts = [] if valid is None else parts_from_files(valid, baselines, VALIDATION, traffic)
    _fit(ranker, client, parts_from_files(train, baselines, _TRAINING, traffic), valid_parts, progress)


def _fit(ranker: Ranker, client: Client, train: list[Delayed], valid: list[Delayed], progress: Progress | None) -> None:
    engine = engine_of(ranker.engine)
    if engine.name != "xgboost":
        raise ArgumentError(
            f"engine {engine.name!r} learns on one machine only; for a Dask cluster give engine='xgboost', which can "
            "add up over machines"
        )
    settings = TrainingSettings.from_ranker(ranker)
    if settings.models > 1:
        raise ArgumentError(
            "n_models works on one machine only; on a cluster, train each model with its own random_state, and give "
            "all models to surefoot.average"
        )
    hashed = settings.checkpoint is not None
    summarize = dask_library("dask").delayed(summarize_part, pure=False)
    every_part = [gather_parts(client, [summarize(part, hashed) for part in parts]) for parts in (train, valid)]
    train = with_complete_queries(train, every_part[0], _TRAINING)
    valid = with_complete_queries(valid, every_part[1], VALIDATION) if valid else []
    summaries = [[part for part in parts if part is not None and part.rows] for parts in every_part]
    first = summaries[0][0]
    _check_validation(first, summaries[1])
    names = list(first.features[1] or numbered_names(first.features[0]))
    engine.check(by_position(engine, ranker.engine_parameters, names), first.features[0])
    checkpoint = None
    if settings.checkpoint is not None:
        digests = [json_hash([part.data_digest for part in parts]) for parts in summaries]  # in their order
        checkpoint = Checkpoint.at(
            settings.checkpoint,
            training_origin(engine, ranker.get_params(), digests[0], digests[1] if valid else None),
            engine,
        )
    batch = _first_batch(ranker, settings, checkpoint, report_progress=progress is not None)

    def write_checkpoint(result: BatchResult) -> None:
        if checkpoint is not None and result.state is not None and result.model is not None:
            checkpoint.write(engine.load(result.model), result.state)

    machines = Machines(client, train, valid)
    stop = subscribe_progress(client, batch.training_id, progress) if progress else lambda: None
    try:
        last, sample = grow_in_rounds(
            machines,
            batch,
            lambda trees: next_batch_end(trees, settings.checkpoint_every, settings.trees),
            write_checkpoint,
        )
    finally:
        stop()
    assert last.model is not None  # the first machine gives all three
    assert last.state is not None
    assert last.tie_rule is not None
    result = TrainingResult(
        engine=engine.name,
        booster=engine.load(last.model),
        feature_names=names,
        baselines=list(first.baselines),
        state=last.state,
        tie_rule=last.tie_rule,
        score_sample=score_sample(sample),
        training_fingerprints=last.training_fingerprints,
        checkpoints=() if checkpoint is None else (checkpoint,),
        weights=_weights(last.weights, every_part[0]),
    )
    ranker.set_result(result)
    if progress:
        progress(last.trees, ranker.history_)


def _first_batch(
    ranker: Ranker, settings: TrainingSettings, checkpoint: Checkpoint | None, *, report_progress: bool
) -> TreeBatch:
    """The first batch, from a checkpoint where there is one."""
    parameters = ranker.get_params() | {"checkpoint": None, "random_state": settings.seed}
    batch = TreeBatch(uuid.uuid4().hex, parameters, report_progress)
    stored = None if checkpoint is None else checkpoint.read(settings.trees)
    if stored is None:
        return batch
    engine = engine_of(ranker.engine)
    trees = engine.count_trees(stored[0])
    return replace(batch, model=engine.dump(stored[0]), state=stored[1], grown=trees, until=trees)


def _weights(summary: dict[str, Any] | None, parts: Sequence[PartSummary | None]) -> dict[str, Any] | None:
    """The weights of all machines' queries; one that goes on into the next part is left out once."""
    if summary is None:
        return None
    left_out = {query for part in parts if part is not None for query in part.left_out}
    return weights_that_count(summary | {"left_out": len(left_out)})


def _check_validation(first: PartSummary, valid: Sequence[PartSummary]) -> None:
    for summary in valid:
        if summary.features[0] != first.features[0] or set(summary.baselines) != set(first.baselines):
            raise ArgumentError(
                f"the validation data has {summary.features[0]:,} features and the baselines "
                f"{list(summary.baselines)}, but the training data has {first.features[0]:,} features and "
                f"{list(first.baselines)}; "
                "both need the same"
            )


def _client() -> Client:
    distributed = dask_library("distributed")
    try:
        return distributed.default_client()
    except ValueError as error:
        raise ArgumentError(
            "the data is in Dask, but there is no cluster to learn on; start one, for example with "
            "`client = dask.distributed.Client()`"
        ) from error
