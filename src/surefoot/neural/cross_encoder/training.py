"""Fine-tuning a cross-encoder by sentence-transformers' own trainer: `surefoot train --engine cross-encoder`."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from surefoot.data.writing.all_or_nothing import destination_folder, reporting_write_errors, temporary_path
from surefoot.errors import ArgumentError, did_you_mean, without_middle
from surefoot.neural.cross_encoder.evaluator import RiskEvaluator
from surefoot.neural.cross_encoder.libraries import CrossEncoderModel, TextDataset, cross_encoders, hugging_face
from surefoot.neural.cross_encoder.loss import CrossEncoderLoss
from surefoot.neural.libraries import torch

DEFAULTS: Mapping[str, Any] = {
    "per_device_train_batch_size": 16,
    "learning_rate": 2e-5,
    "report_to": "none",
}
_WARMUP_SHARE = 0.1  # of all steps
_LOSS_PARAMETERS = ("mini_batch_size", "normalize", "sigma", "sums")
# What has an option of its own, and what would write or send elsewhere.
_NOT_SETTABLE = {
    "output_dir", "num_train_epochs", "seed", "push_to_hub", "load_best_model_at_end", "metric_for_best_model",
    "greater_is_better", "eval_strategy", "save_strategy", "save_total_limit", "save_only_model", "disable_tqdm",
}  # fmt: skip

Report = Callable[[int, int, dict[str, float]], None]  # steps done, steps in all, the last figures


@dataclasses.dataclass(frozen=True)
class FineTuning:
    """How a cross-encoder is fine-tuned: the loss, and the trainer's arguments.

    `trainer_arguments` are further parameters: of the loss (mini_batch_size, normalize, sigma, sums), or of
    `CrossEncoderTrainingArguments`.
    """

    objective: str
    alpha: float | None
    measure: str
    rule: str
    epochs: int = 1
    early_stopping: int | None = None
    seed: int = 0
    trainer_arguments: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def check(self) -> None:
        """Refuse parameters that neither the loss nor the trainer has."""
        known = _trainer_parameters()
        for name in self.trainer_arguments:
            if name in _NOT_SETTABLE:
                raise ArgumentError(f"{name} cannot be set here; it has an option of its own, or is always the same")
            if name not in known and name not in _LOSS_PARAMETERS:
                raise ArgumentError(
                    "a cross-encoder's training has no parameter "
                    f"{name!r}{did_you_mean(name, known | set(_LOSS_PARAMETERS))}"
                )

    def loss(self, model: CrossEncoderModel) -> CrossEncoderLoss:
        """The loss of a model."""
        more = {name: value for name, value in self.trainer_arguments.items() if name in _LOSS_PARAMETERS}
        return CrossEncoderLoss(model, self.objective, self.alpha, self.measure, rule=self.rule, **more)

    def run(
        self,
        model: CrossEncoderModel,
        dataset: TextDataset,
        evaluator: RiskEvaluator | None,
        folder: Path,
        report: Report | None = None,
    ) -> None:
        """Train a model, and with an evaluator keep its best epoch; `folder` is for the trainer's files."""
        loss = self.loss(model)
        trainer = cross_encoders().CrossEncoderTrainer(
            model=model,
            args=self._arguments(evaluator, folder),
            train_dataset=dataset,
            loss=loss,
            evaluator=evaluator,
        )
        transformers = hugging_face("transformers")
        trainer.add_callback(_epochs_of(transformers.TrainerCallback, loss))
        trainer.remove_callback(transformers.PrinterCallback)
        if self.early_stopping is not None:
            trainer.add_callback(transformers.EarlyStoppingCallback(self.early_stopping))
        if report is not None:
            trainer.add_callback(_reporting(transformers.TrainerCallback, report))
        trainer.train()
        if not all(bool(torch.isfinite(each).all()) for each in model.parameters()):
            raise ArgumentError("the model's parameters are no longer finite; lower learning_rate")

    def _arguments(self, evaluator: RiskEvaluator | None, folder: Path) -> Any:
        own: dict[str, Any] = {
            **DEFAULTS,
            _warmup_name(): _WARMUP_SHARE,
            **{name: value for name, value in self.trainer_arguments.items() if name not in _LOSS_PARAMETERS},
            "output_dir": os.fspath(folder), "num_train_epochs": self.epochs, "seed": self.seed, "disable_tqdm": True,
            "save_strategy": "no", "save_only_model": True,
        }  # fmt: skip
        if evaluator is not None:
            own |= {
                "eval_strategy": "epoch", "save_strategy": "epoch", "save_total_limit": 2,
                "load_best_model_at_end": True, "metric_for_best_model": f"eval_{evaluator.primary_metric}",
                "greater_is_better": True,
            }  # fmt: skip
        try:
            arguments = cross_encoders().CrossEncoderTrainingArguments(**own)
        except (TypeError, ValueError, ImportError, RuntimeError) as error:
            why = without_middle(" ".join(str(error).split()), 300)
            raise ArgumentError(f"the trainer does not take these parameters ({why})") from error
        arguments.output_dir = _of_first_process(arguments.output_dir)
        return arguments


def _trainer_parameters() -> set[str]:
    return {each.name for each in dataclasses.fields(cross_encoders().CrossEncoderTrainingArguments) if each.init}


def _warmup_name() -> str:
    """What the trainer calls the share of steps in which the learning rate grows."""
    version = str(hugging_face("transformers").__version__)
    return "warmup_ratio" if int(version.partition(".")[0]) < 5 else "warmup_steps"


def _epochs_of(base: Any, loss: CrossEncoderLoss) -> Any:
    """A callback of the trainer that tells the loss where an epoch ends, for sums that run on."""

    def on_epoch_end(self: Any, args: Any, state: Any, control: Any, **more: Any) -> None:
        loss.list_loss.next_epoch()

    return type("EpochCallback", (base,), {"on_epoch_end": on_epoch_end})()


def _reporting(base: Any, report: Report) -> Any:
    """A callback of the trainer that tells how far it is."""
    seen: dict[str, float] = {}

    def on_step_end(self: Any, args: Any, state: Any, control: Any, **more: Any) -> None:
        report(state.global_step, state.max_steps, seen)

    def on_evaluate(self: Any, args: Any, state: Any, control: Any, metrics: Any = None, **more: Any) -> None:
        seen.update(metrics or {})

    return type("ProgressCallback", (base,), {"on_step_end": on_step_end, "on_evaluate": on_evaluate})()


def is_first_process() -> bool:
    """Whether this is the process that prints and writes, of one or several."""
    return os.environ.get("RANK", "0") == "0"


def _of_first_process(text: str) -> str:
    """A text of the first of several processes, which all then use."""
    distributed = torch.distributed
    if not (distributed.is_available() and distributed.is_initialized()):
        return text
    shared = [text]
    distributed.broadcast_object_list(shared)
    return shared[0]


@contextmanager
def model_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A new folder to work in, whose part `model` takes the place of `path` at the end, if all went well."""
    target = destination_folder(path)
    if target.is_mount():  # which cannot be replaced by another folder
        raise ArgumentError(f"{path} is a mount point; give a folder in it, such as {target / 'model'}")
    with reporting_write_errors(path), temporary_path(target) as work:
        target.parent.mkdir(parents=True, exist_ok=True)
        work.mkdir()
        yield work
        if (work / "model").is_dir():
            before = work / "before"
            if target.exists():
                target.rename(before)
            try:
                (work / "model").rename(target)
            except OSError:
                if before.exists():
                    before.rename(target)
                raise
