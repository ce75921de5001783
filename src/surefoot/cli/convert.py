"""`surefoot convert`: judgments and runs from one form into another, for the tools that teams judge with."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from surefoot.arguments import LARGEST_COUNT
from surefoot.cli import shared_options as shared
from surefoot.cli.option import FILE, NAME, argument, option
from surefoot.cli.outputs import Output, check_outputs
from surefoot.cli.printing import either
from surefoot.data.tools.judges import JudgmentFormat, RatingMerge
from surefoot.errors import ArgumentError, DataError, SurefootError, visible

if TYPE_CHECKING:
    from surefoot.data.types.runs import Qrels, Run


class ConvertFormat(StrEnum):
    """What is written."""

    quepid = JudgmentFormat.quepid.value
    workbench = JudgmentFormat.workbench.value
    query_set = JudgmentFormat.query_set.value
    trec = "trec"


_SURELY_A_RANKING = 5  # so many documents of a query with different numbers are no grades


def convert(
    source: Annotated[str, argument("IN", "Judgments or a run, in any format.")],
    output: Annotated[Path, option("-o --output", "The file to write; its ending says how.", FILE)],
    to: Annotated[ConvertFormat | None, option("--to", f"{either(ConvertFormat)}.", "WORD")] = None,
    unrated: Annotated[str | None, option("--unrated", "A run with more documents to judge.", FILE)] = None,
    depth: Annotated[int | None, option("--depth", "Results to judge.", min=1, max=LARGEST_COUNT, shown="all")] = None,
    texts: shared.TextsFile = None,
    documents: Annotated[str | None, option("--documents", "Texts that IN has in place of their ids.", FILE)] = None,
    merge: Annotated[RatingMerge | None, option("--merge", f"Of judges: {either(RatingMerge)}.", "WORD")] = None,
    pick: Annotated[str | None, option("--pick", "Which of several runs, or lists.", NAME)] = None,
    force: shared.Force = False,
    quiet: shared.Quiet = False,
) -> None:
    """Convert judgments or a run to another format.

    **Example:** `surefoot convert qrels.txt --unrated new.run --depth 10 --texts topics.tsv --to quepid -o next.csv`,
    and once they are judged, `surefoot convert judged.csv --texts topics.tsv -o qrels.txt`
    """
    tool = None if to in (None, ConvertFormat.trec) else str(to)
    check_outputs([Output("--output", output)], [source, unrated, texts, documents], force)
    from surefoot.data.tools.judgments import with_document_ids, with_ids, write_judgments
    from surefoot.data.types.runs import Run

    table = _judgments_or_run(source, merge, pick, picks_run=tool in (None, JudgmentFormat.quepid))
    is_run = isinstance(table, Run)
    for option_name, given, allowed, needs in (
        ("--merge", merge is not None, not is_run, "judgments, but IN is a run"),
        ("--unrated", unrated is not None, tool is not None and not is_run, "judgments, and --to of a tool"),
        ("--depth", depth is not None, tool is not None and (is_run or unrated is not None),
         "--to of a tool, and with a run: IN or --unrated"),
        ("--documents", documents is not None, tool is None and not is_run, "judgments, and without --to of a tool"),
    ):  # fmt: skip
        if given and not allowed:
            raise ArgumentError(f"{option_name} works only with {needs}; remove {option_name}")
    if tool is not None:
        write_judgments(
            None if isinstance(table, Run) else table,
            output,
            tool,
            unrated=table if isinstance(table, Run) else unrated,
            depth=depth,
            queries=texts,
            name=None if is_run else pick,
        )
    else:
        if texts is not None:
            table = with_ids(table, texts)
        if documents is not None:
            table = with_document_ids(table, documents)
        (table.write_lines if to is ConvertFormat.trec else table.write)(output)
    if not quiet:
        what = "a run" if is_run else "judgments"
        size = f"{len(table):,} documents of {len(table.queries):,} queries"
        typer.echo(visible(f"Read {source} as {what}, and wrote {size} to {output}"))


def _judgments_or_run(source: str, merge: RatingMerge | None, pick: str | None, *, picks_run: bool) -> Qrels | Run:
    """What a file holds; of what could be either, a run is where no two documents of a query have the same number."""
    from surefoot.data.reading.files import inner_ending
    from surefoot.data.types.runs import read_qrels, read_run

    if pick is not None and picks_run:
        return read_run(source, pick)
    try:
        judged = read_qrels(source, judges=merge)
    except SurefootError as error:
        try:
            return read_run(source)
        except SurefootError as run_error:
            raise (run_error if "a run" in str(error) else error) from None
    try:
        run = read_run(source)
    except DataError:
        return judged
    if (ending := inner_ending(source)) in (".run", ".qrels") or merge is not None:
        return run if ending == ".run" and merge is None else judged
    numbers = [list(grades.values()) for grades in judged.to_dict().values()]
    if any(len(set(one)) < len(one) for one in numbers):
        return judged
    if max(map(len, numbers), default=0) >= _SURELY_A_RANKING:
        return run
    raise DataError.at(
        source, None, "could be judgments or a run; call it .qrels or .run, so that its name says what it is"
    )
