"""A study's result: plain data first, then as text, JSON or a page."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from surefoot.data.files import write_text
from surefoot.data.scores import Scores
from surefoot.errors import ArgumentError

Json = dict[str, Any]
DEFAULT_MEASURES = ("nDCG@5", "rNDCG@5", "SoftNDCG@5")


def matrices_of(scores: Scores | Sequence[Scores]) -> list[Scores]:
    """One matrix per measure, all of the same systems on the same queries."""
    matrices = [scores] if isinstance(scores, Scores) else list(scores)
    if not matrices:
        raise ArgumentError("no scores were given; give one matrix per measure")
    for matrix in matrices[1:]:
        if matrix.queries != matrices[0].queries or matrix.systems != matrices[0].systems:
            raise ArgumentError(
                f"the scores of {matrix.measure} are not on the same systems and queries as those of "
                f"{matrices[0].measure}; score all measures on the same runs"
            )
    if len({matrix.measure for matrix in matrices}) < len(matrices):
        raise ArgumentError("a measure was given twice; give each once")
    return matrices


class Study:
    """What a study of stability found; `to_dict` is its plain data, everything else renders that."""

    def __init__(self, data: Json) -> None:
        self._data = data

    def to_dict(self) -> Json:
        """Plain data that JSON can hold; `schema` says which study it is."""
        return dict(self._data)

    def to_json(self) -> str:
        """The data as JSON text."""
        from surefoot.report.plain_json import to_json

        return to_json(self._data)

    def to_text(self, width: int = 120) -> str:
        """The tables that the command line prints."""
        from surefoot.report.stability import to_text

        return to_text(self._data, width)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """One self-contained page with the study's charts; written to `path` where given."""
        from surefoot.report.stability_page import to_page

        page = to_page([self._data])
        if path is not None:
            write_text(path, page)
        return page

    def write_json(self, path: str | os.PathLike[str]) -> None:
        """Write the data as JSON, all or nothing."""
        write_text(path, self.to_json())

    def __str__(self) -> str:
        """The tables that the command line prints."""
        return self.to_text()

    def __repr__(self) -> str:
        """Which study, of what."""
        return f"<Study {self._data['schema']}: {', '.join(self._data['measures'])}>"
