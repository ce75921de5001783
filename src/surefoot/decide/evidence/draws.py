"""Which queries to judge: drawn in proportion to what they could lose, so that few judgments say much.

A query whose lists are alike cannot lose, and one with a new first result can lose nearly all. Drawing queries
independently, with replacement, with probability W(q)/ΣW makes each judgment worth more: with x = loss/W in place of
the loss and m = r/W̄ in place of the level r, all that holds of plain draws holds of these (W̄ is the mean over traffic).
They are bet on in the order in which they were drawn, which is random and was fixed before anything was judged.
"""

from __future__ import annotations

import math
import os
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, get_args

import numpy as np

from surefoot.arguments import LARGEST_SEED, MOST_DRAWS, integer, is_real
from surefoot.arrays import Floats, Ints
from surefoot.data.hashes import lists_hash, seal, text_hash
from surefoot.data.reading.columns import first_repeated
from surefoot.data.types.runs import RankedSource, Run
from surefoot.data.writing.all_or_nothing import write_text
from surefoot.decide.evidence.automatic_judge import AutomaticData, AutomaticJudge, UnjudgedTreatment, read_automatic
from surefoot.decide.evidence.sealed_files import read_sealed
from surefoot.errors import ArgumentError, DataError, expecting, name_list, shortened
from surefoot.measures.notation import Measure
from surefoot.measures.worst_case import check_bounded, worst_case_loss
from surefoot.report.plain_json import to_json

DrawnFor = Literal["risk", "gain"]
SCHEMA = "surefoot/draws/2"
_REFUSED_SCHEMAS = {
    "surefoot/draws/1": "contains draws of version 0.1. They do not store the order of the draws, which the proof "
    "needs. Draw again with surefoot judge-next, and judge the queries that are not judged yet",
}
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
    sha256: str


