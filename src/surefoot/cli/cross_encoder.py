"""`surefoot train --engine cross-encoder` and `surefoot rank MODEL --run FILE`: re-rankers of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot.cli.bar import is_watched, new_bar
from surefoot.cli.model_assessment import show_model
from surefoot.cli.outputs import Output, OutputModel, check_outputs, files_under
from surefoot.cli.progress_lines import stage
from surefoot.errors import ArgumentError, visible
from surefoot.learn.options import CROSS_ENCODER_ENGINE
from surefoot.learn.signatures import CHECKPOINT
from surefoot.neural.cross_encoder.model_files import is_cross_encoder_file
from surefoot.progress import busy
from surefoot.report.signatures import METRICS, PAGE

if TYPE_CHECKING:
    from surefoot.neural.cross_encoder.training import FineTuning, Report

DEPTH = 100

# Options that `train` and `rank` have for re-rankers of text.
RunFile = Annotated[
    Path | None, typer.Option("--run", help="The run that is live, for a cross-encoder to re-rank.", show_default=False)
]
QueryTexts = Annotated[
    Path | None,
    typer.Option("--queries", help="Texts of queries: id TAB text, JSON lines or topics.", show_default=False),
]
DocumentTexts = Annotated[
    Path | None,
    typer.Option("--documents", help="Texts of documents: id TAB text, or JSON lines.", show_default=False),
]
Depth = Annotated[int | None, typer.Option(help="Re-rank so many documents per query.", min=1, show_default=str(DEPTH))]


@dataclass(frozen=True)
class TextFiles:
    """What a re-ranker of text reads, as options name it."""

    run: Path | None
    queries: Path | None
    documents: Path | None
    depth: int | None

    def refuse(self, instead: str, **more: Any) -> None:
        """An error if one of them, or of `more`, is given where none can be."""
        others = {f"--{name.replace('_', '-')}": value for name, value in more.items()}
        for option, given in (others | self._by_option()).items():
            if given is not None:
                raise ArgumentError(f"{option} is for re-rankers of text; {instead}")

    def checked(self, **more: Path | None) -> list[Path]:
        """All files, if none is missing; `more` are further ones that are needed."""
        files = {f"--{name}": path for name, path in more.items()} | self._by_option()
        del files["--depth"]
        missing = [option for option, path in files.items() if path is None]
        if missing:
            raise ArgumentError(f"a re-ranker of text needs {', '.join(missing)} as well; see --help")
        return [Path(str(path)) for path in files.values()]

    @property
    def run_queries_documents(self) -> tuple[Any, Any, Any]:
        """The run, the queries and the documents."""
        return self.run, self.queries, self.documents

    def _by_option(self) -> dict[str, Any]:
        return {"--run": self.run, "--queries": self.queries, "--documents": self.documents, "--depth": self.depth}


def train_cross_encoder(
    base: Path, output: Path, files: TextFiles, qrels: Path | None, valid: Path | None, *,
    skip_unusable: bool, ranker_arguments: Mapping[str, Any], parameters: Mapping[str, Any],
    only_for_others: Mapping[str, bool],
    epochs: int | None, threads: int | None, html: Path | None, metrics: str | None, force: bool, quiet: bool,
) -> None:  # fmt: skip
    """Fine-tune the cross-encoder of a folder or name against the run, and save it as its own library does."""
    for option, given in only_for_others.items():
        if given:
            hint = "; its baseline is --run" if option == "--baseline" else ""
            raise ArgumentError(f"{option} is not possible with --engine {CROSS_ENCODER_ENGINE}{hint}")
    if valid is None and (html or metrics or ranker_arguments["early_stopping_rounds"] is not None):
        option = "--html" if html is not None else "--metrics" if metrics is not None else "--early-stopping"
        raise ArgumentError(f"{option} needs validation data; add --valid FILE, judgments of other queries of the run")
    check_outputs(
        [
            OutputModel("--output", output, is_own_file=is_cross_encoder_file, what="a cross-encoder"),
            Output("--html", html, PAGE),
            Output("--metrics", metrics, METRICS),
        ],
        [*files_under(base), *files.checked(qrels=qrels), *([] if valid is None else [valid])],
        force,
    )
    tuning = _tuning(ranker_arguments, epochs, parameters)
    from surefoot.neural.cross_encoder.dataset import to_dataset
    from surefoot.neural.cross_encoder.evaluator import RiskEvaluator
    from surefoot.neural.cross_encoder.loading import load_cross_encoder
    from surefoot.neural.cross_encoder.training import is_first_process, model_folder
    from surefoot.neural.libraries import torch
    from surefoot.report.text import plain_console

    _silence_libraries()
    tuning.check()
    if threads is not None:
        torch.set_num_threads(threads)
    console = plain_console(quiet=quiet or not is_first_process())
    depth = files.depth or DEPTH
    data = to_dataset(
        qrels,
        *files.run_queries_documents,
        depth=depth,
        measure=ranker_arguments["measure"],
        skip_unusable=skip_unusable,
    )
    evaluator = None
    if valid is not None:
        evaluator = RiskEvaluator.from_run(
            valid, *files.run_queries_documents, depth=depth, measure=ranker_arguments["measure"],
            select_by=ranker_arguments["stop_on"],
            alpha=5.0 if ranker_arguments["alpha"] is None else ranker_arguments["alpha"], write_csv=False,
        )  # fmt: skip
    with busy("Loading the model"):
        torch.manual_seed(ranker_arguments["random_state"])  # a new last layer is random
        model = load_cross_encoder(base, num_labels=1)
    console.print(f"training: {len(data):,} queries, {sum(map(len, data['docs'])):,} documents")
    with model_folder(output) as work:
        with _training(quiet or not is_first_process()) as report:
            tuning.run(model, data, evaluator, work / "training", report)
        if not is_first_process():
            return
        model.save_pretrained(str(work / "model"))
    console.print(visible(f"Saved the cross-encoder to {output}/"))
    if evaluator is not None:
        inputs = [qrels, valid, files.run, files.queries, files.documents]
        alpha = ranker_arguments["alpha"]
        show_model(console, evaluator.scores(model), alpha, html, inputs, metrics=metrics, validation=True)


def rank_texts(
    model: Path, files: TextFiles, output: Path, name: str, batch_size: int | None, checkpoint: Path | None, force: bool
) -> str:
    """Write the run of a cross-encoder; the message to print."""
    check_outputs(
        [Output("--output", output), Output("--checkpoint", checkpoint, CHECKPOINT)],
        [*files_under(model), *files.checked()],
        force,
    )
    from surefoot.neural.cross_encoder.reranking import BATCH_SIZE, rerank

    _silence_libraries()
    run = rerank(
        model, *files.run_queries_documents, depth=files.depth or DEPTH, batch_size=batch_size or BATCH_SIZE, name=name,
        checkpoint=checkpoint,
    )  # fmt: skip
    run.write(output)
    if checkpoint is not None:  # the run is safe
        checkpoint.unlink(missing_ok=True)
    return f"Wrote {len(run):,} documents of {len(run.queries):,} queries to {output}"


def _tuning(ranker_arguments: Mapping[str, Any], epochs: int | None, parameters: Mapping[str, Any]) -> FineTuning:
    """How to train, checked as far as it can be without the model."""
    from surefoot.neural.cross_encoder.training import FineTuning
    from surefoot.neural.loss import RiskLoss

    objective, alpha = ranker_arguments["objective"], ranker_arguments["alpha"]
    optimised = RiskLoss(objective, alpha, ranker_arguments["measure"], rule=ranker_arguments["rule"]).objective
    if optimised.alpha > 0 and not optimised.needs_baseline:
        raise ArgumentError(f"--alpha {alpha:g} has no effect with --objective {objective}")
    return FineTuning(
        objective, alpha, ranker_arguments["measure"], ranker_arguments["rule"], epochs or 1,
        ranker_arguments["early_stopping_rounds"],
        ranker_arguments["random_state"], parameters,
    )  # fmt: skip


def _silence_libraries() -> None:
    """Keep the bars and notes of other libraries off the terminal; their errors still end the command."""
    import logging
    import warnings

    from surefoot.neural.cross_encoder.libraries import cross_encoders, hugging_face

    cross_encoders()
    hugging_face("datasets").disable_progress_bars()
    notes = hugging_face("transformers.utils.logging")
    notes.set_verbosity_error()
    notes.disable_progress_bar()
    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)
    for category in (UserWarning, FutureWarning, DeprecationWarning):
        warnings.filterwarnings("ignore", category=category, module=r"(torch|transformers|accelerate|datasets)\b")


@contextmanager
def _training(quiet: bool) -> Iterator[Report | None]:
    """A live line of steps and figures, where somebody looks on."""
    from rich.progress import TextColumn

    what = "Training, in steps"
    bar = new_bar(TextColumn("{task.fields[figures]}", markup=False), disable=not is_watched(quiet))
    with bar, stage(what, None) as lines:
        task = bar.add_task(what, total=None, figures="")

        def report(done: int, total: int, seen: dict[str, float]) -> None:
            figures = ", ".join(
                f"{name} {seen[f'eval_{name}']:.4f}" for name in ("mean", "risk") if f"eval_{name}" in seen
            )
            bar.update(task, completed=done, total=total, figures=figures)
            if lines is not None:
                lines.done, lines.total, lines.more = done, total, figures

        yield report
