"""The state of a network's training in one file, replaced in one step, so that a killed training goes on."""

from __future__ import annotations

import base64
import json
import os
from dataclasses import dataclass
from typing import Any, Self

from surefoot.data.reading.files import read_json
from surefoot.data.writing.all_or_nothing import destination, write_text
from surefoot.errors import DataError
from surefoot.learn.checkpoints import CheckpointFile
from surefoot.learn.criteria import check_history, is_number
from surefoot.neural.network import parameter_shapes, tensor_shapes
from surefoot.neural.saved_network import check_tensors, dump, parse
from surefoot.neural.training import BestEpochs, NetworkTraining

_SCHEMA = "surefoot/checkpoint/network-1"
_MOMENTS = ("step", "exp_avg", "exp_avg_sq")  # of AdamW, for each parameter


@dataclass(frozen=True)
class NetworkCheckpoint(CheckpointFile):
    """The state of a network's training."""

    @classmethod
    def at(cls, path: str | os.PathLike[str], origin: dict[str, str]) -> Self:
        """A checkpoint in a file that can be written."""
        return cls(destination(path), origin)

    def write(self, training: NetworkTraining, history: dict[str, Any]) -> None:
        """Store where a training is."""
        names = [name for name, _ in training.network.named_parameters()]
        tensors = {f"now.{name}": each for name, each in training.network.state_dict().items()}
        tensors |= {f"best.{name}": each for name, each in training.best.parameters.items()}
        states = training.optimizer.state_dict()["state"]
        tensors |= {f"{each}.{name}": states[n][each] for n, name in enumerate(names) for each in _MOMENTS}
        tensors |= {f"sums.{name}": each for name, each in training.loss.state_dict().items()}
        content = {
            "schema": _SCHEMA, "origin": self.origin, "epoch": training.epoch, "best_epochs": training.best.epochs,
            "best_scores": training.best.scores, "history": history,
            "tensors": base64.b64encode(dump(tensors)).decode(),
        }  # fmt: skip
        write_text(self.path, json.dumps(content), durable=True)

    def resume(self, training: NetworkTraining) -> dict[str, Any] | None:
        """Bring a training to where it was, and give its history; None where nothing is stored."""
        if not self.path.exists():
            return None
        try:
            content = read_json(self.path)
        except DataError as error:
            raise self._unreadable("it is not JSON") from error
        if not isinstance(content, dict) or content.get("schema") != _SCHEMA:
            raise DataError.at(self.path, None, "is not a checkpoint of a network; name another file")
        if content.get("origin") != self.origin:
            raise DataError.at(
                self.path, None, "is the checkpoint of another training; delete it, or name another file"
            )
        try:
            return _restore(training, content)
        except (ValueError, LookupError, TypeError, RuntimeError) as error:
            raise self._unreadable(str(error)) from error


def _restore(training: NetworkTraining, content: dict[str, Any]) -> dict[str, Any]:
    history: dict[str, Any] = content["history"]
    epoch, models = content["epoch"], training.network.shape.models
    check_history(history)
    if type(epoch) is not int or not 1 <= epoch <= training.optimizer_settings.epochs:
        raise ValueError("its epoch is no number of one")
    epochs, scores = content["best_epochs"], content["best_scores"]
    if len(epochs) != models or not all(type(each) is int and 0 <= each <= epoch for each in epochs):
        raise ValueError("its best epochs are no numbers of epochs")
    if len(scores) != models or not all(each is None or is_number(each) for each in scores):
        raise ValueError("its best scores are no numbers")
    tensors = parse(base64.b64decode(content["tensors"], validate=True))

    def part(kind: str) -> dict[str, Any]:
        return {name.removeprefix(f"{kind}."): each for name, each in tensors.items() if name.startswith(f"{kind}.")}

    now, best, moments = part("now"), part("best"), {each: part(each) for each in _MOMENTS}
    names, shapes = [name for name, _ in training.network.named_parameters()], parameter_shapes(training.network.shape)
    for saved in (now, best):
        check_tensors(saved, tensor_shapes(training.network.shape))
    for kind, saved in moments.items():
        check_tensors(saved, dict.fromkeys(names, ()) if kind == "step" else shapes)
    best = {name: each.to(training.train.device) for name, each in best.items()}
    training.network.load_state_dict(now)
    state = training.optimizer.state_dict()
    state["state"] = {n: {each: moments[each][name] for each in _MOMENTS} for n, name in enumerate(names)}
    training.optimizer.load_state_dict(state)
    training.loss.load_sums(part("sums"))
    training.epoch, training.best = epoch, BestEpochs(epochs, scores, best)
    return history