@dataclass(frozen=True)
class Draws:
    """Queries drawn to be judged, each with its weight: W for "risk", max(W, W of the lists swapped) for "gain".

    `mean_weight` and `largest_weight` are over all `traffic` queries, drawn or not. `sequence` holds each draw's
    place in `queries`, in the order of drawing: a query that was drawn twice is judged once and counts twice.
    `automatic` names the automatic judgments that were fixed before the draw, where there were any.
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
        """A number for these draws alone: the seed or, as one seed draws anew for each judge, a hash of both."""
        if self.automatic is None:
            return self.seed
        return int(text_hash(f"{self.seed} {self.automatic['sha256']}")[:13], 16)

    def chance_of(self, draws: int) -> float:
        """How likely it is that another seed begins with the same draws."""
        shares = self.weights / (self.mean_weight * self.traffic)
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

    def _check_traffic(self, traffic: Sequence[str], weights: Floats) -> None:
        """Refuse weights of the traffic that are not those at the time of the draw: the judge's mean goes by them."""
        at = {query: row for row, query in enumerate(traffic)}
        rows = [at.get(query, -1) for query in self.queries]
        self.check_weights(np.where(np.array(rows) >= 0, weights[rows], 0.0))
        if len(traffic) != self.traffic or abs(float(weights.mean()) - self.mean_weight) > _ROUNDING:
            raise DataError(
                f"these draws are of {self.traffic:,} queries with a mean weight of {self.mean_weight:.6g}, but the "
                f"runs have {len(traffic):,} with {float(weights.mean()):.6g}; draw again"
            )

    def read_judge(self, source: RankedSource, candidate: Run, baseline: Run) -> AutomaticJudge:
        """What the automatic judge of these draws says of all traffic; other judgments than its are refused."""
        if self.automatic is None:
            raise DataError(
                "these draws were made without automatic judgments, so nothing shows that the judge was fixed before "
                "the draw; draw again with surefoot judge-next --automatic"
            )
        measure = check_bounded(self.measure)
        traffic, weights = traffic_weights(candidate, baseline, measure, self.drawn_for)
        self._check_traffic(traffic, weights)
        judge = read_automatic(source, candidate, baseline, measure, traffic, weights)
        if judge.data["sha256"] != self.automatic["sha256"]:
            raise DataError(
                f"the automatic judgments ({shortened(judge.data['name'])}) are not those that the draws were made "
                f"with ({shortened(self.automatic['name'])}); give the same judgments, or draw again with the new ones"
            )
        return judge

    def to_dict(self) -> DrawsData:
        """Plain data that JSON can hold."""
        rows = zip(self.queries, self.times.tolist(), self.weights.tolist(), strict=True)
        data = {
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
            "queries": [{"query": query, "times": times, "weight": weight} for query, times, weight in rows],
            "sequence": [self.queries[row] for row in self.sequence.tolist()],
            "automatic": self.automatic,
        }
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
) -> Draws:
    """Draw n queries to judge from the traffic that two runs answer, in proportion to what each could lose.

    Independently and with replacement: a query may be drawn several times, and is then judged once. By default the
    seed is a fresh one, and the draws say which; the same seed gives the same draws whatever the order of the files,
    and proves nothing new. For conditions on gain or U_Risk draw for "gain".

    `automatic` are judgments of both runs' results by an automatic judge, for `gate(…, automatic=…)`; the draws keep
    their hash, and another judge gets other draws. Queries that it did not judge are refused, or with `unjudged="zero"`
    count as no difference.

    >>> today, new = {"q1": ["a", "b"], "q2": ["a", "b"]}, {"q1": ["a", "b"], "q2": ["b", "a"]}
    >>> judge_next(new, today, "nDCG@10", 5).queries
    ('q2',)
    """
    kind, count = check_bounded(measure), integer("n", n, 1, MOST_DRAWS)
    if drawn_for not in get_args(DrawnFor):
        raise ArgumentError(f"queries are drawn for {shortened(drawn_for)}; it must be 'risk' or 'gain'")
    candidate, reference = Run.read(run), Run.read(baseline)
    traffic, weights = traffic_weights(candidate, reference, kind, drawn_for)
    total = float(weights.sum())
    if total <= 0:
        raise DataError(
            f"no query can {'lose' if drawn_for == 'risk' else 'gain or lose'} anything by {kind}, because both runs "
            "show the same documents or the candidate only adds documents; there is nothing to judge"
        )
    judge = None
    if automatic is not None:
        judge = read_automatic(automatic, candidate, reference, kind, traffic, weights, unjudged).data
    seed = secrets.randbits(_SEED_BITS) if seed is None else integer("seed", seed, 0, LARGEST_SEED)
    # With another judge, one seed gives other draws: nobody can choose a judge that suits what was drawn.
    rng = np.random.default_rng(seed if judge is None else [seed, int(judge["sha256"], 16)])
    drawn, sequence = np.unique(rng.choice(len(traffic), size=count, p=weights / total), return_inverse=True)
    return Draws(
        measure=str(kind),
        candidate={"name": candidate.name, "sha256": system_hash(candidate, kind)},
        baseline={"name": reference.name, "sha256": system_hash(reference, kind)},
        drawn_for=drawn_for,
        seed=seed,
        traffic=len(traffic),
        mean_weight=total / len(traffic),
        largest_weight=float(weights.max()),
        queries=tuple(traffic[row] for row in drawn.tolist()),
        weights=weights[drawn],
        sequence=sequence,
        automatic=judge,
    )


def system_hash(run: Run, measure: Measure | str) -> str:
    """The hash of all of a run that a measure sees: its lists, and for some measures its scores."""
    return lists_hash(run, with_scores=Measure.parse(measure).kind.uses_scores)


def traffic_weights(candidate: Run, baseline: Run, measure: Measure, drawn_for: DrawnFor) -> tuple[list[str], Floats]:
    """All queries that either run answers, and what each is drawn by: W, or for gain the greater of W both ways."""
    traffic = sorted({*candidate.queries, *baseline.queries})
    weights = worst_case_loss(candidate, baseline, measure, queries=traffic)
    if drawn_for == "gain":
        weights = np.maximum(weights, worst_case_loss(baseline, candidate, measure, queries=traffic))
    return traffic, weights


