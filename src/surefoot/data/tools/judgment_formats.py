"""The formats that judgments, and what is to be judged, can be written in for a tool."""

from __future__ import annotations

from enum import StrEnum

from surefoot.errors import ArgumentError, shortened


class JudgmentFormat(StrEnum):
    """The format of one of the tools."""

    quepid = "quepid"
    workbench = "workbench"
    query_set = "query-set"

    @classmethod
    def parse(cls, form: str) -> JudgmentFormat:
        """The format of that name."""
        if form not in tuple(cls):
            raise ArgumentError(f"form is {shortened(form)}; it must be one of {', '.join(cls)}")
        return cls(form)
