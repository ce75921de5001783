"""A decision: plain data first, then the renderings that people and pipelines read.

A name of its flat metrics is `measure/candidate/figure`; of a condition `measure/candidate/conditions/risk/figure`, of
U_Risk with its α, `…/conditions/u_risk/alpha_5/figure`, of a segment's `…/segments/segment/conditions/risk/figure`.
"""

from __future__ import annotations

from typing import Any

from surefoot.data.notebook import Look, NotebookTable, NotebookView, Tone, more_rows
from surefoot.data.types.scores import Scores
from surefoot.decide.evidence.conditions import confidence
from surefoot.decide.gate.decision_page import to_page
from surefoot.decide.gate.decision_text import (
    STATUS_HEADING,
    cells,
    headings,
    notes,
    tables,
    to_csv,
    to_markdown,
    worst_first,
)
from surefoot.decide.gate.decision_words import headline, judged_words, queries_needed_note, sentence, unit_of
from surefoot.report.kinds import KINDS
from surefoot.report.metrics import decision_metrics, flat_metrics
from surefoot.report.numbers import measure_title
from surefoot.report.provenance import Provenance
from surefoot.report.result import PlainResult, Renderings
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


_DECISIONS = ("ship", "stop", "undecided")
_FIGURES = ("observed", "bound", "bound_fails", "level", "p_holds", "p_fails", "queries")


def to_metrics(data: Json) -> dict[str, float]:
    """Every figure of a decision under a name of its own."""
    figures: dict[str, Any] = {
        "decision": decision_metrics(data["decision"], _DECISIONS),
        "conditions": _conditions(data, None),
        **{name: data[name] for name in ("queries", "hurt", "delta", "queries_needed")},
    }
    segments = dict.fromkeys(one["segment"] for one in data["conditions"] if one["segment"] is not None)
    if segments:
        figures["segments"] = {name: {"conditions": _conditions(data, name)} for name in segments}
    return flat_metrics({data["measure"]: {data["candidate"]: figures}})


def _conditions(data: Json, segment: str | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for one in data["conditions"]:
        if one["segment"] != segment:
            continue
        figures = {name: one[name] for name in _FIGURES} | {"holds": int(one["status"] == "holds")}
        if one["alpha"] is None:
            found[one["name"]] = figures
        else:
            found.setdefault(one["name"], {})[f"alpha_{one['alpha']:g}"] = figures
    return found


class Decision(PlainResult):
    """Ship, stop or undecided; `to_dict` is its plain data, everything else renders that."""

    _kind = KINDS["decision"]
    _renderings = Renderings(tables, to_csv, to_page, to_markdown, to_notebook, to_metrics)

    def __init__(self, data: Any, scores: Scores | None = None) -> None:
        super().__init__(data)
        self._scores = scores  # what was decided on; None of a decision that was read from a file

    def to_html(self, *, documents: Any = None, provenance: Provenance | None = None) -> str:
        """One self-contained page.

        The queries hurt most lead to their two rankings, where the decision was made from runs in this session;
        `documents` are texts to show there, a file, a dict or a table.
        """
        return to_page(self._data, provenance, self._scores, documents)

    def to_junit(self) -> str:
        """JUnit's XML, a test case for each condition."""
        from surefoot.decide.gate.build_servers import to_junit

        return to_junit(self._data)

    def __repr__(self) -> str:
        """The decision in words."""
        return f"<Decision: {headline(self._data)}>"
