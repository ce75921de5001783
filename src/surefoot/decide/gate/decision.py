"""A decision: plain data first, then the renderings that people and pipelines read."""

from __future__ import annotations

from typing import Any

from surefoot.data.types.scores import Scores
from surefoot.decide.gate.decision_metrics import to_metrics
from surefoot.decide.gate.decision_notebook import to_notebook
from surefoot.decide.gate.decision_page import to_page
from surefoot.decide.gate.decision_text import to_csv, to_markdown, to_text
from surefoot.decide.gate.decision_words import headline
from surefoot.report.kinds import KINDS
from surefoot.report.provenance import Provenance
from surefoot.report.result import PlainResult, Renderings


class Decision(PlainResult):
    """Ship, stop or undecided; `to_dict` is its plain data, everything else renders that."""

    _kind = KINDS["decision"]
    _renderings = Renderings(to_text, to_csv, to_page, to_markdown, to_notebook, to_metrics)

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
