"""How often some outcome is false where queries count by traffic, in systems whose reward and risk truly balance.

    python benchmarks/weighted_outcomes.py [--runs 1000] [--queries 2000]

Ten systems' differences from a baseline, each moved by a constant so that their U_Risk at α is 0 in the population, are
sampled with replacement, get weights of a kind, and go through `sf.assess`. Every outcome is then false. With weights
that do not depend on the differences, the mean over populations must be at most 5 %, and each share at most 6 % and
three standard errors. Weights that go with the size of the differences are shown beside the caution that they get, and
have no bar and three tenths of the runs. Real matrices are looked for in $SUREFOOT_DATA.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

import surefoot as sf
from surefoot.risk.assessment_figures import assessment_data
from surefoot.risk.tradeoff import weigh_losses

SYSTEMS = 10
ALPHAS = (0.0, 1.0, 5.0)
MEAN_BAR, BAR = 0.05, 0.06
Weights = Callable[[np.random.Generator, int], np.ndarray]
INDEPENDENT: Mapping[str, Weights] = {
    "Zipf": lambda rng, n: rng.permutation(1 / np.arange(1, n + 1)),
    "Zipf, exponent 0.7": lambda rng, n: rng.permutation(np.arange(1, n + 1) ** -0.7),
    "log-normal": lambda rng, n: np.exp(rng.normal(0, 1, n)),
    "Pareto, exponent 1.5": lambda rng, n: rng.pareto(1.5, n) + 0.05,
    "exponential": lambda rng, n: rng.exponential(1, n) + 1e-3,
    "1 % of queries asked 100 times as often": lambda rng, n: rng.permutation(np.where(np.arange(n) < n / 100, 100, 1)),
}
CORRELATED = ((1.0, 0.5), (1.5, 0.5), (1.5, 0.9))  # spread of log-normal weights, and how far they go with sizes


class Rates(NamedTuple):
    """Over samples: how often some outcome is false, how often intervals contain 0, and the mean effective number."""

    false: float
    covered: float
    effective: float


def balanced(differences: np.ndarray, alpha: float, weights: np.ndarray | None = None) -> np.ndarray:
    """The rows moved to where U_Risk at α is 0, by weights where there are some."""
    low, high = (np.full((len(differences), 1), end) for end in (-2.0, 2.0))
    for _ in range(80):
        middle = (low + high) / 2
        below = np.average(weigh_losses(differences + middle, alpha), axis=1, weights=weights)[:, None] < 0
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return differences + low


def generated() -> dict[str, np.ndarray]:
    """Differences with rare heavy losses, and with heavy tails on both sides."""
    rng = np.random.default_rng(7)
    usual = np.where(rng.random((30, 2000)) < 0.5, 0, rng.normal(0.03, 0.12, (30, 2000)))
    heavy = np.where(rng.random((30, 1000)) < 0.3, 0, rng.standard_t(3, (30, 1000)) / 10)
    return {
        "generated, rare losses": np.where(rng.random((30, 2000)) < 0.02, -0.6, usual),
        "generated, heavy tails": np.clip(heavy, -1, 1),
    }


def populations(data: Path) -> dict[str, np.ndarray]:
    """Differences, systems × queries: of TREC runs where the data is found, and generated ones."""
    found = generated()
    if not data.is_dir():
        return found
    web = sf.read_scores(data / "trec-web-2012" / "err20.csv", "ERR@20")
    for name, baseline in {"Indri": "indriCASP", "the best run": "sys44"}.items():
        others = [row for row, system in enumerate(web.systems) if system != baseline]
        found[f"TREC Web 2012, ERR@20 against {name}"] = web.values[others] - web[baseline]
    robust = data / "trec-robust-2003"
    qrels = sf.read_qrels(robust / "qrels.txt")
    runs = [sf.read_run(path) for path in sorted((robust / "runs").iterdir())]
    for measure in ("AP", "RR"):
        values = sf.score(qrels, runs, measure).values
        one, other = np.triu_indices(len(values), 1)
        found[f"TREC Robust 2003, {measure} of all pairs"] = values[one] - values[other]
    return found


def rates(samples: Iterator[tuple[np.ndarray, np.ndarray]], alpha: float) -> Rates:
    """What `sf.assess` says of samples: differences of systems, and the queries' weights."""
    found = []
    for differences, weights in samples:
        queries = [f"q{number}" for number in range(len(weights))]
        values = np.vstack([np.zeros(len(weights)), differences])
        scores = sf.Scores(values, ["baseline", *(f"s{row}" for row in range(len(differences)))], queries)
        # Without turning points, which take most of the time.
        data = assessment_data(
            scores.with_traffic(dict(zip(queries, weights.tolist(), strict=True))), "baseline", [alpha], turns=False
        )
        tests = [row["alpha"][f"{alpha:g}"] for row in data["systems"][1:]]
        covered = [test["u_risk_interval"][0] <= 0 <= test["u_risk_interval"][1] for test in tests]
        false = any(test["outcome"] != "unclear" for test in tests)
        found.append((false, np.mean(covered), data["traffic"]["effective_queries"]))
    return Rates(*np.mean(found, axis=0).tolist())


