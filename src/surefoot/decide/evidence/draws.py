"""Which queries to judge: drawn in proportion to what they could lose, so that few judgments say much.

A query whose lists are alike cannot lose, and one with a new first result can lose nearly all. Drawing queries
independently, with replacement, with probability W(q)/ΣW makes each judgment worth more: with x = loss/W in place of
the loss and m = r/W̄ in place of the level r, all that holds of plain draws holds of these (W̄ is the mean over traffic).
Where a query is asked w(q) times, it is drawn with probability wW/ΣwW, and W̄ = ΣwW/Σw; x stays loss/W.
They are bet on in the order in which they were drawn, which is random and was fixed before anything was judged.
"""

from __future__ import annotations

import math
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NotRequired, TypedDict, get_args

import numpy as np

from surefoot.arguments import LARGEST_SEED, MOST_DRAWS, integer
from surefoot.arrays import Floats, Ints
from surefoot.data.hashes import lists_hash, seal, text_hash
from surefoot.data.types.runs import RankedSource, Run
from surefoot.data.writing.all_or_nothing import write_text
from surefoot.decide.evidence.automatic_judge import AutomaticData, AutomaticJudge, UnjudgedTreatment, read_automatic
from surefoot.decide.evidence.traffic import DrawnFor, DrawnTraffic, TrafficToDraw, asked_queries, traffic_to_draw
from surefoot.errors import ArgumentError, DataError, name_list, shortened
from surefoot.measures.notation import Measure
from surefoot.measures.worst_case import check_bounded
from surefoot.report.plain_json import to_json

SCHEMA = "surefoot/draws/2"
_SEED_BITS = 53  # bits of a seed that is drawn: every JSON reader keeps so many
_ROUNDING = 1e-9  # by which a weight that is computed again may differ


class RunIdentity(TypedDict):
    """A run by its name, and by a hash of its lists."""

    name: str
    sha256: str


class DrawnQuery(TypedDict):
    """A query to judge: how often it was drawn, and the most that it could lose (or gain)."""

    query: str
    times: int
    weight: float
    count: NotRequired[float]  # how often it is asked


class DrawsData(TypedDict):
    """What a file of draws holds."""

    schema: str
    measure: str
    candidate: RunIdentity
    baseline: RunIdentity
    drawn_for: DrawnFor
    seed: int
    draws: int
    traffic: int
    mean_weight: float
    largest_weight: float
    queries: list[DrawnQuery]
    sequence: list[str]
    automatic: AutomaticData | None
    by_traffic: NotRequired[DrawnTraffic]
    sha256: str


