"""`surefoot explain`: why a query got worse, by the features that moved the documents whose swap cost most."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from surefoot.cli import shared_options as shared
from surefoot.cli.option import argument, option
from surefoot.cli.outputs import EXPLANATION_JSON, EXPLANATION_MARKDOWN
from surefoot.cli.printing import Delivery, results
from surefoot.errors import ArgumentError, visible
from surefoot.learn.baseline_spec import baseline_files
from surefoot.learn.model_files import model_files
from surefoot.progress import busy

if TYPE_CHECKING:
    from surefoot.learn.explanation import Explanation


def explain(
    model: shared.ModelFolder,
    data: Annotated[Path, argument("DATA", "Labelled documents: LETOR text or Parquet.")],
    query: Annotated[str, argument("QUERY", "The query.")],
    baseline: shared.Baselines = None,
    pairs: Annotated[int, option("--pairs", "Swaps to explain, worst first.", min=1)] = 3,
    *,
    delivery: Annotated[Delivery, results("json markdown html", json=EXPLANATION_JSON, markdown=EXPLANATION_MARKDOWN)],
) -> None:
    """Say why a query got worse: which swaps, by which features.

    **Example:** `surefoot explain model/ test.txt 18219 -b bm25=feature:25`
    """
    delivery.check([*model_files(model), data, *baseline_files(baseline or [])])
    from surefoot.learn.baseline_spec import read_like, with_baselines
    from surefoot.neural.loading import load_ranker

    ranker = load_ranker(model)
    if not hasattr(ranker, "explain"):
        raise ArgumentError(f"{model} is a network, and only what trees add up to can be explained")
    with busy("Reading data"):
        documents = with_baselines(read_like(data, ranker.n_features_in_), baseline or [], data)
    result = ranker.explain(documents, query, pairs=pairs)
    delivery.finish(_ExplanationTexts(result, query), lambda: typer.echo(str(result)))


class _ExplanationTexts:
    """An explanation as text of each kind."""

    def __init__(self, result: Explanation, query: str) -> None:
        self._result, self._query = result, query

    def to_json(self) -> str:
        """As JSON."""
        from surefoot.report.escapes import to_json

        return to_json(self._result.to_dict())

    def to_markdown(self) -> str:
        """As Markdown."""
        return self._result.to_markdown()

    def to_html(self) -> str:
        """As a page."""
        from surefoot.report.family import to_page

        return to_page(visible(f"Query {self._query}"), self._result.sentences(), self._result.tables())
