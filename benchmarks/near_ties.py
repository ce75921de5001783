"""SoftNDCG@10 against plain Python loops, as ratios from one process in which the two take turns.

    python benchmarks/near_ties.py            # about two minutes
    python benchmarks/near_ties.py --quick    # fewer rounds

The plain loops do the same arithmetic: only documents of positive gain, only the first ten ranks; percentiles they are
given. The second ratio is to loops over every document, as the formula is written. They run on some of the queries,
and times are compared per query. Peak memory is that of new processes (VmHWM), above what nDCG@10 takes there.
"""

from __future__ import annotations

import math
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import surefoot as sf
from surefoot.measures.effectiveness import ideal_dcg
from surefoot.measures.matching import match
from surefoot.measures.near_ties import percentiles

SIGMA, CUTOFF = 0.2, 10
MEASURE = f"SoftNDCG@{CUTOFF}"


def generate(queries: int, depth: int) -> tuple[sf.Qrels, sf.Run]:
    """A run of uniform scores whose first fifty documents are judged, two in five of them relevant."""
    import polars as pl

    rng = np.random.default_rng(queries + depth)
    judged = min(50, depth)
    score = -np.sort(-rng.random((queries, depth)), axis=1)
    query = np.repeat(np.arange(queries), depth)
    document = np.tile(np.arange(depth), queries)
    run = pl.DataFrame({"query_id": query, "doc_id": document, "score": score.ravel()})
    grade = rng.choice(5, (queries, judged), p=[0.6, 0.2, 0.1, 0.06, 0.04])
    qrels = pl.DataFrame(
        {
            "query_id": np.repeat(np.arange(queries), judged),
            "doc_id": np.tile(np.arange(judged), queries),
            "relevance": grade.ravel(),
        }
    )
    return sf.read_qrels(qrels), sf.read_run(run, name="x")


def plain(scores: list[list[float]], gains: list[list[float]], skip: bool) -> list[float]:
    """SoftNDCG's sum by plain loops; with `skip` documents without gain are left out, as they add nothing."""
    discount = [1 / math.log2(1 + r) for r in range(1, CUTOFF + 1)]
    found = []
    for s, g in zip(scores, gains, strict=True):
        total = 0.0
        for j, own in enumerate(s):
            if skip and g[j] <= 0:
                continue
            p = [1.0] + [0.0] * (CUTOFF - 1)
            for i, other in enumerate(s):
                if i == j:
                    continue
                pi = 0.5 * math.erfc((own - other) / (2 * SIGMA))
                stays = 1 - pi
                for r in range(CUTOFF - 1, 0, -1):
                    p[r] = p[r] * stays + p[r - 1] * pi
                p[0] *= stays
            total += g[j] * sum(d * x for d, x in zip(discount, p, strict=True))
        found.append(total)
    return found


def lists(qrels: sf.Qrels, run: sf.Run, queries: int) -> tuple[list[list[float]], list[list[float]], np.ndarray]:
    """The first queries' percentiles and gains as plain lists, and their ideal DCG."""
    hits = match(run, qrels)
    depth = int(run.ranking.lengths[0])
    gains = np.zeros(len(run))
    gains[hits.position] = hits.grade
    scores = percentiles(run.ranking.scores)
    ideal = np.maximum(ideal_dcg(hits, CUTOFF, "log2"), 1e-9)
    shape = (queries, depth)
    first = queries * depth
    return scores[:first].reshape(shape).tolist(), gains[:first].reshape(shape).tolist(), ideal[:queries]


def seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def ratios(rounds: int) -> None:
    qrels, run = generate(10_000, 100)
    few, fewer = 100, 25
    scores, gains, ideal = lists(qrels, run, few)
    ours = sf.score(qrels, run, MEASURE).values[0][:few]
    apart = np.abs(np.array(plain(scores, gains, skip=True)) / ideal - ours).max()
    hits = match(run, qrels)
    measure = sf.Measure.parse(MEASURE)
    contests = int((hits.grade > 0).sum()) * 99 / 10_000
    times = [
        (
            seconds(lambda: plain(scores, gains, skip=True)) / few,
            seconds(lambda: plain(scores[:fewer], gains[:fewer], skip=False)) / fewer,
            seconds(lambda: measure(hits)) / 10_000,
        )
        for _ in range(rounds)
    ]
    same, every, fast = (median(column) for column in zip(*times, strict=True))
    print(f"{MEASURE}, 10,000 queries x 100 results, {contests:.0f} contests per query; the two differ by {apart:.1e}")
    print(
        f"  plain loops {same * 1e6:.0f} us per query, over every document {every * 1e6:.0f}, surefoot {fast * 1e6:.1f}"
    )
    print(
        f"  surefoot is {median(t[0] / t[2] for t in times):.0f} times as fast as the same arithmetic in plain loops,"
    )
    print(f"  {median(t[1] / t[2] for t in times):.0f} times as fast as plain loops over every document")


def growth(rounds: int) -> None:
    measure = sf.Measure.parse(MEASURE)
    cases = {size: match(*reversed(generate(*size))) for size in ((1_000, 100), (10_000, 100), (1_000, 1_000))}
    times: dict[tuple[int, int], list[float]] = {size: [] for size in cases}
    for _ in range(rounds):
        for size, hits in cases.items():
            times[size].append(seconds(lambda hits=hits: measure(hits)))
    base = times[1_000, 100]
    print(f"\nGrowth from 1,000 queries x 100 results ({median(base):.3f} s), the same number of relevant documents:")
    for size, name in (((10_000, 100), "ten times the queries"), ((1_000, 1_000), "ten times the results")):
        factor = median(b / a for a, b in zip(base, times[size], strict=True))
        print(f"  {name}: time x {factor:.1f} ({median(times[size]):.3f} s)")


def peak() -> int:
    """This process's greatest memory so far, in kB."""
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])


def worker(queries: int, measure: str) -> None:
    qrels, run = generate(queries, 100)
    sf.score(qrels, run, "nDCG@10")
    before = peak()
    sf.score(qrels, run, measure)
    print(before, peak())


def memory() -> None:
    print("\nPeak memory of a new process, MB, with nDCG@10 and then with SoftNDCG@10 too:")
    for measure in (MEASURE, f"SoftNDCG(normalize='none')@{CUTOFF}"):
        for queries in (2_000, 20_000):
            command = [sys.executable, __file__, "--worker", str(queries), measure]
            out = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
            before, after = (int(kilobytes) / 1024 for kilobytes in out)
            print(f"  {measure}, {queries:,} queries x 100: {before:.0f} -> {after:.0f} (+{after - before:.0f})")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        worker(int(sys.argv[2]), sys.argv[3])
    else:
        rounds = 3 if "--quick" in sys.argv else 7
        ratios(rounds)
        growth(rounds)
        memory()
