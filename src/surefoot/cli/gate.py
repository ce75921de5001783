"""`surefoot gate`: ship, stop or undecided, as a build's exit code."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from surefoot.arguments import LARGEST_COUNT
from surefoot.cli import shared_options as shared
from surefoot.cli.commands import TYPED
from surefoot.cli.option import FILE, NAME, option
from surefoot.cli.outputs import DECISION_JUNIT, DECISION_MARKDOWN, Output, check_outputs
from surefoot.cli.printing import Delivery, results, show
from surefoot.cli.runs import (
    CHOOSE_CONDITIONS,
    EVALUATION_MEASURE,
    choose_baseline,
    input_files,
    name_and_file,
    read_scored,
    scores_or_runs,
)
from surefoot.decide.options import DELTA, EXIT_CODES, NothingToLoseTreatment
from surefoot.errors import ArgumentError, shortened

if TYPE_CHECKING:
    from surefoot.decide.evidence.conditions import ConditionKind
    from surefoot.decide.gate.decision import Decision
    from surefoot.decide.gate.release_policy import ReleasePolicy

_NEW_RECORD = "release-record.json"  # in the commands that are proposed
NOTHING_DECIDED = EXIT_CODES["undecided"]  # where no runs, or a preview, were given
_FOR_DRAWS = ("--sample=", "--automatic=")
_IN_SEGMENT = re.compile(r"(?P<segment>.+):(?P<key>[\w-]+)=(?P<level>[^=]+)")


def gate(
    context: typer.Context,
    files: shared.OptionalJudgedRuns = None,
    baseline: shared.Live = None,
    candidate: shared.CandidateName = None,
    measure: Annotated[
        str | None, option("-m --measure", "Its values are from 0 to 1.", NAME, shown=EVALUATION_MEASURE)
    ] = None,
    scores: shared.GivenScores = None,
    policy: Annotated[str | None, option("--policy", "Conditions and more in TOML; options win.", FILE)] = None,
    risk: Annotated[float | None, option("--risk", "The average loss is at most this.")] = None,
    share_hurt: Annotated[float | None, option("--share-hurt", "At most this share loses over 20 %.")] = None,
    gain: Annotated[float | None, option("--gain", "The average gain is above this, such as 0.")] = None,
    u_risk: Annotated[str | None, option("--u-risk", "U_Risk at α is above this, such as 5:0.", "A:L")] = None,
    delta: Annotated[float | None, option("--delta", "Chance of a wrong decision.", shown=str(DELTA))] = None,
    segment: Annotated[
        list[str] | None, option("--segment", "Of a segment or all: 'head:risk=0.05', '*:…'.", "K=V")
    ] = None,
    segments: Annotated[str | None, option("--segments", "The segment of each query: CSV or Parquet.", FILE)] = None,
    sample: shared.SampleFile = None,
    automatic: Annotated[str | None, option("--automatic", "The automatic judgments of the draws.", FILE)] = None,
    sampled_from: Annotated[
        int | None,
        option("--sampled-from", "The queries are drawn from so many.", min=1, max=LARGEST_COUNT),
    ] = None,
    record: Annotated[str | None, option("--record", "Remembers all looks. Alone: shows them.", FILE)] = None,
    budget: Annotated[
        int | None, option("--budget", "With --record: judge about N at most.", min=1, max=LARGEST_COUNT)
    ] = None,
    preview: Annotated[bool, option("--preview", "Check all, show the question; no look.")] = False,
    *,
    delivery: Annotated[
        Delivery, results("json markdown junit html metrics", markdown=DECISION_MARKDOWN, junit=DECISION_JUNIT)
    ],
    texts: shared.TextsFile = None,
    documents: shared.DocumentsFile = None,
    link: shared.LinkedPages = None,
    missing: shared.MissingQueries = None,
    unanswered: Annotated[NothingToLoseTreatment, shared.UNANSWERED] = NothingToLoseTreatment.leave_out,
) -> None:
    """Decide on a release: ship, stop, or judge more queries.

    The exit code is 0 (ship), 1 (stop), 3 (undecided: judge more queries) or 2 (error).

    **Example:** `surefoot gate qrels.txt today.run new.run --baseline today --risk 0.02 --gain 0`

    In GitHub Actions, the command also writes the job summary and marks failed conditions as errors.
    """
    from surefoot.decide.gate.release_policy import ReleasePolicy, ReleaseSettings

    levels = {"risk": risk, "share_hurt": share_hurt, "gain": gain, "u_risk": u_risk}
    conditions = _conditions(levels, segment or []) | ({} if delta is None else {"delta": delta})
    if policy is None and not set(conditions) - {"delta"} and (files or scores is not None or record is None):
        raise ArgumentError(CHOOSE_CONDITIONS)
    parsed = None
    if policy is not None or conditions:
        parsed = ReleasePolicy.read(conditions) if policy is None else ReleasePolicy.read(policy, conditions)
    settled = ReleaseSettings() if parsed is None else parsed.settings
    record, segments = record or settled.record, segments or settled.segments
    sample, measure = sample or settled.sample, measure or settled.measure
    baseline = baseline or settled.baseline
    if not files and scores is None:
        asked = [f"--{kind}" for kind, path in delivery.paths.items() if path is not None and kind != "metrics"]
        _without_judgments(record, parsed, asked)
    assert parsed is not None
    no_page = delivery.paths["html"] is None
    if documents is not None and (no_page or scores is not None):
        raise ArgumentError(
            "--documents only affects the page, and no page is written; add --html FILE"
            if no_page
            else "--documents is only for the rankings on the page, and --scores has no rankings; remove --documents"
        )
    if link and no_page:
        raise ArgumentError("--link only affects the page, and no page is written; add --html FILE")
    judgments = [] if settled.qrels is None or scores is not None else [settled.qrels]
    given, baseline = scores_or_runs([*judgments, *(files or [])], scores).with_live(baseline)
    inputs = input_files(given.files)
    inputs += [path for path in (policy, segments, sample, automatic, texts, documents) if path is not None]
    summary = os.environ.get("GITHUB_STEP_SUMMARY") or None
    updated = [path for path in (record, summary) if path is not None]  # read and then written
    delivery.check(inputs + updated)
    check_outputs([Output("--record", record)], [*inputs, *filter(None, [summary])], force=True)
    from surefoot.data.reading.files import as_text
    from surefoot.decide.evidence.sample import Evidence
    from surefoot.decide.gate.build_servers import annotate, append_summary
    from surefoot.decide.gate.gate import decide, look_ahead

    (matrix,) = read_scored("gate", given, [] if measure is None else [measure], missing)
    if baseline is None:
        raise ArgumentError(choose_baseline(matrix.systems, virtual=False))
    evidence = Evidence.read(
        sample=sample, unanswered=unanswered, automatic=automatic, segments=segments, sampled_from=sampled_from,
        budget=budget,
    )  # fmt: skip
    systems = None if candidate is None else as_text(candidate), as_text(baseline)
    if preview:
        show(look_ahead(matrix, *systems, parsed, evidence, record=record))
        raise typer.Exit(NOTHING_DECIDED)
    decision = decide(matrix, *systems, parsed, evidence, record=record, texts=texts)
    if summary is not None:
        append_summary(summary, decision.to_markdown())
    with suppress(BrokenPipeError):  # who reads no further must not turn a stop into a success
        delivery.finish(
            decision,
            lambda: _show_tables(decision, () if given.scores else given.files, record, context.meta[TYPED]),
            inputs,
            link or [],
            html={"documents": documents},
        )
        if summary is not None:
            annotate(decision.to_dict(), error=delivery.printed is not None)
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


def _without_judgments(record: str | None, policy: ReleasePolicy | None, outputs: Sequence[str]) -> NoReturn:
    """Show what a record remembers, and how many queries a policy needs; nothing is decided, and no build may ship."""
    from surefoot.data.reading.files import existing_file, file_status
    from surefoot.decide.evidence.record import read_record
    from surefoot.decide.gate.plan import plan_tables, record_tables

    if outputs or (policy is not None and policy.settings.qrels is not None):
        why = f"{outputs[0]} is for a decision" if outputs else "the policy has the judgments"
        raise ArgumentError(f"no run was given, and {why}; give the candidate: surefoot gate NAME=FILE --policy POLICY")
    if record is not None and (policy is None or file_status(record) is not None):
        show(record_tables(read_record(existing_file(record))))
    if policy is not None:
        show(plan_tables(policy.rules, policy.delta))
    raise typer.Exit(NOTHING_DECIDED)


def _show_tables(decision: Decision, files: Sequence[str], record: str | None, typed: list[str]) -> None:
    from surefoot.decide.gate.decision_text import tables

    data = decision.to_dict()
    show(tables(data))
    if data["decision"] == "undecided":
        typer.echo("\n".join(["", "Next:", *(f"  {line}" for line in _next_commands(data, files, record, typed))]))


def _next_commands(data: Mapping[str, Any], files: Sequence[str], record: str | None, typed: list[str]) -> list[str]:
    """What to type next, complete: what to judge, and the gate again."""
    again = [part for given in typed for part in (given.split("=", 1) if given.startswith(_FOR_DRAWS) else [given])]
    if record is None:
        record = _NEW_RECORD
        again += ["--record", record]
    needed, chosen = data["queries_needed"], data["sample"]
    waiting = 0 if data["record"] is None else data["record"]["waiting"]["queries"]
    if waiting:
        return [f"# judge the {waiting:,} queries that were listed and have no judgments yet, then", shlex.join(again)]
    if needed is None:
        return ["# keep what is live; another candidate or another level is cheaper than so many judgments"]
    more = needed - (0 if data["record"] is None else data["queries"])
    if not files or (data["record"] is not None and chosen["kind"] == "plain" and data["sampled_from"] is None):
        which = "new" if data["record"] is None else "more"
        return [f"# judge {more:,} {which} queries, drawn at random from the same traffic, then", shlex.join(again)]
    run_of = {name_and_file(file)[0] or Path(file).name: file for file in files[1:]}
    runs = [_run_of(run_of, data[role]) for role in ("candidate", "baseline")]
    judge = ["surefoot", "judge", "next", runs[0], "-b", runs[1], "-m", data["measure"], "-n", str(more)]
    if chosen["kind"] != "draws":
        judge.append("--uniform")
    else:
        judge += ["--to-prove", chosen["to_prove"]]
        if "--automatic" in again:
            judge += ["--automatic", again[again.index("--automatic") + 1]]
        if "by_traffic" in chosen:
            judge += ["--traffic", "TRAFFIC"]
        if data["record"] is None and "--sample" in again:
            at = again.index("--sample")
            del again[at : at + 2]
    batch = 1 if data["record"] is None else 1 + len(data["record"]["looks"])  # the list of each is a file of its own
    return [shlex.join([*judge, "--record", record, "--csv", f"to_judge-{batch}.csv"]), shlex.join(again)]


def _run_of(run_of: Mapping[str, str], name: str) -> str:
    """The argument that gives a run: by its name, or by a file that is called like it."""
    return run_of.get(name) or next((file for key, file in run_of.items() if key.split(".")[0] == name), name)
