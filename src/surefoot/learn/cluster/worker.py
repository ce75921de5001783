"""The work of each machine: hold its parts, and grow batches of trees in step with the others."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from surefoot.arrays import Floats
from surefoot.data.types.data_parts import stack
from surefoot.data.types.ranking import TieRule
from surefoot.data.types.ranking_data import RankingData
from surefoot.errors import SurefootError
from surefoot.learn.engines.contract import engine_of
from surefoot.learn.estimator import SAMPLE_DOCUMENTS
from surefoot.learn.prepared_data import PreparedData
from surefoot.learn.ranker import Ranker
from surefoot.learn.training import Training

TOPIC = "surefoot-training"  # under which progress is reported
_MESSAGE_INTERVAL = 0.2  # seconds between two messages of progress
_LOST_CONTACT = re.compile(r"collective|allreduce|allgather|tracker|socket|Encountered EOF|Connection", re.IGNORECASE)


@dataclass(frozen=True)
class TreeBatch:
    """The same request to every machine: to go on from `model`, which has `grown` trees, until there are `until`."""

    training_id: str  # which training
    parameters: dict[str, Any]  # of the Ranker
    report_progress: bool  # whether to report every tree
    model: str | None = None
    state: dict[str, Any] | None = None
    grown: int = 0
    until: int = 0
    placement: int = 0  # how often its parts were handed out
    communicator: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class BatchResult:
    """A machine's result of its batch; the first one gives all of it, since all machines have the same model."""

    error: Exception | None = None
    lost_contact: bool = False  # whether the error is that machines lost each other
    model: str | None = None
    state: dict[str, Any] | None = None
    trees: int = 0
    sample: Floats | None = None  # of this machine's scores, once there are no more trees
    tie_rule: TieRule | None = None
    training_fingerprints: str = ""  # hashes of this machine's queries, once there are no more trees
    weights: dict[str, Any] | None = None  # how the queries of all machines count, where they have weights


_trainings: dict[tuple[str, int], Training] = {}  # the last one alone: bins are made once for all of its batches


def sum_over_machines(sums: Floats) -> Floats:
    """Sums over all machines that are in the same communicator."""
    from xgboost import collective

    return np.asarray(collective.allreduce(np.ascontiguousarray(sums, dtype=np.float64), collective.Op.SUM))


@contextmanager
def in_communicator(communicator: dict[str, Any], name: str) -> Iterator[None]:
    """In step with the other machines; the name decides the rank, and so the order of sums: the same every time."""
    from xgboost import collective

    with ExitStack() as stack:
        with _without_stderr():
            stack.enter_context(collective.CommunicatorContext(**communicator, dmlc_task_id=name))
        yield


@contextmanager
def _without_stderr() -> Iterator[None]:
    """Without the error stream: XGBoost prints each machine's rank there, whatever its verbosity."""
    stderr, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        os.close(nowhere)


def versions() -> dict[str, str]:
    """What every machine must have in the same version."""
    import numba
    import xgboost

    from surefoot import __version__

    return {"surefoot": __version__, "xgboost": xgboost.__version__, "numba": numba.__version__}


def grow(batch: TreeBatch, name: str, train: Sequence[RankingData], valid: Sequence[RankingData]) -> BatchResult:
    """A batch of trees; errors are part of the result, so that those of one machine can be told from the others'."""
    import xgboost
    from xgboost import collective

    try:
        with in_communicator(batch.communicator, name):
            return _grow(batch, train, valid, first=collective.get_rank() == 0)
    except SurefootError as error:
        lost = isinstance(error.__cause__, xgboost.core.XGBoostError) and _LOST_CONTACT.search(str(error.__cause__))
        return BatchResult(error=error, lost_contact=bool(lost))
    except xgboost.core.XGBoostError as error:
        return BatchResult(error=error, lost_contact=True)


def _grow(batch: TreeBatch, train: Sequence[RankingData], valid: Sequence[RankingData], first: bool) -> BatchResult:
    training = _training(batch, train, valid)
    training.progress = _progress_reporter(batch.training_id) if first and batch.report_progress else None
    if batch.state is not None:
        training.restore(batch.state)
    engine, trees = training.engine, training.settings.trees
    booster = None if batch.model is None else engine.load(batch.model)
    grown = batch.grown
    if grown < batch.until:
        booster, grown = training.grow(booster, grown, batch.until)
    ended = training.stopped or grown < batch.until or grown == trees
    sample, fingerprints = None, ""
    if ended:
        training.finish(booster, grown)
        documents = sum(map(len, train))
        share = documents / float(sum_over_machines(np.array([documents]))[0])
        sample = training.sample_scores(booster, max(1, round(SAMPLE_DOCUMENTS * share)))
        fingerprints = training.data.fingerprints
        _trainings.clear()
    if not first:
        return BatchResult(sample=sample, training_fingerprints=fingerprints)
    return BatchResult(
        model=engine.dump(booster),
        state=training.state_dict(),
        trees=grown,
        sample=sample,
        tie_rule=training.train.tie_rule,
        training_fingerprints=fingerprints,
        weights=training.weights.summary(),
    )


def _training(batch: TreeBatch, train: Sequence[RankingData], valid: Sequence[RankingData]) -> Training:
    key = (batch.training_id, batch.placement)
    if key not in _trainings:
        _trainings.clear()
        ranker = Ranker(**batch.parameters)
        engine = engine_of(ranker.engine)
        if not {"nthread", "n_jobs"} & set(ranker.engine_parameters):
            ranker.set_params(nthread=_threads())
        data = PreparedData(stack(train), stack(valid) if valid else None)
        _trainings[key] = Training(ranker, engine, data, None, sum_over_machines)
    return _trainings[key]


def _threads() -> int:
    from distributed import get_worker

    return int(get_worker().state.nthreads)


def _progress_reporter(training_id: str) -> Any:
    """A progress function that reports to the listeners of the topic, not too often."""
    from distributed import get_worker

    last = 0.0

    def progress(trees: int, history: Any) -> None:
        nonlocal last
        if time.monotonic() - last < _MESSAGE_INTERVAL:
            return
        last = time.monotonic()
        latest = {which: {name: values[-1:] for name, values in figures.items()} for which, figures in history.items()}
        get_worker().log_event(TOPIC, {"fit": training_id, "trees": trees, "history": latest})

    return progress
