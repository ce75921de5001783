"""Which queries to judge next, drawn by what they could lose or next of a uniform sample, and the lists for people."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from surefoot.arguments import LARGEST_COUNT, LARGEST_SEED, MOST_DRAWS, integer
from surefoot.arrays import Ints
from surefoot.data.hashes import queries_hash, text_hash
from surefoot.data.types.runs import Qrels, RankedSource, Run
from surefoot.decide.evidence.draws import Draws, system_hash
from surefoot.decide.evidence.evidence_data import ToProve
from surefoot.decide.evidence.judged_queries import systems_of
from surefoot.decide.evidence.record import SampleEntry, open_record
from surefoot.decide.evidence.traffic import (
    DrawnJudgeData,
    UnjudgedTreatment,
    answered_queries,
    read_automatic,
    shown_documents,
    traffic_to_draw,
)
from surefoot.errors import ArgumentError, DataError, shortened, visible
from surefoot.measures.notation import Measure
from surefoot.measures.scoring import runs_by_name
from surefoot.measures.worst_case import check_bounded
from surefoot.report.escapes import csv_text
from surefoot.report.tables import terminal_table

if TYPE_CHECKING:
    from rich.console import RenderableType

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
    run, reference = systems[shown], systems[live]
    kind, count = check_bounded(measure), integer("n", n, 1, MOST_DRAWS)
    if to_prove not in get_args(ToProve):
        raise ArgumentError(f"to_prove is {shortened(to_prove)}; it must be 'risk' or 'gain'")
    drawable = traffic_to_draw(run, reference, kind, to_prove, traffic)
    if not drawable.could_lose.any():
        raise DataError(
            f"no query can {'lose' if to_prove == 'risk' else 'gain or lose'} anything by {kind}, because both runs "
            "show the same documents or the candidate only adds documents; there is nothing to judge"
        )
    judge = None
    if automatic is not None:
        judge = read_automatic(automatic, run, reference, kind, drawable.queries, drawable.could_lose, unjudged).data
    seed = secrets.randbits(_SEED_BITS) if seed is None else integer("seed", seed, 0, LARGEST_SEED)
    # With another judge or traffic, one seed gives other draws: nobody can choose one that suits what was drawn.
    hashes = [int(given["sha256"], 16) for given in (judge, drawable.by_traffic) if given is not None]
    rng = np.random.default_rng([seed, *hashes] if hashes else seed)
    counts = drawable.counts
    chances = drawable.could_lose if counts is None else drawable.could_lose * counts
    chosen = rng.choice(len(drawable.queries), size=count, p=chances / float(chances.sum()))
    drawn, sequence = np.unique(chosen, return_inverse=True)
    draws = Draws(
        measure=str(kind),
        candidate={"name": run.name, "sha256": system_hash(run, kind)},
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
        counts=None if counts is None else counts[drawn],
        traffic=None if judge is None or counts is None else dict(zip(drawable.queries, counts.tolist(), strict=True)),
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
        order = np.random.default_rng(seed).permutation(len(log)).tolist()
        queries = [log[row] for row in order[first : first + count]]
        entry: SampleEntry = {
            "kind": "sample", "log": queries_hash(log), "size": len(log), "seed": seed, "queries": queries,
        }  # fmt: skip
        kept.add(entry)
        kept.write(record)
    return entry


def documents_to_judge(
    queries: Sequence[str], measure: Measure, candidate: Run, baseline: Run, judged: Qrels | None = None
) -> Ints:
    """For each query how many documents either list shows, down to the cut-off, that are not judged.

    A query that was judged before stays among those to judge, since leaving it out would bias what is proved; only its
    judged documents need not be looked at again.
    """
    code, query_number = shown_documents((candidate, baseline), queries, measure.depth)
    if judged is not None:
        query_number = query_number[judged.ranking.find(code) < 0]
    return np.bincount(query_number, minlength=len(queries))


def documents_shown_by_query(
    queries: Sequence[str], measure: Measure, candidate: Run, baseline: Run
) -> dict[str, list[str]]:
    """For people's tools: the documents of each query that either list shows, down to the cut-off.

    Queries come as given, documents in the order of a hash: neither says what a system or a judge thinks.
    """
    depth = measure.depth
    shown: dict[str, set[str]] = {query: set() for query in queries}
    for run in (candidate, baseline):
        positions = np.flatnonzero(run.ranking.ranks() <= (np.inf if depth is None else depth))
        numbers = run.ranking.query_of_position()[positions].tolist()
        for number, document in zip(numbers, run.documents(positions).to_list(), strict=True):
            if (query := run.queries[number]) in shown:
                shown[query].add(document)
    return {
        query: sorted(documents, key=lambda document: text_hash(f"{query}\n{document}"))
        for query, documents in shown.items()
    }


def draws_csv(draws: Draws, unjudged: Ints) -> str:
    """The queries for people who judge: those that could lose most first, or as they were drawn beside a judge.

    What an automatic judge says is not shown, and no order betrays it: people would follow it.
    """
    header = ["query", "times", "could_lose", *(["count"] if draws.counts is not None else []), "documents_to_judge"]
    return csv_text(header, ([*_row(draws, row), int(unjudged[row])] for row in _shown_order(draws)))


def sample_csv(queries: Sequence[str], unjudged: Ints) -> str:
    """The queries of a uniform sample for people who judge, in their random order."""
    return csv_text(["query", "documents_to_judge"], zip(queries, unjudged.tolist(), strict=True))


def sample_tables(entry: SampleEntry, unjudged: Ints, most: int) -> list[RenderableType]:
    """The same for a terminal, the first of them."""
    from rich.text import Text

    queries = entry["queries"]
    summary = (
        f"{len(queries):,} queries, drawn at random from the {entry['size']:,} that the runs answer. You must judge "
        f"{int(unjudged.sum()):,} documents."
    )
    rows = [[query, f"{count:,}"] for query, count in zip(queries[:most], unjudged.tolist(), strict=False)]
    more = len(queries) - most
    table = terminal_table(["query", "documents to judge"], rows)
    return [Text(summary), table, *([Text(f"and {more:,} more queries")] if more > 0 else [])]


def drawn_order(draws: Draws) -> list[int]:
    """The places of the drawn queries, each where it was drawn first."""
    return list(dict.fromkeys(draws.sequence.tolist()))


def draws_tables(draws: Draws, unjudged: Ints, most: int) -> list[RenderableType]:
    """The same for a terminal, the first of them, with what was drawn from above it."""
    from rich.text import Text

    what = "lose" if draws.to_prove == "risk" else "lose or gain"
    asked = "" if draws.by_traffic is None else ", and queries that are asked more,"
    summary = (
        f"{draws.draws:,} draws from {draws.drawn_from:,} queries. Queries that could {what} more {draws.measure}"
        f"{asked} were drawn more often. You must judge {len(draws.queries):,} queries and "
        f"{int(unjudged.sum()):,} documents. A query could {what} "
        f"{draws.could_lose_mean:.4f} on average and at most {draws.could_lose_largest:.4f}."
    )
    if draws.by_traffic is not None and draws.by_traffic["left_out"]:
        summary += f" {draws.by_traffic['left_out']:,} queries of the runs have no traffic and were left out."
    rows = [
        [query, f"{times}", f"{weight:.4f}", *(f"{count:,g}" for count in counts), f"{unjudged[row]:,}"]
        for row in _shown_order(draws)[:most]
        for query, times, weight, *counts in [_row(draws, row)]
    ]
    counts = [] if draws.counts is None else ["asked"]
    table = terminal_table(["query", "times drawn", f"could {what}", *counts, "documents to judge"], rows)
    more = len(draws.queries) - most
    if draws.automatic is not None:
        summary += f" {automatic_note(draws.automatic)}"
    if draws.to_prove == "risk":
        summary += " These draws are for conditions on risk alone; for gain or U_Risk, draw with --to-prove gain."
    return [Text(visible(summary)), table, *([Text(f"and {more:,} more queries")] if more > 0 else [])]


def automatic_note(automatic: DrawnJudgeData) -> str:
    """Which automatic judgments the draws belong to, and what the judge left out."""
    note = f"The draws belong to the automatic judgments {automatic['name']}, which must not change now."
    if automatic["unjudged"]:
        note += (
            f" They have no judgment for {automatic['unjudged']:,} of the queries that could change. These count as no "
            "difference."
        )
    if automatic["holes"]:
        note += (
            f" {automatic['holes']:,} documents that the runs show have no automatic judgment. They count as not "
            "relevant."
        )
    return note


def _row(draws: Draws, row: int) -> tuple[Any, ...]:
    """A drawn query, how often it was drawn, what it could lose, and how often it is asked, where that differs."""
    counts = [] if draws.counts is None else [float(draws.counts[row])]
    return draws.queries[row], int(draws.times[row]), float(draws.could_lose[row]), *counts


def _shown_order(draws: Draws) -> list[int]:
    if draws.automatic is not None:
        return drawn_order(draws)
    return sorted(range(len(draws.queries)), key=lambda row: (-draws.could_lose[row], draws.queries[row]))
