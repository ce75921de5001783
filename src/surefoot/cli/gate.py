"""`surefoot gate`: ship, stop or undecided, as a build's exit code."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot.arguments import LARGEST_COUNT
from surefoot.cli.outputs import DECISION_MARKDOWN, JSON, JUNIT, PAGE, Force, Output, check_outputs
from surefoot.cli.policy_start import start_policy
from surefoot.cli.printing import TERMINAL, show
from surefoot.cli.runs import MEASURE, name_and_file, read_scored
from surefoot.decide.evidence.unanswered import Unanswered
from surefoot.decide.options import DELTA, EVERY
from surefoot.errors import ArgumentError, shortened
from surefoot.measures.missing import Missing

if TYPE_CHECKING:
    from surefoot.decide.gate.decision import Decision

_IN_SEGMENT = re.compile(r"(?P<segment>.+):(?P<key>[\w-]+)=(?P<level>[^=]+)")


class Format(StrEnum):
    """What is printed."""

    table = "table"
    json = "json"
    markdown = "markdown"


def gate(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="QRELS RUN...", help="Judgments, then runs; NAME=FILE names a run.", show_default=False),
    ] = None,
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
            "-m", "--measure", help="A measure from 0 to 1. Of --scores, what to call them.", show_default=MEASURE
        ),
    ] = None,
    scores: Annotated[
        str | None,
        typer.Option(help="A score matrix in place of runs: CSV or Parquet, the query first.", show_default=False),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(help="The conditions as a TOML file; the next six options go before it.", show_default=False),
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
        str | None, typer.Option(help="How the judged queries were drawn, from judge-next.", show_default=False)
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            help="Look after each batch of judgments, so many in all; needs --state.",
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
        typer.Option(help="Counts uses of these queries, and lowers δ; made where there is none.", show_default=False),
    ] = None,
    json_file: Annotated[
        str | None, typer.Option("--json", help="Write JSON to a file, or - for the terminal.", show_default=False)
    ] = None,
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
    missing: Annotated[
        Missing | None,
        typer.Option(
            help="A judged query that a run lacks counts zero, is dropped, or is an error.", show_default=Missing.zero
        ),
    ] = None,
    unanswered: Annotated[
        Unanswered,
        typer.Option(help="Queries that neither answers, or with nothing relevant: left out, or counted as traffic."),
    ] = Unanswered.leave_out,
    format_: Annotated[Format, typer.Option("--format", help="What to print.")] = Format.table,
    force: Force = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print nothing but errors.")] = False,
    init: Annotated[
        bool, typer.Option("--init", help="Write a commented policy to start from; FILE in place of QRELS names it.")
    ] = False,
) -> None:
    """Decide on a release: exit code 0 to ship, 1 to stop, 3 where more judged queries are needed, 2 on errors.

    **Example:** `surefoot gate qrels.txt today.run new.run -m nDCG@10 --baseline today --risk 0.02 --gain 0`

    In GitHub Actions it also writes the job's summary, and marks the conditions that fail.
    """
    given = _conditions(risk, share_hurt, gain, u_risk, delta, segment or [])
    if init:
        return start_policy(files or [], bool(given) or policy is not None, force, quiet)
    if policy is None and not set(given) - {"delta"}:
        raise ArgumentError("give conditions, such as --risk 0.02 --gain 0, or a policy (--policy FILE)")
    printed, to_terminal = format_, json_file == TERMINAL
    if to_terminal:
        if format_ not in (Format.table, Format.json):
            raise ArgumentError(f"--json - and --format {format_} would both be printed; print one, and name a file")
        json_file, printed = None, Format.json
    wanted = {"json": json_file, "markdown": markdown_file, "junit": junit_file, "html": html_file}
    marks = {"json": JSON, "markdown": DECISION_MARKDOWN, "junit": JUNIT, "html": PAGE}
    inputs = [path for _, path in map(name_and_file, files or [])]
    inputs += [one for one in (scores, policy, segments, weights, strata, drawn, queries) if one is not None]
    summary = os.environ.get("GITHUB_STEP_SUMMARY") or None
    kept = [one for one in (state, ledger, summary) if one is not None]  # which are read and written
    check_outputs([Output(f"--{kind}", path, marks[kind]) for kind, path in wanted.items()], inputs + kept, force)
    check_outputs(
        [Output("--state", state), Output("--ledger", ledger)], [*inputs, *filter(None, [summary])], force=True
    )
    from surefoot.data.reading.files import as_text
    from surefoot.decide.gate.gate import deciding
    from surefoot.decide.gate.github_actions import append_summary, commands
    from surefoot.decide.gate.policy import Policy

    asked = Policy.read(given) if policy is None else Policy.read(policy, given)

    (matrix,) = read_scored("gate", files or [], scores, [] if measure is None else [measure], missing)
    with deciding(
        matrix,
        None if candidate is None else as_text(candidate),
        None if baseline is None else as_text(baseline),
        asked,
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
        for kind, path in wanted.items():
            if path is not None:
                getattr(decision, f"write_{kind}")(path)
        if summary is not None:
            append_summary(summary, decision.to_markdown())
        with suppress(BrokenPipeError):  # who reads no further must not turn a stop into a success
            if to_terminal or not quiet:
                _show(decision, printed)
            for line in commands(decision.to_dict()) if summary is not None else ():
                typer.echo(line, err=printed is Format.json)
    raise typer.Exit(decision.exit_code)


def _conditions(
    risk: float | None, share_hurt: float | None, gain: float | None, u_risk: str | None, delta: float | None,
    segments: list[str],
) -> dict[str, Any]:  # fmt: skip
    """The policy that the options are."""
    plain = {"risk": risk, "share_hurt": share_hurt, "gain": gain, "delta": delta}
    found: dict[str, Any] = {name: value for name, value in plain.items() if value is not None}
    if u_risk is not None:
        found["u_risk"] = _u_risk("--u-risk", u_risk)
    for text in segments:
        parts = _IN_SEGMENT.fullmatch(text)
        if parts is None:
            raise ArgumentError(f"--segment {shortened(text)} is not understood; write it as 'head:risk=0.05'")
        key, level = parts["key"].replace("-", "_"), parts["level"]
        own = found.setdefault("segments", {}).setdefault(parts["segment"], {})
        if key in own:
            raise ArgumentError(f"--segment {shortened(text)}: {key} of that segment is given twice")
        own[key] = _u_risk("--segment", level) if key == "u_risk" else _decimal("--segment", level)
    return found


def _u_risk(option: str, text: str) -> dict[str, float]:
    alpha, colon, level = text.partition(":")
    if not colon:
        raise ArgumentError(f"{option} {shortened(text)} is not understood; write α and the level, such as 5:0")
    return {"alpha": _decimal(option, alpha), "above": _decimal(option, level)}


def _decimal(option: str, text: str) -> float:
    from surefoot.arguments import decimal

    try:
        return decimal(text)
    except ValueError:
        raise ArgumentError(f"{option} has {shortened(text)} where a number is expected") from None


def _show(decision: Decision, form: Format) -> None:
    if form is Format.json:
        typer.echo(decision.to_json(), nl=False)
    elif form is Format.markdown:
        typer.echo(decision.to_markdown(), nl=False)
    else:
        from surefoot.decide.gate.decision_text import tables

        show(tables(decision.to_dict()))
