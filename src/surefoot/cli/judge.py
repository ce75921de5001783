"""`surefoot judge`: people's and machines' judgments: which to ask for next, and what an automatic judge is worth."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from surefoot.cli import shared_options as shared
from surefoot.cli.commands import helpful_group
from surefoot.cli.option import FILE, NAME, argument, option
from surefoot.cli.outputs import DRAWS_CSV, Output, check_outputs
from surefoot.cli.printing import Delivery, results, show
from surefoot.cli.runs import EVALUATION_MEASURE, GivenFiles, choose_baseline, input_files, read_named_runs
from surefoot.errors import ArgumentError, DataError, visible

if TYPE_CHECKING:
    from surefoot.data.types.runs import Qrels

_SHOWN_DRAWS = 20  # rows of the table; the files have all


judge = helpful_group("judge", "Say what to judge next, and what an automatic judge is worth.")


@shared.add_command(judge, "next")
def judge_next(  # noqa: PLR0915  # a list of its options
    runs: Annotated[list[str], argument("RUN RUN", "The two runs. NAME=FILE names a run.")],
    baseline: shared.Live = None,
    output: Annotated[Path | None, option("-o --output", "Draws for one look, without a record.", FILE)] = None,
    record: Annotated[Path | None, option("--record", "Keeps the draws, and all looks of the gate.", FILE)] = None,
    uniform: Annotated[bool, option("--uniform", "Distinct queries, equal chances. --record.")] = False,
    measure: Annotated[str, option("-m --measure", "What will decide.", NAME)] = EVALUATION_MEASURE,
    draws: Annotated[int, option("-n --draws", "Number of draws.", min=1)] = 100,
    to_prove: Annotated[str | None, option("--to-prove", "Conditions on risk or gain.", "WORD", shown="risk")] = None,
    traffic: shared.TrafficFile = None,
    qrels: Annotated[Path | None, option("--qrels", "Judgments that exist; they are not listed.", FILE)] = None,
    seed: Annotated[int | None, option("--seed", "Repeat these draws.", min=0, shown="a new seed")] = None,
    automatic: Annotated[str | None, option("--automatic", "An automatic judge's, of all traffic.", FILE)] = None,
    unjudged: Annotated[str, option("--unjudged", "If left out: error or zero.", "WORD")] = "error",
    csv_file: Annotated[Path | None, option("--csv", "The queries, for those who judge.", FILE)] = None,
    documents_csv: Annotated[Path | None, option("--documents-csv", "The documents, for Quepid.", FILE)] = None,
    query_set: Annotated[Path | None, option("--query-set", "The queries, for the Workbench.", FILE)] = None,
    texts: shared.TextsFile = None,
    force: shared.Force = False,
    quiet: shared.Quiet = False,
) -> None:
    """Draw the queries to judge next, by what they could lose.

    **Example:** `surefoot judge next today.run new.run -b today -n 100 --record release.json --csv to_judge.csv`
    """
    _check_together(output, record, uniform, bool(traffic or automatic or to_prove))
    for option_name, given, needs, there in (
        ("--unjudged", unjudged != "error", "--automatic", automatic is not None),
        ("--texts", texts is not None, "--documents-csv or --query-set", bool(documents_csv or query_set)),
    ):
        if given and not there:
            raise ArgumentError(f"{option_name} works only with {needs}; add it, or remove {option_name}")
    named, live = GivenFiles(tuple(runs), judged=False).with_live(baseline)
    inputs = [*input_files(named.files), qrels, traffic, automatic, texts]
    outputs = [Output("--output", output), Output("--csv", csv_file, DRAWS_CSV)]
    outputs += [Output("--documents-csv", documents_csv), Output("--query-set", query_set)]
    check_outputs(outputs, [*inputs, record], force)
    check_outputs([Output("--record", record)], inputs, force=True)
    from surefoot.data.reading.files import as_text
    from surefoot.data.tools.judgments import write_judgments
    from surefoot.data.writing.all_or_nothing import write_text
    from surefoot.decide.evidence.judge_next import (
        documents_shown_by_query,
        documents_to_judge,
        drawn_order,
        draws_csv,
        draws_tables,
        sample_csv,
        sample_next,
        sample_tables,
    )
    from surefoot.decide.evidence.judge_next import judge_next as draw
    from surefoot.decide.evidence.judged_queries import systems_of
    from surefoot.measures.scoring import runs_by_name
    from surefoot.measures.worst_case import check_bounded
    from surefoot.progress import busy

    with busy("Reading runs"):
        found = read_named_runs(named.files)
        if live is None:
            raise ArgumentError(choose_baseline([run.name for run in found], virtual=False))
        if len(found) != 2:
            raise ArgumentError(f"two runs are needed, the live one and the candidate; found {len(found)}")
        systems = {run.name: run for run in runs_by_name(found)}
        shown, shipped = systems_of([*systems], None, as_text(live))
        candidate, reference = systems[shown], systems[shipped]
        known = None if qrels is None else _by_people(qrels, automatic)
    kind, again = check_bounded(measure), f"surefoot gate QRELS RUN... --record {record}"
    if uniform and record is not None:
        entry = sample_next(candidate, reference, draws, record, seed=seed)
        order = entry["queries"]
        to_judge = documents_to_judge(order, kind, candidate, reference, known)
        table, tables = sample_csv(order, to_judge), sample_tables(entry, to_judge, _SHOWN_DRAWS)
    else:
        drawn = draw(
            [candidate, reference], candidate=shown, baseline=shipped, measure=measure, n=draws, seed=seed,
            to_prove=to_prove or "risk", traffic=traffic, record=record,  # type: ignore[arg-type]
            automatic=automatic, unjudged=unjudged,  # type: ignore[arg-type]
        )  # fmt: skip
        order = [drawn.queries[row] for row in drawn_order(drawn)]
        to_judge = documents_to_judge(drawn.queries, kind, candidate, reference, known)
        table, tables = draws_csv(drawn, to_judge), draws_tables(drawn, to_judge, _SHOWN_DRAWS)
        again = f"surefoot gate QRELS RUN... {'--record' if record else '--sample'} {record or output}"
        again += "" if automatic is None else f" --automatic {automatic}"
        if output is not None:
            drawn.write(output)
    if csv_file is not None:
        write_text(csv_file, table)
    for path, form in ((documents_csv, "quepid"), (query_set, "query-set")):
        if path is not None:
            unrated = documents_shown_by_query(order, kind, candidate, reference)
            write_judgments(_of_queries(known, unrated), path, form, unrated=unrated, queries=texts)
    if not quiet:
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
            "--uniform draws all queries with equal chances, for every kind of condition; remove --to-prove, "
            "--traffic and --automatic"
        )


def _by_people(judged: Path, automatic: str | None) -> Qrels:
    """The judgments that exist, which people must have made."""
    from surefoot.data.hashes import judgments_hash
    from surefoot.data.types.runs import read_qrels
    from surefoot.decide.evidence.judged_queries import refuse_machine_judgments

    known = read_qrels(judged)
    refuse_machine_judgments(known)
    if automatic is not None and judgments_hash(known) == judgments_hash(read_qrels(automatic)):
        raise DataError("--qrels has the judgments of --automatic; give those that people made, or leave it out")
    return known


def _of_queries(judged: Qrels | None, queries: Iterable[str]) -> dict[str, dict[str, float]] | None:
    """The judgments that exist of the drawn queries, in their order; a tool shows them as rated."""
    if judged is None:
        return None
    grades = judged.to_dict()
    return {query: grades[query] for query in queries if query in grades} or None


@shared.add_command(judge, "agreement")
def judge_agreement(
    people: Annotated[str, argument("PEOPLE", "People's judgments.")],
    automatic: Annotated[str, argument("AUTO", "An automatic judge's judgments.")],
    files: Annotated[list[str] | None, argument("[RUN]...", "Runs. NAME=FILE names a run.")] = None,
    measure: Annotated[str, option("-m --measure", "What will decide.", NAME)] = EVALUATION_MEASURE,
    baseline: shared.Live = None,
    candidate: shared.CandidateName = None,
    risk: Annotated[float | None, option("--risk", "The level to prove.", shown="twice the risk")] = None,
    *,
    delivery: Annotated[Delivery, results("json html")],
) -> None:
    """Compare an automatic judge with people, and say what it saves.

    **Example:** `surefoot judge agreement qrels.txt auto.qrels today.run new.run --baseline today`
    """
    if (baseline or candidate or risk is not None) and not files:
        raise ArgumentError("--baseline, --candidate and --risk need runs; add the runs of two systems")
    given, live = GivenFiles(tuple(files or []), judged=False).with_live(baseline)
    inputs = [people, automatic, *input_files(given.files)]
    delivery.check(inputs)
    from surefoot.data.reading.files import as_text
    from surefoot.decide.agreement.agreement import judge_agreement as compare
    from surefoot.decide.agreement.agreement_view import tables
    from surefoot.progress import busy

    with busy("Comparing judges"):
        runs = read_named_runs(given.files) if files else None
        found = compare(
            people, automatic=automatic, runs=runs, measure=measure,
            baseline=None if live is None else as_text(live),
            candidate=None if candidate is None else as_text(candidate), risk=risk,
        )  # fmt: skip
    delivery.finish(found, lambda: show(tables(found.to_dict())), inputs)
