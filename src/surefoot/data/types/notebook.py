"""Runs, judgments, scores and labelled documents as a notebook shows them: how much there is, and its first rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from surefoot.arrays import Floats
from surefoot.data.notebook import SHOWN_ROWS, NotebookTable, NotebookView, more_rows

if TYPE_CHECKING:
    from surefoot.data.types.ranking_data import RankingData
    from surefoot.data.types.runs import Qrels, RankedTable, Run
    from surefoot.data.types.scores import Scores

_SYSTEMS, _FEATURES, _LEVELS = 25, 6, 5  # systems that are shown, features, and grades that have a tile each


def run_view(run: Run) -> NotebookView:
    """A run's name, size and first results."""
    lengths = run.ranking.lengths
    tiles = [("Queries", f"{len(run.queries):,}"), ("Results", f"{len(run):,}")]
    if len(lengths):
        tiles.append(("Results of a query", _span(int(lengths.min()), int(lengths.max()))))
    return NotebookView("Run", run.name, tiles, _first_rows(run, "score"))


def qrels_view(qrels: Qrels) -> NotebookView:
    """How many documents were judged, of how many queries, and with which grades."""
    tiles = [("Queries", f"{len(qrels.queries):,}"), ("Judged", f"{len(qrels):,}"), *_levels(qrels.grades, "Grade")]
    return NotebookView("Judgments", qrels.name, tiles, _first_rows(qrels, "grade"))


def scores_view(scores: Scores) -> NotebookView:
    """The measure, the size, and each system's mean, the best first."""
    means, values = scores.mean(), scores.values
    best = np.argsort(-means, kind="stable")[:_SYSTEMS].tolist()
    rows = [
        [
            scores.systems[row], *(_score(value) for value in (means[row], values[row].min(), values[row].max())),
            f"{scores.missing.get(scores.systems[row], 0):,}",
        ]
        for row in best
    ]  # fmt: skip
    headings = ["system", "mean", "lowest", "highest", "queries lacked"]
    tiles = [
        ("Systems", f"{len(scores.systems):,}"),
        ("Queries", f"{len(scores.queries):,}"),
        ("Best mean", _score(means.max())),
    ]
    lead = [f"{scores.dropped:,} judged queries that a system lacks are left out."] if scores.dropped else []
    if scores._relative_weights is not None:
        lead.append("Means are weighted by traffic.")
    size = f"{len(scores.systems):,} systems × {len(scores.queries):,} queries"
    table = NotebookTable(headings, rows, more=more_rows(len(means), _SYSTEMS, "systems"))
    return NotebookView("Scores", f"{scores.measure}: {size}", tiles, table, lead=lead)


def ranking_data_view(data: RankingData) -> NotebookView:
    """Size, labels and baselines, and the first documents with their first features."""
    tiles = [
        ("Queries", f"{len(data.queries):,}"),
        ("Documents", f"{len(data):,}"),
        ("Features", f"{data.n_features:,}"),
        *_levels(data.y, "Label"),
    ]
    count = min(SHOWN_ROWS, len(data))
    features = min(_FEATURES, data.n_features)
    names = data.feature_names or [f"feature {number}" for number in range(1, data.n_features + 1)]
    baselines = list(data.baselines)[:_FEATURES]
    queries = np.searchsorted(data.offsets, np.arange(count), side="right") - 1
    rows = [
        [
            data.queries[int(queries[row])],
            str(row + 1) if data.doc_ids is None else str(data.doc_ids[row]),
            f"{data.y[row]:g}",
            *(_number(float(data.baselines[name][row])) for name in baselines),
            *(_number(float(value)) for value in data.X[row, :features]),
        ]
        for row in range(count)
    ]
    document = "row" if data.doc_ids is None else "document"
    headings = ["query", document, "label", *baselines, *names[:features]]
    hidden = data.n_features - features
    caption = f"The first {features} of {data.n_features:,} features" if hidden else ""
    known = f"Baselines: {', '.join(data.baselines)}" if data.baselines else "No baseline yet; with_baseline adds one"
    size = f"{len(data):,} labelled documents of {len(data.queries):,} queries"
    table = NotebookTable(headings, rows, caption, left=2, more=more_rows(len(data), what="documents"))
    return NotebookView("Ranking data", size, tiles, table, lead=[f"{known}."])


def _first_rows(table: RankedTable, number: str) -> NotebookTable:
    count = min(SHOWN_ROWS, len(table))
    positions = np.arange(count)
    ranking = table.ranking
    documents = table.documents(positions).to_list() if count else []
    queries, ranks = ranking.query_at(positions), ranking.rank_at(positions) if count else positions
    rows = [
        [table.queries[int(query)], document, str(rank), _number(value, 6)]
        for query, document, rank, value in zip(queries, documents, ranks, ranking.scores[:count], strict=True)
    ]
    return NotebookTable(["query", "document", "rank", number], rows, left=2, more=more_rows(len(table)))


def _levels(values: Floats, what: str) -> list[tuple[str, str]]:
    """How often each grade or label occurs, the lowest first; where there are many, how far they reach."""
    levels, counts = np.unique(values, return_counts=True)
    if len(levels) > _LEVELS:
        return [(f"{what}s", f"{levels[0]:g} to {levels[-1]:g}")]
    return [(f"{what} {level:g}", f"{count:,}") for level, count in zip(levels, counts, strict=True)]


def _number(value: float, digits: int = 4) -> str:
    """A number with at most so many digits, and a true minus sign."""
    return "–" if np.isnan(value) else f"{value:.{digits}g}".replace("-", "−")


def _score(value: float) -> str:
    """A score with four digits after the point, where it is of a usual size."""
    return f"{value:.4f}".replace("-", "−") if abs(value) < 1e6 else _number(value)


def _span(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
