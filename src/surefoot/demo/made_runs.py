"""Runs with known harm, for demonstrations and tests: a dozen systems, one better on average and dangerous."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from surefoot.arguments import integer
from surefoot.arrays import Floats
from surefoot.data.tools.judges import JudgmentOrigin
from surefoot.data.types.runs import Qrels, Run

# How clearly each system sees relevance (the higher, the better it ranks), and on what share of queries it goes astray.
SYSTEMS: dict[str, tuple[float, float]] = {
    "today": (1.10, 0.00),
    "bold": (3.20, 0.10),
    "steady": (1.40, 0.00),
    "bm25": (0.80, 0.00),
    "bm25-rm3": (0.95, 0.06),
    "dense": (1.05, 0.10),
    "hybrid": (1.30, 0.04),
    "reranker-small": (1.25, 0.02),
    "expansion": (1.05, 0.15),
    "fresh": (0.90, 0.05),
    "title-only": (0.60, 0.00),
    "random-ish": (0.15, 0.00),
}


@dataclass(frozen=True)
class DemoRuns:
    """Judgments, runs (the first is what is shipped today) and, for each system, the queries it was made to ruin."""

    qrels: Qrels
    runs: list[Run]
    harmed: dict[str, list[str]]


def runs(*, queries: int = 200, depth: int = 50, seed: int = 0) -> DemoRuns:
    """Judgments and a dozen systems' runs on them, the same for the same arguments.

    A system's score is what it sees of a document's grade, plus what all systems err in alike, plus an error of
    its own. On the queries it goes astray on it takes relevance for its opposite.

    >>> made = runs(queries=5)
    >>> made.runs[1], made.harmed["today"]
    (<Run 'bold': 5 queries, 250 documents>, [])
    """
    queries, depth = integer("queries", queries, 1), integer("depth", depth, 1)
    rng = np.random.default_rng(integer("seed", seed, 0))
    names = [f"q{number:0{len(str(queries))}d}" for number in range(1, queries + 1)]
    grade = rng.choice(5, size=(queries, depth), p=[0.70, 0.13, 0.09, 0.05, 0.03]).astype(np.float64)
    shared = rng.normal(size=(queries, depth))
    difficulty = rng.uniform(0.3, 1.0, size=(queries, 1))
    made, harmed = [], {}
    for name, (clarity, astray) in SYSTEMS.items():
        ruined = rng.permutation(queries)[: round(astray * queries)]
        sign = np.ones((queries, 1))
        sign[ruined] = -1
        individual = rng.normal(size=(queries, depth))
        score = np.round(sign * clarity * difficulty * grade + 0.8 * shared + 0.6 * individual, 4)
        made.append(Run._read(_frame(names, depth, "score", score), name))
        harmed[name] = [names[i] for i in sorted(ruined)]
    return DemoRuns(Qrels._read(_frame(names, depth, "relevance", grade)), made, harmed)


def _frame(queries: list[str], depth: int, column: str, values: Floats) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "query_id": np.repeat(queries, depth),
            "doc_id": [f"{query}-d{number:03d}" for query in queries for number in range(depth)],
            column: values.ravel(),
        }
    )


JUDGES: dict[str, str] = {  # by name what each does
    "good": "keeps nine of ten grades, and is one grade off on the others",
    "noisy": "keeps half of the grades, and gives any grade to the others",
    "lenient": "is the good judge, but gives half of the documents one grade more",
    "partial": "is the good judge, but gives two grades more to what one candidate shows among its first five",
}
_FAVOURED_RESULTS = 5  # first results of the candidate that the partial judge favours


def judges(qrels: Qrels, candidate: Run, *, seed: int = 0) -> dict[str, Qrels]:
    """Four automatic judges of the documents in the judgments, the same for the same arguments.

    >>> from surefoot.demo.made_runs import runs
    >>> made = runs(queries=5)
    >>> {name: len(judge) for name, judge in judges(made.qrels, made.runs[1]).items()}
    {'good': 250, 'noisy': 250, 'lenient': 250, 'partial': 250}
    """
    rng = np.random.default_rng(integer("seed", seed, 0))
    grades, most = qrels.grades, float(qrels.grades.max())
    size = len(grades)
    kept = np.where(rng.random(size) < 0.9, grades, grades + rng.choice([-1, 1], size))
    noisy = np.where(rng.random(size) < 0.5, grades, rng.integers(0, int(most) + 1, size))
    position = candidate.ranking.find(qrels.ranking.codes_at(np.arange(size)))
    shown = (position >= 0) & (candidate.ranking.rank_at(np.maximum(position, 0)) <= _FAVOURED_RESULTS)
    by_name = {
        "good": kept,
        "noisy": noisy,
        "lenient": kept + (rng.random(size) < 0.5),
        "partial": kept + 2 * shown,
    }
    return {name: _as_judgments(qrels, np.clip(values, 0, most), name) for name, values in by_name.items()}


def _as_judgments(qrels: Qrels, grades: np.ndarray, name: str) -> Qrels:
    judge = Qrels._read(qrels.to_frame().with_columns(pl.Series("relevance", grades)), name)
    judge.origin = JudgmentOrigin("machine", (name,))
    return judge
