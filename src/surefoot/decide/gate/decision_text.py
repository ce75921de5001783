"""A decision in words: for a terminal, in Markdown for a pull request, and its figures as CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot.decide.evidence.conditions import Rule, condition_named
from surefoot.decide.evidence.nothing_to_lose import nothing_to_lose_notes
from surefoot.decide.gate.sample_size import most_tried
from surefoot.decide.options import DECIDED
from surefoot.errors import visible, without_middle
from surefoot.report.escapes import csv_text, markdown
from surefoot.report.measure_names import measure_note, measure_title
from surefoot.report.numbers import fixed, signed
from surefoot.report.tables import markdown_table, terminal_table
from surefoot.report.text import rendered
from surefoot.risk.plain_data import Json

if TYPE_CHECKING:
    from rich.console import RenderableType

MARK = "<!-- surefoot decision -->"  # the first line of the Markdown, by which a file of ours is known
VERDICTS = {"ship": "Ship", "stop": "Stop", "undecided": "Undecided"}
HEADINGS = ["condition", "queries", "observed", "proved alone", "verdict", "p holds", "p fails"]
_LONGEST = 80  # letters of a name


def name(text: str) -> str:
    """A system, segment or query as decisions show it: one that is long without its middle."""
    return without_middle(visible(text), _LONGEST)


def confidence(delta: float) -> str:
    """1 − δ in percent.

    >>> confidence(0.05), confidence(0.0076)
    ('95 %', '99.24 %')
    """
    return f"{100 * (1 - delta):.4g} %"


def figure4(value: float) -> str:
    """A figure to four digits.

    >>> figure4(-0.09081), figure4(-0.00001)
    ('−0.0908', '0.0000')
    """
    return fixed(value, 4)


def condition_name(condition: Json) -> str:
    """As in `risk ≤ 0.02` or `gain > 0 in head`."""
    rule = Rule(condition["name"], condition["level"], condition["alpha"])
    return rule.words + ("" if condition["segment"] is None else f" in {name(condition['segment'])}")


def proved_bound(condition: Json) -> str:
    """What was proved, as in `≤ 0.0131`."""
    at_most = condition_named(condition["name"]).at_most
    if condition["status"] == "fails":
        return f"{'≥' if at_most else '≤'} {figure4(condition['bound_fails'])}"
    return f"{'≤' if at_most else '≥'} {figure4(condition['bound'])}"


def headline(data: Json) -> str:
    """The decision in one sentence."""
    candidate, baseline = name(data["candidate"]), name(data["baseline"])
    conditions = data["conditions"]
    if data["decision"] == "ship":
        many = "both" if len(conditions) == 2 else f"all {len(conditions)}"
        which = "the condition holds" if len(conditions) == 1 else f"{many} conditions hold"
        return f"Ship {candidate} in place of {baseline}: {which}, with {confidence(data['delta'])} confidence."
    if data["decision"] == "stop":
        failed = [condition_name(one) for one in conditions if one["status"] == "fails"]
        which = f"{failed[0]} fails" if len(failed) == 1 else f"{len(failed)} conditions fail, {failed[0]} the first"
        return f"Stop {candidate}, keep {baseline}: {which}, with {confidence(data['delta'])} confidence."
    count = sum(one["status"] == "holds" for one in conditions)
    return (
        f"Undecided on {candidate}, keep {baseline} for now: {data['queries']:,} judged queries prove {count} of "
        f"{len(conditions)} conditions and refute none."
    )


def sentence(condition: Json) -> str:
    """What is proved of one condition."""
    kind = condition_named(condition["name"])
    figure, at_most = kind.words, kind.at_most
    seen = f"{figure4(condition['observed'])} was observed on {condition['queries']:,} queries"
    if condition["status"] == "fails":
        side = "at least" if at_most else "at most"
        bound = figure4(condition["bound_fails"])
        return f"{condition_name(condition)} fails: taken alone, {figure} is {side} {bound}; {seen}."
    side = "at most" if at_most else "at least"
    if condition["status"] == "holds":
        bound = figure4(condition["bound"])
        return f"{condition_name(condition)} holds: taken alone, {figure} is {side} {bound}; {seen}."
    least = condition["least_queries"]
    few = f" No fewer than {least:,} queries can prove it." if least and least > condition["queries"] else ""
    bound = figure4(condition["bound"])
    return (
        f"{condition_name(condition)} is open: taken alone, {figure} is {side} {bound}, and neither side of the level "
        f"is ruled out; {seen}.{few}"
    )


def queries_needed_note(data: Json) -> str | None:
    """How many more queries it would take, where it is undecided."""
    if data["decision"] != "undecided":
        return None
    if data["queries_needed"] is None:
        return (
            f"Even {most_tried(data['queries']):,} judged queries would hardly decide: what was observed is too near a "
            "level. Another level would, or a candidate that differs more."
        )
    more = data["queries_needed"] - data["queries"]
    return (
        f"About {more:,} more judged queries, {data['queries_needed']:,} in all, would decide: so it was in "
        f"{100 * DECIDED:g} % of resamples of those judged."
    )


def notes(data: Json) -> list[str]:
    """On what the claim rests, and what was done to keep it true."""
    notes = []
    if data["ledger"] is not None:
        ledger = data["ledger"]
        repeated = ", and not a new one" if ledger["repeated"] else ""
        notes.append(
            f"By the ledger this is use number {ledger['use']} of these queries to decide{repeated}: δ is "
            f"{data['delta']:.4g} in place of {ledger['delta_requested']:g}, so that all claims made of them "
            f"are right together with {confidence(ledger['delta_requested'])} confidence. That protects candidates "
            "that were fixed before these queries said anything, and not one that was built from the scores of "
            "single queries that earlier decisions showed."
        )
        if unused := ledger.get("unused_draws"):
            draws = "draw was" if unused == 1 else "draws were"
            notes.append(
                f"{unused:,} {draws} made and never decided on: who picks among draws ships falsely more often than δ."
            )
    if data["budget"] is not None:
        budget = data["budget"]
        notes.append(
            f"{budget['seen']:,} of {budget['queries']:,} queries to be judged, in {budget['batches']:,} "
            f"{'batch' if budget['batches'] == 1 else 'batches'}; it may be looked at after each."
        )
    if data["strata"] is not None:
        shares = ", ".join(
            f"{name(one['stratum'])} {one['share']:g} ({one['queries']:,} judged)" for one in data["strata"][:12]
        )
        notes.append(f"Queries are weighed by their strata's shares of traffic: {shares}.")
    if data["drawn"] is not None:
        drawn = data["drawn"]
        could = "lose" if drawn["drawn_for"] == "risk" else "gain or lose"
        notes.append(
            f"Queries were drawn in proportion to what they could {could}, {drawn['draws']:,} draws from "
            f"{drawn['traffic']:,} queries; figures are of all traffic."
        )
    notes += nothing_to_lose_notes(data["nothing_to_lose"]) if "nothing_to_lose" in data else []
    if data["dropped"]:
        notes.append(
            f"{data['dropped']:,} judged queries that a run lacks were left out: nothing is said of such queries."
        )
    for system, count in data["missing"].items():
        if count and not data["dropped"]:
            notes.append(f"{name(system)} returned nothing for {count:,} judged queries, which count 0.")
    if (note := measure_note(data["measure"])) is not None:
        notes.append(note)
    if len(data["conditions"]) > 1:
        notes.append("What is said of a single condition holds of each taken alone; the decision holds as a whole.")
    notes.append(
        f"At most {100 * data['delta']:.4g} % of candidates that break a condition are shipped, and at most as many of "
        "those that keep all are stopped, if the judged queries were drawn at random from the traffic that the "
        "candidate will meet, and were used neither to make nor to choose it."
    )
    return notes


def worst_first(data: Json) -> list[Json]:
    """The conditions that fail, then those that are open, then those that hold; each in the policy's order."""
    return sorted(data["conditions"], key=lambda one: ("fails", "open", "holds").index(one["status"]))


