"""A decision in full: for a terminal, in Markdown for a pull request, and its figures as CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot.decide.evidence.conditions import confidence
from surefoot.decide.evidence.nothing_to_lose import nothing_to_lose_notes
from surefoot.decide.gate.decision_words import (
    DECISION_TITLES,
    condition_name,
    figure_of,
    headline,
    judged_words,
    most_for,
    proved_bound,
    queries_needed_note,
    sentence,
    shown_name,
    unit_of,
)
from surefoot.errors import visible
from surefoot.measures.notation import named_measure
from surefoot.report.escapes import csv_text, markdown
from surefoot.report.numbers import fixed, measure_note, measure_title, signed
from surefoot.report.tables import markdown_table, terminal_table
from surefoot.risk.assessment_data import Json

if TYPE_CHECKING:
    from rich.console import RenderableType

MARKDOWN_MARK = "<!-- surefoot decision -->"  # the first line of the Markdown, by which a file of ours is known
STATUS_HEADING = "status"  # the heading of a condition's status
_KNOWN_TRAFFIC_HELPS = 5  # times as many queries of the traffic as are judged, up to which knowing them helps


def notes(data: Json) -> list[str]:
    """On what the claim rests, and what was done to keep it true."""
    notes = []
    notes += _record_notes(data)
    if data["sampled_from"] is not None:
        notes.append(
            f"The judged queries are a simple random sample of {data['sampled_from']:,} queries, and the decision is "
            "about exactly these."
            + (
                ""
                if data["answered"] in (None, data["sampled_from"])
                else f" The runs answer {data['answered']:,} queries: is {data['sampled_from']:,} the right number?"
            )
        )
    sample = data["sample"]
    if sample["kind"] == "strata":
        shares = ", ".join(
            f"{shown_name(stratum['stratum'])} {stratum['share']:g} ({stratum['queries']:,} judged)"
            for stratum in sample["strata"][:12]
        )
        notes.append(f"Each stratum of queries counts by its share of traffic: {shares}.")
    if sample["kind"] == "draws":
        could = "lose" if sample["to_prove"] == "risk" else "gain or lose"
        notes.append(
            f"Queries that could {could} more{_or_asked(sample)} were drawn more often ({sample['draws']:,} draws from "
            f"{sample['drawn_from']:,} queries). The figures are estimates for all traffic"
            + (", in which a query counts as often as it is asked." if sample.get("by_traffic") else ".")
        )
        if sample.get("by_traffic", {}).get("left_out"):
            notes.append(
                f"{sample['by_traffic']['left_out']:,} queries of the runs have no traffic. The decision says nothing "
                "about them."
            )
        if sample.get("unjudged_documents"):
            notes.append(
                f"{sample['unjudged_documents']:,} documents in the {_first_results(data)} of the drawn queries have "
                "no judgment, and count as not relevant. Judge them before you decide: surefoot convert --unrated "
                "lists them."
            )
    notes += automatic_notes(data)
    notes += nothing_to_lose_notes(data["unanswered"])
    if data["dropped"]:
        notes.append(
            f"{data['dropped']:,} judged queries that a run lacks were left out. The decision says nothing about such "
            "queries."
        )
    for system, count in data["missing"].items():
        if count and not data["dropped"]:
            notes.append(f"{shown_name(system)} returned nothing for {count:,} judged queries. They count as 0.")
    if (note := measure_note(data["measure"])) is not None:
        notes.append(note)
    if len(data["conditions"]) > 1:
        notes.append(
            "Each bound above is valid for its condition alone. The decision is valid for all conditions together."
        )
    share = f"{100 * data['delta']:.4g} %"
    notes.append(
        f"At most {share} of candidates that break a condition are shipped, and at most {share} of candidates that "
        "meet all conditions are stopped. This assumes that the judged queries are a random sample of the traffic that "
        "the candidate will serve, and that nobody used them to build or choose the candidate."
    )
    return notes


def _record_notes(data: Json) -> list[str]:
    """Which look at which question this is, and at what level."""
    use = data["record"]
    if use is None:
        found = [] if data["decision"] == "undecided" else [
            "This look stands alone. A second look at these queries with more judgments would need a record from the "
            "start (--record FILE), or a new sample."
        ]  # fmt: skip
        answered = data["answered"]
        if data["sample"]["kind"] == "plain" and data["sampled_from"] is None and answered and (
            data["queries"] < answered <= _KNOWN_TRAFFIC_HELPS * data["queries"]
        ):  # fmt: skip
            found.append(
                f"The runs answer {answered:,} queries. If those are all of the traffic, and the judged ones are a "
                f"simple random sample of them, --sampled-from {answered} proves more with the same judgments."
            )
        return found
    looks, requested = use["looks"], use["delta_requested"]
    counts = ", ".join(f"{look['queries']:,}" for look in looks)
    found = [
        f"This is look {len(looks)} (after {counts} judged queries) at question {use['question']} of the record "
        f"{use['sha256'][:12]}. It is number {use['number']} of the questions that share queries or a candidate, and "
        f"has {data['delta']:.4g} of δ = {requested:g} at all of its looks. All these questions are right together "
        f"with {confidence(requested)} confidence, if the candidates were fixed before these queries gave any result: "
        "not for a candidate that was built from the scores of single queries in earlier decisions."
    ]
    if use["budget"] is not None:
        found.append(f"{data['queries']:,} of at most {use['budget']:,} queries are judged so far.")
    found += _told(use, "waiting", "are to be judged before the next batch counts")
    return [*found, *record_cautions(use)]


def record_cautions(use: Json) -> list[str]:
    """What a reader must know of the earlier looks."""
    found = _told(use, "changed", "have other scores now than at an earlier look, whose scores stay")
    if use["spent"] > use["delta_requested"] * (1 + 1e-9):
        found.append(
            f"The questions that share queries or a candidate have together spent {use['spent']:.4g}, more than δ = "
            f"{use['delta_requested']:g}, because sets of queries that were apart share queries by now. So they are "
            f"right together with {confidence(min(1.0, use['spent']))} confidence."
        )
    return found


def _told(use: Json, name: str, what: str) -> list[str]:
    queries, first = use[name]["queries"], ", ".join(map(shown_name, use[name]["first"]))
    return [f"{queries:,} queries {what} (the first: {first})."] if queries else []


def _or_asked(sample: Json) -> str:
    return ", and queries that are asked more," if sample.get("by_traffic") else ""


def _first_results(data: Json) -> str:
    measure = named_measure(data["measure"])
    return "lists" if measure is None or measure.depth is None else f"first {measure.depth:g}"


def automatic_notes(data: Json) -> list[str]:
    """What an automatic judge added, what would be without it, and on what that rests."""
    automatic = data.get("automatic")
    if automatic is None:
        return []
    judge, sample = shown_name(automatic["name"]), data["sample"]
    added = "; ".join(
        f"{condition_name(condition)}: λ {fixed(own['weight'], 2)}, ρ {_correlation(own['correlation'])}, observed "
        f"{figure_of(condition, condition['observed'])}, corrected by the judge "
        f"{figure_of(condition, own['adjusted'])}"
        for condition in data["conditions"]
        for own in [condition["automatic"]]
    )
    without = automatic["without"]
    alone = f"Without the judge, the decision would be: {without['decision']}, for comparison only"
    if without["decision"] == "undecided":
        needed = without["queries_needed"]
        alone += (
            f" (even {most_for(data):,} judged queries would probably not be enough)"
            if needed is None
            else f" (about {needed:,} judged queries would be needed)"
        )
    found = [
        f"People judged {sample['people_queries']:,} queries ({automatic['people_judgments']:,} documents), and the "
        f"automatic judge {judge} judged the traffic of {sample['drawn_from']:,} queries. What the judge added (λ is "
        f"its weight, ρ its correlation with people): {added}. {alone}.",
        "People's judgments decide. The claim is true for any judge, however bad, and is about these "
        f"{sample['drawn_from']:,} queries. It assumes that the judge's labels were fixed before the draw, that people "
        "did not see them, and that the judge was not tuned on these queries.",
    ]
    if automatic["unjudged"]:
        found.append(
            f"The judge did not judge {automatic['unjudged']:,} queries that could change. For the judge, they count "
            "as no difference."
        )
    if automatic["holes"]:
        found.append(
            f"The judge did not judge {automatic['holes']:,} of the documents that the systems show. For the judge, "
            "they count as not relevant."
        )
    return found


def _correlation(value: float | None) -> str:
    return "–" if value is None else fixed(value, 2)


def worst_first(data: Json) -> list[Json]:
    """The conditions that fail, then those that are open, then those that hold; each in the policy's order."""
    return sorted(data["conditions"], key=lambda condition: ("fails", "open", "holds").index(condition["status"]))


