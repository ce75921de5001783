"""From judgments and runs to scores."""

from __future__ import annotations

import itertools
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from os import PathLike
from typing import Any, overload

import numpy as np
import polars as pl

from surefoot.arrays import Flags, Floats
from surefoot.data.reading.formats import is_ranx
from surefoot.data.reading.frames import is_query_table, is_record
from surefoot.data.reading.traffic import query_weights, read_traffic
from surefoot.data.tools.judges import JudgmentOrigin
from surefoot.data.types.runs import Qrels, RankedSource, Run
from surefoot.data.types.scores import FilledHoles, Scores
from surefoot.errors import ArgumentError, DataError, SurefootWarning, shortened
from surefoot.measures import MissingTreatment
from surefoot.measures.matching import judgment_index, match
from surefoot.measures.near_ties import filled_ranks
from surefoot.measures.notation import Measure, is_measure
from surefoot.progress import steps


@overload
def score(
    qrels: RankedSource, runs: Any, measure: str | Measure = "nDCG@10", *, missing: str = "zero",
    automatic: RankedSource | None = None, traffic: Any = None,
) -> Scores: ...  # fmt: skip
@overload
def score(
    qrels: RankedSource, runs: Any, measure: Iterable[str | Measure], *, missing: str = "zero",
    automatic: RankedSource | None = None, traffic: Any = None,
) -> list[Scores]: ...  # fmt: skip
def score(
    qrels: RankedSource,
    runs: Any,
    measure: str | Measure | Iterable[str | Measure] = "nDCG@10",
    *,
    missing: str = "zero",
    automatic: RankedSource | None = None,
    traffic: Any = None,
) -> Scores | list[Scores]:
    """Effectiveness of each run on each judged query; with several measures, a list of scores.

    A query that was not judged is left out. A judged query that a run lacks is counted in the result's `missing`, and
    scores 0 there (trec_eval's -c); with `missing="drop"` it is left out for all systems, so that all are measured on
    the same queries, and with `missing="error"` it is an error. `runs` is one run or several, or a dict by name.

    `automatic` are an automatic judge's judgments, for documents that a run shows and nobody else judged; the result's
    `filled` says how many, and has the scores without them. `gate` takes no such scores.

    `traffic` is how often each query is asked: a file, a dict {query: count} or a table. Judged queries that nobody
    asks are left out, and all means are weighted.

    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    >>> new = Run._read({"q1": {"d1": 2.0, "d3": 1.0}}, name="new")
    >>> scores = score(qrels, [new], "RR@10")
    >>> scores.values, scores.missing
    (array([[1., 0.]]), {'new': 1})
    >>> score(qrels, [new], "RR@10", missing="drop").queries
    ('q1',)
    """
    if missing not in tuple(MissingTreatment):
        raise ArgumentError(f"missing is {shortened(missing)}; it must be one of {', '.join(MissingTreatment)}")
    judgments = Qrels._read(qrels)
    single = is_measure(measure)
    requested: list[Any] = [measure] if single else list(measure)  # type: ignore[arg-type]
    measures = [Measure.parse(item) for item in requested]
    systems = named_runs(runs, judgments)
    counts = None if traffic is None else read_traffic(traffic)
    asked: Flags = np.ones(len(judgments.queries), dtype=bool)
    if counts is not None:
        asked[:] = False
        asked[query_weights(counts, judgments.queries)[0]] = True
    judge = None if automatic is None else Qrels._read(automatic)
    if judge is not None:
        depths = [item.depth for item in measures]
        deepest = None if None in depths else max(depths)  # type: ignore[type-var]
        people, judgments = judgments, fill_holes(judgments, judge, systems, deepest)
        plain = score(people, systems, measures, missing=missing, traffic=counts)
    rows: list[list[Any]] = [[] for _ in measures]
    unanswered = {}
    for run in steps(systems, "Scoring runs"):
        hits = match(run, judgments)
        unanswered[run.name] = asked & (hits.retrieved == 0)
        for item in measures:
            warn_of_scale(run, item)
        if not len(hits.query):
            _warn_of_nothing_judged(run, judgments)
        for row, item in zip(rows, measures, strict=True):
            row.append(item(hits))
    measured = _measured_queries(asked, unanswered, judgments, missing)
    best = judgments.grades[judgments.ranking.offsets[:-1]][measured]
    queries = list(itertools.compress(judgments.queries, measured))
    weighting = None
    if counts is not None:
        weighting = replace(query_weights(counts, queries)[1], left_out=int((~asked).sum()))
    scores = [
        Scores(
            np.stack(row)[:, measured],
            systems=[run.name for run in systems],
            queries=queries,
            measure=str(item),
            missing={name: int(lacks.sum()) for name, lacks in unanswered.items()},
            dropped=int(asked.sum() - measured.sum()),
            no_relevant=int((best <= 0).sum()),
            tie_rule=tie_rule(systems),
            runs=systems,
            qrels=judgments,
            traffic=weighting,
        )
        for row, item in zip(rows, measures, strict=True)
    ]
    if judge is not None:
        for each, before, item in zip(scores, plain, measures, strict=True):
            holes = count_holes(people, judgments, systems, item.depth, asked)
            each.filled = FilledHoles(judge.name, *holes, before.values)
    return scores[0] if single else scores


