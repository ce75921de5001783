"""One study of each kind, with a name that would break a careless page."""

from __future__ import annotations

import pytest

import surefoot as sf
from surefoot.stability.study import Study


@pytest.fixture(scope="package")
def studies() -> list[Study]:
    made = sf.demo.runs(queries=24, depth=12)
    runs = {"</style><script>alert(1)</script>\u202e\"'&": made.runs[0], "f2": made.runs[1]}
    scores = sf.score(made.qrels, runs, ["nDCG@5", "SoftNDCG@5"])
    dates = {query: f"2026-11-{1 + i // 8:02d}" for i, query in enumerate(scores[0].queries)}
    return [
        sf.stability.noise(made.qrels, runs, ["nDCG@5", "SoftNDCG@5"], sizes=[0, 0.1], repeats=2),
        sf.stability.subsets(scores, subsets=20),
        sf.stability.time(scores, dates, size=4, subsets=20),
        sf.stability.measures(scores, replicates=20),
    ]
