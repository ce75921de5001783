"""`surefoot gate`: ship, stop or undecided, as a build's exit code."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot.arguments import LARGEST_COUNT
from surefoot.cli.choices import CHOOSE_CONDITIONS, choose_baseline
from surefoot.cli.outputs import JSON, Output, check_outputs
from surefoot.cli.policy_start import start_policy
from surefoot.cli.printing import file_or_none, print_result, printing_of, show, write_files
from surefoot.cli.runs import EVALUATION_MEASURE, name_and_file, read_scored
from surefoot.cli.shared_options import Force, JsonOrTerminal, MissingQueries, OptionalJudgedRuns, Quiet, ScoreMatrix
from surefoot.decide.evidence.unanswered import Unanswered
from surefoot.decide.marks import DECISION_JUNIT, DECISION_MARKDOWN
from surefoot.decide.options import DELTA, EVERY
from surefoot.errors import ArgumentError, shortened
from surefoot.report.marks import PAGE

if TYPE_CHECKING:
    from surefoot.decide.evidence.conditions import Condition
    from surefoot.decide.gate.decision import Decision

_IN_SEGMENT = re.compile(r"(?P<segment>.+):(?P<key>[\w-]+)=(?P<level>[^=]+)")


class DecisionFormat(StrEnum):
    """What is printed."""

    table = "table"
    json = "json"
    markdown = "markdown"


def gate(
    files: OptionalJudgedRuns = None,
    baseline: Annotated[
        str | None, typer.Option("-b", "--baseline", help="What is shipped today.", show_default=False)
    ] = None,
    candidate: Annotated[
        str | None,
        typer.Option("-c", "--candidate", help="What might be shipped.", show_default="of two runs the other one"),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(
            "-m",
            "--measure",
            help="A measure from 0 to 1. Of --scores, what to call them.",
            show_default=EVALUATION_MEASURE,
        ),
    ] = None,
    scores: ScoreMatrix = None,
    policy: Annotated[
        str | None,
        typer.Option(help="The conditions as TOML; the next six options go before it.", show_default=False),
    ] = None,
    risk: Annotated[float | None, typer.Option(help="Most average loss over all queries.", show_default=False)] = None,
    share_hurt: Annotated[
        float | None, typer.Option(help="Largest share of queries that lose over 20 %.", show_default=False)
    ] = None,
    gain: Annotated[
        float | None, typer.Option(help="The average gain must be above this, such as 0.", show_default=False)
    ] = None,
    u_risk: Annotated[
        str | None,
        typer.Option(metavar="ALPHA:LEVEL", help="U_Risk at α must be above this, such as 5:0.", show_default=False),
    ] = None,
    delta: Annotated[
        float | None, typer.Option(help="The chance of a wrong decision that is accepted.", show_default=str(DELTA))
    ] = None,
    segment: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME:KEY=LEVEL",
            help=f"A condition on a segment, such as 'head:risk=0.05'; {EVERY} is each. Several times for several.",
            show_default=False,
        ),
    ] = None,
    segments: Annotated[
        str | None, typer.Option(help="Kinds of queries: CSV or Parquet, the query first.", show_default=False)
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(help="Strata's shares of traffic: CSV or Parquet, stratum and share.", show_default=False),
    ] = None,
    strata: Annotated[
        str | None,
        typer.Option(help="Each query's stratum: CSV or Parquet, the query first.", show_default="--segments"),
    ] = None,
    drawn: Annotated[
        str | None, typer.Option(help="How the judged queries were drawn (judge-next).", show_default=False)
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            help="Judgments in all, looked at batch by batch; needs --state.",
            min=1,
            max=LARGEST_COUNT,
            show_default=False,
        ),
    ] = None,
    state: Annotated[
        str | None, typer.Option(help="What earlier batches were; made where there is none.", show_default=False)
    ] = None,
    ledger: Annotated[
        str | None,
        typer.Option(help="Counts uses of these queries, and lowers δ; made if absent.", show_default=False),
    ] = None,
    json_file: JsonOrTerminal = None,
    markdown_file: Annotated[
        str | None, typer.Option("--markdown", help="Write Markdown, for a pull request.", show_default=False)
    ] = None,
    junit_file: Annotated[
        str | None, typer.Option("--junit", help="Write JUnit XML, for a build server.", show_default=False)
    ] = None,
    html_file: Annotated[str | None, typer.Option("--html", help="Write the page.", show_default=False)] = None,
    queries: Annotated[
        str | None,
        typer.Option(help="Queries' texts to show: id, tab, text; JSON lines, TREC topics.", show_default=False),
    ] = None,
    missing: MissingQueries = None,
    unanswered: Annotated[
        Unanswered,
        typer.Option(help="Queries that neither answers, or with nothing relevant: left out, or counted as traffic."),
    ] = Unanswered.leave_out,
    format_: Annotated[DecisionFormat, typer.Option("--format", help="What to print.")] = DecisionFormat.table,
    force: Force = False,
    quiet: Quiet = False,
    init: Annotated[
        bool, typer.Option("--init", help="Write a commented policy to start from; FILE in place of QRELS names it.")
    ] = False,
) -> None:
    """Decide on a release: exit code 0 to ship, 1 to stop, 3 to judge more queries, 2 on errors.

    **Example:** `surefoot gate qrels.txt today.run new.run --baseline today --risk 0.02 --gain 0`

    In GitHub Actions it also writes the job's summary, and marks the conditions that fail.
    """
    levels = {"risk": risk, "share_hurt": share_hurt, "gain": gain, "u_risk": u_risk}
    conditions = _conditions(levels, segment or []) | ({} if delta is None else {"delta": delta})
    if init:
        return start_policy(files or [], bool(conditions) or policy is not None, force, quiet)
    if policy is None and not set(conditions) - {"delta"}:
        raise ArgumentError(CHOOSE_CONDITIONS)
    printing = printing_of({"json": json_file}, None if format_ is DecisionFormat.table else format_)
    outputs = {
        "json": file_or_none(json_file), "markdown": markdown_file, "junit": junit_file, "html": html_file,
    }  # fmt: skip
    marks = {"json": JSON, "markdown": DECISION_MARKDOWN, "junit": DECISION_JUNIT, "html": PAGE}
    inputs = [path for _, path in map(name_and_file, files or [])]
    inputs += [one for one in (scores, policy, segments, weights, strata, drawn, queries) if one is not None]
    summary = os.environ.get("GITHUB_STEP_SUMMARY") or None
    updated = [one for one in (state, ledger, summary) if one is not None]  # read and then written
    check_outputs([Output(f"--{kind}", path, marks[kind]) for kind, path in outputs.items()], inputs + updated, force)
    check_outputs(
        [Output("--state", state), Output("--ledger", ledger)], [*inputs, *filter(None, [summary])], force=True
    )
    from surefoot.data.reading.files import as_text
    from surefoot.decide.gate.gate import deciding
    from surefoot.decide.gate.github_actions import append_summary, commands
    from surefoot.decide.gate.policy import ReleasePolicy

    parsed = ReleasePolicy.read(conditions) if policy is None else ReleasePolicy.read(policy, conditions)

    (matrix,) = read_scored("gate", files or [], scores, [] if measure is None else [measure], missing)
    if baseline is None:
        raise ArgumentError(choose_baseline(matrix.systems, virtual=False))
    with deciding(
        matrix,
        None if candidate is None else as_text(candidate),
        as_text(baseline),
        parsed,
        segments=segments,
        weights=weights,
        strata=strata,
        drawn=drawn,
        budget=budget,
        state=state,
        ledger=ledger,
        queries=queries,
        unanswered=unanswered,
    ) as decision:
        write_files(decision, outputs)
        if summary is not None:
            append_summary(summary, decision.to_markdown())
        with suppress(BrokenPipeError):  # who reads no further must not turn a stop into a success
            print_result(decision, lambda: _show_tables(decision), printing, quiet)
            for line in commands(decision.to_dict()) if summary is not None else ():
                typer.echo(line, err=printing.kind == DecisionFormat.json)
    raise typer.Exit(decision.exit_code)


def _conditions(levels: Mapping[str, float | str | None], segments: list[str]) -> dict[str, Any]:
    """The policy that the options are; `levels` has an option for each condition."""
    from surefoot.decide.evidence.conditions import CONDITIONS

    policy: dict[str, Any] = {
        name: _level(f"--{name.replace('_', '-')}", CONDITIONS[name], level)
        for name, level in levels.items()
        if level is not None
    }
    for text in segments:
        parts = _IN_SEGMENT.fullmatch(text)
        if parts is None:
            raise ArgumentError(f"--segment {shortened(text)} is not understood; write it as 'head:risk=0.05'")
        key, level = parts["key"].replace("-", "_"), parts["level"]
        own = policy.setdefault("segments", {}).setdefault(parts["segment"], {})
        if key in own:
            raise ArgumentError(f"--segment {shortened(text)}: {key} of that segment is given twice")
        own[key] = _level("--segment", CONDITIONS.get(key), level)
    return policy


def _level(option: str, condition: Condition | None, level: float | str) -> float | dict[str, float]:
    """What a policy has for a condition, from what an option says: a level, or α:level."""
    if not isinstance(level, str):
        return level
    if condition is None or not condition.has_alpha:
        return _decimal(option, level)
    alpha, colon, rest = level.partition(":")
    if not colon:
        raise ArgumentError(f"{option} {shortened(level)} is not understood; write α and the level, such as 5:0")
    return {"alpha": _decimal(option, alpha), condition.level_key: _decimal(option, rest)}


def _decimal(option: str, text: str) -> float:
    from surefoot.arguments import decimal

    try:
        return decimal(text)
    except ValueError:
        raise ArgumentError(f"{option} has {shortened(text)} where a number is expected") from None


def _show_tables(decision: Decision) -> None:
    from surefoot.decide.gate.decision_text import tables

    show(tables(decision.to_dict()))
