"""`surefoot judge-next`: the queries to have judged, drawn in proportion to what they could lose."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from surefoot.cli.outputs import Output, check_outputs
from surefoot.cli.printing import either
from surefoot.cli.runs import EVALUATION_MEASURE, name_and_file
from surefoot.cli.shared_options import Force, Quiet, TrafficFile
from surefoot.decide.signatures import DRAWS_CSV
from surefoot.errors import ArgumentError, DataError, visible

if TYPE_CHECKING:
    from surefoot.data.types.runs import Qrels

_SHOWN_DRAWS = 20  # rows of the table; the files have all


def judge_next(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The candidate's results, NAME=FILE or FILE.")],
    baseline: Annotated[str, typer.Option("-b", "--baseline", help="The live results, NAME=FILE or FILE.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Write the draws to this JSON file. The gate reads it.")
    ],
    measure: Annotated[
        str, typer.Option("-m", "--measure", help="The measure that will decide the release.")
    ] = EVALUATION_MEASURE,
    draws: Annotated[
        int, typer.Option("-n", "--draws", help="Number of draws. A query that is drawn twice counts twice.", min=1)
    ] = 100,
    drawn_for: Annotated[
        str, typer.Option("--for", help=f"The kind of conditions that you will test: {either(('risk', 'gain'))}.")
    ] = "risk",
    traffic: TrafficFile = None,
    judged: Annotated[
        Path | None,
        typer.Option(help="Existing judgments. Documents in this file are not listed again.", show_default=False),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Repeat the draws of this seed. A repeated draw proves nothing new.",
            min=0,
            show_default="a new random seed",
        ),
    ] = None,
    ledger: Annotated[
        Path | None,
        typer.Option(
            help="Record the draws in this ledger, so that a later decision can report unused draws.",
            show_default=False,
        ),
    ] = None,
    automatic: Annotated[
        str | None,
        typer.Option(
            help="An automatic judge's judgments of all traffic. Their hash is kept for surefoot gate --automatic.",
            show_default=False,
        ),
    ] = None,
    unjudged: Annotated[
        str,
        typer.Option(
            help="Queries that the automatic judge did not judge: refuse them (error), or count them as no "
            "difference (zero)."
        ),
    ] = "error",
    csv_file: Annotated[
        Path | None,
        typer.Option("--csv", help="Also write the queries to a CSV file for the judges.", show_default=False),
    ] = None,
    quepid: Annotated[
        Path | None,
        typer.Option(help="Also write the documents to judge as a CSV file for Quepid.", show_default=False),
    ] = None,
    query_set: Annotated[
        Path | None,
        typer.Option(
            help="Also write the queries to judge as a query set for the Search Relevance Workbench.",
            show_default=False,
        ),
    ] = None,
    queries: Annotated[
        str | None,
        typer.Option(help="Query texts for these two files, as for evaluate.", show_default=False),
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """List the queries to judge next. Queries that could lose more are drawn more often.

    **Example:** `surefoot judge-next new.run --baseline today.run -m nDCG@10 -n 100 -o draws.json --csv to_judge.csv`
    """
    (name, file), (today, shipped) = name_and_file(run), name_and_file(baseline)
    if unjudged != "error" and automatic is None:
        raise ArgumentError("--unjudged works only with --automatic; add --automatic FILE, or remove --unjudged")
    if queries is not None and quepid is None and query_set is None:
        raise ArgumentError("--queries works only with --quepid or --query-set; add one of them, or remove --queries")
    inputs = [file, shipped, *(str(path) for path in (judged, traffic, automatic, queries) if path is not None)]
    outputs = [Output("--output", output), Output("--csv", csv_file, DRAWS_CSV)]
    outputs += [Output("--quepid", quepid), Output("--query-set", query_set)]
    check_outputs(outputs, [*inputs, *([ledger] if ledger else [])], force)
    check_outputs([Output("--ledger", ledger)], inputs, force=True)
    from surefoot.data.hashes import judgments_hash
    from surefoot.data.tools.judgments import write_judgments
    from surefoot.data.types.runs import read_qrels, read_run
    from surefoot.data.writing.all_or_nothing import write_text
    from surefoot.decide.evidence.draws import judge_next as draw
    from surefoot.decide.evidence.judged_queries import refuse_machine_judgments
    from surefoot.decide.evidence.judging_list import (
        documents_shown_by_query,
        documents_to_judge,
        draws_csv,
        draws_tables,
    )
    from surefoot.decide.evidence.ledger import open_ledger
    from surefoot.progress import busy

    with busy("Reading runs"):
        candidate, reference = read_run(file, name), read_run(shipped, today)
        known = None if judged is None else read_qrels(judged)
    if known is not None:
        refuse_machine_judgments(known)
    drawn = draw(
        candidate, reference, measure, draws, drawn_for=drawn_for, seed=seed,  # type: ignore[arg-type]
        automatic=automatic, unjudged=unjudged, weights=traffic,  # type: ignore[arg-type]
    )  # fmt: skip
    if known is not None and drawn.automatic is not None and judgments_hash(known) == drawn.automatic["sha256"]:
        raise DataError("--judged has the judgments of --automatic; give those that people made, or leave it out")
    to_judge = documents_to_judge(drawn, candidate, reference, known)
    with ExitStack() as entry:
        if ledger is not None:
            entry.enter_context(open_ledger(ledger)).seeds.append(drawn.identity)
        if csv_file is not None:
            write_text(csv_file, draws_csv(drawn, to_judge))
        for path, form in ((quepid, "quepid"), (query_set, "query-set")):
            if path is not None:
                unrated = documents_shown_by_query(drawn, candidate, reference)
                write_judgments(_of_queries(known, unrated), path, form, unrated=unrated, queries=queries)
        drawn.write(output)
    if not quiet:
        from surefoot.cli.printing import show

        show(draws_tables(drawn, to_judge, _SHOWN_DRAWS))
        typer.echo(
            visible(
                f"Wrote the draws to {output}. Judge all of these queries, then run: "
                f"surefoot gate QRELS RUN... --drawn {output}"
                + ("" if automatic is None else f" --automatic {automatic}")
                + ("" if drawn.by_traffic is None else f" --traffic {traffic}")
            )
        )


def _of_queries(judged: Qrels | None, queries: Iterable[str]) -> dict[str, dict[str, float]] | None:
    """The judgments that exist of the drawn queries, in their order; a tool shows them as rated."""
    if judged is None:
        return None
    grades = judged.to_dict()
    return {query: grades[query] for query in queries if query in grades} or None