def independent_samples(
    population: np.ndarray, weights: Weights, alpha: float, queries: int, runs: int, seed: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Samples of ten balanced systems, with weights that do not depend on the differences."""
    rng = np.random.default_rng(seed)
    moved = balanced(population, alpha)
    for _ in range(runs):
        rows = rng.choice(len(moved), SYSTEMS, replace=False)
        yield moved[rows][:, rng.integers(0, moved.shape[1], queries)], weights(rng, queries)


def correlated_samples(
    population: np.ndarray, spread: float, correlation: float, alpha: float, queries: int, runs: int, seed: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The same with log-normal weights that go with the rank of a query by the size of its differences."""
    rng = np.random.default_rng(seed)
    size = np.abs(population).mean(axis=0)
    score = ndtri((np.argsort(np.argsort(size, kind="stable"), kind="stable") + 0.5) / len(size))
    moved = balanced(population, alpha, np.exp(spread * correlation * score))  # the mean weight, but for a factor
    for _ in range(runs):
        rows, drawn = rng.choice(len(moved), SYSTEMS, replace=False), rng.integers(0, len(size), queries)
        noise = np.sqrt(1 - correlation**2) * rng.normal(size=queries)
        yield moved[rows][:, drawn], np.exp(spread * (correlation * score[drawn] + noise))


def line(name: str, alpha: float, each: Mapping[str, Rates]) -> str:
    """A line of the table: the mean over populations and the worst of them."""
    worst = max(each, key=lambda population: each[population].false)
    return (
        f"{name}, α = {alpha:g}: some false outcome in {np.mean([one.false for one in each.values()]):.1%} of samples, "
        f"at worst {each[worst].false:.1%} ({worst}); intervals cover "
        f"{np.mean([one.covered for one in each.values()]):.1%}, at worst "
        f"{min(one.covered for one in each.values()):.1%}; "
        f"{np.mean([one.effective for one in each.values()]):,.0f} effective queries"
    )


def main(given: argparse.Namespace) -> int:
    """Each kind of weights and α, over all populations."""
    found, missed = populations(given.data), 0
    limit = BAR + 3 * np.sqrt(BAR * (1 - BAR) / given.runs)
    for kind, weights in INDEPENDENT.items():
        for alpha in ALPHAS:
            each = {
                name: rates(independent_samples(one, weights, alpha, given.queries, given.runs, seed), alpha)
                for seed, (name, one) in enumerate(found.items())
            }
            false = [one.false for one in each.values()]
            above = sum(false) > MEAN_BAR * len(false) or max(false) > limit
            missed += bool(above)
            print(line(kind, alpha, each) + (" MISSED" if above else ""), flush=True)
    fewer = max(1, 3 * given.runs // 10)
    for spread, correlation in CORRELATED:
        for queries in (given.queries // 10, given.queries):
            for alpha in (*ALPHAS, 10.0):
                each = {
                    name: rates(correlated_samples(one, spread, correlation, alpha, queries, fewer, seed), alpha)
                    for seed, (name, one) in enumerate(found.items())
                }
                name = f"log-normal, σ = {spread:g}, correlation {correlation:g}, {queries:,} queries"
                print(line(name, alpha, each), flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    home = Path(os.environ.get("SUREFOOT_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    parser.add_argument("--data", type=Path, default=home)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--queries", type=int, default=2000)
    sys.exit(main(parser.parse_args()))
