"""What a candidate and a baseline show for the same queries, and which of the two lists a guard shows, and why."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from surefoot.arrays import Flags, Floats, Ints
from surefoot.data.types.labels_and_scores import blend_scores, feature_scores
from surefoot.data.types.ranking_data import RankingData
from surefoot.data.types.runs import Qrels, Run
from surefoot.data.writing.all_or_nothing import write_text
from surefoot.decide.evidence.judged_queries import JudgedQueries, check_scores
from surefoot.errors import ArgumentError, DataError, shortened
from surefoot.learn.baseline_spec import feature_number
from surefoot.measures.notation import Measure
from surefoot.measures.scoring import score
from surefoot.measures.worst_case import worst_case_loss
from surefoot.report.escapes import csv_text, to_json
from surefoot.report.numbers import short
from surefoot.risk.assessment_data import Json

if TYPE_CHECKING:
    from surefoot.neural.loading import AnyRanker


@dataclass(frozen=True)
class ListPair:
    """Two runs over the same `queries`, and the `data` with the documents' features where the candidate is a Ranker.

    A scorer of the user's own is a function of these that gives a score for each query.
    """

    candidate: Run
    baseline: Run
    queries: tuple[str, ...]
    data: RankingData | None = None
    scores: Floats = field(default_factory=lambda: np.zeros(0))  # of the data's rows, the candidate's
    reference: Floats = field(default_factory=lambda: np.zeros(0))  # and the baseline's

    @classmethod
    def from_ranker(cls, ranker: AnyRanker, data: RankingData, baseline: str, blend: float | None) -> ListPair:
        """What a ranker and a baseline make of labelled or unlabelled documents."""
        reference = baseline_scores(data, baseline)
        own = data.with_baselines_only(name for name in ranker.baselines_ if name in data.baselines)
        scores = ranker.predict(own)
        if blend is not None:
            scores = blend_scores(scores, reference, data.lengths, blend)
        return cls(
            candidate=data.to_run(scores, "candidate"),
            baseline=data.to_run(reference, baseline),
            queries=data.queries,
            data=data,
            scores=scores,
            reference=reference,
        )

    @classmethod
    def from_runs(cls, candidate: Run, baseline: Run, blend: float | None) -> ListPair:
        """What two runs show; to blend them both must hold the same documents."""
        queries = tuple(dict.fromkeys((*baseline.queries, *candidate.queries)))
        if blend is None:
            return cls(candidate=candidate, baseline=baseline, queries=queries)
        here, there = candidate.ranking.match(baseline.ranking)
        if not len(here) == len(candidate) == len(baseline):
            raise ArgumentError(
                f"runs {shortened(candidate.name)} and {shortened(baseline.name)} do not contain the same documents; "
                "blending needs two orders of the same documents"
            )
        scores, reference = np.empty(len(here)), np.empty(len(here))  # in the order of the candidate's positions
        scores[here], reference[here] = candidate.ranking.scores[here], baseline.ranking.scores[there]
        frame = candidate.to_frame()
        data = RankingData.from_queries(
            np.zeros((len(here), 1), dtype=np.float32), np.zeros(len(here)), candidate.queries,
            candidate.ranking.lengths, doc_ids=frame["doc_id"],
        )  # fmt: skip
        moved_run = data.to_run(blend_scores(scores, reference, data.lengths, blend), candidate.name)
        return cls(candidate=moved_run, baseline=baseline, queries=queries)

    def query_numbers(self, run: Run) -> Ints:
        """For each query of one of the runs its number among all."""
        number = {query: position for position, query in enumerate(self.queries)}
        return np.array([number[query] for query in run.queries], dtype=np.int64)

    def effectiveness(self, qrels: Qrels, measure: Measure) -> JudgedQueries:
        """The judged queries that the lists answer, with M_m and M_b of each."""
        known = set(self.queries)
        answered = tuple(query for query in qrels.queries if query in known)
        if not answered:
            raise DataError(
                f"none of the queries is judged: the first query of the judgments is {shortened(qrels.queries[0])}, "
                f"the first of the rankings is {shortened(self.queries[0])}; do both use the same query ids?"
            )
        scores = score(qrels, [self.candidate.renamed("candidate"), self.baseline.renamed("baseline")], measure)
        check_scores(scores, scores.systems)
        row_of = {query: number for number, query in enumerate(scores.queries)}
        rows = np.array([row_of[query] for query in answered], dtype=np.int64)
        return JudgedQueries(scores.queries, scores["baseline"], scores["candidate"]).take(rows)

    def worst_case(self, measure: Measure) -> Floats:
        """What each query could lose at most."""
        return worst_case_loss(self.candidate, self.baseline, measure, queries=self.queries)

    def chosen_scores(self, takes_candidate: Flags) -> Floats:
        """For each row of the data the score of the list that its query is shown."""
        assert self.data is not None
        return np.where(np.repeat(takes_candidate, self.data.lengths), self.scores, self.reference)

    def chosen_run(self, takes_candidate: Flags, name: str) -> Run:
        """A run with the candidate's list where `takes_candidate`, and the baseline's elsewhere."""
        if self.data is not None:
            return self.data.to_run(self.chosen_scores(takes_candidate), name)
        import polars as pl

        by_query = dict(zip(self.queries, takes_candidate.tolist(), strict=True))
        parts = [
            run.to_frame().filter(pl.col("query_id").is_in([q for q in self.queries if by_query[q] is own]))
            for run, own in ((self.candidate, True), (self.baseline, False))
        ]
        return Run._read(pl.concat(parts), name)


def row_ranks(data: RankingData, scores: Floats) -> Ints:
    """The rank of each row within its query, from 1."""
    ranking = data.ranking(scores)
    ranks = np.empty(len(data), dtype=np.int64)
    ranks[ranking.rows(np.arange(len(data)))] = ranking.ranks()
    return ranks


def baseline_scores(data: RankingData, name: str) -> Floats:
    """A score for each row by the baseline of this name: one of the data's own, or `feature:25`."""
    if name in data.baselines:
        return data.baselines[name]
    number = feature_number(name)
    if number is not None:
        return feature_scores(data, number)
    known = ", ".join(data.baselines) or "none"
    raise ArgumentError(
        f"the data has no baseline {shortened(name)} (it has {known}); use one of those, or feature:25, or add it "
        "with with_baseline"
    )


