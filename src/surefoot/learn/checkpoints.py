"""Where a training goes on from: its own state, in one file, after a kill; or a model's trees, on other data."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

from surefoot.data.hashes import text_hash
from surefoot.data.reading.files import read_json, reason
from surefoot.data.writing.all_or_nothing import destination, write_text
from surefoot.errors import ArgumentError, DataError, name_list, shortened
from surefoot.learn.combination import refuse_combination
from surefoot.learn.criteria import check_history, is_number
from surefoot.learn.engines.contract import Booster, Engine
from surefoot.learn.settings import SEED_COUNT

if TYPE_CHECKING:
    from surefoot.learn.prepared_data import PreparedData
    from surefoot.learn.ranker import Ranker

TrainingOrigin: TypeAlias = dict[str, str]

# What may differ, beside the engine's parameters without effect, between the training that was killed and the one
# that resumes.
_MAY_DIFFER = {"checkpoint", "importance_type", "n_models", "score_on"}
# What the trees so far were grown for: trees for another goal after them would be a model for neither.
_SAME_PARAMETERS = ("objective", "alpha", "measure", "rule", "estimate", "delta_cutoff", "sigma", "init")


def training_origin(
    engine: Engine,
    parameters: dict[str, Any],
    training_hash: str,
    validation_hash: str | None,
    init_model_hash: str | None = None,
) -> TrainingOrigin:
    """Everything that decides the trees: each parameter, the engine's version, and hashes of all of the data."""
    origin = {
        name: repr(value) for name, value in parameters.items() if name not in _MAY_DIFFER | engine.without_effect
    }
    origin[f"{engine.title}'s version"] = engine.version
    origin["the training data"] = training_hash
    origin["the validation data"] = "none" if validation_hash is None else validation_hash
    return origin if init_model_hash is None else origin | {"init_model": init_model_hash}


@dataclass(frozen=True)
class CheckpointFile:
    """A file for the state of one training, told from others' by its origin: all that decides what is learned."""

    path: Path
    origin: TrainingOrigin
    schema: ClassVar[str]
    keys: ClassVar[dict[str, type]] = {}  # of its state

    @classmethod
    def at(cls, path: str | os.PathLike[str], origin: TrainingOrigin, *others: Any) -> Self:
        """A checkpoint in a file that can be written: where it cannot, the error comes before anything is learned."""
        file = destination(path)
        try:
            if file.exists() and not file.is_file():
                raise OSError("it is not a file; name another file")
            with tempfile.TemporaryFile(dir=file.parent):
                pass
        except OSError as error:
            raise DataError.at(path, None, f"cannot be used for a checkpoint ({reason(error)})") from error
        return cls(file, origin, *others)

    def store(self, **state: Any) -> None:
        """Replace what is stored, in one step."""
        write_text(self.path, json.dumps({"schema": self.schema, "origin": self.origin} | state), durable=True)

    def stored(self) -> dict[str, Any] | None:
        """What is stored by this training; None where nothing is."""
        if not self.path.exists():
            return None
        try:
            content = read_json(self.path)
        except DataError as error:
            raise self.unreadable("it is not JSON") from error
        keys = {"schema": str, "origin": dict} | self.keys
        if not isinstance(content, dict) or any(not isinstance(content.get(key), kind) for key, kind in keys.items()):
            raise DataError.at(self.path, None, "is not a checkpoint of surefoot; name another file")
        if content["schema"] != self.schema:
            raise self.unreadable(f"its schema is {shortened(content['schema'])}")
        other = content["origin"]
        if other != self.origin:
            names = {*self.origin, *other}
            different = sorted(name for name in names if self.origin.get(name) != other.get(name))
            raise DataError.at(
                self.path,
                None,
                f"is the checkpoint of another training (different: {', '.join(different)[:200]}); "
                "delete it, or name another file",
            )
        return content

    def remove(self) -> None:
        """Remove the checkpoint of a training whose model is safe elsewhere, and no other file."""
        if self.path.is_file():
            with suppress(DataError, OSError):
                content = read_json(self.path)
                if isinstance(content, dict) and content.get("origin") == self.origin:
                    self.path.unlink()

    def unreadable(self, why: str) -> DataError:
        """The error where what is stored is no state."""
        return DataError.at(
            self.path, None, f"is not a checkpoint that can be read ({why[:300]}); delete it to start again"
        )


