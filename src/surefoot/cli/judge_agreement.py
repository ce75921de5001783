"""`surefoot judge agreement`: what an automatic judge is worth."""

from __future__ import annotations

from typing import Annotated

from surefoot.cli.option import NAME, argument, option
from surefoot.cli.outputs import check_outputs
from surefoot.cli.page_provenance import page_provenance
from surefoot.cli.printing import Delivery, show
from surefoot.cli.runs import EVALUATION_MEASURE, GivenFiles, input_files
from surefoot.cli.shared_options import CandidateName, Force, Html, JsonPath, Live, Quiet
from surefoot.errors import ArgumentError


def judge_agreement(
    people: Annotated[str, argument("PEOPLE", "People's judgments.")],
    automatic: Annotated[str, argument("AUTO", "An automatic judge's judgments.")],
    files: Annotated[list[str] | None, argument("[RUN]...", "Runs. NAME=FILE names a run.")] = None,
    measure: Annotated[str, option("-m --measure", "What will decide.", NAME)] = EVALUATION_MEASURE,
    baseline: Live = None,
    candidate: CandidateName = None,
    risk: Annotated[float | None, option("--risk", "The level to prove.", shown="twice the risk")] = None,
    json_file: JsonPath = None,
    html_file: Html = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Compare an automatic judge with people, and say what it saves.

    **Example:** `surefoot judge agreement qrels.txt auto.qrels today.run new.run --baseline today`
    """
    if (baseline or candidate or risk is not None) and not files:
        raise ArgumentError("--baseline, --candidate and --risk need runs; add the runs of two systems")
    delivery = Delivery(json=json_file, html=html_file)
    given, live = GivenFiles(tuple(files or []), judged=False).with_live(baseline)
    inputs = [people, automatic, *input_files(given.files)]
    check_outputs(delivery.outputs(), inputs, force)
    from surefoot.cli.runs import read_named_runs
    from surefoot.data.reading.files import as_text
    from surefoot.decide.agreement.agreement import judge_agreement as compare
    from surefoot.decide.agreement.agreement_text import tables
    from surefoot.progress import busy

    with busy("Comparing judges"):
        runs = read_named_runs(given.files) if files else None
        found = compare(
            people, automatic=automatic, runs=runs, measure=measure,
            baseline=None if live is None else as_text(live),
            candidate=None if candidate is None else as_text(candidate), risk=risk,
        )  # fmt: skip
    provenance = page_provenance(html_file, inputs)
    delivery.finish(found, lambda: show(tables(found.to_dict())), quiet, html={"provenance": provenance})
