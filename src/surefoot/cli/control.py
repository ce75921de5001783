"""`surefoot control`: wrap a model so that it is shown only where its risk is proved to stay within a level."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli.outputs import JSON, Output, OutputModel, check_outputs
from surefoot.cli.printing import Printing, deliver, either
from surefoot.cli.shared_options import Force, ModelFolder, Quiet
from surefoot.decide.control.file_names import is_controller_file
from surefoot.decide.evidence.unanswered import Unanswered
from surefoot.decide.options import DELTA, LEVEL, METHODS, SCORER
from surefoot.errors import visible
from surefoot.learn.baseline_spec import HELP as BASELINES
from surefoot.learn.baseline_spec import BaselineSpec, baseline_files, resolve_baseline
from surefoot.learn.model_files import model_files
from surefoot.progress import busy
from surefoot.report.marks import PAGE


def control(
    model: ModelFolder,
    valid: Annotated[Path, typer.Option(help="Labelled queries to fit the scorer on: LETOR text or Parquet.")],
    judged: Annotated[Path, typer.Option(help="Other labelled queries, to prove it on.")],
    baseline: Annotated[list[str], typer.Option("-b", "--baseline", help=f"What is shipped today: {BASELINES}")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder to save the controller to.")],
    risk: Annotated[
        float | None, typer.Option(help="Most that a query may lose on average.", show_default=f"{LEVEL:g}")
    ] = None,
    share_hurt: Annotated[
        float | None, typer.Option(help="Most queries that may lose over a fifth, as a share.", show_default=False)
    ] = None,
    delta: Annotated[float, typer.Option(help="Chance of a wrong certificate that is accepted.")] = DELTA,
    measure: Annotated[
        str | None, typer.Option("-m", "--measure", help="From 0 to 1.", show_default="the model's")
    ] = None,
    method: Annotated[str, typer.Option(help=f"{either(METHODS)}.")] = METHODS[0],
    scorer: Annotated[str, typer.Option(help="predicted_gain, predicted_gain:isotonic or feature:K.")] = SCORER,
    blend: Annotated[
        float | None, typer.Option(help="Weight of the model's scores beside the baseline's.", show_default=False)
    ] = None,
    movement_cap: Annotated[
        int | None, typer.Option(help="Most places that a document may move.", min=1, show_default=False)
    ] = None,
    drift: Annotated[float, typer.Option(help="How many times as frequent a query may become.")] = 1.0,
    weights: Annotated[
        Path | None,
        typer.Option(help="Draws of `surefoot judge-next`, or a CSV of strata and shares.", show_default=False),
    ] = None,
    strata: Annotated[
        Path | None, typer.Option(help="CSV with each query's stratum: query, stratum.", show_default=False)
    ] = None,
    traffic: Annotated[
        Path | None, typer.Option(help="All traffic, unlabelled: bounds what can be lost.", show_default=False)
    ] = None,
    ledger: Annotated[
        Path | None, typer.Option(help="Count uses of the judged queries here, and lower δ.", show_default=False)
    ] = None,
    unanswered: Annotated[
        Unanswered,
        typer.Option(help="Queries with nothing relevant: left out, or counted as traffic."),
    ] = Unanswered.leave_out,
    html: Annotated[Path | None, typer.Option(help="Write the certificate's page.", show_default=False)] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the certificate.", show_default=False)] = None,
    force: Force = False,
    quiet: Quiet = False,
    gate: Annotated[str | None, typer.Option(hidden=True, help="The old name of --scorer.")] = None,
) -> None:
    """Show a model only where its risk is proved to stay within a level, and the baseline elsewhere.

    **Example:** `surefoot control model/ --valid vali.txt --judged judged.txt -b feature:25 --risk 0.02 -o controlled/`
    """
    read = [path for path in (valid, judged, weights, strata, traffic) if path is not None]
    check_outputs(
        [
            OutputModel("--output", output, is_own_file=is_controller_file, what="a controller"),
            Output("--html", html, PAGE),
            Output("--json", json_file, JSON),
        ],
        [*model_files(model), *read, *baseline_files(baseline), *([] if ledger is None else [ledger])],
        force,
    )
    from surefoot.decide.control.controller import RiskController
    from surefoot.learn.baseline_spec import read_like, with_baselines
    from surefoot.learn.ranker import Ranker

    levels = {name: level for name, level in {"risk": risk, "share_hurt": share_hurt}.items() if level is not None}
    ranker = Ranker.load(model)
    shipped = BaselineSpec.parse(baseline[0]).name
    controller = RiskController(
        ranker, shipped, levels or LEVEL, delta, measure=measure, method=method, scorer=scorer, gate=gate,
        blend=blend, movement_cap=movement_cap, drift=drift, unanswered=unanswered,
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
            data[judged], weights, strata=strata, traffic=None if traffic is None else data[traffic], ledger=ledger
        )
    controller.save(output)
    certificate = controller.certificate_

    def show_certificate() -> None:
        typer.echo(certificate.to_text())
        typer.echo()
        typer.echo(
            visible(f"The controller is in {output}; rank with: surefoot rank --controlled {output} DATA -o RUN")
        )

    deliver(certificate, {"html": html, "json": json_file}, show_certificate, Printing(), quiet)