SCHEMA = "surefoot/shown/1"
HEADER = ("query", "shown", "score", "threshold", "why")  # of files, which programs read by these names


@dataclass(frozen=True)
class GuardedLists:
    """A guard's choice for each of some queries."""

    queries: tuple[str, ...]
    scores: Floats
    threshold: float | None
    scorer: str
    reason: str | None
    candidate: str
    baseline: str

    @property
    def shown(self) -> Flags:
        """Whether the candidate's list is shown."""
        return self.scores >= (float("inf") if self.threshold is None else self.threshold)

    def rows(self) -> list[Json]:
        """For each query what is shown, the scorer's score, the threshold, and why in words."""
        rows = []
        for query, value, takes in zip(self.queries, self.scores.tolist(), self.shown.tolist(), strict=True):
            if self.threshold is None:
                why = f"only {self.baseline} is shown: {self.reason}"
            else:
                why = f"{self.scorer} {short(value)} is {'at least' if takes else 'below'} {short(self.threshold)}"
            rows.append(
                {
                    "query": query,
                    "shown": self.candidate if takes else self.baseline,
                    "score": value,
                    "threshold": self.threshold,
                    "why": why,
                }
            )
        return rows

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the rows, all or nothing: JSON by that ending, CSV otherwise."""
        if str(path).lower().endswith(".json"):
            write_text(path, to_json({"schema": SCHEMA, "shown": self.rows()}))
        else:
            write_text(path, csv_text(HEADER, ([row[name] for name in HEADER] for row in self.rows())))
