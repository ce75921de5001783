"""A study's result: plain data first, then as text, JSON or a page."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Self

from surefoot.data.scores import Scores, check_once, check_same
from surefoot.data.writing import write_text
from surefoot.errors import ArgumentError, DataError
from surefoot.report.result import Result
from surefoot.risk.plain_data import Json
from surefoot.studies.text import to_csv, to_text

SAME = 1e-12  # scores and means that differ by no more differ by rounding only
KINDS = ("noise", "subsets", "time", "functions")


def schema_of(kind: str) -> str:
    """What a study's data calls itself."""
    return f"surefoot/stability-{kind}/1"


def matrices_of(scores: Scores | Sequence[Scores]) -> list[Scores]:
    """One matrix per measure, all of the same systems on the same queries."""
    matrices = [scores] if isinstance(scores, Scores) else list(scores)
    if not matrices:
        raise ArgumentError("no scores were given; give one matrix per measure")
    check_same(matrices, "score all measures on the same runs")
    check_once([matrix.measure for matrix in matrices])
    return matrices


class Study(Result):
    """What a study of stability found; `to_dict` is its plain data, everything else renders that."""

    called = "a study of stability"

    def __init__(self, data: Json) -> None:
        self._data = data

    def to_dict(self) -> Json:
        """Plain data that JSON can hold; `schema` says which study it is."""
        return dict(self._data)

    @classmethod
    def from_dict(cls, data: Json) -> Self:
        """The study whose plain data this is."""
        if not isinstance(data, dict) or data.get("schema") not in [schema_of(kind) for kind in KINDS]:
            raise DataError(f"is not {cls.called}; expected JSON with a schema such as {schema_of(KINDS[0])!r}")
        study = cls(data)
        repr(study), study.to_text(), study.to_csv(), study.to_html()  # all that a rendering looks at is there
        return study

    def to_csv(self) -> str:
        """One row for each measure and size, period or function, figures at full precision."""
        return to_csv(self._data)

    def to_text(self, width: int = 120) -> str:
        """The tables that the command line prints."""
        return to_text(self._data, width)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """One self-contained page with the study's charts; written to `path` where given."""
        from surefoot.studies.page import to_page

        page = to_page([self._data])
        if path is not None:
            write_text(path, page)
        return page

    def __repr__(self) -> str:
        """Which study, of what."""
        return f"<Study {self._data['schema']}: {', '.join(self._data['measures'])}>"
