"""The queries that each system hurts most, as a terminal's tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from surefoot.errors import visible
from surefoot.report.columns import ABSENT
from surefoot.report.numbers import fixed
from surefoot.risk.assessment_data import AssessmentData, SystemData
from surefoot.risk.tradeoff import alpha_key

if TYPE_CHECKING:
    from rich.console import RenderableType

_LONGEST_QUERY_TEXT = 50  # letters of a query's text that are shown


def query_tables(
    data: AssessmentData, rows: Sequence[SystemData], most: int = 10, texts: Mapping[str, str] | None = None
) -> list[RenderableType]:
    """For each system, in the order of `rows`, the queries it hurts most, the significant ones marked.

    `data` must hold `per_query`; `texts` are what queries say, shown beside their ids.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    block = data["per_query"]
    parts: list[RenderableType] = []
    baseline = block["baseline"]
    if baseline is None:
        return [
            Text("With several baselines, a query has several differences, so this table is not shown.", style="dim")
        ]
    keys = [alpha_key(alpha) for alpha in data["alphas"]]
    for system in (row["system"] for row in rows):
        columns = block["systems"][system]
        differences = columns["difference"] or []
        lost = sorted((i for i, difference in enumerate(differences) if difference < 0), key=differences.__getitem__)
        if not lost:
            continue
        words = (
            f"{visible(system)} hurts {len(lost):,} of {data['queries']:,} queries. "
            "The queries that it hurts most (*: significant):"
        )
        table = Table(
            title=Text(f"\n{words}"),
            title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False,
        )  # fmt: skip
        counts = block.get("counts")
        last = "z" if counts is None else "traffic"
        for heading in ("query", "baseline", "score", "difference", last, *(f"T_J, α={key}" for key in keys)):
            table.add_column(heading, justify="left" if heading == "query" else "right")
        for i in lost[:most]:
            cells = [
                fixed(baseline[i], 4),
                fixed(columns["score"][i], 4),
                fixed(differences[i], 4),
            ]
            if counts is None:
                cells.append(ABSENT if columns["z"] is None else fixed(columns["z"][i], 3))
            else:
                cells.append(f"{counts[i]:,g}")
            for key in keys:
                at = columns["alpha"][key]
                t_j, significant = at["t_j"], at["significant"] or []
                cells.append(ABSENT if t_j is None else f"{fixed(t_j[i], 2)}{'*' if significant[i] else ' '}")
            table.add_row(Text(visible(with_text(block["queries"][i], texts or {}))), *cells)
        parts.append(table)
    return parts


def with_text(query: str, texts: Mapping[str, str]) -> str:
    """A query's id, and what it says where that is known."""
    text = " ".join(texts.get(query, "").split())
    short = text if len(text) <= _LONGEST_QUERY_TEXT else f"{text[: _LONGEST_QUERY_TEXT - 1]}…"
    return f"{query} ({short})" if short else query
