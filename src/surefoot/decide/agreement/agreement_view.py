"""The agreement of judges as people see it: in a terminal, in Markdown, as CSV, in a notebook and as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot.data.notebook import NotebookTable, NotebookView
from surefoot.decide.agreement.agreement_data import NOTHING_NEEDED
from surefoot.errors import visible, without_middle
from surefoot.report.escapes import csv_text, markdown
from surefoot.report.family import Chip, Front, Tile, family_page
from surefoot.report.numbers import fixed, measure_title, percent, signed
from surefoot.report.provenance import Provenance
from surefoot.report.tables import markdown_table, terminal_table
from surefoot.risk.assessment_data import Json
from surefoot.risk.tradeoff import ROUNDING

if TYPE_CHECKING:
    from rich.console import RenderableType

_LONGEST = 60  # letters of a name
_FEW = 20  # queries, too few to know a correlation


def shown(text: str) -> str:
    """A name, without its middle where it is long."""
    return without_middle(visible(text), _LONGEST)


def figure(value: float | None, digits: int = 2) -> str:
    """A figure, or a dash where there is none."""
    return "–" if value is None else fixed(value, digits)


def headline(data: Json) -> str:
    """What the judge is worth, in one sentence."""
    judge, people = shown(data["automatic"]), shown(data["people"])
    if data["identical"]:
        return f"{judge} gives the same grades as {people} to all {data['documents']:,} documents that both judged."
    agrees = f"{judge} agrees with {people} on {percent(data['agreement'])} of {data['documents']:,} documents"
    comparison = data["comparison"]
    if comparison is not None and comparison["favours"]["system"] is not None:
        agrees += f", but it favours {shown(comparison['favours']['system'])}"
    savings = None if comparison is None else comparison["savings"]
    if savings is None or savings["alone"] is None or savings["with_judge"] is None:
        return f"{agrees} (weighted κ {figure(data['kappa_quadratic'])})."
    alone, judged = savings["alone"], savings["with_judge"]
    if judged < alone:
        return f"{agrees}. It would save {percent(1 - judged / alone)} of people's judgments in a gate."
    return f"{agrees}. It would save no judgments in a gate."


def sentences(data: Json) -> list[str]:
    """What matters for a release, one sentence each."""
    found = []
    if data["only_people"] or data["only_automatic"]:
        found.append(
            f"{data['only_people']:,} documents were judged by people only, and {data['only_automatic']:,} by the "
            "judge only. They are left out of the comparison of grades."
        )
    if data["outside_scale"]:
        found.append(
            f"{data['outside_scale']:,} automatic grades are outside the range of people's grades. Does the judge use "
            "the same scale?"
        )
    if abs(data["bias"]) > 0:
        found.append(
            f"The judge's grades are {'higher' if data['bias'] > 0 else 'lower'} than people's by "
            f"{fixed(abs(data['bias']), 2)} on average."
        )
    if data["kappa"] is None:
        found.append("κ is not defined, because all grades are the same.")
    comparison = data["comparison"]
    if comparison is not None:
        found += _comparison_sentences(comparison, data["queries"])
    return found


def _comparison_sentences(comparison: Json, queries: int) -> list[str]:
    candidate, baseline = shown(comparison["candidate"]), shown(comparison["baseline"])
    correlation, favours, savings = comparison["loss_correlation"], comparison["favours"], comparison["savings"]
    found = [
        f"By people's judgments, {candidate} has a risk of {fixed(comparison['risk']['people'], 4)} against "
        f"{baseline}, and by the judge's {fixed(comparison['risk']['automatic'], 4)}. "
        + (
            "The losses have no correlation, because they are the same for all queries."
            if correlation is None
            else f"The losses per query have a correlation of {fixed(correlation, 2)}."
        )
    ]
    if favours["system"] is not None:
        found.append(
            f"The judge favours {shown(favours['system'])}: it gives {candidate} {signed(favours['mean'], 4)} more "
            f"than people do, compared with {baseline} (p = {favours['p_value']:.2g})."
        )
    elif favours["p_value"] is None:
        found.append(
            "The judge favours neither system: the differences are the same as people's."
            if abs(favours["mean"]) <= ROUNDING
            else f"It gives {candidate} {signed(favours['mean'], 4)} more than people do, compared with {baseline}. "
            "This cannot be tested: it is the same on all queries, or there is only one."
        )
    else:
        found.append(f"There is no sign that the judge favours a system (p = {favours['p_value']:.2g}).")
    target = f"to prove a risk below {savings['level']:.4g}"
    if savings["reason"] == NOTHING_NEEDED:
        found.append(f"Nobody has to judge anything {target}: {NOTHING_NEEDED}.")
    elif savings["reason"] is not None:
        found.append(f"It is not known what the judge would save {target}: {savings['reason']}.")
    elif savings["alone"] is None and savings["with_judge"] is None:
        found.append(f"Even with the judge, 4,000 judged queries are not enough {target}.")
    else:
        alone = "more than 4,000" if savings["alone"] is None else f"about {savings['alone']:,}"
        judged = "more than 4,000" if savings["with_judge"] is None else f"about {savings['with_judge']:,}"
        found.append(
            f"People must judge {alone} drawn queries {target} without the judge, and {judged} with it. This takes "
            f"these {queries:,} queries as the traffic."
        )
    return found


def caution(data: Json) -> str | None:
    """What could make the figures misleading, where something could."""
    comparison = data["comparison"]
    if comparison is not None and comparison["favours"]["system"] is not None:
        return (
            f"The judge favours {shown(comparison['favours']['system'])}. Do not use its judgments in place of "
            "people's. In a gate with draws this costs nothing but savings."
        )
    if data["queries"] < _FEW:
        return f"Only {data['queries']:,} queries were judged by both. The figures are rough."
    return None


def figure_rows(data: Json) -> list[tuple[str, str]]:
    """The figures of agreement."""
    return [
        ("documents that both judged", f"{data['documents']:,}"),
        ("queries of these", f"{data['queries']:,}"),
        ("same grade", percent(data["agreement"], 1)),
        ("mean difference of grades (judge minus people)", signed(data["bias"], 3)),
        ("Cohen's κ", figure(data["kappa"], 3)),
        ("Cohen's κ, linear weights", figure(data["kappa_linear"], 3)),
        ("Cohen's κ, quadratic weights", figure(data["kappa_quadratic"], 3)),
        (f"Krippendorff's α of {len(data['judges'])} judges, nominal", figure(data["alpha_nominal"], 3)),
        (f"Krippendorff's α of {len(data['judges'])} judges, interval", figure(data["alpha_interval"], 3)),
    ]


def all_tables(data: Json) -> list[tuple[str, list[str], list[list[str]]]]:
    """Title, headings and rows of each table."""
    tables = [("Agreement", ["figure", "value"], [list(row) for row in figure_rows(data)])]
    if data["confusion"] is not None:
        grades = [f"{grade:g}" for grade in data["grades"]]
        counts = [[grade, *(f"{n:,}" for n in row)] for grade, row in zip(grades, data["confusion"], strict=True)]
        tables.append(("Grades", ["people \\ judge", *grades], counts))
    if data["by_grade"]:
        biases = [[f"{one['grade']:g}", f"{one['documents']:,}", signed(one["bias"], 3)] for one in data["by_grade"]]
        tables.append(("Bias per grade", ["people's grade", "documents", "judge minus people"], biases))
    if data["systems"]:
        biases = [
            [shown(one["system"]), fixed(one["people"], 4), fixed(one["automatic"], 4), signed(one["bias"], 4)]
            for one in data["systems"]
        ]
        headings = ["system", "by people", "by the judge", "difference"]
        tables.append((f"Bias per system: {measure_title(data['measure'])}", headings, biases))
    return tables


def tables(data: Json) -> list[RenderableType]:
    """What a terminal shows."""
    from rich.text import Text

    parts: list[RenderableType] = [Text(visible(headline(data)), style="bold"), Text("")]
    parts += [Text(visible(f"• {sentence}")) for sentence in sentences(data)]
    for title, headings, rows in all_tables(data):
        parts += [Text(visible(title), style="bold"), terminal_table(headings, rows)]
    if (note := caution(data)) is not None:
        parts.append(Text(visible(note)))
    return parts


def to_markdown(data: Json) -> str:
    """The agreement in Markdown."""
    parts = [f"### {markdown(headline(data))}", "\n".join(f"- {markdown(one)}" for one in sentences(data))]
    for title, headings, rows in all_tables(data):
        parts += [f"#### {markdown(title)}", markdown_table([markdown(each) for each in headings], rows)]
    return "\n\n".join(part for part in parts if part) + "\n"


def to_csv(data: Json) -> str:
    """One line for each figure."""
    keys = (
        "documents", "queries", "only_people", "only_automatic", "agreement", "bias", "kappa", "kappa_linear",
        "kappa_quadratic", "alpha_nominal", "alpha_interval",
    )  # fmt: skip
    rows = [[key, "", data[key]] for key in keys]
    rows += [["grade_bias", f"{one['grade']:g}", one["bias"]] for one in data["by_grade"]]
    rows += [["system_bias", one["system"], one["bias"]] for one in data["systems"]]
    if data["comparison"] is not None:
        comparison = data["comparison"]
        rows += [[key, "", comparison[key]] for key in ("loss_correlation", "difference_correlation")]
        rows += [[f"favours_{key}", "", comparison["favours"][key]] for key in ("mean", "t", "p_value")]
        rows += [[f"queries_{key}", "", comparison["savings"][key]] for key in ("alone", "with_judge")]
    return csv_text(["figure", "of", "value"], rows)


def to_notebook(data: Json) -> str:
    """What a notebook shows."""
    tiles = [
        ("Documents", f"{data['documents']:,}"),
        ("Same grade", percent(data["agreement"])),
        ("Weighted κ", figure(data["kappa_quadratic"])),
    ]
    table = NotebookTable(["figure", "value"], [list(row) for row in figure_rows(data)])
    cautions = [note for note in [caution(data)] if note is not None]
    return NotebookView(
        "agreement of judges", headline(data), tiles, table, cautions=cautions, lead=sentences(data)
    ).to_html()


_FOLDER = "surefoot.decide.agreement/assets"


def front(data: Json) -> Front:
    """What a reader sees first."""
    return Front(headline(data), _chip(data), caution(data), _tiles(data))


def _chip(data: Json) -> Chip:
    if data["identical"]:
        return Chip("Identical", "neutral")
    comparison = data["comparison"]
    if comparison is not None and comparison["favours"]["system"] is not None:
        return Chip(f"Favours {shown(comparison['favours']['system'])}", "keep")
    savings = None if comparison is None else comparison["savings"]
    if savings is None or savings["alone"] is None or savings["with_judge"] is None:
        return Chip("Compared", "neutral")
    return Chip("Useful", "ship") if savings["with_judge"] < 0.9 * savings["alone"] else Chip("Little use", "wait")


def _tiles(data: Json) -> list[Tile]:
    tiles = [
        Tile("Same grade", percent(data["agreement"]), f"of {data['documents']:,} documents"),
        Tile("Weighted κ", figure(data["kappa_quadratic"]), "1 is full agreement, 0 is chance"),
        Tile("Bias", signed(data["bias"], 2), "judge minus people, per document"),
    ]
    if (comparison := data["comparison"]) is not None:
        savings = comparison["savings"]
        tiles.append(Tile("Correlation of losses", figure(comparison["loss_correlation"]), "per query"))
        alone, judged = ("–" if savings[key] is None else f"{savings[key]:,}" for key in ("alone", "with_judge"))
        tiles.append(Tile("People's judgments needed", judged, f"without the judge: {alone}"))
    return tiles


def to_page(data: Json, provenance: Provenance | None = None) -> str:
    """The page of an agreement's plain data."""
    return family_page(
        f"{_FOLDER}/agreement.html.j2",
        front(data),
        provenance,
        page_kind="agreement of judges",
        title=f"{shown(data['automatic'])} against {shown(data['people'])}: what the judge is worth",
        sentences=[visible(sentence) for sentence in sentences(data)],
        tables=[
            (f"table-{number}", visible(title), [visible(each) for each in headings], rows)
            for number, (title, headings, rows) in enumerate(all_tables(data))
        ],
    )
