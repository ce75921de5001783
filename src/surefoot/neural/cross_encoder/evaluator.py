"""What a cross-encoder gains and risks against the order in which documents arrive, at each evaluation of a trainer."""

from __future__ import annotations

import csv
import logging
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from surefoot.arrays import Floats
from surefoot.data.types.runs import Qrels, RankedSource, Run
from surefoot.data.types.scores import Scores
from surefoot.errors import ArgumentError, DataError, shortened
from surefoot.learn.criteria import Criterion
from surefoot.learn.options import MEASURE
from surefoot.measures.notation import Measure
from surefoot.measures.scoring import score
from surefoot.neural.cross_encoder.first_documents import DEPTH, FirstDocuments, only_judged
from surefoot.neural.cross_encoder.libraries import CrossEncoderModel, hugging_face
from surefoot.neural.cross_encoder.scoring import raw_scores
from surefoot.neural.cross_encoder.text_lists import COLUMNS, check_list, row_name
from surefoot.neural.loss import RiskLoss
from surefoot.risk.tradeoff import check_alpha, count_losing_over_20, weigh_losses

logger = logging.getLogger(__name__)
_BaseEvaluator = hugging_face("sentence_transformers.base.evaluation").BaseEvaluator
_MOST_HURT_NAMED = 5  # queries that are hurt most
_LIVE_SYSTEM, _MODEL_SYSTEM = "live", "model"


