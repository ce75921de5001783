"""`surefoot gate`: ship, stop or undecided, as a build's exit code."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot.arguments import LARGEST_COUNT
from surefoot.cli.choices import CHOOSE_CONDITIONS, choose_baseline
from surefoot.cli.help_screen import TYPED
from surefoot.cli.outputs import JSON, Output, check_outputs
from surefoot.cli.page_provenance import LinkedPages, page_provenance
from surefoot.cli.policy_start import start_policy
from surefoot.cli.printing import file_or_none, print_result, printing_of, show, write_files
from surefoot.cli.runs import EVALUATION_MEASURE, input_files, name_and_file, read_scored
from surefoot.cli.shared_options import (
    FlatMetrics,
    Force,
    JsonOrTerminal,
    MissingQueries,
    OptionalJudgedRuns,
    Quiet,
    ScoreMatrixFile,
)
from surefoot.decide.evidence.nothing_to_lose_treatment import NothingToLoseTreatment
from surefoot.decide.options import DELTA, EVERY_SEGMENT, NO_FILL_REASON
from surefoot.decide.signatures import DECISION_JUNIT, DECISION_MARKDOWN
from surefoot.errors import ArgumentError, shortened
from surefoot.report.signatures import METRICS, PAGE

if TYPE_CHECKING:
    from surefoot.decide.evidence.conditions import ConditionKind
    from surefoot.decide.gate.asked import Given
    from surefoot.decide.gate.decision import Decision

_NEW_RECORD = "release-record.json"  # in the commands that are proposed
_FOR_DRAWS = ("--drawn=", "--automatic=", "--traffic=")
_IN_SEGMENT = re.compile(r"(?P<segment>.+):(?P<key>[\w-]+)=(?P<level>[^=]+)")


class DecisionFormat(StrEnum):
    """What is printed."""

    table = "table"
    json = "json"
    markdown = "markdown"


def gate(
    context: typer.Context,
    files: OptionalJudgedRuns = None,
    baseline: Annotated[
        str | None, typer.Option("-b", "--baseline", help="The live system.", show_default=False)
    ] = None,
    candidate: Annotated[
        str | None,
        typer.Option(
            "-c", "--candidate", help="The system that you want to ship.", show_default="the other of two runs"
        ),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(
            "-m",
            "--measure",
            help="From 0 to 1. With --scores: its name.",
            show_default=EVALUATION_MEASURE,
        ),
    ] = None,
    scores: ScoreMatrixFile = None,
    policy: Annotated[
        str | None,
        typer.Option(help="Conditions in TOML. The next six options override them.", show_default=False),
    ] = None,
    risk: Annotated[
        float | None, typer.Option(help="The largest average loss that you accept.", show_default=False)
    ] = None,
    share_hurt: Annotated[
        float | None, typer.Option(help="The largest share of queries that may lose over 20 %.", show_default=False)
    ] = None,
    gain: Annotated[
        float | None, typer.Option(help="The average gain must be above this, such as 0.", show_default=False)
    ] = None,
    u_risk: Annotated[
        str | None,
        typer.Option(metavar="ALPHA:LEVEL", help="U_Risk at α must be above this, such as 5:0.", show_default=False),
    ] = None,
    delta: Annotated[
        float | None,
        typer.Option(help="The accepted chance of a wrong decision.", show_default=str(DELTA)),
    ] = None,
    segment: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME:KEY=LEVEL",
            help=f"On a segment: 'head:risk=0.05', or on all ({EVERY_SEGMENT}).",
            show_default=False,
        ),
    ] = None,
    segments: Annotated[
        str | None, typer.Option(help="The segment of each query: CSV or Parquet, the query first.", show_default=False)
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(help="CSV or Parquet of strata and their shares of traffic.", show_default=False),
    ] = None,
    strata: Annotated[
        str | None,
        typer.Option(help="The stratum of each query, likewise.", show_default="--segments"),
    ] = None,
    drawn: Annotated[
        str | None, typer.Option(help="The file of draws that surefoot judge-next wrote.", show_default=False)
    ] = None,
    traffic: Annotated[
        str | None,
        typer.Option(help="How often each query is asked, if the draws were made by it.", show_default=False),
    ] = None,
    automatic: Annotated[
        str | None,
        typer.Option(help="The automatic judgments of these draws.", show_default=False),
    ] = None,
    sampled_from: Annotated[
        int | None,
        typer.Option(help="The judged queries are drawn from so many.", min=1, max=LARGEST_COUNT, show_default=False),
    ] = None,
    record: Annotated[
        str | None,
        typer.Option(help="A file that remembers all looks. Alone: show it.", show_default=False),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            help="Judge about so many at most, and look often.",
            min=1,
            max=LARGEST_COUNT,
            show_default=False,
        ),
    ] = None,
    preview: Annotated[bool, typer.Option("--preview", help="Check all and show the question; no look.")] = False,
    json_file: JsonOrTerminal = None,
    markdown_file: Annotated[
        str | None, typer.Option("--markdown", help="Write Markdown for a pull request.", show_default=False)
    ] = None,
    junit_file: Annotated[
        str | None, typer.Option("--junit", help="Write JUnit XML for a build server.", show_default=False)
    ] = None,
    html_file: Annotated[str | None, typer.Option("--html", help="Write the page.", show_default=False)] = None,
    metrics: FlatMetrics = None,
    queries: Annotated[
        str | None,
        typer.Option(help="Query texts: lines of id, tab, text; JSON lines; TREC topics.", show_default=False),
    ] = None,
    documents: Annotated[
        str | None, typer.Option(help="Document titles for the page, in the formats of --queries.", show_default=False)
    ] = None,
    link: LinkedPages = None,
    missing: MissingQueries = None,
    unanswered: Annotated[
        NothingToLoseTreatment,
        typer.Option(help="How to treat queries without an answer or a relevant document."),
    ] = NothingToLoseTreatment.leave_out,
    format_: Annotated[DecisionFormat, typer.Option("--format", help="The output format.")] = DecisionFormat.table,
    force: Force = False,
    quiet: Quiet = False,
    fill: Annotated[str | None, typer.Option(hidden=True, help="Not supported.")] = None,
    init: Annotated[
        bool, typer.Option("--init", help="Only write a policy template. QRELS is the file to write.")
    ] = False,
) -> None:
    """Decide on a release. The exit code is 0 (ship), 1 (stop), 3 (judge more queries) or 2 (error).

    **Example:** `surefoot gate qrels.txt today.run new.run --baseline today --risk 0.02 --gain 0`

    In GitHub Actions, the command also writes the job summary and marks failed conditions as errors.
    """
    levels = {"risk": risk, "share_hurt": share_hurt, "gain": gain, "u_risk": u_risk}
    conditions = _conditions(levels, segment or []) | ({} if delta is None else {"delta": delta})
    if init:
        return start_policy(files or [], bool(conditions) or policy is not None, force, quiet)
    if fill is not None:
        raise ArgumentError(NO_FILL_REASON)
    if not files and scores is None and (record is not None or policy is not None or conditions):
        return _without_judgments(record, policy, conditions)
    if policy is None and not set(conditions) - {"delta"}:
        raise ArgumentError(CHOOSE_CONDITIONS)
    if documents is not None and (html_file is None or scores is not None):
        raise ArgumentError(
            "--documents only affects the page, and no page is written; add --html FILE"
            if html_file is None
            else "--documents is only for the rankings on the page, and --scores has no rankings; remove --documents"
        )
    if link and html_file is None:
        raise ArgumentError("--link only affects the page, and no page is written; add --html FILE")
    printing = printing_of({"json": json_file}, None if format_ is DecisionFormat.table else format_)
    outputs = {
        "json": file_or_none(json_file), "markdown": markdown_file, "junit": junit_file, "html": html_file,
        "metrics": metrics,
    }  # fmt: skip
    signatures = {
        "json": JSON,
        "markdown": DECISION_MARKDOWN,
        "junit": DECISION_JUNIT,
        "html": PAGE,
        "metrics": METRICS,
    }
    inputs = input_files([*(files or []), *([] if scores is None else [scores])])
    read = (policy, segments, weights, strata, drawn, traffic, automatic, queries, documents)
    inputs += [path for path in read if path is not None]
    summary = os.environ.get("GITHUB_STEP_SUMMARY") or None
    updated = [path for path in (record, summary) if path is not None]  # read and then written
    check_outputs(
        [Output(f"--{kind}", path, signatures[kind]) for kind, path in outputs.items()], inputs + updated, force
    )
    check_outputs([Output("--record", record)], [*inputs, *filter(None, [summary])], force=True)
    from surefoot.data.reading.files import as_text
    from surefoot.decide.gate.gate import gate as decide
    from surefoot.decide.gate.gate import preview as look_ahead
    from surefoot.decide.gate.github_actions import annotate, append_summary
    from surefoot.decide.gate.release_policy import ReleasePolicy

    parsed = ReleasePolicy.read(conditions) if policy is None else ReleasePolicy.read(policy, conditions)

    (matrix,) = read_scored("gate", files or [], scores, [] if measure is None else [measure], missing)
    if baseline is None:
        raise ArgumentError(choose_baseline(matrix.systems, virtual=False))
    given: Given = {
        "segments": segments, "weights": weights, "strata": strata, "drawn": drawn, "traffic": traffic,
        "automatic": automatic, "sampled_from": sampled_from, "budget": budget, "unanswered": unanswered,
    }  # fmt: skip
    systems = None if candidate is None else as_text(candidate), as_text(baseline)
    if preview:
        return show(look_ahead(matrix, *systems, parsed, record=record, **given))
    decision = decide(
        matrix, candidate=systems[0], baseline=systems[1], policy=parsed, record=record, queries=queries, **given
    )
    write_files(
        decision,
        outputs,
        {"html": {"documents": documents, "provenance": page_provenance(html_file, inputs, link or [])}},
    )
    if summary is not None:
        append_summary(summary, decision.to_markdown())
    with suppress(BrokenPipeError):  # who reads no further must not turn a stop into a success
        print_result(
            decision, lambda: _show_tables(decision, files or [], record, context.meta[TYPED]), printing, quiet
        )
        if summary is not None:
            annotate(decision.to_dict(), error=printing.kind == DecisionFormat.json)
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
            raise ArgumentError(f"--segment {shortened(text)}: you gave {key} of that segment twice; give it once")
        own[key] = _level("--segment", CONDITIONS.get(key), level)
    return policy


def _level(option: str, condition: ConditionKind | None, level: float | str) -> float | dict[str, float]:
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
        raise ArgumentError(f"{option} has {shortened(text)}, but it needs a number") from None


def _without_judgments(record: str | None, policy: str | None, conditions: dict[str, Any]) -> None:
    """Show what a record remembers, or how many queries a policy needs."""
    from surefoot.data.reading.files import existing_file
    from surefoot.decide.evidence.record import read_record
    from surefoot.decide.gate.plan import plan_tables
    from surefoot.decide.gate.record_text import record_tables
    from surefoot.decide.gate.release_policy import ReleasePolicy

    if record is not None:
        show(record_tables(read_record(existing_file(record))))
    if policy is not None or conditions:
        parsed = ReleasePolicy.read(conditions) if policy is None else ReleasePolicy.read(policy, conditions)
        show(plan_tables(parsed.rules, parsed.delta))


def _show_tables(decision: Decision, files: list[str], record: str | None, typed: list[str]) -> None:
    from surefoot.decide.gate.decision_text import tables

    data = decision.to_dict()
    show(tables(data))
    if data["decision"] == "undecided":
        typer.echo("\n".join(["", "Next:", *(f"  {line}" for line in _next_commands(data, files, record, typed))]))


def _next_commands(data: Mapping[str, Any], files: list[str], record: str | None, typed: list[str]) -> list[str]:
    """What to type next, complete: what to judge, and the gate again."""
    again = [part for given in typed for part in (given.split("=", 1) if given.startswith(_FOR_DRAWS) else [given])]
    if record is None:
        record = _NEW_RECORD
        again += ["--record", record]
    needed, drawn = data["queries_needed"], data["drawn"]
    waiting = 0 if data["record"] is None else data["record"]["waiting"]["queries"]
    if waiting:
        return [f"# judge the {waiting:,} queries that were listed and have no judgments yet, then", shlex.join(again)]
    if needed is None:
        return ["# keep what is live; another candidate or another level is cheaper than so many judgments"]
    more = needed - (0 if data["record"] is None else data["queries"])
    if not files or (data["record"] is not None and drawn is None and data["sampled_from"] is None):
        which = "new" if data["record"] is None else "more"
        return [f"# judge {more:,} {which} queries, drawn at random from the same traffic, then", shlex.join(again)]
    run_of = {name_and_file(file)[0] or Path(file).name: file for file in files[1:]}
    runs = [_run_of(run_of, data[role]) for role in ("candidate", "baseline")]
    judge = ["surefoot", "judge-next", runs[0], "-b", runs[1], "-m", data["measure"], "-n", str(more)]
    if drawn is None:
        judge.append("--uniform")
    else:
        judge += ["--for", drawn["drawn_for"]]
        for option in ("--automatic", "--traffic"):
            if option in again:
                judge += [option, again[again.index(option) + 1]]
        if data["record"] is None and "--drawn" in again:
            at = again.index("--drawn")
            del again[at : at + 2]
    batch = 1 if data["record"] is None else 1 + len(data["record"]["looks"])  # the list of each is a file of its own
    return [shlex.join([*judge, "--record", record, "--csv", f"to_judge-{batch}.csv"]), shlex.join(again)]


def _run_of(run_of: Mapping[str, str], name: str) -> str:
    """The argument that gives a run: by its name, or by a file that is called like it."""
    return run_of.get(name) or next((file for key, file in run_of.items() if key.split(".")[0] == name), name)