@dataclass(frozen=True)
class Draws:
    """Queries drawn to be judged, each with its weight: W for "risk", max(W, W of the lists swapped) for "gain".

    `mean_weight` and `largest_weight` are over all `traffic` queries, drawn or not. `sequence` holds each draw's
    place in `queries`, in the order of drawing: a query that was drawn twice is judged once and counts twice.
    `automatic` names the automatic judgments that were fixed before the draw, where there were any. Where queries are
    not asked equally often, `by_traffic` says of what counts, and `counts` are those of the drawn queries.
    """

    measure: str
    candidate: RunIdentity
    baseline: RunIdentity
    drawn_for: DrawnFor
    seed: int
    traffic: int
    mean_weight: float
    largest_weight: float
    queries: tuple[str, ...]
    weights: Floats
    sequence: Ints
    automatic: AutomaticData | None = None
    by_traffic: DrawnTraffic | None = None
    counts: Floats | None = None

    @property
    def draws(self) -> int:
        """How many draws there were, a query drawn twice counted twice."""
        return len(self.sequence)

    @property
    def times(self) -> Ints:
        """How often each of the queries was drawn."""
        return np.bincount(self.sequence, minlength=len(self.queries))

    @property
    def identity(self) -> int:
        """A number for these draws alone: the seed or, as one seed draws anew for each judge and traffic, a hash."""
        hashes = [given["sha256"] for given in (self.automatic, self.by_traffic) if given is not None]
        return int(text_hash(" ".join([str(self.seed), *hashes]))[:13], 16) if hashes else self.seed

    def chance_of(self, draws: int) -> float:
        """How likely it is that another seed begins with the same draws."""
        if self.by_traffic is None or self.counts is None:
            shares = self.weights / (self.mean_weight * self.traffic)
        else:
            shares = self.weights * self.counts / (self.mean_weight * self.by_traffic["total"])
        return math.exp(float(np.log(shares[self.sequence[:draws]]).sum()))

    def places(self, judged: Sequence[str]) -> Ints:
        """Where each drawn query stands among the judged ones, all of which must be judged."""
        at = {query: number for number, query in enumerate(judged)}
        absent = [query for query in self.queries if query not in at]
        if absent:
            raise DataError(
                f"{len(absent):,} of the {len(self.queries):,} drawn queries have no judgments "
                f"({name_list(absent, 3, shortened)}); if some are left out, the result is biased; judge all of them"
            )
        return np.array([at[query] for query in self.queries], dtype=np.int64)

    def check_runs(self, candidate: Run, baseline: Run, measure: str) -> None:
        """Refuse draws that were made for other lists or another measure."""
        if str(check_bounded(measure)) != self.measure:
            raise DataError(f"the draws are for {self.measure}, but the measure is {measure}; draw again")
        for what, system, run in (("candidate", self.candidate, candidate), ("baseline", self.baseline, baseline)):
            if system_hash(run, measure) != system["sha256"]:
                raise DataError(
                    f"these draws belong to another {what}: the rankings in run {shortened(run.name)} differ from "
                    f"those of {shortened(system['name'])} at the time of the draw; draw again for these runs"
                )

    def check_weights(self, weights: Floats) -> None:
        """Refuse draws whose weights are not those of the lists at hand, given as `weights` of the drawn queries."""
        wrong = np.abs(weights - self.weights) > _ROUNDING
        if wrong.any():
            at = int(wrong.argmax())
            raise DataError(
                f"these draws belong to other rankings: query {shortened(self.queries[at])} could lose "
                f"{weights[at]:.4f} now, but {self.weights[at]:.4f} at the time of the draw; draw again for these "
                "rankings"
            )

    def check_counts(self, queries: Sequence[str], traffic: Any) -> None:
        """Refuse other traffic than the draws were made with; `queries` are all that the runs answer."""
        given = asked_queries(queries, traffic).by_traffic
        if given is None and self.by_traffic is None:
            return
        if self.by_traffic is None:
            raise DataError("these draws were made without traffic; draw again with surefoot judge-next --traffic")
        if given is None or given["sha256"] != self.by_traffic["sha256"]:
            raise DataError(
                "this traffic is not the one that the draws were made with; give the same counts, or draw again with "
                "the new ones"
            )

    def _check_traffic(self, traffic: TrafficToDraw) -> None:
        """Refuse weights of the traffic that are not those at the time of the draw: the judge's mean goes by them."""
        at = {query: row for row, query in enumerate(traffic.queries)}
        rows = [at.get(query, -1) for query in self.queries]
        self.check_weights(np.where(np.array(rows) >= 0, traffic.weights[rows], 0.0))
        if len(traffic.queries) != self.traffic or abs(traffic.mean_weight - self.mean_weight) > _ROUNDING:
            raise DataError(
                f"these draws are of {self.traffic:,} queries with a mean weight of {self.mean_weight:.6g}, but the "
                f"runs have {len(traffic.queries):,} with {traffic.mean_weight:.6g}; draw again"
            )

    def read_judge(self, source: RankedSource, candidate: Run, baseline: Run, traffic: Any = None) -> AutomaticJudge:
        """What the automatic judge of these draws says of all traffic; other judgments than its are refused."""
        if self.automatic is None:
            raise DataError(
                "these draws were made without automatic judgments, so nothing shows that the judge was fixed before "
                "the draw; draw again with surefoot judge-next --automatic"
            )
        measure = check_bounded(self.measure)
        asked = traffic_to_draw(candidate, baseline, measure, self.drawn_for, traffic)
        self._check_traffic(asked)
        judge = read_automatic(source, candidate, baseline, measure, asked.queries, asked.weights)
        judge = replace(judge, counts=asked.counts)
        if judge.data["sha256"] != self.automatic["sha256"]:
            raise DataError(
                f"the automatic judgments ({shortened(judge.data['name'])}) are not those that the draws were made "
                f"with ({shortened(self.automatic['name'])}); give the same judgments, or draw again with the new ones"
            )
        return judge

    def to_dict(self) -> DrawsData:
        """Plain data that JSON can hold."""
        rows = zip(self.queries, self.times.tolist(), self.weights.tolist(), strict=True)
        queries: list[DrawnQuery] = [
            {"query": query, "times": times, "weight": weight} for query, times, weight in rows
        ]
        if self.counts is not None:
            for row, count in zip(queries, self.counts.tolist(), strict=True):
                row["count"] = count
        data: dict[str, Any] = {
            "schema": SCHEMA,
            "measure": self.measure,
            "candidate": self.candidate,
            "baseline": self.baseline,
            "drawn_for": self.drawn_for,
            "seed": self.seed,
            "draws": self.draws,
            "traffic": self.traffic,
            "mean_weight": self.mean_weight,
            "largest_weight": self.largest_weight,
            "queries": queries,
            "sequence": [self.queries[row] for row in self.sequence.tolist()],
            "automatic": self.automatic,
        }
        if self.by_traffic is not None:  # a file without traffic stays as it was before there was any
            data["by_traffic"] = self.by_traffic
        return seal(data)  # type: ignore[return-value]

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write JSON, all or nothing; `read_draws` reads it back."""
        write_text(path, to_json(self.to_dict()))


def judge_next(
    run: RankedSource,
    baseline: RankedSource,
    measure: str,
    n: int,
    *,
    drawn_for: DrawnFor = "risk",
    seed: int | None = None,
    automatic: RankedSource | None = None,
    unjudged: UnjudgedTreatment = "error",
    weights: Any = None,
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

    >>> today, new = {"q1": ["a", "b"], "q2": ["a", "b"]}, {"q1": ["a", "b"], "q2": ["b", "a"]}
    >>> judge_next(new, today, "nDCG@10", 5).queries
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
    return Draws(
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


def system_hash(run: Run, measure: Measure | str) -> str:
    """The hash of all of a run that a measure sees: its lists, and for some measures its scores."""
    return lists_hash(run, with_scores=Measure.parse(measure).kind.uses_scores)
