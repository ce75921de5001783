"""What a busy machine costs: training with and without another program that keeps a core busy, in turns.

    python benchmarks/busy.py [--turns 5] [--programs 1]

Prints the median seconds of each and their ratio; a fair share of one of two cores would be 2. Exit code 1 above 2.5.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from contextlib import ExitStack

import surefoot as sf

MOST = 2.5
CASES = {
    "small": (470, 20, 46, 150, 8),
    "medium": (1500, 80, 60, 30, 31),
}  # queries, documents, features, trees, leaves


def main(turns: int, programs: int) -> int:
    """Both cases, both engines where they are installed."""
    missed = 0
    for name, (queries, documents, features, trees, leaves) in CASES.items():
        data = sf.demo.letor(queries=queries, documents=documents, features=features, seed=1)
        for engine, shape in (
            ("lightgbm", {"num_leaves": leaves}),
            ("xgboost", {"max_leaves": leaves, "max_depth": 0}),
        ):
            try:
                sf.Ranker("u_risk", alpha=5, n_estimators=2, engine=engine, **shape).fit(data)
            except sf.SurefootError as error:
                print(f"{name}, {engine}: left out ({error})")
                continue
            took: dict[bool, list[float]] = {False: [], True: []}
            for turn in range(2 * turns):
                busy = bool(turn % 2)
                with ExitStack() as others:
                    for _ in range(programs if busy else 0):
                        other = subprocess.Popen([sys.executable, "-c", "while True: pass"])
                        others.callback(other.kill)
                    began = time.perf_counter()
                    sf.Ranker("u_risk", alpha=5, n_estimators=trees, engine=engine, **shape).fit(data)
                    took[busy].append(time.perf_counter() - began)
            quiet, crowded = (statistics.median(took[busy]) for busy in (False, True))
            missed += crowded > MOST * quiet
            ratio = crowded / quiet
            print(
                f"{name}, {engine}: {quiet:.2f} s, with {programs} busy {crowded:.2f} s, {ratio:.2f} times", flush=True
            )
    return 1 if missed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--programs", type=int, default=1)
    given = parser.parse_args()
    sys.exit(main(given.turns, given.programs))
