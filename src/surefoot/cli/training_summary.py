"""What `surefoot train` prints of its data: sizes, how the baselines do, and how queries count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot.errors import visible
from surefoot.report.notes import effective_words, traffic_percent

if TYPE_CHECKING:
    from rich.console import Console

    from surefoot.data.types.ranking_data import RankingData
    from surefoot.neural.loading import AnyRanker


def show_weights(console: Console, ranker: AnyRanker) -> None:
    """How training queries counted, where they did not all count the same."""
    weights = getattr(ranker, "traffic_", None)
    if weights is not None:
        console.print(
            f"weights: {weights['queries']:,} training queries with {traffic_percent(weights['traffic_share'])} of the "
            f"traffic count as much as {effective_words(weights['effective_queries'])} that are asked equally often"
        )


def show_data(console: Console, ranker: AnyRanker, sets: dict[str, RankingData | None]) -> None:
    """What will be learned from, and how the baselines do on it."""
    import numpy as np
    from rich import box
    from rich.table import Table

    from surefoot.learn.training_weights import relative_or_none
    from surefoot.measures.notation import Measure
    from surefoot.measures.scoring import score
    from surefoot.risk.weighting import weighted_mean

    measure = Measure.parse(ranker.measure)
    table = Table(
        title=f"Baselines' {measure} before training", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False
    )
    for heading in ("data", "baseline", "mean", "lowest", "quarter", "median", "three quarters", "queries at 0"):
        table.add_column(heading, justify="left" if heading in ("data", "baseline") else "right")
    for name, data in sets.items():
        if data is None:
            continue
        unasked = 0 if data._weighting is None else len(data._weighting.left_out)
        left_out = f"; without traffic, and left out: {unasked:,}" if unasked else ""
        size = f"{len(data.queries):,} queries, {len(data):,} documents, {data.n_features:,} features"
        console.print(f"{name}: {size}{left_out}")
        weights = relative_or_none(data._weighting)
        runs = [data.to_run(scores, which) for which, scores in data.baselines.items()]
        for which, values in zip(
            data.baselines, score(data.qrels(), runs, measure).values if runs else [], strict=True
        ):
            quartiles = np.quantile(values, [0, 0.25, 0.5, 0.75])
            cells = [f"{value:.4f}" for value in (weighted_mean(values, weights), *quartiles)]
            table.add_row(name, visible(which), *cells, f"{(values == 0).sum():,}")
    if table.row_count:
        console.print(table)
