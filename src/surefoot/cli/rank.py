"""`surefoot rank`: score documents, or lists of a user, with whatever a folder holds: a model, a guard, or a personal
ranker."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from surefoot.cli import shared_options as shared
from surefoot.cli.model_assessment import score_model, show_model
from surefoot.cli.option import FILE, NAME, argument, option
from surefoot.cli.outputs import PAGE, SERVED_CSV, Output, check_outputs
from surefoot.data.reading.folders import GUARD, PERSONAL, saved_kind
from surefoot.decide.guard.file_names import guard_files
from surefoot.errors import ArgumentError, visible
from surefoot.learn.baseline_spec import baseline_files, feature_number
from surefoot.learn.model_files import model_files
from surefoot.personal.options import SAVED_FILES
from surefoot.progress import busy

if TYPE_CHECKING:
    from surefoot.data.types.ranking_data import RankingData


def rank(
    model: Annotated[Path, argument("MODEL", "Folder of a model, guard or personal ranker; or feature:K.")],
    data: Annotated[Path, argument("DATA", "Documents: LETOR text or Parquet. Personal: lists (Parquet).")],
    output: shared.RunFile,
    name: Annotated[str | None, option("--name", "The run's name.", NAME, shown="the model's folder")] = None,
    baseline: shared.Baselines = None,
    shown: Annotated[Path | None, option("--shown", "Guard: who sees what.", FILE, shown="RUN.shown.csv")] = None,
    qrels: Annotated[Path | None, option("--qrels", "The labels, as judgments.", FILE)] = None,
    html: Annotated[Path | None, option("--html", "A page: whom it hurts, against --baseline.", FILE)] = None,
    why: Annotated[Path | None, option("--why", "Personal: orders and reasons, as JSON lines.", FILE)] = None,
    force: shared.Force = False,
    quiet: shared.Quiet = False,
) -> None:
    """Rank with a saved model, a guard or a personal ranker.

    **Example:** `surefoot rank model/ test.txt -o candidate.run --qrels qrels.txt`
    """
    feature = feature_number(str(model))
    kind = None if feature is not None else saved_kind(model)
    guarded, personal = kind == GUARD, kind == PERSONAL
    for name_of_option, given, needed, works in (
        ("--html", html, "a model; for other runs, use surefoot evaluate", not (guarded or personal or feature)),
        ("--shown", shown, "a guard, which surefoot guard saves", guarded),
        ("--why", why, "a personal ranker, which surefoot personalize --save writes", personal),
        ("--qrels", qrels, "data with labels, and lists of users have none", not personal),
        ("--baseline", baseline, "a model or a guard", not (personal or feature)),
    ):
        if given and not works:
            raise ArgumentError(f"{name_of_option} works only with {needed}; remove {name_of_option}")
    if html is not None and not baseline:
        raise ArgumentError(
            "--html needs --baseline: it compares the model with a baseline, such as -b bm25=feature:25"
        )
    if guarded and shown is None:
        from surefoot.data.reading.files import system_name

        shown = output.with_name(f"{system_name(output)}.shown.csv")
    own_files = [] if feature else [*model_files(model), *(str(model / file) for file in SAVED_FILES)]
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
    from surefoot.data.letor.files import read_letor
    from surefoot.data.reading.files import as_text

    run_name = as_text(name or (f"feature{feature}" if feature else model.resolve().name))
    if personal:
        messages = _rank_personal(model, data, output, run_name, why)
    elif shown is not None:
        messages, ranked = _rank_guarded(model, data, output, run_name, baseline or [], shown)
    elif feature is not None:
        ranked = read_letor(data)
        ranked.to_run(ranked.feature(feature).astype("float64"), run_name).write(output)
        messages = [_wrote(ranked, output)]
    else:
        from surefoot.learn.baseline_spec import read_like, with_baselines
        from surefoot.neural.loading import load_ranker

        ranker = load_ranker(model)
        with busy("Reading data"):
            ranked = with_baselines(read_like(data, ranker.n_features_in_), baseline or [], data)
        ranked.to_run(ranker.predict(ranked), run_name).write(output)
        messages = [_wrote(ranked, output)]
    if qrels is not None:
        ranked.qrels().write(qrels)
    if not quiet:
        for line in messages:
            typer.echo(visible(line))
    if html is not None:
        from surefoot.report.tables import plain_console

        scores = score_model(ranker, ranked, run_name)
        inputs: list[str | Path | None] = [data, *baseline_files(baseline or [])]
        show_model(plain_console(quiet=quiet), scores, ranker.alpha, html, inputs, validation=False)


def _wrote(data: RankingData, output: Path) -> str:
    return f"Wrote {len(data):,} documents of {len(data.queries):,} queries to {output}"


def _rank_personal(model: Path, lists: Path, output: Path, name: str, why: Path | None) -> list[str]:
    """Re-rank lists by what their users did before."""
    from surefoot.personal.personal_ranker import rerank_lists

    changed, count = rerank_lists(model, lists, output, name, why)
    return [f"Wrote {count:,} lists to {output}; {changed:,} of them in another order than shown"]


def _rank_guarded(
    folder: Path, data: Path, output: Path, name: str, baselines: list[str], shown: Path
) -> tuple[list[str], RankingData]:
    """Serve a guard: write the run and which list each query gets; the messages to print, and the documents."""
    from surefoot.decide.guard.guard import RiskGuard
    from surefoot.learn.baseline_spec import read_like, with_baselines

    guard = RiskGuard.load(folder)
    ranker = guard._ranker
    if ranker is None:
        raise ArgumentError(f"the guard in {folder} was made for two runs, not for a model; use it in Python")
    sources = baselines or ([] if guard.baseline_source is None else [guard.baseline_source])
    with busy("Reading data"):
        documents = with_baselines(read_like(data, ranker.n_features_in_), sources, data)
    run, decided = guard._served(documents, name)
    run.write(output)
    decided.write(shown)
    messages = [
        _wrote(documents, output),
        f"{guard.candidate_name} is shown for {int(decided.shown.sum()):,} queries, and "
        f"{guard.baseline_name} for the others. The reasons are in {shown}",
        guard.certificate_["sentence"],
    ]
    return messages, documents