def _measured_queries(asked: Flags, unanswered: Mapping[str, Flags], judgments: Qrels, missing: str) -> Flags:
    """Which of the judged queries that are asked are measured, by the rule for those that a run lacks."""
    measured: Flags = asked.copy()
    for name, lacks in unanswered.items():
        if missing == "error" and lacks.any():
            first = judgments.queries[int(lacks.argmax())]
            raise DataError(
                f"run {shortened(name)} has no results for {lacks.sum():,} of {len(lacks):,} judged queries; the first "
                f"is {shortened(first)}. Complete the run, score these queries 0 (missing zero), or leave them out "
                "(missing drop)"
            )
        if missing == "drop":
            measured &= ~lacks
    if not measured.any():
        raise DataError(
            "no judged query is left, because each is missing from at least one run; remove the runs with the most "
            "missing queries"
        )
    return measured


def warn_of_scale(run: Run, measure: Measure, normalize: str | None = None) -> None:
    """Warn where σ spans so many of a run's results that SoftNDCG says more about the scale than the ranking."""
    if measure.family != "SoftNDCG":
        return
    sigma = measure.settings["sigma"]
    filled = filled_ranks(run, sigma, measure.cutoff, normalize or measure.settings["normalize"])
    if filled < 0.5:
        warnings.warn(
            f"run {shortened(run.name)}: {measure} depends more on the scale of the scores than on the ranking. With "
            f"sigma={sigma:g}, too many results are nearly tied, and only {filled:.0%} of the first {measure.cutoff} "
            "ranks are filled; use a smaller sigma",
            SurefootWarning,
            stacklevel=3,
        )


def _warn_of_nothing_judged(run: Run, judgments: Qrels) -> None:
    example = ""
    with suppress(DataError):  # the file may have gone
        first, first_judged = (shortened(table.documents(np.array([0]))[0]) for table in (run, judgments))
        example = f"; its first document is {first}, the first judged one {first_judged}"
    warnings.warn(
        f"run {shortened(run.name)}: none of its {len(run):,} documents is judged{example}; are the ids the same?",
        SurefootWarning,
        stacklevel=3,
    )


def tie_rule(runs: Iterable[Run]) -> str:
    """How equal scores are ordered: by row if all runs are of data without ids, by document id otherwise.

    Ids that were made for such data count down, so by document id is by row there: the rule is true of every run.
    """
    rules = {run.ranking.tie_rule for run in runs}
    return "row order" if rules == {"row order"} else "document id descending"


def _is_results(value: Any) -> bool:
    """Whether it is one query's results: {document: score}, or a list of ids."""
    if isinstance(value, Mapping):
        return not isinstance(next(iter(value.values()), None), Mapping | list | tuple)
    return isinstance(value, list | tuple | np.ndarray) and all(
        isinstance(each, str | int | np.integer) for each in value
    )


def named_runs(runs: Any, judgments: Qrels) -> list[Run]:
    """The runs with their names, which must differ; each must share a query with the judgments."""
    named = runs_by_name(runs)
    for run in named:
        if (judgment_index(run, judgments) < 0).all():
            raise DataError(
                f"run {shortened(run.name)} has no query in common with the judgments: its first query is "
                f"{shortened(run.queries[0])}, that of {shortened(judgments.name)} is "
                f"{shortened(judgments.queries[0])}; are these the right files?"
            )
    return named


