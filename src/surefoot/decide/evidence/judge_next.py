"""Which queries to judge next: drawn by what they could lose, or the next of a uniform sample."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from typing import Any, get_args

import numpy as np

from surefoot.arguments import LARGEST_COUNT, LARGEST_SEED, MOST_DRAWS, integer
from surefoot.data.hashes import queries_hash
from surefoot.data.types.runs import RankedSource, Run
from surefoot.decide.evidence.automatic_judge import UnjudgedTreatment, read_automatic
from surefoot.decide.evidence.draws import Draws, system_hash
from surefoot.decide.evidence.record import SampleEntry, open_record
from surefoot.decide.evidence.traffic import DrawnFor, answered_queries, traffic_to_draw
from surefoot.errors import ArgumentError, DataError, shortened
from surefoot.measures.worst_case import check_bounded

_SEED_BITS = 53  # of a seed that is drawn: every JSON reader keeps so many


def judge_next(
    run: RankedSource,
    *,
    baseline: RankedSource,
    measure: str,
    n: int,
    drawn_for: DrawnFor = "risk",
    seed: int | None = None,
    automatic: RankedSource | None = None,
    unjudged: UnjudgedTreatment = "error",
    weights: Any = None,
    record: str | os.PathLike[str] | None = None,
) -> Draws:
    """Draw n queries to judge from the traffic that two runs answer, in proportion to what each could lose.

    Independently and with replacement: a query may be drawn several times, and is then judged once. By default the
    seed is a fresh one, and the draws say which; the same seed gives the same draws whatever the order of the files,
    and proves nothing new. For conditions on gain or U_Risk draw for "gain".

    `automatic` are judgments of both runs' results by an automatic judge, for `gate(…, automatic=…)`; the draws keep
    their hash, and another judge gets other draws. Queries that it did not judge are refused, or with `unjudged="zero"`
    count as no difference.

    `weights` are how often each query is asked, anything that `read_traffic` takes: queries are drawn by that too, and
    what is proved is of the traffic. Queries of the runs that nobody asks are left out.

    A `record` keeps the draws, so that `gate(…, record=…)` uses all that were ever made for these runs, in order.

    >>> today, new = {"q1": ["a", "b"], "q2": ["a", "b"]}, {"q1": ["a", "b"], "q2": ["b", "a"]}
    >>> judge_next(new, baseline=today, measure="nDCG@10", n=5).queries
    ('q2',)
    """
    kind, count = check_bounded(measure), integer("n", n, 1, MOST_DRAWS)
    if drawn_for not in get_args(DrawnFor):
        raise ArgumentError(f"queries are drawn for {shortened(drawn_for)}; it must be 'risk' or 'gain'")
    candidate, reference = Run.read(run), Run.read(baseline)
    traffic = traffic_to_draw(candidate, reference, kind, drawn_for, weights)
    if not traffic.weights.any():
        raise DataError(
            f"no query can {'lose' if drawn_for == 'risk' else 'gain or lose'} anything by {kind}, because both runs "
            "show the same documents or the candidate only adds documents; there is nothing to judge"
        )
    judge = None
    if automatic is not None:
        judge = read_automatic(automatic, candidate, reference, kind, traffic.queries, traffic.weights, unjudged).data
    seed = secrets.randbits(_SEED_BITS) if seed is None else integer("seed", seed, 0, LARGEST_SEED)
    # With another judge or traffic, one seed gives other draws: nobody can choose one that suits what was drawn.
    hashes = [int(given["sha256"], 16) for given in (judge, traffic.by_traffic) if given is not None]
    rng = np.random.default_rng([seed, *hashes] if hashes else seed)
    chances = traffic.weights if traffic.counts is None else traffic.weights * traffic.counts
    chosen = rng.choice(len(traffic.queries), size=count, p=chances / float(chances.sum()))
    drawn, sequence = np.unique(chosen, return_inverse=True)
    draws = Draws(
        measure=str(kind),
        candidate={"name": candidate.name, "sha256": system_hash(candidate, kind)},
        baseline={"name": reference.name, "sha256": system_hash(reference, kind)},
        drawn_for=drawn_for,
        seed=seed,
        traffic=len(traffic.queries),
        mean_weight=traffic.mean_weight,
        largest_weight=float(traffic.weights.max()),
        queries=tuple(traffic.queries[row] for row in drawn.tolist()),
        weights=traffic.weights[drawn],
        sequence=sequence,
        automatic=judge,
        by_traffic=traffic.by_traffic,
        counts=None if traffic.counts is None else traffic.counts[drawn],
    )
    if record is not None:
        with open_record(record) as kept:
            kept.add_draws(draws)
            kept.write(record)
    return draws


def sample_next(
    run: RankedSource, baseline: RankedSource, n: int, record: str | os.PathLike[str], *, seed: int | None = None
) -> SampleEntry:
    """The next n queries of the log, which is all that the two runs answer, in the record's random order.

    A later call goes on where the last one ended, so that the size of each batch is fixed before it is judged. The
    gate then knows how many queries the traffic has.
    """
    count = integer("n", n, 1, LARGEST_COUNT)
    log = answered_queries(Run.read(run), Run.read(baseline))
    with open_record(record) as kept:
        if kept.samples and seed is not None:
            raise ArgumentError("the record has a random order already, which later calls go on in; leave out the seed")
        if not kept.samples:
            seed = secrets.randbits(_SEED_BITS) if seed is None else integer("seed", seed, 0, LARGEST_SEED)
        else:
            seed = kept.samples[0]["seed"]
            if kept.samples[0]["log"] != queries_hash(log):
                raise DataError(
                    f"the record's random order is of {kept.samples[0]['size']:,} queries, but these runs answer "
                    f"others ({len(log):,}); give the runs of the same log, or begin a new record"
                )
        first = len(kept.sampled)
        if first + count > len(log):
            raise ArgumentError(
                f"the log has {len(log):,} queries, of which {first:,} were given out before; ask for at most "
                f"{len(log) - first:,}"
            )
        queries = _in_order(log, seed)[first : first + count]
        entry: SampleEntry = {
            "kind": "sample", "log": queries_hash(log), "size": len(log), "seed": seed, "queries": queries,
        }  # fmt: skip
        kept.add(entry)
        kept.write(record)
    return entry


def _in_order(log: Sequence[str], seed: int) -> list[str]:
    return [log[row] for row in np.random.default_rng(seed).permutation(len(log)).tolist()]
