"""How often some outcome is false: systems moved so that reward and risk truly balance, sampled and assessed again.

    python benchmarks/outcomes.py [--scores err20.csv --baseline indriCASP] [--samples 1000] [--draws 5]

Ten systems of a score matrix, each moved by a constant so that its U_Risk at α is 0, are sampled with replacement
(copies of a query get ids of their own) and go through `sf.assess`. Every outcome is then false. Prints the share of
samples with some false outcome, by p_robust and by p_skewness alone. The matrix is looked for in
$SUREFOOT_DATA.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from pathlib import Path

import numpy as np

import surefoot as sf

SIZES, ALPHAS = (50, 100), (0.0, 1.0, 5.0, 10.0)
AIMS = {(50, 0.0): 0.08, (50, 1.0): 0.08, (50, 5.0): 0.08, (100, 0.0): 0.05, (100, 1.0): 0.05, (100, 5.0): 0.05}


def balanced(difference: np.ndarray, alpha: float) -> np.ndarray:
    """The differences moved to where U_Risk at α is 0."""
    low, high = -2.0, 2.0
    for _ in range(80):
        middle = (low + high) / 2
        u = sf.u_risk(difference + middle, np.zeros(len(difference)), alpha)
        low, high = (middle, high) if u < 0 else (low, middle)
    return difference + low


def main(given: argparse.Namespace) -> int:
    """Each size and α, over several draws of ten systems."""
    scores = sf.read_scores(given.scores, "ERR@20")
    base = scores[given.baseline]
    others = [name for name in scores.systems if name != given.baseline]
    missed = 0
    for size in SIZES:
        for alpha in ALPHAS:
            rates = []
            for draw in range(given.draws):
                rng = np.random.default_rng([draw, size, int(alpha)])
                systems = rng.choice(others, 10, replace=False)
                moved = np.array([base, *(base + balanced(scores[name] - base, alpha) for name in systems)])
                found = np.zeros(2)
                for _ in range(given.samples):
                    sample = sf.Scores(
                        moved[:, rng.integers(0, len(base), size)], ["base", *systems], [f"{i}" for i in range(size)]
                    )
                    tests = [
                        row["alpha"][f"{alpha:g}"] for row in sf.assess(sample, "base", [alpha]).to_dict()["systems"]
                    ]
                    for place, key in enumerate(("outcome", "outcome_without_extra_query")):
                        found[place] += any(test[key] in ("better", "worse") for test in tests)
                rates.append(found / given.samples)
            robust, adjusted = np.mean(rates, axis=0)
            aim = AIMS.get((size, alpha))
            missed += aim is not None and robust > aim
            print(
                f"{size} queries, α = {alpha:g}: some false outcome in {robust:.1%} of samples"
                f" (worst draw {max(rate[0] for rate in rates):.1%}); by p_skewness alone {adjusted:.1%}"
                + ("" if aim is None else f"; aim {aim:.0%}{' MISSED' if robust > aim else ''}"),
                flush=True,
            )
    return 1 if missed else 0


if __name__ == "__main__":
    home = Path(os.environ.get("SUREFOOT_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scores", type=Path, default=home / "trec-web-2012" / "err20.csv")
    parser.add_argument("--baseline", default="indriCASP")
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--draws", type=int, default=5)
    warnings.simplefilter("ignore")
    sys.exit(main(parser.parse_args()))
