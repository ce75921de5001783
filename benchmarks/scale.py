"""Scaling out: XGBoost's own ranking beside ours, and what the sums over machines cost.

    python benchmarks/scale.py                 # 2,000 queries of 120 documents, four workers
    python benchmarks/scale.py --quick         # a tenth of it
    python benchmarks/scale.py engine|cluster [--quick]

The engine: both sides bin the data and grow the trees on two threads, without history or validation; they take turns,
and medians are compared. The cluster: four local processes with one thread each; the same training with sums over all
machines and with each machine's own sums, in turns.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

THREADS, TREES, LEAVES, ROUNDS = 2, 100, 50, 7
ROUND = 20  # trees on a cluster of more processes than there are cores, which is slow
RISKS = ("u_risk", "saro", "faro", "geo_risk")
PARAMETERS: dict[str, Any] = {
    "max_leaves": LEAVES, "max_depth": 0, "grow_policy": "lossguide", "learning_rate": 0.1, "min_child_weight": 0.01,
}  # fmt: skip


def data(queries: int) -> Any:
    import surefoot as sf

    made = sf.demo.letor(queries=queries, documents=120, features=136, seed=0)
    return sf.RankingData(made.X, made.y, group=made.lengths, baselines=made.baselines)


def seconds(function: Callable[..., Any], *arguments: Any) -> float:
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


# XGBoost's own objective, and ours


def native(train: Any) -> None:
    import xgboost as xgb

    settings = PARAMETERS | {
        "objective": "rank:ndcg", "lambdarank_pair_method": "topk", "lambdarank_num_pair_per_sample": 10,
        "nthread": THREADS, "disable_default_eval_metric": True,
    }  # fmt: skip
    held = xgb.QuantileDMatrix(train.X, train.y, group=train.lengths, nthread=THREADS)
    xgb.train(settings, held, TREES)


def ours(objective: str) -> Callable[[Any], None]:
    import surefoot as sf

    alpha = None if objective == "gain" else 5

    def train_one(train: Any) -> None:
        ranker = sf.Ranker(
            objective, alpha, engine="xgboost", n_estimators=TREES, history=False, nthread=THREADS, **PARAMETERS
        )
        ranker.fit(train)

    return train_one


def engine(quick: bool) -> None:
    functions = {"native": native, **{name: ours(name) for name in ("gain", *RISKS)}}
    for function in functions.values():
        function(data(20))
    train = data(200 if quick else 2_000)
    print(f"\n{train}; {TREES} trees of {LEAVES} leaves, beside XGBoost's own rank:ndcg (topk, k = 10)")
    times: dict[str, list[float]] = {name: [] for name in functions}
    names = list(functions)
    for number in range(ROUNDS):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            times[name].append(seconds(functions[name], train))
    for name, found in times.items():
        print(f"{name:10} {median(found):7.2f} s [{median(found) / median(times['native']):.2f}]")


# Sums over machines


def _use(kind: str) -> None:
    """On a worker: sums over all machines, counted, or this machine's own."""
    from xgboost import collective

    from surefoot.learn.cluster import worker

    def over_all(sums: Any) -> Any:
        over_all.calls += 1  # type: ignore[attr-defined]
        over_all.bytes += sums.nbytes  # type: ignore[attr-defined]
        return np.asarray(collective.allreduce(np.ascontiguousarray(sums, dtype=np.float64), collective.Op.SUM))

    over_all.calls = over_all.bytes = 0  # type: ignore[attr-defined]
    worker.sum_over_machines = over_all if kind == "all" else lambda sums: sums


def _counted() -> tuple[int, int]:
    from surefoot.learn.cluster import worker

    return worker.sum_over_machines.calls, worker.sum_over_machines.bytes  # type: ignore[attr-defined]


def cluster(quick: bool) -> None:
    import dask.array as da

    import surefoot as sf
    from surefoot.learn.cluster.clusters import cluster as running

    workers = 4
    with running(f"local:{workers}") as client:
        for queries in (40, 400) if quick else (200, 2_000):
            train = data(queries)
            ends = [int(train.offsets[part[-1] + 1]) for part in np.array_split(np.arange(queries), workers)]
            chunks = tuple(np.diff([0, *ends]).tolist())
            rows = np.repeat(np.arange(queries), train.lengths)
            X, y, qid, base = (
                da.from_array(each, chunks=(chunks, *[-1] * (each.ndim - 1))).persist()
                for each in (train.X, train.y, rows, train.baselines["bm25"])
            )

            def fit(objective: str, given: tuple[Any, ...] = (X, y, qid, base)) -> None:
                held, labels, of, scores = given
                ranker = sf.Ranker(
                    objective,
                    5,
                    engine="xgboost",
                    n_estimators=ROUND,
                    checkpoint_every=ROUND,
                    history=False,
                    **PARAMETERS,
                )
                ranker.fit(held, labels, qid=of, baseline={"bm25": scores})

            print(f"\n{train} on {workers} local workers, {ROUND} trees")
            for objective in ("saro", "geo_risk"):
                client.run(_use, "all")
                fit(objective)
                calls, sent = next(iter(client.run(_counted).values()))
                print(f"{objective:10} {calls / ROUND:.1f} sums and {sent / ROUND:.0f} bytes per tree", flush=True)
            if queries < 400:
                continue
            for objective in ("saro", "geo_risk"):
                times: dict[str, list[float]] = {"all": [], "own": []}
                for number in range(2 * ROUNDS):
                    kind = ("all", "own")[(number + number // 2) % 2]
                    client.run(_use, kind)
                    times[kind].append(seconds(fit, objective))
                added = median(times["all"]) / median(times["own"]) - 1
                print(
                    f"{objective:10} {median(times['all']):6.2f} s with sums over machines, "
                    f"{median(times['own']):6.2f} s without: {added:+.1%} (at most 5 %)",
                    flush=True,
                )


if __name__ == "__main__":
    wanted = [part for part in sys.argv[1:] if not part.startswith("-")] or ["engine", "cluster"]
    for part in wanted:
        {"engine": engine, "cluster": cluster}[part]("--quick" in sys.argv)
