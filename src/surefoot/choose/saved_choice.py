"""What was chosen of a sweep as one model: a seed's, the mean of seeds, or either with its baseline."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.choose.candidates import TrainedModels
from surefoot.choose.choice import Choice, check_origin
from surefoot.choose.options import BLENDED, MODEL, SELECTIVE
from surefoot.choose.store import SweepStore
from surefoot.data.types.ranking_data import RankingData
from surefoot.errors import ArgumentError, DataError, expecting, shortened
from surefoot.learn.baseline_spec import BaselineSpec
from surefoot.learn.combination import Combination
from surefoot.learn.means import average
from surefoot.learn.ranker import Ranker
from surefoot.neural.loading import AnyRanker, is_network, load_ranker
from surefoot.risk.assessment_data import Json

_QUANTILES = np.linspace(0, 1, 2001)


def copy_model(store: SweepStore, choice: Choice, target: Path, fold: str | None = None) -> tuple[str, str, str]:
    """Save a fold's choice (by default the first's); says whose it is, which, and of which seeds."""
    name = next(iter(choice.chosen)) if fold is None else fold
    if name not in choice.chosen:
        raise ArgumentError(f"there is no fold {shortened(name)}; the folds are {', '.join(choice.chosen)}")
    check_origin(store, choice)
    row = choice.chosen[name]
    with expecting("a sweep", store.folder, "start it in a new folder"):
        ranker, seeds = chosen_ranker(TrainedModels(store), row, name)
    ranker.save(target)
    return name, str(row["name"]), f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {', '.join(map(str, seeds))}"


def chosen_ranker(trained: TrainedModels, row: Json, fold: str) -> tuple[AnyRanker, list[int]]:
    """The one model whose ranking a row describes on a fold, and the seeds that it is made of."""
    parts = row.get("made_of")
    if parts is None:
        raise ArgumentError(
            f"{row['name']} cannot be saved: it shows one of two rankings at random; choose another candidate"
        )
    setting = next((setting for setting in trained.settings if setting.name == parts["setting"]), None)
    if setting is None:
        raise DataError.at(
            trained.store.folder,
            None,
            f"does not have {shortened(parts['setting'])} on every fold in this version; run the sweep again",
        )
    jobs = [job for by_seed in trained.jobs(setting) for job in by_seed if job.fold == fold]
    folders = [trained.store.result_path(job) for job in jobs if job.seed in parts["seeds"]]
    if is_network(folders[0]):
        return _chosen_network(trained, row, folders), list(parts["seeds"])
    rankers = [Ranker.load(folder) for folder in folders]
    ranker = rankers[0] if len(rankers) == 1 else average(rankers)
    ranker.query_feature_ = trained.store.source.selective
    if row["kind"] in (BLENDED, SELECTIVE):
        ranker.combination_ = _combination(trained, parts, fold).to_dict()
        ranker.score_sample_ = _score_sample(trained, ranker, fold)
    return ranker, list(parts["seeds"])


def _chosen_network(trained: TrainedModels, row: Json, folders: Sequence[Path]) -> AnyRanker:
    """A single network; a network with its baseline, or with a feature of the query, has no form to be saved in."""
    if len(folders) > 1 or row["kind"] != MODEL or trained.store.source.selective is not None:
        raise ArgumentError(
            f"{row['name']} cannot be saved as one model, because its models are networks. Choose a single model, or "
            "train a mean with surefoot train --engine torch --models N"
        )
    return load_ranker(folders[0])


def _combination(trained: TrainedModels, parts: Json, fold: str) -> Combination:
    source = trained.store.source
    first = trained.baselines[0]
    named = [BaselineSpec.parse(text) for text in source.baselines]
    known = next((spec.source for spec in named if spec.name == first and spec.number is not None), None)
    how: dict[str, Any] = (
        {"weight": parts["weight"]}
        if "weight" in parts
        else {"aggregate": source.selective, "threshold": parts["thresholds"][fold]}
    )
    return Combination(first, known, **how)


def _score_sample(trained: TrainedModels, ranker: Ranker, fold: str) -> list[float]:
    """Quantiles of the scores that the model gives with its baseline, on the fold's validation documents."""
    data: RankingData = trained.store.source.load(fold).valid
    scores = ranker.predict(data)
    return [float(value) for value in np.maximum.accumulate(np.quantile(scores, _QUANTILES))]
