"""The two rankings of each query that a decision lists as hurt, as the page's script reads them."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot.data.types.scores import Scores
from surefoot.report.measure_terms import measure_terms
from surefoot.report.page_results import packed_results, page_texts
from surefoot.risk.assessment_data import Json


def hurt_rankings(data: Json, scores: Scores | None, documents: Any = None) -> Json | None:
    """Systems, queries, both lists of each and the documents' texts; None where no ranking is known.

    `scores` are those that were decided on, with their runs. A query of an earlier batch is not among them.
    """
    systems = [data["baseline"], data["candidate"]]
    runs = {} if scores is None else {run.name: run for run in scores.runs}
    scored_queries = frozenset() if scores is None else frozenset(scores.queries)
    hurt_queries = [hurt_query for hurt_query in data["most_hurt"] if hurt_query["query"] in scored_queries]
    if scores is None or not hurt_queries or not runs.keys() >= set(systems):
        return None
    values = np.array([[hurt_query[side] for hurt_query in hurt_queries] for side in ("baseline", "candidate")])
    queries = [hurt_query["query"] for hurt_query in hurt_queries]
    hurt_scores = Scores(
        values, systems, queries, scores.measure, runs=[runs[system] for system in systems], qrels=scores.qrels,
        tie_rule=scores.tie_rule,
    )  # fmt: skip
    results = packed_results(hurt_scores, systems[0], [values - values[0]], len(hurt_queries))
    if results is None:
        return None
    ids = results.pop("documents")
    return {
        "systems": systems,
        "queries": queries,
        "scores": values.tolist(),
        "texts": {
            "queries": [hurt_query["text"] or "" for hurt_query in hurt_queries],
            "documents": page_texts(documents, ids),
        },
        "results": results,
        "terms": measure_terms(scores.measure, results["levels"]),
    }
