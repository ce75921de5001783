"""A decision: plain data first, then the renderings that people and pipelines read."""

from __future__ import annotations

import os

from surefoot.data.writing.all_or_nothing import write_text
from surefoot.decide.gate.decision_data import SCHEMA, ConditionData, DecisionData, Verdict
from surefoot.decide.gate.decision_text import headline, to_csv, to_markdown, to_text
from surefoot.report.result import PlainResult


class Decision(PlainResult):
    """Ship, stop or undecided; `to_dict` is its plain data, everything else renders that."""

    called = "a decision"
    schemas = (SCHEMA,)
    shape = DecisionData

    @property
    def decision(self) -> Verdict:
        """ "ship", "stop" or "undecided"."""
        verdict: Verdict = self._data["decision"]
        return verdict

    @property
    def exit_code(self) -> int:
        """0 for ship, 1 for stop, 3 for undecided: what the command ends with."""
        return int(self._data["exit_code"])

    @property
    def conditions(self) -> list[ConditionData]:
        """Each condition, with what was observed and proved of it."""
        return list(self._data["conditions"])

    def to_text(self, width: int = 120) -> str:
        """What the command line prints."""
        return to_text(self._data, width)

    def to_csv(self) -> str:
        """One line per condition, at full precision."""
        return to_csv(self._data)

    def to_markdown(self) -> str:
        """The decision, its conditions and the queries hurt most, for a pull request."""
        return to_markdown(self._data)

    def to_junit(self) -> str:
        """JUnit's XML, a test case for each condition."""
        from surefoot.decide.gate.junit import to_junit

        return to_junit(self._data)

    def page(self) -> str:
        """The HTML of one self-contained page."""
        from surefoot.decide.gate.decision_page import to_page

        return to_page(self._data)

    def write_junit(self, path: str | os.PathLike[str]) -> None:
        """Write `to_junit`, all or nothing."""
        write_text(path, self.to_junit())

    def __repr__(self) -> str:
        """The decision in words."""
        return f"<Decision: {headline(self._data)}>"
