"""A study's result: plain data first, then as text, JSON or a page."""

from __future__ import annotations

from collections.abc import Sequence

from surefoot.data.types.scores import Scores, check_once, check_same
from surefoot.errors import ArgumentError
from surefoot.report.kinds import KINDS
from surefoot.report.result import PlainResult, Renderings
from surefoot.risk.assessment_data import Json
from surefoot.risk.assessment_parts import traffic_data
from surefoot.stability.page import to_notebook, to_page
from surefoot.stability.text import tables, to_csv


def matrices_of(scores: Scores | Sequence[Scores]) -> list[Scores]:
    """One matrix per measure, all of the same systems on the same queries."""
    matrices = [scores] if isinstance(scores, Scores) else list(scores)
    if not matrices:
        raise ArgumentError("no scores were given; give one matrix per measure")
    check_same(matrices, "score all measures on the same runs")
    check_once([matrix.measure for matrix in matrices])
    return matrices


def traffic_block(scores: Scores) -> Json:
    """The key `weights`, where queries are weighted by traffic."""
    return {} if scores._weighting is None else {"traffic": traffic_data(scores._weighting)}


class Study(PlainResult):
    """The result of a study of stability; `to_dict` is its plain data, everything else renders that."""

    _kind = KINDS["study"]
    _renderings = Renderings(tables, to_csv, lambda data, provenance: to_page([data], provenance), notebook=to_notebook)

    def __repr__(self) -> str:
        """Which study, of what."""
        return f"<Study {self._data['schema']}: {', '.join(self._data['measures'])}>"