def cells(condition: Json) -> list[str]:
    """A condition's row."""
    return [
        condition_name(condition), f"{condition['queries']:,}", figure4(condition['observed']), proved_bound(condition),
        condition["status"], f"{condition['p_holds']:.3g}", f"{condition['p_fails']:.3g}",
    ]  # fmt: skip


def hurt_rows(data: Json, most: int) -> list[list[str]]:
    """The queries hurt most: number, query with its text, scores, difference."""
    return [
        [
            str(number), name(one["query"]) + (f" ({name(one['text'])})" if one["text"] else ""),
            f"{one['baseline']:.4f}", f"{one['candidate']:.4f}", signed(one["difference"], 4),
        ]
        for number, one in enumerate(data["hurt"][:most], 1)
    ]  # fmt: skip


def hurt_headings(data: Json) -> list[str]:
    """What stands above `hurt_rows`."""
    return ["", "query", name(data["baseline"]), name(data["candidate"]), "difference"]


def tables(data: Json, most: int = 10) -> list[RenderableType]:
    """What a terminal shows; no line begins with a name, which could be a command to what reads it."""
    from rich.text import Text

    parts: list[RenderableType] = [
        Text(f"{measure_title(data['measure'])} on {data['queries']:,} judged queries", style="dim"),
        Text(headline(data), style="bold"),
        Text(""),
        *(Text(f"• {sentence(one)}") for one in worst_first(data)[:most]),
    ]
    if len(data["conditions"]) > most:
        parts.append(Text(f"  and {len(data['conditions']) - most:,} more conditions"))
    parts.append(terminal_table(HEADINGS, [cells(one) for one in data["conditions"]]))
    if (note := queries_needed_note(data)) is not None:
        parts += [Text(note), Text("")]
    if data["hurt"]:
        parts.append(Text(f"Queries hurt most, of {data['losses']:,} hurt", style="bold"))
        parts.append(terminal_table(hurt_headings(data), hurt_rows(data, most), left=2))
    return [*parts, *(Text(visible(note), style="dim") for note in notes(data))]


