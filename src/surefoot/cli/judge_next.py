"""`surefoot judge-next`: the queries to have judged, drawn in proportion to what they could lose."""

from __future__ import annotations

from collections.abc import Iterable
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
        Path | None,
        typer.Option(
            "-o", "--output", help="Write the draws to this JSON file. The gate reads it.", show_default=False
        ),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(help="Keep the draws or the sample in this record. The gate reads it.", show_default=False),
    ] = None,
    uniform: Annotated[
        bool, typer.Option("--uniform", help="Draw distinct queries with equal chances. Needs --record.")
    ] = False,
    measure: Annotated[
        str, typer.Option("-m", "--measure", help="The measure that will decide the release.")
    ] = EVALUATION_MEASURE,
    draws: Annotated[
        int, typer.Option("-n", "--draws", help="Number of draws. A query that is drawn twice counts twice.", min=1)
    ] = 100,
    drawn_for: Annotated[
        str | None,
        typer.Option(
            "--for", help=f"The kind of conditions that you will test: {either(('risk', 'gain'))}.", show_default="risk"
        ),
    ] = None,
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
    _check_together(output, record, uniform, bool(traffic or automatic or drawn_for))
    for option, given, needs, there in (
        ("--unjudged", unjudged != "error", "--automatic", automatic is not None),
        ("--queries", queries is not None, "--quepid or --query-set", bool(quepid or query_set)),
    ):
        if given and not there:
            raise ArgumentError(f"{option} works only with {needs}; add it, or remove {option}")
    inputs = [file, shipped, *(str(path) for path in (judged, traffic, automatic, queries) if path is not None)]
    outputs = [Output("--output", output), Output("--csv", csv_file, DRAWS_CSV)]
    outputs += [Output("--quepid", quepid), Output("--query-set", query_set)]
    check_outputs(outputs, [*inputs, *([record] if record else [])], force)
    check_outputs([Output("--record", record)], inputs, force=True)
    from surefoot.data.tools.judgments import write_judgments
    from surefoot.data.types.runs import read_run
    from surefoot.data.writing.all_or_nothing import write_text
    from surefoot.decide.evidence.judge_next import judge_next as draw
    from surefoot.decide.evidence.judge_next import sample_next
    from surefoot.decide.evidence.judging_list import (
        documents_shown_by_query,
        documents_to_judge,
        drawn_order,
        draws_csv,
        draws_tables,
        sample_csv,
        sample_tables,
    )
    from surefoot.measures.worst_case import check_bounded
    from surefoot.progress import busy

    with busy("Reading runs"):
        candidate, reference = read_run(file, name), read_run(shipped, today)
        known = None if judged is None else _by_people(judged, automatic)
    kind, again = check_bounded(measure), f"surefoot gate QRELS RUN... --record {record}"
    if uniform and record is not None:
        entry = sample_next(candidate, reference, draws, record, seed=seed)
        order = entry["queries"]
        to_judge = documents_to_judge(order, kind, candidate, reference, known)
        table, tables = sample_csv(order, to_judge), sample_tables(entry, to_judge, _SHOWN_DRAWS)
    else:
        drawn = draw(
            candidate, baseline=reference, measure=measure, n=draws, seed=seed,
            drawn_for=drawn_for or "risk",  # type: ignore[arg-type]
            automatic=automatic, unjudged=unjudged, weights=traffic, record=record,  # type: ignore[arg-type]
        )  # fmt: skip
        order = [drawn.queries[row] for row in drawn_order(drawn)]
        to_judge = documents_to_judge(drawn.queries, kind, candidate, reference, known)
        table, tables = draws_csv(drawn, to_judge), draws_tables(drawn, to_judge, _SHOWN_DRAWS)
        again = f"surefoot gate QRELS RUN... {'--record' if record else '--drawn'} {record or output}"
        again += "" if automatic is None else f" --automatic {automatic}"
        again += "" if drawn.by_traffic is None else f" --traffic {traffic}"
        if output is not None:
            drawn.write(output)
    if csv_file is not None:
        write_text(csv_file, table)
    for path, form in ((quepid, "quepid"), (query_set, "query-set")):
        if path is not None:
            unrated = documents_shown_by_query(order, kind, candidate, reference)
            write_judgments(_of_queries(known, unrated), path, form, unrated=unrated, queries=queries)
    if not quiet:
        from surefoot.cli.printing import show

        show(tables)
        typer.echo(visible(f"Wrote the queries to {record or output}. Judge all of these queries, then run: {again}"))


def _check_together(output: Path | None, record: Path | None, uniform: bool, weighed: bool) -> None:
    """Refuse a list that nothing keeps, or that two files would; `weighed`: draws are asked for by some weights."""
    if (output is None) == (record is None):
        raise ArgumentError(
            "say where the draws go: to a record that remembers all looks (--record FILE), or for one look to a file "
            "(-o FILE)" + ("" if output is None else "; a record holds its draws, so leave -o out")
        )
    if uniform and record is None:
        raise ArgumentError("--uniform needs --record FILE, which keeps the random order of the queries")
    if uniform and weighed:
        raise ArgumentError(
            "--uniform draws all queries with equal chances, for every kind of condition; remove --for, --traffic and "
            "--automatic"
        )


def _by_people(judged: Path, automatic: str | None) -> Qrels:
    """The judgments that exist, which people must have made."""
    from surefoot.data.hashes import judgments_hash
    from surefoot.data.types.runs import read_qrels
    from surefoot.decide.evidence.judged_queries import refuse_machine_judgments

    known = read_qrels(judged)
    refuse_machine_judgments(known)
    if automatic is not None and judgments_hash(known) == judgments_hash(read_qrels(automatic)):
        raise DataError("--judged has the judgments of --automatic; give those that people made, or leave it out")
    return known


def _of_queries(judged: Qrels | None, queries: Iterable[str]) -> dict[str, dict[str, float]] | None:
    """The judgments that exist of the drawn queries, in their order; a tool shows them as rated."""
    if judged is None:
        return None
    grades = judged.to_dict()
    return {query: grades[query] for query in queries if query in grades} or None
