"""The tests that papers usually report: sentences, and the table of the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from surefoot.errors import visible
from surefoot.report.columns import ordinary_columns, sort_rows
from surefoot.report.words import baseline_name
from surefoot.risk.assessment_data import AssessmentData, Json

if TYPE_CHECKING:
    from surefoot.data.types.scores import Scores

GUIDE = (
    ("t", "the mean difference, if differences are not very skewed or there are many queries (Student 1908)"),
    ("Wilcoxon", "whether gains and losses are balanced in their ranks: it does not test the mean, and one huge loss "
     "counts little (Wilcoxon 1945; queries without a change by Pratt 1959)"),
    ("randomisation", "the mean difference without assuming a distribution (Fisher 1935; Smucker et al. 2007)"),
    ("HSD", "all pairs of systems at once: use it where no pair was chosen beforehand (Tukey 1949; Carterette 2012)"),
)  # fmt: skip


def add_tests(parts: Sequence[tuple[AssessmentData, Scores]], seed: int, randomised_hsd: bool) -> None:
    """Add the usual tests to the assessments by each measure."""
    from surefoot.risk.ordinary_tests import add_ordinary_tests

    for data, scores in parts:
        weighted = scores._relative_weights is not None  # equal weights change nothing
        add_ordinary_tests(data, scores, seed, randomised_hsd=randomised_hsd, weighted=weighted)


def ordinary_heading(data: AssessmentData) -> str:
    """What heads the table of the tests."""
    return f"The usual tests against {baseline_name(data)}: two-sided p-values of plain differences (α = 0)"


def ordinary_caption(data: AssessmentData) -> str:
    """How the p-values were corrected and computed."""
    settings = data["tests"]
    compared = sum(row.get("tests") is not None and row["tests"]["t"] is not None for row in data["systems"])
    words = f"t, Wilcoxon and randomisation are corrected for {compared} comparison{'s' * (compared != 1)} (Holm)"
    if settings["hsd_reason"] is not None:
        words += f". No HSD: {settings['hsd_reason']}"
    else:
        kind = "" if settings["hsd"] == "studentized range" else f" randomised, {settings['hsd_draws']:,} draws,"
        words += f". HSD:{kind} corrected for all pairs of {settings['hsd_systems']} systems"
    drawn = [row["tests"]["randomisation"] for row in data["systems"] if row.get("tests") is not None]
    if any(test is not None and not test.get("exact", True) for test in drawn):
        words += f". Randomisation: {settings['draws']:,} draws, seed {settings['seed']}"
    return f"{words}. None of them weighs losses: the outcome above does"


def page_tests(parts: Sequence[AssessmentData]) -> list[Json]:
    """The tables of the tests for a page: for each measure the headings, the rows of texts, and the caption."""
    tables = []
    for data in parts:
        if "tests" in data:
            columns = ordinary_columns(data, shown=True)
            rows = [
                {"system": visible(row["system"]), "cells": [column.text(row) for column in columns]}
                for row in sort_rows(data, "mean")
                if not row["is_baseline"]
            ]
            tables.append(
                {
                    "measure": visible(data["measure"]), "baseline": visible(baseline_name(data)), "rows": rows,
                    "columns": [{"heading": column.heading, "meaning": column.meaning} for column in columns],
                    "caption": ordinary_caption(data),
                }
            )  # fmt: skip
    return tables
