"""Which list each query is shown, and why."""

from __future__ import annotations

import os
from dataclasses import dataclass

from surefoot.arrays import Flags, Floats
from surefoot.data.writing.all_or_nothing import write_text
from surefoot.report.escapes import csv_text, to_json
from surefoot.report.numbers import short
from surefoot.risk.assessment_data import Json

SCHEMA = "surefoot/shown/1"
HEADER = ("query", "shown", "score", "threshold", "why")  # of files, which programs read by these names


@dataclass(frozen=True)
class GuardedLists:
    """A guard's choice for each of some queries."""

    queries: tuple[str, ...]
    scores: Floats
    threshold: float | None
    scorer: str
    reason: str | None
    candidate: str
    baseline: str

    @property
    def shown(self) -> Flags:
        """Whether the candidate's list is shown."""
        return self.scores >= (float("inf") if self.threshold is None else self.threshold)

    def rows(self) -> list[Json]:
        """For each query what is shown, the scorer's score, the threshold, and why in words."""
        rows = []
        for query, score, takes in zip(self.queries, self.scores.tolist(), self.shown.tolist(), strict=True):
            if self.threshold is None:
                why = f"only {self.baseline} is shown: {self.reason}"
            else:
                why = f"{self.scorer} {short(score)} is {'at least' if takes else 'below'} {short(self.threshold)}"
            rows.append(
                {
                    "query": query,
                    "shown": self.candidate if takes else self.baseline,
                    "score": score,
                    "threshold": self.threshold,
                    "why": why,
                }
            )
        return rows

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the rows, all or nothing: JSON by that ending, CSV otherwise."""
        if str(path).lower().endswith(".json"):
            write_text(path, to_json({"schema": SCHEMA, "shown": self.rows()}))
        else:
            write_text(path, csv_text(HEADER, ([row[name] for name in HEADER] for row in self.rows())))
