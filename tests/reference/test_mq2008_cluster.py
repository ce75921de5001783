"""MQ2008 on one machine and on Dask clusters of separate processes: models of the same quality."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefoot as sf

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.engines("distributed", "xgboost"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

MEASURE = "nDCG(dcg='exp-log2')@10"
SETTINGS: dict[str, Any] = {
    "engine": "xgboost", "n_estimators": 80, "max_leaves": 8, "max_depth": 0, "grow_policy": "lossguide",
    "learning_rate": 0.08, "min_child_weight": 0.5, "subsample": 0.8, "colsample_bytree": 0.8,
}  # fmt: skip


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    from surefoot.learn.cluster.clusters import cluster

    with cluster("local:4") as local_client:
        yield local_client


@pytest.fixture(scope="module")
def fold(data: Path) -> tuple[sf.RankingData, sf.RankingData]:
    def read(name: str) -> sf.RankingData:
        letor = sf.read_letor(data / "mq2008" / "Fold1" / f"{name}.txt")
        data_with_baseline = sf.RankingData(
            letor.X, letor.y, group=letor.lengths, baselines={"bm25": letor.feature(25)}
        )
        return data_with_baseline.with_baseline("tf", letor.feature(5)).with_baseline("lm", letor.feature(30))

    return read("train"), read("test")


def judged(ranker: sf.Ranker, test: sf.RankingData) -> tuple[float, float]:
    """nDCG(exp)@10 and risk against BM25."""
    runs = [test.to_run(test.baselines["bm25"], "bm25"), test.to_run(ranker.predict(test), "model")]
    base, model = sf.score(test.qrels(), runs, MEASURE).values
    return float(model.mean()), float(np.maximum(0, base - model).mean())


@pytest.mark.parametrize("objective", ["u_risk", "saro", "faro", "geo_risk"])
def test_as_good_as_on_one_machine(client, fold, objective: str) -> None:
    """Within three standard deviations of five seeds on one machine, with 1, 2 and 4 workers."""
    import dask.array as da

    train, test = fold
    if objective != "geo_risk":
        train = train.with_baselines_only(["bm25"])
    alone = np.array(
        [judged(sf.Ranker(objective, 5, random_state=seed, **SETTINGS).fit(train), test) for seed in range(5)]
    )
    mean, spread = alone.mean(axis=0), alone.std(axis=0, ddof=1)
    rows = np.repeat(np.arange(len(train.queries)), train.lengths)
    for workers in (1, 2, 4):
        starts = [int(train.offsets[q[0]]) for q in np.array_split(np.arange(len(train.queries)), workers)]
        chunks = tuple(np.diff([*starts, len(train)]).tolist())
        X, y, qid, *scores = (
            da.from_array(each, chunks=(chunks, *[-1] * (each.ndim - 1)))
            for each in (train.X, train.y, rows, *train.baselines.values())
        )
        ranker = sf.Ranker(objective, 5, **SETTINGS)
        ranker.fit(X, y, qid=qid, baseline=dict(zip(train.baselines, scores, strict=True)))
        result = np.array(judged(ranker, test))
        print(objective, workers, result, mean, spread)
        assert (np.abs(result - mean) <= 3 * spread).all(), (objective, workers, result, mean, spread)
