"""Judgments, a run and texts as the data that a cross-encoder is trained with."""

from __future__ import annotations

from functools import partial
from typing import Any

from surefoot.data.types.runs import Qrels, RankedSource, Run
from surefoot.errors import DataError, shortened
from surefoot.learn.options import MEASURE
from surefoot.neural.cross_encoder.first_documents import DEPTH, FirstDocuments, only_judged
from surefoot.neural.cross_encoder.libraries import TextDataset, hugging_face
from surefoot.neural.cross_encoder.text_lists import NothingToLearnError, check_list, row_name
from surefoot.neural.loss import RiskLoss
from surefoot.progress import steps

_ROWS_PER_PART = 1000  # queries of a table: Arrow's tables of text are limited to 2 GB


def to_dataset(
    qrels: RankedSource,
    run: RankedSource,
    queries: Any,
    documents: Any,
    *,
    depth: int = DEPTH,
    measure: str = MEASURE,
    skip_unusable: bool = False,
) -> TextDataset:
    """A Hugging Face `Dataset` with a row per judged query: `query`, `docs`, `labels`, `query_id`, `doc_ids`.

    The documents are the run's first `depth`, in its order, which a loss compares with; those that were not judged
    have the label 0, and so have those that were judged negatively: the hard negatives of the live ranking. `queries`
    and `documents` are texts by id: a file (`id<TAB>text`, JSON lines, topics), a dict or a table.

    A query from which nothing can be learned, because its list has no relevant document or fewer than two documents,
    is refused; with `skip_unusable` it is left out.

    >>> from surefoot.neural import to_dataset
    >>> data = to_dataset(
    ...     {"q1": {"d2": 1}}, {"q1": ["d1", "d2"]}, {"q1": "red dress"}, {"d1": "A blue dress", "d2": "A red one"}
    ... )
    >>> data[0]["docs"], data[0]["labels"]
    (['A blue dress', 'A red one'], [0.0, 1.0])
    """
    judgments = Qrels.read(qrels)
    first = FirstDocuments.of_run(only_judged(Run.read(run), judgments.queries), queries, documents, depth)
    rows = _rows(judgments, first, RiskLoss(measure=measure), skip_unusable)
    library = hugging_face("datasets")
    features = library.Features(
        {
            "query": library.Value("string"),
            "docs": library.Sequence(library.Value("string")),
            "labels": library.Sequence(library.Value("float64")),
            "query_id": library.Value("string"),
            "doc_ids": library.Sequence(library.Value("string")),
        }
    )
    parts = [
        library.Dataset.from_list(rows[start : start + _ROWS_PER_PART], features=features)
        for start in steps(range(0, len(rows), _ROWS_PER_PART), "Making the dataset")
    ]
    return library.concatenate_datasets(parts)


def _rows(judgments: Qrels, first: FirstDocuments, loss: RiskLoss, skip_unusable: bool) -> list[dict[str, Any]]:
    """The rows, checked."""
    rows, unusable = [], []
    grades = judgments.to_dict()
    answered = set(first.run.queries)
    lacking = [query for query in judgments.queries if query not in answered]
    unusable += [f"query {shortened(query)}: the run has no document for it" for query in lacking]
    for number, query in enumerate(first.run.queries):
        ids, texts = first.ids[number], first.texts[number]
        labels = [max(grades[query].get(each, 0.0), 0.0) for each in ids]
        try:
            check_list(partial(row_name, number + 1, query), first.queries[number], texts, labels, loss)
        except NothingToLearnError as error:
            unusable.append(str(error))
            continue
        rows.append(
            {"query": first.queries[number], "docs": texts, "labels": labels, "query_id": query, "doc_ids": ids}
        )
    if unusable and not (skip_unusable and rows):
        hint = "leave them out with skip_unusable=True" if rows else "there is nothing to learn from"
        raise DataError(f"{unusable[0]} ({len(unusable):,} of {len(judgments.queries):,} queries are such); {hint}")
    return rows
