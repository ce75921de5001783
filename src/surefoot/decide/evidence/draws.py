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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, NotRequired, Self, TypedDict

import numpy as np

from surefoot.arguments import MOST_DRAWS
from surefoot.arrays import Floats, Ints
from surefoot.data.hashes import lists_hash, read_sealed, seal, text_hash
from surefoot.data.reading.columns import first_repeated
from surefoot.data.types.runs import RankedSource, Run
from surefoot.data.writing.all_or_nothing import write_text
from surefoot.decide.evidence.evidence_data import DrawnTraffic, Sha256, ToProve
from surefoot.decide.evidence.traffic import (
    AutomaticJudge,
    DrawnJudgeData,
    TrafficToDraw,
    read_automatic,
    traffic_to_draw,
)
from surefoot.errors import DataError, expecting, name_list, shortened
from surefoot.measures.notation import Measure
from surefoot.measures.worst_case import check_bounded
from surefoot.report.escapes import to_json
from surefoot.report.kinds import check_shape
from surefoot.risk.assessment_data import Count

SCHEMA: Literal["surefoot/draws/1"] = "surefoot/draws/1"
_PLAIN = (  # what the file has as it is
    "measure", "candidate", "baseline", "to_prove", "seed", "draws", "drawn_from", "could_lose_mean",
    "could_lose_largest",
)  # fmt: skip
_ROUNDING = 1e-9  # by which a weight that is computed again may differ


class RunIdentity(TypedDict):
    """A run by its name, and by a hash of its lists."""

    name: str
    sha256: Sha256


_Weight = Annotated[float, ("exclusiveMinimum", 0), ("maximum", 1)]


class DrawnQuery(TypedDict):
    """A query to judge: how often it was drawn, and the most that it could lose (or gain)."""

    query: str
    times: Annotated[int, ("minimum", 1), ("maximum", MOST_DRAWS)]
    could_lose: _Weight
    count: NotRequired[Annotated[float, ("exclusiveMinimum", 0)]]  # how often it is asked


class DrawsData(TypedDict):
    """What a file of draws holds."""

    schema: Literal["surefoot/draws/1"]
    measure: str
    candidate: RunIdentity
    baseline: RunIdentity
    to_prove: ToProve
    seed: Count
    draws: Count
    drawn_from: Count
    could_lose_mean: _Weight
    could_lose_largest: _Weight
    queries: Annotated[list[DrawnQuery], ("minItems", 1)]
    sequence: list[str]
    automatic: DrawnJudgeData | None
    by_traffic: NotRequired[DrawnTraffic]
    traffic: NotRequired[dict[str, float]]