def read_draws(source: Draws | str | os.PathLike[str]) -> Draws:
    """Draws from a file that `Draws.write` or `surefoot judge-next` wrote; one that was changed is refused."""
    if isinstance(source, Draws):
        return source
    data = read_sealed(source, (SCHEMA,), "does not contain draws", _REFUSED_SCHEMAS)
    try:
        with expecting("draws", source, "draw again"):
            return _parse(data)
    except _WrongError as error:
        raise DataError.at(source, None, f"{error}; draw again") from error


class _WrongError(Exception):
    """What is wrong with the draws in a file."""


def _parse(data: dict[str, Any]) -> Draws:
    rows = data["queries"]
    queries, times, weights = ([row[key] for row in rows] for key in ("query", "times", "weight"))
    if not rows or not all(isinstance(query, str) for query in queries):
        raise _WrongError("names no queries")
    twice = first_repeated(queries)
    if twice is not None:
        raise _WrongError(f"lists query {shortened(twice)} twice")
    at = {query: number for number, query in enumerate(queries)}
    sequence = data["sequence"]
    if not isinstance(sequence, list) or not all(isinstance(query, str) and query in at for query in sequence):
        raise _WrongError("has a sequence with other queries")
    drawn = np.array([at[query] for query in sequence], dtype=np.int64)
    _check_numbers("times drawn", times, lambda value: type(value) is int and 1 <= value <= MOST_DRAWS)
    _check_numbers("weight", weights, _is_weight)
    _check_numbers("mean or largest weight", [data["mean_weight"], data["largest_weight"]], _is_weight)
    counts = [data["draws"], data["traffic"], data["seed"]]
    _check_numbers("number of draws or queries, or seed", counts, lambda value: type(value) is int and value >= 0)
    if max(weights) > data["largest_weight"] or data["mean_weight"] > data["largest_weight"]:
        raise _WrongError("has a weight above the largest")
    counted = np.bincount(drawn, minlength=len(queries)).tolist()
    if counted != times or len(sequence) != data["draws"] or len(queries) > data["traffic"]:
        raise _WrongError("has queries that do not add up to its draws")
    if data["drawn_for"] not in get_args(DrawnFor):
        raise _WrongError(
            f"has the wrong value {shortened(data['drawn_for'])} for drawn_for (it must be 'risk' or 'gain')"
        )
    systems: list[RunIdentity] = []
    for key in ("candidate", "baseline"):
        name, hashed = data[key]["name"], data[key]["sha256"]
        if not isinstance(name, str) or not isinstance(hashed, str) or len(hashed) != 64:
            raise _WrongError(f"does not say which {key} it is for")
        systems.append({"name": name, "sha256": hashed})
    return Draws(
        measure=str(check_bounded(data["measure"])),
        candidate=systems[0],
        baseline=systems[1],
        drawn_for=data["drawn_for"],
        seed=data["seed"],
        traffic=data["traffic"],
        mean_weight=float(data["mean_weight"]),
        largest_weight=float(data["largest_weight"]),
        queries=tuple(queries),
        weights=np.array(weights, dtype=np.float64),
        sequence=drawn,
        automatic=_parse_automatic(data.get("automatic")),
    )


def _parse_automatic(data: Any) -> AutomaticData | None:
    if data is None:
        return None
    name, hashed = data["name"], data["sha256"]
    if not isinstance(name, str) or not isinstance(hashed, str) or len(hashed) != 64:
        raise _WrongError("does not say which automatic judgments it is for")
    counts = [data["unjudged"], data["holes"]]
    _check_numbers("number of documents or queries without judgment", counts, lambda n: type(n) is int and n >= 0)
    return {"name": name, "sha256": hashed, "unjudged": counts[0], "holes": counts[1]}


def _is_weight(value: Any) -> bool:
    return is_real(value) and math.isfinite(value) and 0 < value <= 1


def _check_numbers(what: str, values: Iterable[Any], right: Any) -> None:
    for value in values:
        if not right(value):
            raise _WrongError(f"has a {what} of {shortened(value)}")