@dataclass(frozen=True)
class Checkpoint(CheckpointFile):
    """A file for the trees of one training, and its state beside them."""

    engine: Engine
    schema = "surefoot/checkpoint/1"
    keys: ClassVar[dict[str, type]] = {"state": dict, "model": str}

    def write(self, booster: Booster, state: dict[str, Any]) -> None:
        """Store a booster and the state of its training."""
        self.store(state=state, model=self.engine.dump(booster))

    def read(self, trees: int, before: int = 0) -> tuple[Booster, dict[str, Any]] | None:
        """The booster and the state stored there, which has fewer than `trees` trees; None where nothing is.

        `before` trees are of an earlier training and have no history.
        """
        content = self.stored()
        if content is None:
            return None
        try:
            booster = self.engine.load(content["model"])
            _check_state(content["state"], self.engine.count_trees(booster), trees, before)
        except ValueError as error:
            raise self.unreadable(str(error)) from error
        return booster, content["state"]


def _check_state(state: dict[str, Any], trees: int, requested: int, before: int) -> None:
    finished = state.get("finished") is True
    if not before < trees < requested + finished:
        raise ValueError(f"it has {trees} trees, but {requested} are requested")
    new = trees - before
    check_history(state.get("history"), {"train": new if finished else new - 1, "valid": new})
    for key in ("best_score", "last_score", "s_x"):
        if key not in state or not (state[key] is None or is_number(state[key])):
            raise ValueError(f"{key} is {shortened(state.get(key))}")
    for key, least, most in (
        ("best_iteration", 0, trees),
        ("iteration", new, new + finished),
        ("seed", 0, SEED_COUNT - 1),
    ):
        if type(state.get(key)) is not int or not least <= state[key] <= most:
            raise ValueError(f"{key} is {shortened(state.get(key))}")


@dataclass(frozen=True)
class InitModel:
    """The trees that a training starts with, how many they are, and what tells them and their data from others."""

    booster: Booster
    trees: int
    sha256: str
    training_fingerprints: str | None  # hashes of the queries that they were grown on, where these are known


def read_init_model(given: Any, ranker: Ranker, engine: Engine, data: PreparedData) -> InitModel | None:
    """The trees of a ranker, or of the folder that it was saved to, for `ranker` to go on from; None for None."""
    if given is None:
        return None
    model = type(ranker).load(given) if isinstance(given, str | os.PathLike) else given
    if not isinstance(model, type(ranker)):
        raise ArgumentError(
            f"init_model is {shortened(given)}; it must be a Ranker, or the folder that one was saved to"
        )
    model._check_fitted()
    refuse_combination(model, "training can continue only from trees")
    if model.engine_ != engine.name:
        raise ArgumentError(f"init_model has trees of {model.engine_}; set engine={model.engine_!r}")
    for what, old, new in (
        *((name, _plain(getattr(model, name)), _plain(getattr(ranker, name))) for name in _SAME_PARAMETERS),
        ("features", list(model.feature_names_in_), list(data.names)),
        ("categories", *(sorted(map(str, each.items())) for each in (model.categories_, data.train.categories))),
        ("baselines", sorted(model.baselines_), sorted(data.train.baselines)),
    ):
        if old != new:
            raise ArgumentError(
                f"init_model was trained with other {what}: {shown(old)}, but here it is {shown(new)}; both need the "
                "same"
            )
    text = engine.dump(model.booster_, model.best_iteration_)
    return InitModel(engine.load(text), model.best_iteration_, text_hash(text), model.training_queries_)


def _plain(value: Any) -> Any:
    """Parameters that mean the same are equal: 5 and 5.0, a measure and its name."""
    return value if value is None else float(value) if isinstance(value, int | float) else str(value)


def shown(value: Any) -> str:
    """A fact of a model, as messages write it."""
    return (name_list(value, 5, shortened) or "none") if isinstance(value, list) else shortened(value)
