"""From judgments and runs to scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import Any, overload

import numpy as np

from surefoot.data.scores import Scores
from surefoot.data.tables import Qrels, Run, Source
from surefoot.errors import ArgumentError, DataError
from surefoot.measures.matching import judged_queries, match
from surefoot.measures.notation import Measure


@overload
def score(
    qrels: Source, runs: Any, measure: str | Measure, *, progress: Callable[[Run], None] | None = None
) -> Scores: ...
@overload
def score(
    qrels: Source,
    runs: Any,
    measure: Iterable[str | Measure],
    *,
    progress: Callable[[Run], None] | None = None,
) -> list[Scores]: ...
def score(
    qrels: Source,
    runs: Any,
    measure: str | Measure | Iterable[str | Measure],
    *,
    progress: Callable[[Run], None] | None = None,
) -> Scores | list[Scores]:
    """Effectiveness of each run on each judged query; with several measures, a list of scores.

    A judged query missing from a run scores 0 there (trec_eval's -c) and is counted in `missing`; a query
    that was not judged is left out. `runs` is one run or several, or a dict of them by name.

    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    >>> new = Run.read({"q1": {"d1": 2.0, "d3": 1.0}}, name="new")
    >>> scores = score(qrels, [new], "RR@10")
    >>> scores.values, scores.missing
    (array([[1., 0.]]), {'new': 1})
    """
    judgments = Qrels.read(qrels)
    single = isinstance(measure, str | Measure)
    given = [measure] if isinstance(measure, str | Measure) else list(measure)
    measures = [Measure.parse(item) for item in given]
    systems = named_runs(runs, judgments)
    rows: list[list[Any]] = [[] for _ in measures]
    missing = {}
    for run in systems:
        hits = match(run, judgments)
        missing[run.name] = int((hits.retrieved == 0).sum())
        for row, item in zip(rows, measures, strict=True):
            row.append(item(hits))
        if progress:
            progress(run)
    best = judgments.grades[judgments.ranking.offsets[:-1]]
    scores = [
        Scores(
            np.stack(row),
            systems=[run.name for run in systems],
            queries=judgments.queries,
            measure=str(item),
            missing=missing,
            no_relevant=int((best <= 0).sum()),
            tie_rule=tie_rule(systems),
            runs=systems,
            qrels=judgments,
        )
        for row, item in zip(rows, measures, strict=True)
    ]
    return scores[0] if single else scores


def tie_rule(runs: Iterable[Run]) -> str:
    """How equal scores are ordered: by row if all runs are of data without ids, by document id otherwise.

    Ids that were made for such data count down, so by document id is by row there: the rule is true of every run.
    """
    rules = {run.ranking.tie_rule for run in runs}
    return "row order" if rules == {"row order"} else "document id descending"


def named_runs(runs: Any, judgments: Qrels) -> list[Run]:
    """The runs with their names, which must differ; each must share a query with the judgments."""
    if isinstance(runs, Run | str | PathLike) or hasattr(runs, "columns"):
        runs = [runs]
    if isinstance(runs, Mapping):
        first = next(iter(runs.values()), None)
        # {query: {document: score}} is one run; {name: run} are several.
        if isinstance(first, Mapping) and not isinstance(next(iter(first.values()), None), Mapping):
            named = [Run.read(runs)]
        else:
            named = [Run.read(run, name=str(name)) for name, run in runs.items()]
    else:
        named = [Run.read(run) for run in runs]
    if not named:
        raise ArgumentError("no runs were given; give at least one")
    for name, times in Counter(run.name for run in named).items():
        if times > 1:
            raise ArgumentError(
                f"{times} systems are named {name!r}; every system needs its own name "
                "(on the command line NAME=FILE, in Python read_run(…, name=…))"
            )
    for run in named:
        if (judged_queries(run, judgments) < 0).all():
            raise DataError(
                f"run {run.name!r} has no query in common with the judgments: its first query is "
                f"{run.queries[0]!r}, theirs is {judgments.queries[0]!r}; are these the right files?"
            )
    return named
