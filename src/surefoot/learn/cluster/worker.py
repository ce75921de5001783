"""What each machine does: hold its parts, and grow batches of trees in step with the others."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.arrays import Floats
from surefoot.data.types.ranking import TieRule
from surefoot.data.types.ranking_data import RankingData
from surefoot.data.types.stacking import stack
from surefoot.errors import SurefootError
from surefoot.learn.engines.contract import engine_of
from surefoot.learn.prepared import Prepared
from surefoot.learn.ranker import Ranker
from surefoot.learn.training import SAMPLED, Training

TOPIC = "surefoot-training"  # under which progress is told
_SILENCE = 0.2  # seconds between two messages of progress
_APART = re.compile(r"collective|allreduce|allgather|tracker|socket|Encountered EOF|Connection", re.IGNORECASE)


@dataclass(frozen=True)
class Batch:
    """What is asked of every machine alike: to go on from `start`, which has `grown` trees, to as many as `wanted`."""

    fit: str  # which training
    placement: int  # how often its parts were handed out
    parameters: dict[str, Any]  # of the Ranker
    start: str | None
    state: dict[str, Any] | None
    grown: int
    wanted: int
    communicator: dict[str, Any]
    told: bool  # whether somebody wants to know of every tree


@dataclass(frozen=True)
class Grown:
    """What a machine says of its batch; the first one says all of it, since all have the same."""

    error: Exception | None = None
    apart: bool = False  # whether the error is that machines lost each other
    model: str | None = None
    state: dict[str, Any] | None = None
    trees: int = 0
    stopped: bool = False
    sample: Floats | None = None  # of this machine's scores, once there are no more trees
    tie_rule: TieRule | None = None
    queries: str = ""  # what this machine's are recognised by, once there are no more trees


_trainings: dict[tuple[str, int], Training] = {}  # the last one alone: bins are made once for all of its batches


def add_up(sums: Floats) -> Floats:
    """Sums over all machines that are in the same communicator."""
    from xgboost import collective

    return np.asarray(collective.allreduce(np.ascontiguousarray(sums, dtype=np.float64), collective.Op.SUM))


@contextmanager
def joined(communicator: dict[str, Any], name: str) -> Iterator[None]:
    """In step with the other machines; the name decides the rank, and so the order of sums: the same every time."""
    from xgboost import collective

    with ExitStack() as stack:
        with _quiet():
            stack.enter_context(collective.CommunicatorContext(**communicator, dmlc_task_id=name))
        yield


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the error stream: XGBoost prints each machine's rank there, whatever its verbosity."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def versions() -> dict[str, str]:
    """What every machine must have in the same version."""
    import numba
    import xgboost

    from surefoot import __version__

    return {"surefoot": __version__, "xgboost": xgboost.__version__, "numba": numba.__version__}


def grow(batch: Batch, name: str, train: Sequence[RankingData], valid: Sequence[RankingData]) -> Grown:
    """A batch of trees; errors are part of the answer, so that those of one machine can be told from the others'."""
    import xgboost
    from xgboost import collective

    try:
        with joined(batch.communicator, name):
            return _grow(batch, train, valid, first=collective.get_rank() == 0)
    except SurefootError as error:
        lost = isinstance(error.__cause__, xgboost.core.XGBoostError) and _APART.search(str(error.__cause__))
        return Grown(error=error, apart=bool(lost))
    except xgboost.core.XGBoostError as error:
        return Grown(error=error, apart=True)


def _grow(batch: Batch, train: Sequence[RankingData], valid: Sequence[RankingData], first: bool) -> Grown:
    training = _training(batch, train, valid)
    training.progress = _tell(batch.fit) if first and batch.told else None
    if batch.state is not None:
        training.restore(batch.state)
    engine, trees = training.engine, training.settings.trees
    booster = None if batch.start is None else engine.load(batch.start)
    grown = batch.grown
    if grown < batch.wanted:
        booster, grown = training.grow(booster, grown, batch.wanted)
    ended = training.stopped or grown < batch.wanted or grown == trees
    sample, queries = None, ""
    if ended:
        training.finish(booster, grown)
        mine = sum(map(len, train))
        share = mine / float(add_up(np.array([mine]))[0])
        sample = training.sample(booster, max(1, round(SAMPLED * share)))
        queries = training.fingerprints
        _trainings.clear()
    if not first:
        return Grown(sample=sample, queries=queries)
    return Grown(
        model=engine.dump(booster),
        state=training.state(),
        trees=grown,
        stopped=ended,
        sample=sample,
        tie_rule=training.train.tie_rule,
        queries=queries,
    )


def _training(batch: Batch, train: Sequence[RankingData], valid: Sequence[RankingData]) -> Training:
    key = (batch.fit, batch.placement)
    if key not in _trainings:
        _trainings.clear()
        ranker = Ranker(**batch.parameters)
        engine = engine_of(ranker.engine)
        if not {"nthread", "n_jobs"} & set(ranker.engine_parameters):
            ranker.set_params(nthread=_threads())
        data = Prepared(stack(train), stack(valid) if valid else None)
        _trainings[key] = Training(ranker, engine, data, None, add_up)
    return _trainings[key]


def _threads() -> int:
    from distributed import get_worker

    return int(get_worker().state.nthreads)


def _tell(fit: str) -> Any:
    """A progress that tells whoever listens to the topic, not too often."""
    from distributed import get_worker

    last = 0.0

    def progress(trees: int, history: Any) -> None:
        nonlocal last
        if time.monotonic() - last < _SILENCE:
            return
        last = time.monotonic()
        latest = {which: {name: values[-1:] for name, values in kept.items()} for which, kept in history.items()}
        get_worker().log_event(TOPIC, {"fit": fit, "trees": trees, "history": latest})

    return progress
