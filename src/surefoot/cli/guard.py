"""`surefoot guard`: wrap a model so that it is shown only where its risk is proved to stay within a level."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli import shared_options as shared
from surefoot.cli.option import DIR, FILE, NAME, option
from surefoot.cli.outputs import Output, OutputModel, check_outputs
from surefoot.cli.printing import Delivery, results
from surefoot.decide.guard.file_names import is_guard_file
from surefoot.decide.options import (
    DEFAULT_RISK_LEVEL,
    DEFAULT_SCORER,
    DELTA,
    NO_AUTOMATIC_REASON,
    NothingToLoseTreatment,
)
from surefoot.errors import ArgumentError, visible
from surefoot.learn.baseline_spec import BaselineSpec, baseline_files, resolve_baseline
from surefoot.learn.model_files import model_files
from surefoot.progress import busy


def guard(
    model: shared.ModelFolder,
    fit_scorer: Annotated[Path, option("--fit-scorer", "Labelled queries, to learn the scorer.", FILE)],
    calibrate: Annotated[Path, option("--calibrate", "Other labelled queries, for the proof.", FILE)],
    baseline: Annotated[list[str], option("-b --baseline", "Live: NAME=feature:25, a run or a model.", NAME)],
    output: Annotated[Path, option("-o --output", "The guard's folder.", DIR)],
    risk: Annotated[float | None, option("--risk", "Average loss.", shown=f"{DEFAULT_RISK_LEVEL:g}")] = None,
    share_hurt: Annotated[float | None, option("--share-hurt", "At most this share loses over 20 %.")] = None,
    delta: Annotated[float, option("--delta", "Chance of a wrong certificate.")] = DELTA,
    measure: Annotated[str | None, option("-m --measure", "From 0 to 1.", NAME, shown="the model's")] = None,
    scorer: Annotated[str, option("--scorer", "Or feature:K.", NAME)] = DEFAULT_SCORER,
    blend: Annotated[float | None, option("--blend", "Mix both lists; the model has this weight.")] = None,
    sample: shared.SampleFile = None,
    unlabelled: Annotated[Path | None, option("--unlabelled", "All traffic, without labels.", FILE)] = None,
    record: Annotated[Path | None, option("--record", "Remembers what these queries decided.", FILE)] = None,
    unanswered: Annotated[NothingToLoseTreatment, shared.UNANSWERED] = NothingToLoseTreatment.leave_out,
    automatic: Annotated[str | None, option("--automatic", "Not supported yet.", hidden=True)] = None,
    *,
    delivery: Annotated[Delivery, results("html json")],
) -> None:
    """Show a model only where its risk is proved to be low.

    Elsewhere, users see the baseline's list.

    **Example:** `surefoot guard model/ --fit-scorer v.txt --calibrate judged.txt -b feature:25 -o guarded/`
    """
    if automatic is not None:
        raise ArgumentError(NO_AUTOMATIC_REASON)
    files = [fit_scorer, calibrate, sample, unlabelled, *baseline_files(baseline)]
    inputs = [*model_files(model), *files]
    folder = OutputModel("--output", output, is_own_file=is_guard_file, what="a guard")
    delivery.check([*inputs, record], folder)
    check_outputs([Output("--record", record)], inputs, force=True)
    from surefoot.decide.guard.guard import RiskGuard
    from surefoot.learn.baseline_spec import read_like, with_baselines
    from surefoot.neural.loading import load_ranker

    ranker = load_ranker(model)
    shipped = BaselineSpec.parse(baseline[0]).name
    made = RiskGuard(
        ranker, shipped, risk=DEFAULT_RISK_LEVEL if risk is None and share_hurt is None else risk,
        share_hurt=share_hurt, delta=delta, measure=measure, scorer=scorer, blend=blend, unanswered=unanswered,
    )  # fmt: skip
    made.candidate_name = model.resolve().name
    made.baseline_source = resolve_baseline(baseline[0])
    with busy("Reading data"):
        data = {
            path: with_baselines(read_like(path, ranker.n_features_in_), baseline, path)
            for path in (fit_scorer, calibrate, unlabelled)
            if path is not None
        }
    with busy("Fitting the scorer"):
        made.fit_scorer(data[fit_scorer])
    with busy("Calibrating"):
        made.calibrate(
            data[calibrate], sample=sample, unlabelled=None if unlabelled is None else data[unlabelled], record=record
        )
    made.save(output)
    certificate = made.certificate_

    def show_certificate() -> None:
        typer.echo(certificate.to_text())
        typer.echo()
        typer.echo(visible(f"Wrote the guard to {output}. To rank with it, run: surefoot rank {output} DATA -o RUN"))

    delivery.finish(certificate, show_certificate, [model, *files])