def runs_by_name(runs: Any) -> list[Run]:
    """The runs with their names, which must differ."""
    if isinstance(runs, Run | str | PathLike) or hasattr(runs, "columns") or is_ranx(runs):
        runs = [runs]
    if isinstance(runs, Mapping):
        first = next(iter(runs.values()), None)
        # {query: {document: score}} is one run, {query: [document, …]} and {"query_id": [...], ...} too; {name: run}
        # are several.
        if _is_results(first) or is_query_table(runs):
            named = [Run._read(runs)]
        else:
            named = [Run._read(run, name=str(name)) for name, run in runs.items()]
    else:
        sources = list(runs)
        named = [Run._read(run) for run in ([sources] if sources and is_record(sources[0]) else sources)]
    if not named:
        raise ArgumentError("no runs were given; give at least one")
    for name, times in Counter(run.name for run in named).items():
        if times > 1:
            raise ArgumentError(
                f"{times} systems are named {shortened(name)}; every system needs its own name "
                "(on the command line NAME=FILE, in Python read_run(…, name=…))"
            )
    return named


def fill_holes(judgments: Qrels, automatic: Qrels, runs: Sequence[Run], depth: float | None = None) -> Qrels:
    """People's judgments, and for documents that a run shows and people did not judge those of the automatic judge.

    It changes what is measured, and may favour a system: so it is counted for each system, the scores without it are
    kept, and no decision rests on it. Documents below the depth are not filled: they would change what is ideal, and
    nobody sees them. Queries that people did not judge stay unjudged.

    >>> people, judge = Qrels._read({"q": {"a": 2}}), Qrels._read({"q": {"a": 0, "b": 1, "c": 1}, "r": {"a": 1}})
    >>> fill_holes(people, judge, [Run._read({"q": ["a", "b"]})]).to_dict()
    {'q': {'a': 2.0, 'b': 1.0}}
    """
    if not set(judgments.queries) & set(automatic.queries):
        raise DataError(
            f"the automatic judgments ({shortened(automatic.name)}) have no query in common with the judgments: their "
            f"first query is {shortened(automatic.queries[0])}, that of {shortened(judgments.name)} is "
            f"{shortened(judgments.queries[0])}; are the ids the same?"
        )
    chosen = _fills(judgments, automatic, runs, depth)
    _warn_of_scale(judgments, automatic.grades[chosen], automatic.name)
    frame = pl.concat([judgments.to_frame(), automatic.to_frame().filter(pl.Series(chosen))])
    filled = Qrels._read(frame, judgments.name)
    filled.origin = JudgmentOrigin("people and machine", (judgments.name, automatic.name))
    return filled


def _warn_of_scale(judgments: Qrels, grades: Floats, name: str) -> None:
    """Say so where the automatic judge's grades lie outside people's: they may mean something else."""
    low, high = min(0.0, float(judgments.grades.min())), float(judgments.grades.max())
    outside = int(((grades < low) | (grades > high)).sum())
    if outside:
        warnings.warn(
            f"{outside:,} of {len(grades):,} automatic judgments ({shortened(name)}) that fill holes have grades "
            f"outside those of people ({low:g} to {high:g}); do both use the same scale?",
            SurefootWarning,
            stacklevel=4,
        )


def _fills(judgments: Qrels, automatic: Qrels, runs: Sequence[Run], depth: float | None) -> Flags:
    """Which of the automatic judgments, in ranked order, fill a hole."""
    codes = automatic.ranking.codes_at(np.arange(len(automatic)))
    of_judged_query = (judgment_index(automatic, judgments) >= 0)[automatic.ranking.query_of_position()]
    shown = np.zeros(len(codes), dtype=bool)
    for run in runs:
        position = run.ranking.find(codes)
        within = position >= 0
        if depth is not None:
            within &= run.ranking.ranks()[np.maximum(position, 0)] <= depth
        shown |= within
    return np.asarray(of_judged_query & shown & (judgments.ranking.find(codes) < 0))


def count_holes(
    judgments: Qrels, filled: Qrels, runs: Sequence[Run], depth: float | None, asked: Flags
) -> tuple[dict[str, int], dict[str, int]]:
    """For each run the holes in its results, down to a depth, and how many of them are filled.

    Only those judged queries count that are `asked`.
    """
    holes, fills = {}, {}
    for run in runs:
        number = judgment_index(run, judgments)
        judged = ((number >= 0) & asked[number])[run.ranking.query_of_position()]
        if depth is not None:
            judged &= run.ranking.ranks() <= depth
        codes = run.ranking.codes_at(np.flatnonzero(judged))
        is_hole = judgments.ranking.find(codes) < 0
        holes[run.name] = int(is_hole.sum())
        fills[run.name] = int((is_hole & (filled.ranking.find(codes) >= 0)).sum())
    return holes, fills
