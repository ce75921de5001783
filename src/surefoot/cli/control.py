"""`surefoot control`: wrap a model so that it is shown only where its risk is proved to stay within a level."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli.outputs import JSON, Output, OutputModel, check_outputs
from surefoot.cli.page_provenance import page_provenance
from surefoot.cli.printing import Printing, deliver, either
from surefoot.cli.shared_options import Force, ModelFolder, Quiet
from surefoot.decide.control.file_names import is_controller_file
from surefoot.decide.evidence.nothing_to_lose_treatment import NothingToLoseTreatment
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


def control(
    model: ModelFolder,
    valid: Annotated[Path, typer.Option(help="Labelled queries to fit the scorer on: LETOR text or Parquet.")],
    judged: Annotated[Path, typer.Option(help="Other labelled queries, for the proof.")],
    baseline: Annotated[list[str], typer.Option("-b", "--baseline", help=f"The live ranking: {BASELINES}")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Folder for the controller.")],
    risk: Annotated[
        float | None,
        typer.Option(help="The largest average loss that you accept.", show_default=f"{DEFAULT_RISK_LEVEL:g}"),
    ] = None,
    share_hurt: Annotated[
        float | None,
        typer.Option(help="The largest share of queries that may lose over 20 %.", show_default=False),
    ] = None,
    delta: Annotated[float, typer.Option(help="The probability of a wrong certificate that you accept.")] = DELTA,
    measure: Annotated[
        str | None, typer.Option("-m", "--measure", help="A measure from 0 to 1.", show_default="the model's")
    ] = None,
    method: Annotated[str, typer.Option(help=f"The method of the proof: {either(PROOF_METHODS)}.")] = PROOF_METHODS[0],
    scorer: Annotated[
        str, typer.Option(help="How to score queries: predicted_gain, predicted_gain:isotonic or feature:K.")
    ] = DEFAULT_SCORER,
    blend: Annotated[
        float | None,
        typer.Option(help="Mix the scores of model and baseline, with this weight for the model.", show_default=False),
    ] = None,
    movement_cap: Annotated[
        int | None,
        typer.Option(help="The largest number of ranks that a document may move.", min=1, show_default=False),
    ] = None,
    drift: Annotated[
        float, typer.Option(help="The proof allows a query to become this many times more frequent.")
    ] = 1.0,
    weights: Annotated[
        Path | None,
        typer.Option(help="Draws of `surefoot judge-next`, or a CSV file of strata and shares.", show_default=False),
    ] = None,
    strata: Annotated[
        Path | None,
        typer.Option(help="A CSV file with the stratum of each query: query, stratum.", show_default=False),
    ] = None,
    traffic: Annotated[
        Path | None,
        typer.Option(help="All traffic without labels. It limits how much can be lost.", show_default=False),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(
            help="Remember in this file what the queries decided. Each question lowers δ.", show_default=False
        ),
    ] = None,
    unanswered: Annotated[
        NothingToLoseTreatment,
        typer.Option(help="What to do with queries without a relevant document."),
    ] = NothingToLoseTreatment.leave_out,
    html: Annotated[Path | None, typer.Option(help="Write a page with the certificate.", show_default=False)] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the certificate as JSON.", show_default=False)
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
    automatic: Annotated[str | None, typer.Option(hidden=True, help="Not supported yet.")] = None,
    fill: Annotated[str | None, typer.Option(hidden=True, help="Not supported.")] = None,
    gate: Annotated[str | None, typer.Option(hidden=True, help="The old name of --scorer.")] = None,
) -> None:
    """Show a model only for queries where its risk is proved to be low enough; show the baseline elsewhere.

    **Example:** `surefoot control model/ --valid vali.txt --judged judged.txt -b feature:25 --risk 0.02 -o controlled/`
    """
    for given, reason in ((automatic, NO_AUTOMATIC_REASON), (fill, NO_FILL_REASON)):
        if given is not None:
            raise ArgumentError(reason)
    read = [path for path in (valid, judged, weights, strata, traffic) if path is not None]
    check_outputs(
        [
            OutputModel("--output", output, is_own_file=is_controller_file, what="a controller"),
            Output("--html", html, PAGE),
            Output("--json", json_file, JSON),
        ],
        [*model_files(model), *read, *baseline_files(baseline), *([] if record is None else [record])],
        force,
    )
    check_outputs([Output("--record", record)], [*model_files(model), *read, *baseline_files(baseline)], force=True)
    from surefoot.decide.control.controller import RiskController
    from surefoot.learn.baseline_spec import read_like, with_baselines
    from surefoot.neural.loading import load_ranker

    levels = {name: level for name, level in {"risk": risk, "share_hurt": share_hurt}.items() if level is not None}
    ranker = load_ranker(model)
    shipped = BaselineSpec.parse(baseline[0]).name
    controller = RiskController(
        ranker, baseline=shipped, level=levels or DEFAULT_RISK_LEVEL, delta=delta, measure=measure, method=method,
        scorer=scorer, gate=gate, blend=blend, movement_cap=movement_cap, drift=drift, unanswered=unanswered,
    )  # fmt: skip
    controller.candidate_name = model.resolve().name
    controller.baseline_source = resolve_baseline(baseline[0])
    with busy("Reading data"):
        data = {
            path: with_baselines(read_like(path, ranker.n_features_in_), baseline, path)
            for path in (valid, judged, traffic)
            if path is not None
        }
    with busy("Fitting the scorer"):
        controller.fit_scorer(data[valid])
    with busy("Calibrating"):
        controller.calibrate(
            data[judged],
            weights=weights,
            strata=strata,
            traffic=None if traffic is None else data[traffic],
            record=record,
        )
    controller.save(output)
    certificate = controller.certificate_

    def show_certificate() -> None:
        typer.echo(certificate.to_text())
        typer.echo()
        typer.echo(
            visible(
                f"Wrote the controller to {output}. To rank with it, run: "
                f"surefoot rank --controlled {output} DATA -o RUN"
            )
        )

    provenance = page_provenance(html, [model, *read, *baseline_files(baseline)])
    deliver(
        certificate,
        {"html": html, "json": json_file},
        show_certificate,
        Printing(),
        quiet,
        {"html": {"provenance": provenance}},
    )
