"""What sharing pays: points of one sweep against as many separate `surefoot train` calls with the same threads.

    python benchmarks/sweep.py [--points 20] [--queries 2000] [--threads 2]
    python benchmarks/sweep.py --cross-validation [--seeds 5]     # against the sum of its trainings, outer and inner

Generated data in a fold of 60/20/20. Both ways train the same settings, validate after each tree and save the models;
the sweep also keeps scores of validation and test data and compares the points. Prints the ratio of their times, the
ratio with as many workers of one thread each, the workers' peak memory by the number of points, and how time grows when
the queries do.

With `--cross-validation` a sweep of all points and seeds with five inner folds is compared with the sum of its
trainings: each point's training on the fold's training queries, and on four fifths of them, is timed once as a
separate call, and counted as often as the sweep does it. The sweep is killed in the middle once, and goes on.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import surefoot as sf

TREES = 60
SET = ["num_leaves=31", "min_data_in_leaf=50"]


def make(folder: Path, queries: int) -> Path:
    """A fold of generated data, 100 documents a query and 40 features."""
    data = sf.demo.letor(queries=queries, documents=100, features=40, seed=1)
    ends = [0, queries * 3 // 5, queries * 4 // 5, queries]
    home = folder / f"data{queries}" / "Fold1"
    home.mkdir(parents=True)
    for name, first, last in zip(("train", "vali", "test"), ends, ends[1:], strict=False):
        data.select(range(first, last)).write(home / f"{name}.txt")
    return home.parent


def settings(points: int) -> list[tuple[str, float | None]]:
    """The gain-only model, and u_risk at as many α as are left."""
    return [("gain", None), *(("u_risk", float(alpha)) for alpha in range(1, points))]


def run(line: list[str]) -> tuple[float, float]:
    """Seconds of a command, and the greatest memory of it and its children, in MB."""
    began, most, done = time.perf_counter(), [0.0], threading.Event()
    process = subprocess.Popen([sys.executable, "-m", "surefoot", *line], stdout=subprocess.DEVNULL)

    def watch() -> None:
        while not done.wait(0.05):
            for pid in [process.pid, *children(process.pid)]:
                most[0] = max(most[0], peak(pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    code = process.wait()
    took = time.perf_counter() - began
    done.set()
    watcher.join()
    if code:
        sys.exit(f"surefoot {' '.join(line)} ended with {code}")
    return took, most[0]


def children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def peak(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0.0)


def sweep_line(data: Path, folder: Path, points: int, workers: int, threads: int) -> list[str]:
    alphas = ",".join(f"{alpha:g}" for _, alpha in settings(points) if alpha is not None)
    line = ["sweep", str(data), "-b", "bm25=feature:1", "--alpha", alphas, "--trees", str(TREES)]
    line += ["--workers", str(workers), "--threads", str(threads), "-o", str(folder), "-q"]
    return [*line, *(part for one in SET for part in ("--set", one))]


def sweep(data: Path, folder: Path, points: int, workers: int, threads: int) -> tuple[float, float]:
    return run(sweep_line(data, folder, points, workers, threads))


def cross_validation(home: Path, given: argparse.Namespace) -> None:
    """A sweep with seeds and inner folds, killed once, against the sum of its trainings."""
    data = make(home, given.queries)
    train = data / "Fold1" / "train.txt"
    queries = sf.read_letor(train)
    queries.select(range(len(queries.queries) * 4 // 5)).write(data / "Fold1" / "four_fifths.txt")
    outer = separately(data, home / "outer", given.points, given.threads)
    inner = separately(data, home / "inner", given.points, given.threads, "four_fifths.txt")
    together = given.seeds * (outer + 5 * inner)
    seeds = ",".join(map(str, range(given.seeds)))
    line = sweep_line(data, home / "sweep", given.points, given.threads, 1)
    line += ["--seeds", seeds, "--choose-by", "cross-validation"]
    began = time.perf_counter()
    killed = subprocess.Popen([sys.executable, "-m", "surefoot", *line], stdout=subprocess.DEVNULL)
    while len(list((home / "sweep").glob("inner/[0-9a-f]*"))) < 2 * given.points and killed.poll() is None:
        time.sleep(0.2)
    killed.kill()
    killed.wait()
    at_kill = len(list((home / "sweep").glob("inner/[0-9a-f]*")))
    run(line)
    took = time.perf_counter() - began
    trainings = given.points * given.seeds
    print(f"{given.points} points x {given.seeds} seeds, {trainings} trainings and {5 * trainings} inner ones")
    print(f"  sum of the trainings  {together:7.1f} s (each point's timed once, {given.threads} threads)")
    print(
        f"  the sweep             {took:7.1f} s   ratio {took / together:.2f} (at most 1), killed after {at_kill} inner"
    )


def separately(data: Path, folder: Path, points: int, threads: int, train: str = "train.txt") -> float:
    home = data / "Fold1"
    total = 0.0
    for number, (objective, alpha) in enumerate(settings(points)):
        line = ["train", str(home / train), "--valid", str(home / "vali.txt"), "-b", "bm25=feature:1", "-q"]
        line += ["--objective", objective, "--trees", str(TREES), "-o", str(folder / f"model{number}")]
        line += [part for one in [*SET, f"num_threads={threads}"] for part in ("--set", one)]
        total += run([*line, *(["--alpha", f"{alpha:g}"] if alpha is not None else [])])[0]
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=20)
    parser.add_argument("--queries", type=int, default=2000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--cross-validation", action="store_true")
    parser.add_argument("--seeds", type=int, default=5, help="with --cross-validation")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary)
        if given.cross_validation:
            cross_validation(home, given)
            return
        data = make(home, given.queries)
        run(
            ["train", str(data / "Fold1" / "vali.txt"), "--trees", "1", "-o", str(home / "warm"), "-q"]
        )  # compiled once
        apart = separately(data, home / "apart", given.points, given.threads)
        together, _ = sweep(data, home / "together", given.points, 1, given.threads)
        crew, _ = sweep(data, home / "crew", given.points, given.threads, 1)
        print(f"{given.points} points, {given.queries:,} queries, {TREES} trees")
        print(f"  separate trainings, {given.threads} threads   {apart:7.1f} s")
        print(
            f"  one worker, {given.threads} threads           {together:7.1f} s   "
            f"ratio {together / apart:.2f} (at most 0.8)"
        )
        print(f"  {given.threads} workers, one thread each      {crew:7.1f} s   ratio {crew / apart:.2f}")
        print("peak memory of a process by points:")
        for points in (given.points // 4, given.points // 2, given.points):
            _, memory = sweep(data, home / f"memory{points}", points, 1, given.threads)
            print(f"  {points:3} points {memory:8.1f} MB")
        small = make(home, given.queries // 10)
        less, _ = sweep(small, home / "less", given.points, 1, given.threads)
        print(f"a tenth of the queries: {less:.1f} s, so ten times the work take {together / less:.1f} times as long")


if __name__ == "__main__":
    main()
