"""`surefoot rank`: score documents, or lists of a user, with whatever a folder holds: a model, a guard, or a personal
ranker."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from surefoot.cli.model_assessment import score_model, show_model
from surefoot.cli.outputs import Output, check_outputs
from surefoot.cli.shared_options import Force, Quiet
from surefoot.data.reading.saved_folders import GUARD, PERSONAL, saved_kind
from surefoot.decide.guard.file_names import guard_files
from surefoot.decide.signatures import SERVED_CSV
from surefoot.errors import ArgumentError, visible
from surefoot.learn.baseline_spec import HELP as BASELINES
from surefoot.learn.baseline_spec import baseline_files
from surefoot.learn.model_files import model_files
from surefoot.personal.options import SAVED_FILES
from surefoot.progress import busy
from surefoot.report.signatures import PAGE

if TYPE_CHECKING:
    from surefoot.data.types.ranking_data import RankingData


def rank(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Folder of a model, a guard or a personal ranker.")],
    data: Annotated[
        Path,
        typer.Argument(metavar="DATA", help="LETOR text or Parquet. Personal: Parquet lists."),
    ],
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
    shown: Annotated[
        Path | None,
        typer.Option(help="Guard: which list each query gets.", show_default="RUN.shown.csv"),
    ] = None,
    qrels: Annotated[Path | None, typer.Option(help="Also write the labels as judgments.", show_default=False)] = None,
    html: Annotated[
        Path | None,
        typer.Option(help="Write a page: whom the model hurts, by the labels, against --baseline.", show_default=False),
    ] = None,
    why: Annotated[
        Path | None, typer.Option(help="Personal: write orders and reasons (JSON lines).", show_default=False)
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Rank documents with a saved model, a guard, or a personal ranker: the folder says what it is.

    **Example:** `surefoot rank model/ test.txt -o candidate.run --qrels qrels.txt`
    """
    kind = saved_kind(model)
    guarded, personal = kind == GUARD, kind == PERSONAL
    for option, given, needed, works in (
        ("--html", html, "a model; for a guard's run, use surefoot evaluate", not guarded and not personal),
        ("--shown", shown, "a guard, which surefoot guard saves", guarded),
        ("--why", why, "a personal ranker, which surefoot personalize --save writes", personal),
        ("--qrels", qrels, "data with labels, and lists of users have none", not personal),
        ("--baseline", baseline, "a model or a guard", not personal),
    ):
        if given and not works:
            raise ArgumentError(f"{option} works only with {needed}; remove {option}")
    if html is not None and not baseline:
        raise ArgumentError(
            "--html needs --baseline: it compares the model with a baseline, such as -b bm25=feature:25"
        )
    if guarded and shown is None:
        from surefoot.data.reading.files import system_name

        shown = output.with_name(f"{system_name(output)}.shown.csv")
    own_files = [*model_files(model), *(str(model / file) for file in SAVED_FILES)]
    check_outputs(
        [
            Output("--output", output),
            Output("--qrels", qrels),
            Output("--shown", shown, SERVED_CSV),
            Output("--html", html, PAGE),
            Output("--why", why),
        ],
        [*(guard_files(model) if guarded else own_files), data, *baseline_files(baseline or [])],
        force,
    )
    from surefoot.data.reading.files import as_text

    run_name = as_text(name or model.resolve().name)
    if personal:
        messages = _rank_personal(model, data, output, run_name, why)
    elif shown is not None:
        messages, ranked = _rank_guarded(model, data, output, run_name, baseline or [], shown)
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


def _rank_personal(model: Path, lists: Path, output: Path, name: str, why: Path | None) -> list[str]:
    """Re-rank lists by what their users did before."""
    from surefoot.personal.reranked_lists import rerank_lists

    changed, count = rerank_lists(model, lists, output, name, why)
    return [f"Wrote {count:,} lists to {output}; {changed:,} of them in another order than shown"]


def _rank_guarded(
    folder: Path, data: Path, output: Path, name: str, baselines: list[str], shown: Path
) -> tuple[list[str], RankingData]:
    """Serve a guard: write the run and which list each query gets; the messages to print, and the documents."""
    from surefoot.decide.guard.guard import RiskGuard
    from surefoot.learn.baseline_spec import read_like, with_baselines

    guard = RiskGuard.load(folder)
    ranker = guard.ranker
    if ranker is None:
        raise ArgumentError(f"the guard in {folder} was made for two runs, not for a model; use it in Python")
    sources = baselines or ([] if guard.baseline_source is None else [guard.baseline_source])
    with busy("Reading data"):
        documents = with_baselines(read_like(data, ranker.n_features_in_), sources, data)
    run, decided = guard.served(documents, name)
    run.write(output)
    decided.write(shown)
    messages = [
        f"Wrote {len(documents):,} documents of {len(documents.queries):,} queries to {output}",
        f"{guard.candidate_name} is shown for {int(decided.shown.sum()):,} queries, and "
        f"{guard.baseline_name} for the others. The reasons are in {shown}",
        guard.certificate_["sentence"],
    ]
    return messages, documents
