"""`surefoot judge-next`: the queries to have judged, drawn in proportion to what they could lose."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli.outputs import Output, check_outputs
from surefoot.cli.printing import either
from surefoot.cli.runs import EVALUATION_MEASURE, name_and_file
from surefoot.cli.shared_options import Force, Quiet
from surefoot.decide.signatures import DRAWS_CSV
from surefoot.errors import visible

_SHOWN = 20  # rows of the table; the files have all


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
    csv_file: Annotated[
        Path | None,
        typer.Option("--csv", help="Also write the queries to a CSV file for the judges.", show_default=False),
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """List the queries to judge next. Queries that could lose more are drawn more often.

    **Example:** `surefoot judge-next new.run --baseline today.run -m nDCG@10 -n 100 -o draws.json --csv to_judge.csv`
    """
    (name, file), (today, shipped) = name_and_file(run), name_and_file(baseline)
    check_outputs(
        [Output("--output", output), Output("--csv", csv_file, DRAWS_CSV)],
        [file, shipped, *([judged] if judged else []), *([ledger] if ledger else [])],
        force,
    )
    check_outputs([Output("--ledger", ledger)], [file, shipped, *([judged] if judged else [])], force=True)
    from surefoot.data.types.runs import Qrels, read_qrels, read_run
    from surefoot.data.writing.all_or_nothing import write_text
    from surefoot.decide.evidence.draws import judge_next as draw
    from surefoot.decide.evidence.judging_list import documents_to_judge, draws_csv, draws_tables
    from surefoot.decide.evidence.ledger import open_ledger
    from surefoot.progress import busy

    with busy("Reading runs"):
        candidate, reference = read_run(file, name), read_run(shipped, today)
        known: Qrels | None = None if judged is None else read_qrels(judged)
    drawn = draw(candidate, reference, measure, draws, drawn_for=drawn_for, seed=seed)  # type: ignore[arg-type]
    unjudged = documents_to_judge(drawn, candidate, reference, known)
    with ExitStack() as entry:
        if ledger is not None:
            entry.enter_context(open_ledger(ledger)).seeds.append(drawn.seed)
        if csv_file is not None:
            write_text(csv_file, draws_csv(drawn, unjudged))
        drawn.write(output)
    if not quiet:
        from surefoot.cli.printing import show

        show(draws_tables(drawn, unjudged, _SHOWN))
        typer.echo(
            visible(
                f"Wrote the draws to {output}. Judge all of these queries, then run: "
                f"surefoot gate QRELS RUN... --drawn {output}"
            )
        )
