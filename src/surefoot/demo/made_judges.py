"""Automatic judges with known faults, for demonstrations and tests, made from judgments that are taken for people's."""

from __future__ import annotations

import numpy as np
import polars as pl

from surefoot.arguments import integer
from surefoot.data.tools.judges import JudgmentOrigin
from surefoot.data.types.runs import Qrels, Run

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
