"""A certificate as a notebook shows it: what is proved, the figures, and what is assumed."""

from __future__ import annotations

from collections.abc import Sequence

from surefoot.data.notebook import NotebookTable, NotebookView
from surefoot.decide.evidence.conditions import ConditionRule
from surefoot.report.numbers import percent, signed
from surefoot.risk.assessment_data import Json


def to_notebook(data: Json, rows: Sequence[tuple[str, str]]) -> str:
    """The view of a certificate's plain data, with the rows of its figures."""
    nowhere = data["threshold"] is None
    levels = " and ".join(ConditionRule(one["name"], one["level"]).words for one in data["conditions"])
    headline = (
        f"Only {data['baseline']} is shown."
        if nowhere
        else f"{data['candidate']} keeps to {levels} where it is shown instead of {data['baseline']}."
    )
    guarded = data["guarded"]
    tiles = [
        ("Judged queries", f"{data['queries']:,}"),
        ("Lists of the candidate", percent(guarded["share_shown"], 1)),
        ("Gain", signed(guarded["gain"], 4)),
        *([("Gain kept", percent(data["gain_kept"]))] if data["gain_kept"] is not None else []),
        ("Risk observed", f"{guarded['risk']:.4f}"),
    ]
    table = NotebookTable(["figure", "value"], [list(row) for row in rows], left=2)
    return NotebookView(
        "Certificate", headline, tiles, table, "" if nowhere else "helped", lead=[data["sentence"]],
        notes=[f"It assumes: {assumption}" for assumption in data["assumptions"]],
    ).to_html()  # fmt: skip
