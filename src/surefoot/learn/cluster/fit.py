"""`Ranker.fit` on a Dask cluster: the same objectives, criteria and history, from sums over all machines."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot.data.hashes import json_hash
from surefoot.errors import ArgumentError
from surefoot.learn.checkpoints import Checkpoint, origin
from surefoot.learn.cluster.libraries import dask_library, is_dask
from surefoot.learn.cluster.parts import About, Delayed, about, mended, of_collections, of_data, of_files
from surefoot.learn.cluster.rounds import Client, Machines, gathered, grown, listening
from surefoot.learn.cluster.worker import Batch, Grown
from surefoot.learn.engines.contract import engine_of
from surefoot.learn.inputs import as_valid, numbered
from surefoot.learn.settings import Settings
from surefoot.learn.training import Progress, next_batch, score_sample

if TYPE_CHECKING:
    from surefoot.learn.ranker import Ranker

_TRAINING, _VALIDATION = "the training data", "the validation data"


def fit_collections(
    ranker: Ranker, X: Any, y: Any, qid: Any, baseline: Any, valid: Any, progress: Progress | None
) -> None:
    """Learn from Dask arrays or frames, on the cluster of the client that is there."""
    client = _client()
    train = of_collections(X, y, qid, baseline, _TRAINING)
    held: list[Delayed] = []
    if isinstance(valid, tuple | list) and valid and is_dask(valid[0]):
        labels, queries, scores = [*valid[1:], None, None, None][:3]
        held = of_collections(valid[0], labels, queries, scores, _VALIDATION)
    elif valid is not None:
        names = list(baseline) if isinstance(baseline, dict) else []
        held = of_data(as_valid(valid, names), len(train))
    _fit(ranker, client, train, held, progress)


def fit_files(
    ranker: Ranker,
    client: Client,
    train: Path,
    valid: Path | None,
    baselines: Sequence[str],
    progress: Progress | None = None,
) -> None:
    """Learn from folders of Parquet parts, which every machine can read under the same path."""
    held = [] if valid is None else of_files(valid, baselines, _VALIDATION)
    _fit(ranker, client, of_files(train, baselines, _TRAINING), held, progress)


def _fit(ranker: Ranker, client: Client, train: list[Delayed], valid: list[Delayed], progress: Progress | None) -> None:
    engine = engine_of(ranker.engine)
    if engine.name != "xgboost":
        raise ArgumentError(
            f"engine {engine.name!r} learns on one machine; on a Dask cluster give engine='xgboost', whose collective "
            "adds up over machines"
        )
    settings = Settings.of(ranker)
    hashed = settings.checkpoint is not None
    known = [_known(client, parts, hashed) for parts in (train, valid)]
    train = mended(train, known[0], _TRAINING)
    valid = mended(valid, known[1], _VALIDATION) if valid else []
    first = next(one for one in known[0] if one is not None)
    _check(first, known[1])
    engine.check(ranker.engine_parameters, first.features[0])
    checkpoint = None
    if settings.checkpoint is not None:
        digests = [_digest(each) for each in known]
        checkpoint = Checkpoint.at(
            settings.checkpoint, origin(engine, ranker.get_params(), digests[0], digests[1] if valid else None), engine
        )
    batch = _start(ranker, settings, checkpoint, told=progress is not None)

    def keep(found: Grown) -> None:
        if checkpoint is not None and found.state is not None and found.model is not None:
            checkpoint.write(engine.load(found.model), found.state)

    machines = Machines(client, train, valid)
    stop = listening(client, batch.fit, progress) if progress else lambda: None
    try:
        found, sample = grown(
            machines, batch, lambda trees: next_batch(trees, settings.checkpoint_every, settings.trees), keep
        )
    finally:
        stop()
    assert found.model is not None  # the first machine says all three
    assert found.state is not None
    assert found.tie_rule is not None
    ranker.keep(
        engine.name, engine.load(found.model), list(first.features[1] or numbered(first.features[0])),
        list(first.baselines), found.state, found.tie_rule, score_sample(sample), found.queries, checkpoint,
    )  # fmt: skip
    if progress:
        progress(found.trees, ranker.history_)


def _start(ranker: Ranker, settings: Settings, checkpoint: Checkpoint | None, told: bool) -> Batch:
    """The first batch, from a checkpoint where there is one."""
    parameters = ranker.get_params() | {"checkpoint": None, "random_state": settings.seed}
    start, state, trees = None, None, 0
    kept = None if checkpoint is None else checkpoint.read(settings.trees)
    if kept is not None:
        engine = engine_of(ranker.engine)
        start, state, trees = engine.dump(kept[0]), kept[1], engine.count_trees(kept[0])
    return Batch(uuid.uuid4().hex, 0, parameters, start, state, trees, trees, {}, told)


def _known(client: Client, parts: Sequence[Delayed], hashed: bool) -> list[About | None]:
    look = dask_library("dask").delayed(about, pure=False)
    return gathered(client, [look(part, hashed) for part in parts])


def _check(first: About, valid: Sequence[About | None]) -> None:
    for one in valid:
        if one is not None and (one.features[0] != first.features[0] or set(one.baselines) != set(first.baselines)):
            raise ArgumentError(
                f"the validation data has {one.features[0]:,} features and the baselines {list(one.baselines)}, the "
                f"training data {first.features[0]:,} and {list(first.baselines)}; both need the same"
            )


def _digest(known: Sequence[About | None]) -> str:
    """A hash of all parts, in their order."""
    return json_hash([one.digest for one in known if one is not None])


def _client() -> Client:
    distributed = dask_library("distributed")
    try:
        return distributed.default_client()
    except ValueError as error:
        raise ArgumentError(
            "the data is Dask's, and no cluster is there to learn on; start one, such as with "
            "`client = dask.distributed.Client()`"
        ) from error