@dataclass(frozen=True)
class Draws:
    """Queries drawn to be judged.

    `could_lose` is the most that each could lose: W to prove risk, max(W, W of the lists swapped) to prove gain.
    `could_lose_mean` and `could_lose_largest` are over all `drawn_from` queries, drawn or not. `sequence` holds each
    draw's place in `queries`, in the order of drawing: a query that was drawn twice is judged once and counts twice.
    `automatic` names the automatic judgments that were fixed before the draw, where there were any. Where queries are
    not asked equally often, `by_traffic` says of what counts, and `counts` are those of the drawn queries;
    with an automatic judge, `traffic` has those of all queries, for which it speaks.
    """

    measure: str
    candidate: RunIdentity
    baseline: RunIdentity
    to_prove: ToProve
    seed: int
    drawn_from: int
    could_lose_mean: float
    could_lose_largest: float
    queries: tuple[str, ...]
    could_lose: Floats
    sequence: Ints
    automatic: DrawnJudgeData | None = None
    by_traffic: DrawnTraffic | None = None
    counts: Floats | None = None
    traffic: Mapping[str, float] | None = None

    @property
    def draws(self) -> int:
        """How many draws there were, a query drawn twice counted twice."""
        return len(self.sequence)

    @property
    def times(self) -> Ints:
        """How often each of the queries was drawn."""
        return np.bincount(self.sequence, minlength=len(self.queries))

    @property
    def kind(self) -> tuple[str | None, ...]:
        """What draws that count together have in common."""
        given = (self.automatic, self.by_traffic)
        return (
            self.candidate["sha256"], self.baseline["sha256"], self.measure, self.to_prove,
            *(None if one is None else one["sha256"] for one in given),
        )  # fmt: skip

    @property
    def identity(self) -> int:
        """A number for these draws alone: the seed or, as one seed draws anew for each judge and traffic, a hash."""
        hashes = [given["sha256"] for given in (self.automatic, self.by_traffic) if given is not None]
        return int(text_hash(" ".join([str(self.seed), *hashes]))[:13], 16) if hashes else self.seed

    def _places(self, judged: Sequence[str]) -> Ints:
        """Where each drawn query stands among the judged ones, all of which must be judged."""
        at = {query: number for number, query in enumerate(judged)}
        absent = [query for query in self.queries if query not in at]
        if absent:
            raise DataError(
                f"{len(absent):,} of the {len(self.queries):,} drawn queries have no judgments "
                f"({name_list(absent, 3, shortened)}); if some are left out, the result is biased; judge all of them"
            )
        return np.array([at[query] for query in self.queries], dtype=np.int64)

    def _check_runs(self, candidate: Run, baseline: Run, measure: str) -> None:
        """Refuse draws that were made for other lists or another measure."""
        if str(check_bounded(measure)) != self.measure:
            raise DataError(f"the draws are for {self.measure}, but the measure is {measure}; draw again")
        for what, system, run in (("candidate", self.candidate, candidate), ("baseline", self.baseline, baseline)):
            if system_hash(run, measure) != system["sha256"]:
                raise DataError(
                    f"these draws belong to another {what}: the rankings in run {shortened(run.name)} differ from "
                    f"those of {shortened(system['name'])} at the time of the draw; draw again for these runs"
                )

    def _check_could_lose(self, could_lose: Floats) -> None:
        """Refuse draws of other lists than those at hand, by the most that each drawn query could lose."""
        wrong = np.abs(could_lose - self.could_lose) > _ROUNDING
        if wrong.any():
            at = int(wrong.argmax())
            raise DataError(
                f"these draws belong to other rankings: query {shortened(self.queries[at])} could lose "
                f"{could_lose[at]:.4f} now, but {self.could_lose[at]:.4f} at the time of the draw; draw again for "
                "these rankings"
            )

    def _check_traffic(self, traffic: TrafficToDraw) -> None:
        """Refuse weights of the traffic that are not those at the time of the draw: the judge's mean goes by them."""
        at = {query: row for row, query in enumerate(traffic.queries)}
        rows = [at.get(query, -1) for query in self.queries]
        self._check_could_lose(np.where(np.array(rows) >= 0, traffic.could_lose[rows], 0.0))
        if len(traffic.queries) != self.drawn_from or abs(traffic.could_lose_mean - self.could_lose_mean) > _ROUNDING:
            raise DataError(
                f"these draws are of {self.drawn_from:,} queries that could lose {self.could_lose_mean:.6g} on "
                f"average, but the runs have {len(traffic.queries):,} that could lose "
                f"{traffic.could_lose_mean:.6g}; draw again"
            )

    def _read_judge(self, source: RankedSource, candidate: Run, baseline: Run) -> AutomaticJudge:
        """What the automatic judge of these draws says of all traffic; other judgments than its are refused."""
        if self.automatic is None:
            raise DataError(
                "these draws were made without automatic judgments, so nothing shows that the judge was fixed before "
                "the draw; draw again with surefoot judge next --automatic"
            )
        measure = check_bounded(self.measure)
        asked = traffic_to_draw(candidate, baseline, measure, self.to_prove, self.traffic)
        self._check_traffic(asked)
        judge = read_automatic(source, candidate, baseline, measure, asked.queries, asked.could_lose)
        judge = replace(judge, counts=asked.counts)
        if judge.data["sha256"] != self.automatic["sha256"]:
            raise DataError(
                f"the automatic judgments ({shortened(judge.data['name'])}) are not those that the draws were made "
                f"with ({shortened(self.automatic['name'])}); give the same judgments, or draw again with the new ones"
            )
        return judge

    def to_dict(self) -> DrawsData:
        """Plain data that JSON can hold."""
        rows = zip(self.queries, self.times.tolist(), self.could_lose.tolist(), strict=True)
        queries: list[DrawnQuery] = [{"query": query, "times": times, "could_lose": w} for query, times, w in rows]
        if self.counts is not None:
            for row, count in zip(queries, self.counts.tolist(), strict=True):
                row["count"] = count
        data: dict[str, Any] = {
            "schema": SCHEMA,
            **{name: getattr(self, name) for name in _PLAIN},
            "queries": queries,
            "sequence": [self.queries[row] for row in self.sequence.tolist()],
            "automatic": self.automatic,
        }
        if self.by_traffic is not None:
            data["by_traffic"] = self.by_traffic
        if self.traffic is not None:
            data["traffic"] = dict(self.traffic)
        return data  # type: ignore[return-value]

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """The draws whose plain data these are."""
        check_shape(data, DrawsData, complete=True)
        rows, by_traffic = data["queries"], data.get("by_traffic")
        queries = [row["query"] for row in rows]
        at = {query: number for number, query in enumerate(queries)}
        most, counts = [row["could_lose"] for row in rows], [row["count"] for row in rows if "count" in row]
        sequence = np.array([at.get(query, -1) for query in data["sequence"]], dtype=np.int64)
        wrong = {
            f"lists query {shortened(first_repeated(queries))} twice": len(at) < len(queries),
            "has a sequence with other queries": bool((sequence < 0).any()) or not len(sequence),
            "has a query that could lose more than the largest": max(*most, data["could_lose_mean"])
            > data["could_lose_largest"],
            "has no counts of all traffic, for which its judge speaks": (data.get("traffic") is None)
            != (by_traffic is None or data["automatic"] is None),
            "has counts of some queries only": len(counts) != (0 if by_traffic is None else len(rows)),
        }
        for what in (reason for reason, holds in wrong.items() if holds):
            raise DataError(what)
        times = np.bincount(sequence, minlength=len(queries)).tolist()
        if (times, data["draws"]) != ([row["times"] for row in rows], len(sequence)) or len(queries) > data[
            "drawn_from"
        ]:
            raise DataError("has queries that do not add up to its draws")
        if by_traffic is not None and math.fsum(counts) > by_traffic["total"] * (1 + _ROUNDING):
            raise DataError("has counts that add up to more than all traffic")
        return cls(
            measure=str(check_bounded(data["measure"])), candidate=data["candidate"], baseline=data["baseline"],
            to_prove=data["to_prove"], seed=data["seed"], drawn_from=data["drawn_from"],
            could_lose_mean=float(data["could_lose_mean"]), could_lose_largest=float(data["could_lose_largest"]),
            queries=tuple(queries), could_lose=np.array(most, np.float64), sequence=sequence,
            automatic=data["automatic"], by_traffic=by_traffic,
            counts=np.array(counts, np.float64) if counts else None, traffic=data.get("traffic"),
        )  # fmt: skip

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write JSON, all or nothing; `Draws.read` reads it back."""
        write_text(path, to_json(seal(dict(self.to_dict()))))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Draws from a file that `write` or `surefoot judge next` wrote; one that was changed is refused."""
        data = read_sealed(path, SCHEMA, "does not contain draws", "draw again")
        try:
            with expecting("draws", path, "draw again"):
                return cls.from_dict(data)
        except DataError as error:
            known = str(error).startswith(str(path))
            raise error if known else DataError.at(path, None, f"{error}; draw again") from error

    def _followed_by(self, later: Draws) -> Draws:
        """These draws and, after them, later ones from the same traffic."""
        new = [row for row, query in enumerate(later.queries) if query not in set(self.queries)]
        queries = (*self.queries, *(later.queries[row] for row in new))
        at = {query: number for number, query in enumerate(queries)}
        places = np.array([at[query] for query in later.queries], np.int64)
        counts = None if self.counts is None or later.counts is None else np.append(self.counts, later.counts[new])
        return replace(
            self, queries=queries, could_lose=np.append(self.could_lose, later.could_lose[new]), counts=counts,
            sequence=np.append(self.sequence, places[later.sequence]),
        )  # fmt: skip


def system_hash(run: Run, measure: Measure | str, queries: Sequence[str] | None = None) -> str:
    """The hash of all of a run that a measure sees, or of some queries: its lists, and for some measures its scores."""
    return lists_hash(run, with_scores=Measure.parse(measure).kind.uses_scores, queries=queries)