def headings(data: Json) -> list[str]:
    """What stands above `cells`; each p is named by what it proves where it is small enough."""
    proved, disproved = (f"{data[key]:.3g}" for key in ("delta", "delta_fails"))
    return [
        "condition", unit_of(data), "observed", "proved bound", STATUS_HEADING,
        f"holds if p ≤ {proved}", f"fails if p ≤ {disproved}",
    ]  # fmt: skip


def cells(condition: Json) -> list[str]:
    """A condition's row."""
    return [
        condition_name(condition), f"{condition['queries']:,}", figure_of(condition, condition["observed"]),
        proved_bound(condition), condition["status"], f"{condition['p_holds']:.3g}", f"{condition['p_fails']:.3g}",
    ]  # fmt: skip


def hurt_rows(data: Json, most: int) -> list[list[str]]:
    """The queries hurt most: number, query with its text, scores, difference."""
    return [
        [
            str(number), shown_name(query["query"]) + (f" ({shown_name(query['text'])})" if query["text"] else ""),
            f"{query['baseline']:.4f}", f"{query['candidate']:.4f}", signed(query["difference"], 4),
        ]
        for number, query in enumerate(data["most_hurt"][:most], 1)
    ]  # fmt: skip


def hurt_headings(data: Json) -> list[str]:
    """What stands above `hurt_rows`."""
    return ["", "query", shown_name(data["baseline"]), shown_name(data["candidate"]), "difference"]