class RiskEvaluator(_BaseEvaluator):  # type: ignore[misc, valid-type]
    """An evaluator for `CrossEncoderTrainer`: the model beside the order in which the documents arrive.

    It gives `mean` (of the measure), `live_mean`, `reward`, `risk`, `u_risk@α`, `wins`, `losses` and `losses_over_20`
    (queries that lose more than 20 %), logs them with the five queries that are hurt most, and appends them to a CSV
    file, as the library's own evaluators do. Equal scores stay in the order in which the documents arrive.

    Parameters
    ----------
    dataset : datasets.Dataset, or a sequence of rows
        With `query`, `docs` in the order in which they arrive, and `labels`; `query_id` and `doc_ids` where they are
        known. Relevant documents outside the lists are unknown here; `from_run` counts them.
    alpha : float
        Each loss counts 1 + α times in U_α.
    measure : str
        Any measure, such as "nDCG@10".
    select_by : str, optional
        What the best checkpoint is chosen by, for `load_best_model_at_end`: "effectiveness", or "u_risk@5",
        "t_risk@5", "geo_risk@5". By default U at `alpha`. The trainer's `metric_for_best_model` is
        "eval_" + `primary_metric`.
    name : str
        Put before the names of figures.
    batch_size : int
        How many (query, document) pairs are scored at once.
    write_csv : bool
        Whether the figures are appended to a file in the folder that the trainer names.

    `queries_hurt_most` are the five queries that the last evaluation found to be hurt most.
    """

    def __init__(
        self,
        dataset: Any,
        *,
        alpha: float = 5.0,
        measure: str = MEASURE,
        select_by: str | None = None,
        name: str = "",
        batch_size: int = 32,
        show_progress_bar: bool = False,
        write_csv: bool = True,
    ) -> None:
        super().__init__()
        first, judgments = dataset if isinstance(dataset, tuple) else _from_rows(dataset)
        self.alpha = check_alpha(alpha)
        self.measure = Measure.parse(measure)
        self.criterion = Criterion.parse(select_by or f"u_risk@{self.alpha:g}", "select_by")
        self.name = name
        self.batch_size = batch_size
        self.show_progress_bar = show_progress_bar
        self.write_csv = write_csv
        self.csv_file = f"RiskEvaluator{'_' + name if name else ''}_results.csv"
        self.greater_is_better = True
        best_by = "mean" if self.criterion.name == "effectiveness" else str(self.criterion)
        self.primary_metric = f"{name}_{best_by}" if name else best_by
        self.queries_hurt_most: list[dict[str, Any]] = []
        self._first, self._judgments = first, judgments
        scores = score(judgments, [first.run.renamed(_LIVE_SYSTEM)], self.measure)
        self._queries, self._live = scores.queries, scores.values[0]

    @classmethod
    def from_run(
        cls,
        qrels: RankedSource,
        run: RankedSource,
        queries: Any,
        documents: Any,
        *,
        depth: int = DEPTH,
        **options: Any,
    ) -> Self:
        """For every judged query of a run whose first `depth` documents are re-ranked; as `to_dataset` takes them.

        The figures are those of `surefoot evaluate` for the run that `rerank` makes.
        """
        judgments = Qrels.read(qrels)
        judged = only_judged(Run.read(run), judgments.queries)
        return cls((FirstDocuments.of_run(judged, queries, documents, depth), judgments), **options)

    def __call__(
        self, model: CrossEncoderModel, output_path: str | None = None, epoch: float = -1, steps: int = -1
    ) -> dict[str, float]:
        """The figures of a model."""
        moment = "" if epoch == -1 else f" in epoch {epoch}" + ("" if steps == -1 else f" after {steps} steps")
        logger.info(f"RiskEvaluator: evaluating the model on the {self.name or 'given'} queries{moment}:")
        scores = self.scores(model)
        values = scores.values[1]
        figures = self._figures(values)
        self.queries_hurt_most = self._hurt_most(values)
        self._log(figures)
        if output_path is not None and self.write_csv:
            self._append(Path(output_path), {"epoch": epoch, "steps": steps} | figures)
        metrics: dict[str, float] = self.prefix_name_to_metrics(figures, self.name)
        self.store_metrics_in_model_card_data(model, metrics, epoch, steps)
        return metrics

    def scores(self, model: CrossEncoderModel) -> Scores:
        """M(q) of what is live and of the model on each judged query, for `surefoot.assess` and `surefoot.gate`."""
        numbers = range(len(self._first.queries))
        scores = raw_scores(model, self._first.pairs(numbers), self.batch_size, progress=self.show_progress_bar)
        bounds = np.cumsum([len(texts) for texts in self._first.texts])[:-1]
        run = self._first.reranked(np.split(scores, bounds), _MODEL_SYSTEM)
        return score(self._judgments, [self._first.run.renamed(_LIVE_SYSTEM), run], self.measure)

    def get_config_dict(self) -> dict[str, Any]:
        """What the trainer writes into the model's card."""
        return {"measure": str(self.measure), "alpha": self.alpha, "select_by": str(self.criterion)}

    def _figures(self, values: Floats) -> dict[str, float]:
        differences = values - self._live
        figures = {
            "mean": float(values.mean()),
            "live_mean": float(self._live.mean()),
            "reward": float(np.maximum(differences, 0).mean()),
            "risk": float(np.maximum(-differences, 0).mean()),
            f"u_risk@{self.alpha:g}": float(weigh_losses(differences, self.alpha).mean()),
            "wins": int((differences > 0).sum()),
            "losses": int((differences < 0).sum()),
            "losses_over_20": count_losing_over_20(differences, self._live),
        }
        if self.criterion.name != "effectiveness":
            figures[str(self.criterion)] = self.criterion(values, self._live[None])
        return figures

    def _hurt_most(self, values: Floats) -> list[dict[str, Any]]:
        differences = values - self._live
        worst = [
            number for number in np.argsort(differences, kind="stable")[:_MOST_HURT_NAMED] if differences[number] < 0
        ]
        texts = dict(zip(self._first.run.queries, self._first.queries, strict=True))
        return [
            {"query_id": self._queries[number], "query": texts.get(self._queries[number], ""),
             "live": float(self._live[number]), "model": float(values[number])}
            for number in worst
        ]  # fmt: skip

    def _log(self, figures: Mapping[str, float]) -> None:
        before, after = figures["live_mean"], figures["mean"]
        logger.info(f"Queries: {len(self._queries):,}\t{self.measure}: {before:.4f} live -> {after:.4f}")
        others = {name: value for name, value in figures.items() if name not in ("mean", "live_mean")}
        logger.info("\t".join(f"{name}: {round(value, 4):,}" for name, value in others.items()))
        for each in self.queries_hurt_most:
            name = f"{shortened(each['query_id'])}, {shortened(each['query'])}"
            logger.info(f"hurt most: {name}: {each['live']:.4f} -> {each['model']:.4f}")

    def _append(self, folder: Path, figures: Mapping[str, Any]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / self.csv_file
        new = not path.is_file()
        hurt = " ".join(each["query_id"] for each in self.queries_hurt_most)
        with path.open("a", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            if new:
                writer.writerow([*figures, "hurt_most"])
            writer.writerow([*figures.values(), hurt])


def _from_rows(dataset: Any) -> tuple[FirstDocuments, Qrels]:
    """Rows of query, docs and labels as a run and its judgments, with ids where there are none."""
    rows = list(dataset)
    if not rows:
        raise ArgumentError("the dataset has no rows; give lists of documents to evaluate")
    loss = RiskLoss()
    live: dict[str, dict[str, float]] = {}
    judged: dict[str, dict[str, float]] = {}
    for number, row in enumerate(rows, start=1):
        lacking = [name for name in COLUMNS if name not in row] if isinstance(row, Mapping) else COLUMNS
        if lacking:
            raise DataError(f"row {number}: {', '.join(lacking)} is missing; a row has {', '.join(COLUMNS)}")
        check_list(partial(row_name, number, row["query"]), row["query"], row["docs"], row["labels"], loss)
        query = str(row.get("query_id", number))
        ids = [str(each) for each in row.get("doc_ids", range(1, len(row["docs"]) + 1))]
        if len(ids) != len(set(ids)) or len(ids) != len(row["docs"]):
            raise DataError(f"row {number}: doc_ids must name each of the {len(row['docs'])} documents, each once")
        if query in live:
            raise DataError(f"row {number}: the query_id {shortened(query)} appears twice; keep one row for each query")
        live[query] = {each: -float(rank) for rank, each in enumerate(ids)}
        judged[query] = {each: float(label) for each, label in zip(ids, row["labels"], strict=True)}
    ids_of_rows = [list(documents) for documents in live.values()]
    first = FirstDocuments(
        Run.read(live, _LIVE_SYSTEM), [row["query"] for row in rows], ids_of_rows, [list(row["docs"]) for row in rows]
    )
    return first, Qrels.read(judged)
