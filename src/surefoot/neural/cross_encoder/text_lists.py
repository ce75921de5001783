"""Lists of documents with their labels, checked: what is wrong is refused with the row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from surefoot.errors import DataError, shortened
from surefoot.neural.libraries import Tensor, torch
from surefoot.neural.loss import RiskLoss

COLUMNS = ("query", "docs", "labels")
_EXPECTED = "expected a query, its documents in the order in which they arrive, and a label for each document"


class NothingToLearnError(DataError):
    """A list that is in order, but has too few documents, or nothing relevant."""


def row_name(row: int, query: Any) -> str:
    """What messages call a row."""
    return f"row {row}, query {shortened(query)}"


def check_list(where: Callable[[], str], query: Any, documents: Any, labels: Any, loss: RiskLoss) -> None:
    """Refuse a list from which nothing can be learned, or that is not one; `where` names its row."""
    if not isinstance(query, str) or not query.strip():
        raise DataError(f"{where()}: the query has no text, found {shortened(query)}; {_EXPECTED}")
    if isinstance(documents, str) or not isinstance(documents, Sequence):
        raise DataError(f"{where()}: the documents are {shortened(documents)}; {_EXPECTED}")
    empty = next((n for n, each in enumerate(documents) if not isinstance(each, str) or not each.strip()), None)
    if empty is not None:
        raise DataError(f"{where()}: document {empty + 1} has no text, found {shortened(documents[empty])}")
    values = _numbers(labels)
    if values is None:
        raise DataError(f"{where()}: the labels are {shortened(labels)}; {_EXPECTED}")
    if len(values) != len(documents):
        raise DataError(f"{where()}: there are {len(documents)} documents and {len(values)} labels; {_EXPECTED}")
    if len(documents) < 2:
        what = "one document" if len(documents) else "no document"
        raise NothingToLearnError(f"{where()}: there is {what}; a list to rank has at least 2")
    try:
        loss.check_labels(values)
    except ValueError as error:
        raise DataError(f"{where()}: {error}") from error
    if not (loss.measure.gains(values[None], torch.ones(1, len(values), dtype=torch.bool)) > 0).any():
        raise NothingToLearnError(
            f"{where()}: none of the {len(documents)} documents is relevant under {loss.measure.measure}, so nothing "
            "can be learned from this list"
        )


def _numbers(labels: Any) -> Tensor | None:
    """Labels as a vector in float64; None where they are not numbers in a row."""
    try:
        values = torch.as_tensor(labels, dtype=torch.float64).cpu()
    except (TypeError, ValueError, RuntimeError):
        return None
    return values if values.ndim == 1 else None
