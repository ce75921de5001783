"""Learning: every objective against LightGBM's own lambdarank, as ratios from one run on the same data.

    python benchmarks/learn.py            # 2,000 queries, 240,000 documents x 136 features, 100 trees of 50 leaves
    python benchmarks/learn.py --quick    # a tenth of it

Both sides bin the data and grow the trees on two threads, without history or validation; they take turns, another
one first in each round, and medians are compared. Memory is the peak of a new process above its level after imports and
one warm-up iteration. The kernel's first compilation is printed, not counted.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from evaluators import peak_memory

THREADS, TREES, LEAVES, ROUNDS = 2, 100, 50, 7
OBJECTIVES: dict[str, dict[str, Any]] = {
    "gain": {},
    "u_risk": {"alpha": 5},
    "saro": {"alpha": 5},
    "faro": {"alpha": 5},
    "geo_risk": {"alpha": 5},
    "regression": {},
}
PARAMETERS = {"num_leaves": LEAVES, "learning_rate": 0.1, "num_threads": THREADS}


def data(queries: int) -> Any:
    import surefoot as sf

    made = sf.demo.letor(queries=queries, documents=120, features=136, seed=0)
    return sf.RankingData(made.X, made.y, group=made.lengths, baselines=made.baselines)


def native(train: Any, trees: int) -> None:
    import lightgbm as lgb

    settings = {"objective": "lambdarank", "lambdarank_truncation_level": 10, "lambdarank_norm": False, "verbosity": -1}
    settings |= {"deterministic": True, "force_col_wise": True, "seed": 0}
    lgb.train(settings | PARAMETERS, lgb.Dataset(train.X, train.y, group=train.lengths, free_raw_data=False), trees)


def ours(objective: str) -> Callable[[Any, int], None]:
    import surefoot as sf

    def train_one(train: Any, trees: int) -> None:
        sf.Ranker(objective, n_estimators=trees, history=False, **OBJECTIVES[objective], **PARAMETERS).fit(train)

    return train_one


def seconds(function: Callable[..., Any], *arguments: Any) -> float:
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


def worker(which: str, queries: int) -> None:
    """Peak memory of one training above the level after imports and one warm-up iteration."""
    train = data(queries)
    function = native if which == "native" else ours(which)
    function(data(20), 1)
    before = peak_memory_now()
    reset_peak()
    function(train, TREES)
    print(json.dumps({"above": peak_memory() - before}))


def peak_memory_now() -> float:
    """Resident memory in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def reset_peak() -> None:
    """Forget the peak so far (Linux)."""
    Path("/proc/self/clear_refs").write_text("5")


def main(quick: bool) -> None:
    queries = 200 if quick else 2_000
    start = time.perf_counter()
    ours("geo_risk")(data(20), 1)
    print(f"First fit, compiling what is not cached: {time.perf_counter() - start:.1f} s")
    train = data(queries)
    print(f"{train}; {TREES} trees of {LEAVES} leaves")
    functions = {"native": native, **{name: ours(name) for name in OBJECTIVES}}
    times: dict[str, list[float]] = {name: [] for name in functions}
    names = list(functions)
    for number in range(ROUNDS):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            times[name].append(seconds(functions[name], train, TREES))
    memory = {
        name: json.loads(
            subprocess.run(
                [sys.executable, __file__, "--worker", name, str(queries)], capture_output=True, text=True, check=True
            ).stdout
        )["above"]
        for name in functions
    }
    for name, found in times.items():
        ratio, more = median(found) / median(times["native"]), memory[name] / memory["native"]
        print(f"{name:10} {median(found):7.2f} s [{ratio:.2f}]   {memory[name]:6.0f} MB above [{more:.2f}]")
    few = data(queries // 10)
    for name in ("native", "u_risk"):
        growth = median(times[name]) / median(seconds(functions[name], few, TREES) for _ in range(ROUNDS))
        print(f"ten times the queries, {name}: time x {growth:.1f} ({len(few):,} -> {len(train):,} documents)")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        worker(sys.argv[2], int(sys.argv[3]))
    else:
        main(quick="--quick" in sys.argv)