def tables(data: Json, most: int = 10) -> list[RenderableType]:
    """What a terminal shows; no line begins with a name, which could be a command to what reads it."""
    from rich.text import Text

    parts: list[RenderableType] = [
        Text(f"{measure_title(data['measure'])} on {judged_words(data)}", style="dim"),
        Text(headline(data), style="bold"),
        Text(""),
        *(Text(f"• {sentence(condition, unit_of(data))}") for condition in worst_first(data)[:most]),
    ]
    if len(data["conditions"]) > most:
        parts.append(Text(f"  and {len(data['conditions']) - most:,} more conditions"))
    parts.append(terminal_table(headings(data), [cells(condition) for condition in data["conditions"]]))
    if (note := queries_needed_note(data)) is not None:
        parts += [Text(note), Text("")]
    if data["most_hurt"]:
        parts.append(Text(f"The most hurt queries ({data['hurt']:,} are hurt in total)", style="bold"))
        parts.append(terminal_table(hurt_headings(data), hurt_rows(data, most), left=2))
    return [*parts, *(Text(visible(note), style="dim") for note in notes(data))]


def to_markdown(data: Json) -> str:
    """The decision for a pull request."""
    title = (
        f"{DECISION_TITLES[data['decision']]}: {shown_name(data['candidate'])} against {shown_name(data['baseline'])}"
    )
    parts = [
        MARKDOWN_MARK,
        f"### {markdown(title)}",
        markdown(headline(data)),
        markdown_table(headings(data), [cells(condition) for condition in data["conditions"]]),
    ]
    if (note := queries_needed_note(data)) is not None:
        parts.append(markdown(note))
    if data["most_hurt"]:
        parts.append(f"#### The most hurt queries ({data['hurt']:,} are hurt in total)")
        parts.append(
            markdown_table(
                [markdown(heading) for heading in hurt_headings(data)], hurt_rows(data, len(data["most_hurt"]))
            )
        )
    parts.append("\n".join(f"- {markdown(note)}" for note in notes(data)))
    parts.append(markdown(f"{measure_title(data['measure'])} on {judged_words(data)}, by surefoot gate."))
    return "\n\n".join(parts) + "\n"


def to_csv(data: Json) -> str:
    """One line per condition."""
    keys = (
        "name", "segment", "level", "alpha", "observed", "bound", "bound_fails", "p_holds", "p_fails", "status",
        "queries", "least_queries", "method",
    )  # fmt: skip
    rows = [[data["decision"], *(condition[key] for key in keys)] for condition in data["conditions"]]
    return csv_text(["decision", *(f"condition_{key}" if key == "name" else key for key in keys)], rows)
