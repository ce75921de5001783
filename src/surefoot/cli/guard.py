"""`surefoot guard`: wrap a model so that it is shown only where its risk is proved to stay within a level."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli.outputs import JSON, Output, OutputModel, check_outputs
from surefoot.cli.page_provenance import page_provenance
from surefoot.cli.printing import Printing, deliver, either
from surefoot.cli.shared_options import Force, ModelFolder, Quiet
from surefoot.decide.evidence.nothing_to_lose_treatment import NothingToLoseTreatment
from surefoot.decide.guard.file_names import is_guard_file
from surefoot.decide.options import (
    DEFAULT_RISK_LEVEL,
    DEFAULT_SCORER,
    DELTA,
    NO_AUTOMATIC_REASON,
    NO_FILL_REASON,
    PROOF_METHODS,
)
from surefoot.errors import ArgumentError, visible
from surefoot.learn.baseline_spec import HELP as BASELINES
from surefoot.learn.baseline_spec import BaselineSpec, baseline_files, resolve_baseline
from surefoot.learn.model_files import model_files
from surefoot.progress import busy
from surefoot.report.signatures import PAGE


def guard(
    model: ModelFolder,
    fit_scorer: Annotated[Path, option("--fit-scorer", "Labelled queries, to learn the scorer.", FILE)],
    calibrate: Annotated[Path, option("--calibrate", "Other labelled queries, for the proof.", FILE)],
    baseline: Annotated[list[str], option("-b --baseline", "Live: NAME=feature:25, a run or a model.", NAME)],
    output: Annotated[Path, option("-o --output", "The guard's folder.", DIR)],
    risk: Annotated[
        float | None, option("--risk", "Average loss.", shown=f"{DEFAULT_RISK_LEVEL:g}")
    ] = None,
    share_hurt: Annotated[float | None, option("--share-hurt", "At most this share loses over 20 %.")] = None,
    delta: Annotated[float, option("--delta", "Chance of a wrong certificate.")] = DELTA,
    measure: Annotated[
        str | None, option("-m --measure", "From 0 to 1.", NAME, shown="the model's")
    ] = None,
    scorer: Annotated[str, option("--scorer", "Or feature:K.", NAME)] = DEFAULT_SCORER,
    blend: Annotated[float | None, option("--blend", "Mix both lists; the model has this weight.")] = None,
    sample: SampleFile = None,
    unlabelled: Annotated[Path | None, option("--unlabelled", "All traffic, without labels.", FILE)] = None,
    record: Annotated[Path | None, option("--record", "Remembers what these queries decided.", FILE)] = None,
    unanswered: Unanswered = NothingToLoseTreatment.leave_out,
    html: Html = None,
    json_file: Json = None,
    force: Force = False,
    quiet: Quiet = False,
    automatic: Annotated[str | None, option("--automatic", "Not supported yet.", hidden=True)] = None,
) -> None:
    """Show a model only for queries where its risk is proved to be low enough; show the baseline elsewhere.

    **Example:** `surefoot guard model/ --valid vali.txt --judged judged.txt -b feature:25 --risk 0.02 -o guarded/`
    """
    for given, reason in ((automatic, NO_AUTOMATIC_REASON), (fill, NO_FILL_REASON)):
        if given is not None:
            raise ArgumentError(reason)
    read = [path for path in (valid, judged, weights, strata, traffic) if path is not None]
    check_outputs(
        [
            OutputModel("--output", output, is_own_file=is_guard_file, what="a guard"),
            Output("--html", html, PAGE),
            Output("--json", json_file, JSON),
        ],
        [*model_files(model), *read, *baseline_files(baseline), *([] if record is None else [record])],
        force,
    )
    check_outputs([Output("--record", record)], [*model_files(model), *read, *baseline_files(baseline)], force=True)
    from surefoot.decide.guard.guard import RiskGuard
    from surefoot.learn.baseline_spec import read_like, with_baselines
    from surefoot.neural.loading import load_ranker

    levels = {name: level for name, level in {"risk": risk, "share_hurt": share_hurt}.items() if level is not None}
    ranker = load_ranker(model)
    shipped = BaselineSpec.parse(baseline[0]).name
    guard = RiskGuard(
        ranker, shipped, levels or DEFAULT_RISK_LEVEL, delta, measure=measure, method=method, scorer=scorer, gate=gate,
        blend=blend, movement_cap=movement_cap, drift=drift, unanswered=unanswered,
    )  # fmt: skip
    guard.candidate_name = model.resolve().name
    guard.baseline_source = resolve_baseline(baseline[0])
    with busy("Reading data"):
        data = {
            path: with_baselines(read_like(path, ranker.n_features_in_), baseline, path)
            for path in (valid, judged, traffic)
            if path is not None
        }
    with busy("Fitting the scorer"):
        guard.fit_scorer(data[valid])
    with busy("Calibrating"):
        guard.calibrate(
            data[judged], weights, strata=strata, traffic=None if traffic is None else data[traffic], record=record
        )
    guard.save(output)
    certificate = guard.certificate_

    def show_certificate() -> None:
        typer.echo(certificate.to_text())
        typer.echo()
        typer.echo(visible(f"Wrote the guard to {output}. To rank with it, run: surefoot rank {output} DATA -o RUN"))

    provenance = page_provenance(html, [model, *read, *baseline_files(baseline)])
    deliver(
        certificate,
        {"html": html, "json": json_file},
        show_certificate,
        Printing(),
        quiet,
        {"html": {"provenance": provenance}},
    )
