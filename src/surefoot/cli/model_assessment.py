"""A model beside its baselines on labelled queries: what `train` and `rank` print of it, and the page they write."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from surefoot.cli.printing import page_provenance
from surefoot.errors import visible

if TYPE_CHECKING:
    from rich.console import Console

    from surefoot.data.reading.traffic import Traffic
    from surefoot.data.types.ranking_data import RankingData
    from surefoot.data.types.scores import Scores
    from surefoot.neural.loading import AnyRanker
    from surefoot.report.assessment import Assessment

_VALIDATION = (
    "These are the validation queries, which the training used to choose this model. Expect less on new queries. "
    "Assess the model on test queries before you decide."
)


def score_model(ranker: AnyRanker, data: RankingData, name: str = "model", traffic: Traffic | None = None) -> Scores:
    """The scores of the data's baselines and of the model, which is named otherwise where a baseline has its name."""
    from surefoot.measures.scoring import score

    own = name if name not in data.baselines else f"new {name}"
    runs = [data.to_run(scores, baseline) for baseline, scores in data.baselines.items()]
    runs.append(data.to_run(ranker.predict(data), own))
    return score(data.qrels(), runs, ranker.measure, traffic=traffic)


def show_model(
    console: Console, scores: Scores, alpha: float | None, html: str | Path | None, inputs: Iterable[str | Path | None],
    *, validation: bool, metrics: str | None = None,
) -> None:  # fmt: skip
    """Print the outcome on the last system of `scores`, against all others, and write the page and metrics.

    The outcome is that of the α that the model was trained with. With `validation`, both say that training saw these
    queries.
    """
    from surefoot.report.assessment import assess
    from surefoot.report.text import overview

    alphas = sorted({0.0, 1.0, 5.0, float(alpha or 0)})
    baselines = list(scores.systems[:-1]) or [scores.systems[-1]]
    assessment: Assessment = assess(scores, baselines[0] if len(baselines) == 1 else baselines, alphas)
    if validation:
        console.print(f"\nOn the validation data. {_VALIDATION}")
    for part in overview([(assessment.by_measure()[0], assessment.rows())], alpha or None):
        console.print(part)
    if metrics is not None:
        assessment._write(metrics, "metrics")
    if html is not None:
        provenance = page_provenance(html, inputs)
        if provenance is not None and validation:
            provenance = provenance._replace(title="on validation data", caution=_VALIDATION)
        assessment._write(html, "html", alpha=alpha or None, system=scores.systems[-1], provenance=provenance)
        console.print(visible(f"Wrote the page to {html}"))
