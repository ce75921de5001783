"""`surefoot agreement`: what an automatic judge is worth."""

from __future__ import annotations

from typing import Annotated

import typer

from surefoot.cli.outputs import JSON, Output, check_outputs
from surefoot.cli.page_provenance import page_provenance
from surefoot.cli.printing import deliver, file_or_none, printing_of, show
from surefoot.cli.runs import EVALUATION_MEASURE, input_files
from surefoot.cli.shared_options import Force, JsonOrTerminal, Quiet
from surefoot.errors import ArgumentError
from surefoot.report.signatures import PAGE


def agreement(
    human: Annotated[str, typer.Argument(metavar="HUMAN", help="People's judgments, in any format.")],
    automatic: Annotated[
        str, typer.Argument(metavar="AUTO", help="An automatic judge's judgments: qrels, umbrela, CSV with a judge.")
    ],
    files: Annotated[
        list[str] | None, typer.Argument(metavar="[RUN]...", help="Runs, NAME=FILE or FILE.", show_default=False)
    ] = None,
    measure: Annotated[
        str, typer.Option("-m", "--measure", help="The measure that will decide the release.")
    ] = EVALUATION_MEASURE,
    baseline: Annotated[
        str | None, typer.Option("-b", "--baseline", help="The live system.", show_default=False)
    ] = None,
    candidate: Annotated[
        str | None,
        typer.Option(
            "-c", "--candidate", help="The system that you want to ship.", show_default="the other of two runs"
        ),
    ] = None,
    risk: Annotated[
        float | None,
        typer.Option(help="The level of risk that a gate must prove.", show_default="twice the risk by people"),
    ] = None,
    json_file: JsonOrTerminal = None,
    html_file: Annotated[str | None, typer.Option("--html", help="Write the page.", show_default=False)] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Compare an automatic judge with people: agreement, bias, and how many judgments it would save in a gate.

    **Example:** `surefoot agreement qrels.txt auto.qrels today.run new.run --baseline today`
    """
    if (baseline or candidate or risk is not None) and not files:
        raise ArgumentError("--baseline, --candidate and --risk need runs; add the runs of two systems")
    printing = printing_of({"json": json_file})
    outputs = {"json": file_or_none(json_file), "html": html_file}
    inputs = [human, automatic, *input_files(files or [])]
    check_outputs([Output("--json", outputs["json"], JSON), Output("--html", html_file, PAGE)], inputs, force)
    from surefoot.cli.runs import read_named_runs
    from surefoot.data.reading.files import as_text
    from surefoot.decide.agreement.agreement import agreement as compare
    from surefoot.decide.agreement.agreement_text import tables
    from surefoot.progress import busy

    with busy("Comparing judges"):
        runs = read_named_runs(files) if files else None
        found = compare(
            human, automatic=automatic, runs=runs, measure=measure,
            baseline=None if baseline is None else as_text(baseline),
            candidate=None if candidate is None else as_text(candidate), risk=risk,
        )  # fmt: skip
    provenance = page_provenance(html_file, inputs)
    deliver(
        found, outputs, lambda: show(tables(found.to_dict())), printing, quiet, {"html": {"provenance": provenance}}
    )