def to_text(data: Json, width: int = 120) -> str:
    """The decision without colour."""
    return rendered(tables(data), width)


def to_markdown(data: Json) -> str:
    """The decision for a pull request."""
    title = f"{VERDICTS[data['decision']]}: {name(data['candidate'])} against {name(data['baseline'])}"
    parts = [
        MARK,
        f"### {markdown(title)}",
        markdown(headline(data)),
        markdown_table(HEADINGS, [cells(one) for one in data["conditions"]]),
    ]
    if (note := queries_needed_note(data)) is not None:
        parts.append(markdown(note))
    if data["hurt"]:
        parts.append(f"#### Queries hurt most, of {data['losses']:,} hurt")
        parts.append(markdown_table([markdown(one) for one in hurt_headings(data)], hurt_rows(data, len(data["hurt"]))))
    parts.append("\n".join(f"- {markdown(note)}" for note in notes(data)))
    parts.append(markdown(f"{measure_title(data['measure'])} on {data['queries']:,} judged queries, by surefoot gate."))
    return "\n\n".join(parts) + "\n"


def to_csv(data: Json) -> str:
    """One line per condition."""
    keys = (
        "name", "segment", "level", "alpha", "observed", "bound", "bound_fails", "p_holds", "p_fails", "status",
        "queries", "least_queries", "method",
    )  # fmt: skip
    rows = [[data["decision"], *(one[key] for key in keys)] for one in data["conditions"]]
    return csv_text(["decision", *(f"condition_{key}" if key == "name" else key for key in keys)], rows)
