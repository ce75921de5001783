"""A decision as a notebook shows it: the headline, each condition, and what the claim rests on."""

from __future__ import annotations

from surefoot.data.notebook import Look, NotebookTable, NotebookView, Tone, more_rows
from surefoot.decide.evidence.conditions import confidence
from surefoot.decide.gate.decision_text import STATUS_HEADING, cells, headings, notes, worst_first
from surefoot.decide.gate.decision_words import headline, judged_words, queries_needed_note, sentence, unit_of
from surefoot.report.measure_names import measure_title
from surefoot.risk.assessment_data import Json

_ROWS, _SENTENCES = 20, 2
_TONES: dict[str, Tone] = {"ship": "helped", "stop": "hurt"}
_LOOKS: dict[str, Look] = {"holds": "helped", "fails": "hurt"}


def to_notebook(data: Json) -> str:
    """The view of a decision's plain data."""
    conditions = worst_first(data)
    table = NotebookTable(
        headings(data), [cells(condition) for condition in conditions[:_ROWS]],
        more=more_rows(len(conditions), _ROWS, "conditions"),
        looks=[_LOOKS.get(condition["status"], "") for condition in conditions[:_ROWS]],
        coloured_column=headings(data).index(STATUS_HEADING),
    )  # fmt: skip
    tiles = [
        ("Judged queries", f"{data['queries']:,}"),
        ("Confidence", confidence(data["delta"])),
        ("Queries hurt", f"{data['hurt']:,}"),
        ("Exit code", str(data["exit_code"])),
    ]
    about = f"{measure_title(data['measure'])} on {judged_words(data)}"
    lead = [sentence(condition, unit_of(data)) for condition in conditions[:_SENTENCES]]
    lead += filter(None, [queries_needed_note(data)])
    tone = _TONES.get(data["decision"], "")
    return NotebookView(about, headline(data), tiles, table, tone, lead=lead, notes=notes(data)).to_html()
