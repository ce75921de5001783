"""`surefoot convert`: judgments and runs from one form into another, for the tools that teams judge with."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from surefoot.arguments import LARGEST_COUNT
from surefoot.cli.outputs import Output, check_outputs
from surefoot.cli.shared_options import Force, Quiet
from surefoot.data.tools.judges import RatingMerge
from surefoot.data.tools.judgment_formats import JudgmentFormat
from surefoot.errors import ArgumentError, visible


class ConvertFormat(StrEnum):
    """What is written."""

    quepid = JudgmentFormat.quepid.value
    workbench = JudgmentFormat.workbench.value
    query_set = JudgmentFormat.query_set.value
    trec = "trec"


def convert(
    source: Annotated[str, argument("IN", "Judgments or a run, in any format.")],
    output: Annotated[Path, option("-o --output", "The file to write; its ending says how.", FILE)],
    to: Annotated[
        ConvertFormat | None, option("--to", f"{either(ConvertFormat)}.", "WORD")
    ] = None,
    unrated: Annotated[str | None, option("--unrated", "A run with more documents to judge.", FILE)] = None,
    depth: Annotated[
        int | None, option("--depth", "Results to judge.", min=1, max=LARGEST_COUNT, shown="all")
    ] = None,
    texts: TextsFile = None,
    documents: Annotated[str | None, option("--documents", "Texts that IN has in place of their ids.", FILE)] = None,
    merge: Annotated[
        RatingMerge | None, option("--merge", f"Several judges: {either(RatingMerge)}.", "WORD")
    ] = None,
    pick: Annotated[str | None, option("--pick", "Which of several runs, or lists.", NAME)] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Convert judgments or a run to another format.

    **Example:** `surefoot convert qrels.txt --unrated new.run --depth 10 --queries topics.tsv --to quepid -o next.csv`,
    and once they are judged, `surefoot convert judged.csv --queries topics.tsv -o qrels.txt`
    """
    tool = None if to in (None, ConvertFormat.trec) else str(to)
    if run and judges is not None:
        raise ArgumentError("--judges works only with judgments, but IN is a run (--run); remove --judges or --run")
    if unrated is not None and (run or tool is None):
        raise ArgumentError("--unrated adds documents to judgments for a tool; use it with --to and without --run")
    if depth is not None and (tool is None or not (run or unrated)):
        raise ArgumentError("--depth limits the documents to judge; use it with --to, and with --unrated or --run")
    if name is not None and not run and tool in (None, JudgmentFormat.quepid):
        raise ArgumentError("--name works only with --run, or with --to workbench or query-set; remove it")
    if documents is not None and (run or tool is not None):
        raise ArgumentError("--documents works only with judgments, and without --to quepid, workbench or query-set")
    inputs = [path for path in (source, unrated, queries, documents) if path is not None]
    check_outputs([Output("--output", output)], inputs, force)
    from surefoot.data.tools.judgments import write_judgments
    from surefoot.data.tools.query_texts import with_document_ids, with_ids
    from surefoot.data.types.runs import Qrels, Run, read_qrels, read_run

    table: Qrels | Run = read_run(source, name) if run else read_qrels(source, judges=judges)
    if tool is not None:
        write_judgments(
            None if isinstance(table, Run) else table,
            output,
            tool,
            unrated=table if isinstance(table, Run) else unrated,
            depth=depth,
            queries=queries,
            name=None if run else name,
        )
    else:
        if queries is not None:
            table = with_ids(table, queries)
        if documents is not None:
            table = with_document_ids(table, documents)
        (table.write_lines if to is ConvertFormat.trec else table.write)(output)
    if not quiet:
        typer.echo(visible(f"Wrote {len(table):,} documents of {len(table.queries):,} queries to {output}"))
