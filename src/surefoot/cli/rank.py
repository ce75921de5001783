"""`surefoot rank`: score documents with a saved model, as a run or as scores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from surefoot.cli.model_assessment import score_model, show_model
from surefoot.cli.outputs import Output, check_outputs
from surefoot.cli.shared_options import Force, ModelFolder, Quiet
from surefoot.decide.guard.file_names import guard_files
from surefoot.decide.signatures import SERVED_CSV
from surefoot.errors import ArgumentError, visible
from surefoot.learn.baseline_spec import HELP as BASELINES
from surefoot.learn.baseline_spec import baseline_files
from surefoot.learn.model_files import model_files
from surefoot.progress import busy
from surefoot.report.signatures import PAGE

if TYPE_CHECKING:
    from surefoot.data.types.ranking_data import RankingData


def rank(
    model: ModelFolder,
    data: Annotated[Path, typer.Argument(metavar="TEST", help="Documents with features: LETOR text or Parquet.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="A run (.run, .run.gz, …), or .csv, .json, .parquet.")],
    name: Annotated[str | None, typer.Option(help="The run's name.", show_default="the model's folder")] = None,
    baseline: Annotated[
        list[str] | None,
        typer.Option(
            "-b",
            "--baseline",
            help=f"The baseline, for --html or for a model that starts from one: {BASELINES}",
            show_default=False,
        ),
    ] = None,
    controlled: Annotated[
        bool, typer.Option("--controlled", help="MODEL is a folder that `surefoot control` saved.")
    ] = False,
    decisions: Annotated[
        Path | None,
        typer.Option(
            help="With --controlled: write which list each query gets, and why, to this .csv or .json file.",
            show_default="RUN.decisions.csv",
        ),
    ] = None,
    qrels: Annotated[Path | None, typer.Option(help="Also write the labels as judgments.", show_default=False)] = None,
    html: Annotated[
        Path | None,
        typer.Option(help="Write a page: whom the model hurts, by the labels, against --baseline.", show_default=False),
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Rank documents with a saved model.

    **Example:** `surefoot rank model/ test.txt -o candidate.run --qrels qrels.txt`
    """
    if html is not None and (controlled or not baseline):
        reason = "is not possible with --controlled; use surefoot evaluate" if controlled else "needs --baseline"
        raise ArgumentError(f"--html {reason}: it compares the model with a baseline, such as -b bm25=feature:25")
    if decisions is not None and not controlled:
        raise ArgumentError("--decisions works only with a guard; add --controlled")
    if controlled and decisions is None:
        from surefoot.data.reading.files import system_name

        decisions = output.with_name(f"{system_name(output)}.decisions.csv")
    check_outputs(
        [
            Output("--output", output),
            Output("--qrels", qrels),
            Output("--decisions", decisions, SERVED_CSV),
            Output("--html", html, PAGE),
        ],
        [*(guard_files if controlled else model_files)(model), data, *baseline_files(baseline or [])],
        force,
    )
    from surefoot.data.reading.files import as_text

    run_name = as_text(name or model.resolve().name)
    if decisions is not None:
        messages, ranked = _rank_controlled(model, data, output, run_name, baseline or [], decisions)
    else:
        from surefoot.learn.baseline_spec import read_like, with_baselines
        from surefoot.neural.loading import load_ranker

        ranker = load_ranker(model)
        with busy("Reading data"):
            ranked = with_baselines(read_like(data, ranker.n_features_in_), baseline or [], data)
        ranked.to_run(ranker.predict(ranked), run_name).write(output)
        messages = [f"Wrote {len(ranked):,} documents of {len(ranked.queries):,} queries to {output}"]
    if qrels is not None:
        ranked.qrels().write(qrels)
    if not quiet:
        for line in messages:
            typer.echo(visible(line))
    if html is not None:
        from surefoot.report.text import plain_console

        scores = score_model(ranker, ranked, run_name)
        inputs: list[str | Path | None] = [data, *baseline_files(baseline or [])]
        show_model(plain_console(quiet=quiet), scores, ranker.alpha, html, inputs, validation=False)


def _rank_controlled(
    folder: Path, data: Path, output: Path, name: str, baselines: list[str], decisions: Path
) -> tuple[list[str], RankingData]:
    """Serve a guard: write the run and the decision for each query; the messages to print, and the documents."""
    from surefoot.decide.guard.guard import RiskGuard
    from surefoot.learn.baseline_spec import read_like, with_baselines

    guard = RiskGuard.load(folder)
    ranker = guard.ranker
    if ranker is None:
        raise ArgumentError(
            f"the guard in {folder} was made for two runs, not for a model; use it in Python with to_run"
        )
    sources = baselines or ([] if guard.baseline_source is None else [guard.baseline_source])
    with busy("Reading data"):
        documents = with_baselines(read_like(data, ranker.n_features_in_), sources, data)
    run, decided = guard.served(documents, name)
    run.write(output)
    decided.write(decisions)
    messages = [
        f"Wrote {len(documents):,} documents of {len(documents.queries):,} queries to {output}",
        f"{guard.candidate_name} is shown for {int(decided.shown.sum()):,} queries, and "
        f"{guard.baseline_name} for the others. The reasons are in {decisions}",
        guard.certificate_["sentence"],
    ]
    return messages, documents
