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
from surefoot.decide.evidence.compared_systems import systems_of
from surefoot.decide.evidence.draws import Draws, system_hash
from surefoot.decide.evidence.evidence_data import ToProve
from surefoot.decide.evidence.record import SampleEntry, open_record
from surefoot.decide.evidence.traffic import answered_queries, traffic_to_draw
from surefoot.errors import ArgumentError, DataError, shortened
from surefoot.measures.scoring import runs_by_name
from surefoot.measures.worst_case import check_bounded

_SEED_BITS = 53  # of a seed that is drawn: every JSON reader keeps so many


def judge_next(
    runs: Any,
    *,
    baseline: str,
    candidate: str | None = None,
    measure: str = "nDCG@10",
    n: int = 100,
    to_prove: ToProve = "risk",
    traffic: Any = None,
    automatic: RankedSource | None = None,
    unjudged: UnjudgedTreatment = "error",
    record: str | os.PathLike[str] | None = None,
    seed: int | None = None,
) -> Draws:
    """Draw n queries to judge from the traffic that two runs answer, in proportion to what each could lose.

    Independently and with replacement: a query may be drawn several times, and is then judged once. By default the
    seed is a fresh one, and the draws say which; the same seed gives the same draws whatever the order of the files,
    and proves nothing new. For conditions on gain or U_Risk draw to prove "gain".

    `runs` are as for `score`; `baseline` names the one that is live, `candidate` the other of more than two.

    `automatic` are judgments of both runs' results by an automatic judge, for `gate(…, automatic=…)`; the draws keep
    their hash, and another judge gets other draws. Queries that it did not judge are refused, or with `unjudged="zero"`
    count as no difference.

    `traffic` is how often each query is asked: queries are drawn by that too, and what is proved is of the traffic.
    Queries of the runs that nobody asks are left out.

    A `record` keeps the draws, so that `gate(…, record=…)` uses all that were ever made for these runs, in order.

    >>> today, new = {"q1": ["a", "b"], "q2": ["a", "b"]}, {"q1": ["a", "b"], "q2": ["b", "a"]}
    >>> judge_next({"today": today, "new": new}, baseline="today", n=5).queries
    ('q2',)
    """
    systems = {run.name: run for run in runs_by_name(runs)}
    shown, live = systems_of(list(systems), candidate, baseline)
    return draw_queries(
        systems[shown], systems[live], measure, n, to_prove=to_prove, seed=seed, automatic=automatic,
        unjudged=unjudged, traffic=traffic, record=record,
    )  # fmt: skip


def draw_queries(
    run: RankedSource,
    baseline: RankedSource,
    measure: str,
    n: int,
    *,
    to_prove: ToProve = "risk",
    seed: int | None = None,
    automatic: RankedSource | None = None,
    unjudged: UnjudgedTreatment = "error",
    traffic: Any = None,
    record: str | os.PathLike[str] | None = None,
) -> Draws:
    """`judge_next` of two runs."""
    kind, count = check_bounded(measure), integer("n", n, 1, MOST_DRAWS)
    if to_prove not in get_args(ToProve):
        raise ArgumentError(f"to_prove is {shortened(to_prove)}; it must be 'risk' or 'gain'")
    candidate, reference = Run._read(run), Run._read(baseline)
    drawable = traffic_to_draw(candidate, reference, kind, to_prove, traffic)
    if not drawable.could_lose.any():
        raise DataError(
            f"no query can {'lose' if to_prove == 'risk' else 'gain or lose'} anything by {kind}, because both runs "
            "show the same documents or the candidate only adds documents; there is nothing to judge"
        )
    judge = None
    if automatic is not None:
        judge = read_automatic(
            automatic, candidate, reference, kind, drawable.queries, drawable.could_lose, unjudged
        ).data
    seed = secrets.randbits(_SEED_BITS) if seed is None else integer("seed", seed, 0, LARGEST_SEED)
    # With another judge or traffic, one seed gives other draws: nobody can choose one that suits what was drawn.
    hashes = [int(given["sha256"], 16) for given in (judge, drawable.by_traffic) if given is not None]
    rng = np.random.default_rng([seed, *hashes] if hashes else seed)
    chances = drawable.could_lose if drawable.counts is None else drawable.could_lose * drawable.counts
    chosen = rng.choice(len(drawable.queries), size=count, p=chances / float(chances.sum()))
    drawn, sequence = np.unique(chosen, return_inverse=True)
    draws = Draws(
        measure=str(kind),
        candidate={"name": candidate.name, "sha256": system_hash(candidate, kind)},
        baseline={"name": reference.name, "sha256": system_hash(reference, kind)},
        to_prove=to_prove,
        seed=seed,
        drawn_from=len(drawable.queries),
        could_lose_mean=drawable.could_lose_mean,
        could_lose_largest=float(drawable.could_lose.max()),
        queries=tuple(drawable.queries[row] for row in drawn.tolist()),
        could_lose=drawable.could_lose[drawn],
        sequence=sequence,
        automatic=judge,
        by_traffic=drawable.by_traffic,
        counts=None if drawable.counts is None else drawable.counts[drawn],
        traffic=None if judge is None else drawable.all_counts,
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
    log = answered_queries(Run._read(run), Run._read(baseline))
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
