"""How measures take noise in the scores: mean and spread as it grows, one query traced (Li et al., CIKM 2009)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from surefoot.arguments import MOST_DRAWS, finite_number, integer
from surefoot.arrays import LARGEST_SCORE, Floats, Ints
from surefoot.data.reading.traffic import query_weights, read_traffic
from surefoot.data.types.ranking import Ranking
from surefoot.data.types.runs import Qrels, RankedSource
from surefoot.errors import ArgumentError, shortened
from surefoot.measures.matching import Hits, judgment_index, match
from surefoot.measures.near_ties import comparable_scores
from surefoot.measures.notation import Measure, check_choice
from surefoot.measures.scoring import named_runs, warn_of_scale
from surefoot.progress import steps
from surefoot.risk.assessment_data import Json
from surefoot.risk.assessment_parts import traffic_data
from surefoot.risk.vectors import weighted_mean
from surefoot.stability.study import Study
from surefoot.stability.study_data import MEASURES, NOISE_SIZES, REPEATS

_TRACE_STEPS = 60


def noise(
    qrels: RankedSource,
    runs: Any,
    measures: Iterable[str | Measure] = MEASURES,
    *,
    sizes: Sequence[float] | None = None,
    repeats: int = REPEATS,
    seed: int = 0,
    normalize: str = "percentile",
    query: str | None = None,
    traffic: Any = None,
) -> Study:
    """Mean and spread of each measure as Gaussian noise of growing size is added to scores.

    Noise of a size is its standard deviation, in percentiles (or with `normalize="none"` in the run's own units), by
    default from 0 to 0.3; measures see the noisy scores as they are. Each of the `repeats` seeds draws one noise, which
    all sizes scale and all measures share. One query of the first run, by default the one whose first measure moves
    most, is traced under a single growing noise. `traffic` is how often each query is asked, anything that
    `read_traffic` takes; means are weighted by it.

    >>> from surefoot.demo.made_runs import runs as demo_runs
    >>> made = demo_runs(queries=40, depth=20)
    >>> study = noise(made.qrels, made.runs[0], sizes=[0, 0.1])
    >>> spread = study.to_dict()["systems"][0]["measures"]
    >>> spread["SoftNDCG@5"]["deviation"][1] < spread["nDCG@5"]["deviation"][1]
    True
    """
    parsed = [Measure.parse(measure) for measure in measures]
    noise_sizes = _check(parsed, NOISE_SIZES if sizes is None else sizes, repeats, seed, normalize)
    judgments = Qrels._read(qrels)
    weighting = None
    asked, relative = np.arange(len(judgments.queries)), None
    if traffic is not None:
        asked, weighting = query_weights(read_traffic(traffic), judgments.queries)
        relative = weighting.relative
    systems = []
    trace = None
    for number, run in enumerate(steps(named_runs(runs, judgments), "Runs")):
        hits = match(run, judgments)
        for measure in parsed:
            warn_of_scale(run, measure, normalize)
        base = comparable_scores(run, normalize)
        drawn = np.empty((len(parsed), len(noise_sizes), repeats))
        for repeat in steps(range(repeats), "Adding noise"):
            draw = np.random.default_rng([seed, repeat]).standard_normal(len(base))
            for size_number, size in enumerate(noise_sizes):
                noisy = rerank(hits, base + size * draw)
                drawn[:, size_number, repeat] = [
                    weighted_mean(_on_raw_scores(measure)(noisy)[asked], relative) for measure in parsed
                ]
        systems.append({"system": run.name, "measures": _spread(parsed, drawn)})
        if number == 0:
            trace = _trace(hits, base, parsed, noise_sizes, seed, query, asked)
    return Study(
        {
            "schema": "surefoot/stability-noise/1",
            "measures": [str(measure) for measure in parsed],
            "normalize": normalize,
            "queries": len(asked),
            **({} if weighting is None else {"traffic": traffic_data(weighting)}),
            "sizes": noise_sizes,
            "repeats": repeats,
            "seed": seed,
            "systems": systems,
            "trace": trace,
        }
    )


def rerank(hits: Hits, scores: Floats) -> Hits:
    """The hits of the same run had its documents these scores (in the order of its ranking); ties keep their order."""
    ranking = hits.run.ranking
    order = np.lexsort((-scores, ranking.query_of_position()))
    new_position = np.empty_like(order)
    new_position[order] = np.arange(len(order))
    moved = Ranking(
        offsets=ranking.offsets,
        scores=scores[order],
        order=ranking.rows(order),
        codes=ranking.codes,
        code_positions=new_position[ranking.code_positions],
        tie_rule=ranking.tie_rule,
    )
    rank = hits.rank + new_position[hits.position] - hits.position
    by_rank = np.lexsort((rank, hits.query))
    return replace(
        hits,
        query=hits.query[by_rank],
        rank=rank[by_rank],
        grade=hits.grade[by_rank],
        position=new_position[hits.position][by_rank],
        run=hits.run.reordered(moved),
    )


def _on_raw_scores(measure: Measure) -> Measure:
    """The measure on scores as they are: noise has been added to percentiles already."""
    if "normalize" not in measure.settings:
        return measure
    return Measure(
        measure.family, tuple(sorted((dict(measure.parameters) | {"normalize": "none"}).items())), measure.cutoff
    )


def _spread(measures: Sequence[Measure], drawn: Floats) -> Json:
    """Mean, deviation and range over the seeds, by size; and the deviation of all sizes beside the first measure's."""
    repeats = drawn.shape[2]
    deviation = drawn.std(axis=2, ddof=1) if repeats > 1 else np.zeros(drawn.shape[:2])
    total = np.sqrt(np.square(deviation).mean(axis=1))
    return {
        str(measure): {
            "mean": drawn[i].mean(axis=1).tolist(),
            "deviation": deviation[i].tolist(),
            "low": drawn[i].min(axis=1).tolist(),
            "high": drawn[i].max(axis=1).tolist(),
            "deviation_over_first": float(total[i] / total[0]) if total[0] > 0 else None,
        }
        for i, measure in enumerate(measures)
    }


def _trace(
    hits: Hits,
    base: Floats,
    measures: Sequence[Measure],
    sizes: Sequence[float],
    seed: int,
    query: str | None,
    asked: Ints,
) -> Json:
    """One query of the first run under a growing noise: each measure's value at every step, and its largest jump.

    It is one of those that are asked.
    """
    draw = np.random.default_rng([seed, 0]).standard_normal(len(base))
    if query is None:
        first = _on_raw_scores(measures[0])
        moved = np.abs(first(rerank(hits, base + max(sizes) * draw)) - first(rerank(hits, base)))
        query = hits.judgments.queries[int(asked[np.argmax(moved[asked])])]
    elif query in hits.judgments.queries and hits.judgments.queries.index(query) not in asked:
        raise ArgumentError(f"query {shortened(query)} has no traffic, so it is left out; trace one that is asked")
    query_hits, rows = _one_query(hits, query)
    steps = np.linspace(0.0, max(sizes), _TRACE_STEPS + 1)
    values = np.array(
        [[_on_raw_scores(m)(rerank(query_hits, base[rows] + size * draw[rows]))[0] for size in steps] for m in measures]
    )
    return {
        "system": hits.run.name,
        "query": query,
        "sizes": steps.tolist(),
        "values": {str(measure): row.tolist() for measure, row in zip(measures, values, strict=True)},
        "largest_jump": {
            str(measure): float(np.abs(np.diff(row)).max()) for measure, row in zip(measures, values, strict=True)
        },
    }


def _one_query(hits: Hits, query: str) -> tuple[Hits, slice]:
    """The hits of one query alone, and where its results stand in the run."""
    if query not in hits.judgments.queries:
        raise ArgumentError(
            f"no judged query is named {shortened(query)}; the first is {shortened(hits.judgments.queries[0])}"
        )
    number = hits.judgments.queries.index(query)
    numbers = np.flatnonzero(judgment_index(hits.run, hits.judgments) == number)
    if not len(numbers):
        raise ArgumentError(
            f"run {shortened(hits.run.name)} has no results for query {shortened(query)}; trace another"
        )
    run, rows = hits.run.only(int(numbers[0]))
    return match(run, hits.judgments.only(number)[0]), rows


def _check(measures: Sequence[Measure], sizes: Sequence[float], repeats: int, seed: int, normalize: str) -> list[float]:
    numbers = [finite_number(size) for size in sizes]
    noise_sizes = sorted({number for number in numbers if number is not None})
    if not measures:
        raise ArgumentError("no measure was given; give at least one, such as SoftNDCG@5")
    valid = all(0 <= size <= LARGEST_SCORE for size in noise_sizes)
    if not noise_sizes or None in numbers or not valid or noise_sizes[-1] == 0:
        raise ArgumentError(
            f"the sizes of noise are {shortened(list(sizes))}; give numbers from 0 to {LARGEST_SCORE:g}, "
            "at least one above 0"
        )
    integer("repeats", repeats, 1, MOST_DRAWS)
    integer("seed", seed, 0)
    check_choice("normalize", normalize)
    return noise_sizes
