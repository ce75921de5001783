"""An explanation as one page: how the query does, and for each swap the features that made it."""

from __future__ import annotations

from collections.abc import Sequence

from surefoot.report.family import render_page


def to_page(title: str, sentences: Sequence[str], tables: Sequence[Sequence[Sequence[str]]]) -> str:
    """The page of sentences, the first of which is about the query, and of a table for each of the others."""
    headline, *others = sentences
    rows = [*tables, *([] for _ in range(len(others) - len(tables)))]
    return render_page(
        "surefoot.report/assets/explanation.html.j2",
        ["surefoot.report/assets/page.css"],
        title=title,
        headline=headline,
        swaps=list(zip(others, rows, strict=True)),
    )
