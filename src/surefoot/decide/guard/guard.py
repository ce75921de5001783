"""`RiskGuard`: a candidate's list where it is safe, the baseline's elsewhere, and a bound that holds."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from surefoot.arrays import Floats
from surefoot.data.hashes import HASH_DIGITS, queries_hash, query_fingerprints, text_hash
from surefoot.data.types.data_parts import DrawnLists
from surefoot.data.types.ranking_data import RankingData
from surefoot.data.types.runs import Qrels, Run
from surefoot.decide.evidence.draws import Draws, system_hash
from surefoot.decide.evidence.judged_queries import refuse_machine_judgments
from surefoot.decide.evidence.record import NamedLists, open_record
from surefoot.decide.evidence.sample import Evidence, Strata
from surefoot.decide.guard.calibration import (
    GuardSettings,
    JudgedListPair,
    calibration_of,
    certificate_record,
    check_new,
    draws_of_record,
    guard_question,
)
from surefoot.decide.guard.certificate import CalibrationOutcome, Certificate, certify
from surefoot.decide.guard.list_pair import GuardedLists, ListPair
from surefoot.decide.guard.scorers import make_scorer
from surefoot.decide.guard.sequential import SequentialThresholds
from surefoot.decide.guard.thresholds import find_threshold, fixed_quantiles, thresholds_for
from surefoot.decide.options import DEFAULT_BUDGET, DEFAULT_RISK_LEVEL, DEFAULT_SCORER, DELTA, NothingToLoseTreatment
from surefoot.errors import ArgumentError, DataError, shortened

if TYPE_CHECKING:
    from surefoot.neural.loading import AnyRanker

_RUNS_MEASURE = "nDCG@10"


class RiskGuard:
    """A candidate shown where a scorer's score is high enough for its risk to stay within a level.

    Parameters
    ----------
    model : Ranker, NeuralRanker, PersonalRanker or a run
        What might be shipped. Lists of one user are not independent: a PersonalRanker is calibrated with one list of
        each user, of days after those that it learned from (`PersonalRanker.later_lists`).
    baseline : str or a run
        What is shipped today. With a Ranker, the name of one of the data's baselines, or such as "feature:25"; by
        default the one that the Ranker was trained against.
    risk, share_hurt : float or None
        What may be lost on average, and the share of queries that may lose over 20 %; one of them, or both.
    delta : float
        The chance of a wrong certificate that is accepted.
    measure : str, optional
        The Ranker's by default, nDCG@10 with runs; from 0 to 1.
    scorer : str or a function
        "predicted_gain" (":regression" on documents' features, ":isotonic" of the candidate's scores), "feature:K", or
        a function that gives a number for each query of the two lists that it is handed.
    blend : float, optional
        Show (1 − w)·z_b + w·z_m, of scores standardised in each query, in place of the candidate's own.
    budget : int
        For `update`: about how many queries will be judged at most.
    unanswered : {"leave-out", "count"}
        What becomes of judged queries on which nothing can be lost: those that neither system answers, and also
        those that have no relevant document. They make risk look smaller. By default they are left out of a plain
        sample, and the certificate says so; with "count" they count.

    Examples
    --------
    >>> import surefoot as sf
    >>> made = sf.demo.runs(queries=400, seed=3)
    >>> today, new = made.runs[0], made.runs[1]
    >>> judged = list(made.qrels.to_dict().items())
    >>> few, many = dict(judged[:100]), dict(judged[100:])
    >>> c = RiskGuard(new, baseline=today, risk=0.3).fit_scorer(few).calibrate(many)
    >>> c.certificate_["queries"], c.to_run().name
    (300, 'guarded')
    """

    def __init__(
        self,
        model: Any,
        baseline: Any = None,
        *,
        risk: float | None = DEFAULT_RISK_LEVEL,
        share_hurt: float | None = None,
        delta: float = DELTA,
        measure: Any = None,
        scorer: str | Callable[[ListPair], Any] = DEFAULT_SCORER,
        blend: float | None = None,
        budget: int = DEFAULT_BUDGET,
        unanswered: str = NothingToLoseTreatment.leave_out,
    ) -> None:
        candidate = model
        self._ranker: AnyRanker | None = None
        self._runs: tuple[Run, Run] | None = None
        self.candidate_name, self.baseline_name = "candidate", ""
        self.baseline_source: str | None = None  # what the command line makes the baseline of, as in feature:25
        self._one_per_unit = hasattr(candidate, "_for_guard")  # a personal ranker
        if self._one_per_unit:
            candidate, baseline, measure = candidate._for_guard(baseline, measure)
        if hasattr(candidate, "predict"):
            if not hasattr(candidate, "_check_fitted"):
                raise ArgumentError(
                    f"the candidate is a {type(candidate).__name__}, which a guard cannot save and check; rank "
                    "the documents with it and give two runs: RiskGuard(data.to_run(candidate.predict(data), "
                    "'new'), baseline=today)"
                )
            candidate._check_fitted()
            self._ranker = candidate
            self.baseline_name = _named_baseline(candidate, baseline)
            measure = candidate.measure if measure is None else measure
        elif candidate is not None:  # a guard that was saved for two runs is loaded without them
            self._set_runs(candidate, baseline)
        self.settings = GuardSettings.parse(
            measure=_RUNS_MEASURE if measure is None else measure, risk=risk, share_hurt=share_hurt, delta=delta,
            scorer=scorer, blend=blend, budget=budget, unanswered=unanswered,
        )  # fmt: skip
        self.scorer = make_scorer(scorer, self.settings.measure, None if self._ranker is None else self._ranker.engine_)
        self._thresholds: Floats | None = None  # quantiles of the scores on the queries of fit_scorer
        self.threshold_: float | None = None  # None: nothing but the baseline
        self._sequential: SequentialThresholds | None = None  # of `update`
        self._scorer_queries: frozenset[str] = frozenset()
        self._certificate: Certificate | None = None

    # What is compared ------------------------------------------------------------------------------------------------

    def _lists(self, data: Any = None) -> ListPair:
        """What candidate and baseline show: for documents, with a Ranker; of a pair of runs, or the guard's own.

        The candidate's lists are those after blending.
        """
        if self._ranker is not None:
            if not isinstance(data, RankingData):
                raise ArgumentError(f"a guard of a Ranker needs RankingData, found {shortened(data)}")
            return ListPair.from_ranker(self._ranker, data, self.baseline_name, self.settings.blend)
        if data is not None:
            if not isinstance(data, tuple | list) or len(data) != 2:
                raise ArgumentError(f"give a pair of runs, (candidate, baseline), not {shortened(data)}")
            runs = (Run._read(data[0]), Run._read(data[1]))
        elif self._runs is not None:
            runs = self._runs
        else:
            raise ArgumentError(
                "this guard was loaded and contains no runs; give a pair of runs, (candidate, baseline)"
            )
        return ListPair.from_runs(*runs, self.settings.blend)

    def _set_runs(self, candidate: Any, baseline: Any) -> None:
        if baseline is None:
            raise ArgumentError("a candidate run needs a baseline run; give what is shipped today")
        self._runs = runs = (Run._read(candidate), Run._read(baseline))
        self.candidate_name, self.baseline_name = (run.name for run in runs)

    def _judged_lists(self, judged: Any) -> JudgedListPair:
        """Judged queries, under the measure."""
        judged = judged.data if isinstance(judged, DrawnLists) else judged
        if self._ranker is None:
            lists, qrels = self._lists(), Qrels._read(judged)
            refuse_machine_judgments(qrels)
            fingerprints = [frozenset({text_hash(query)[:HASH_DIGITS]}) for query in lists.queries]
        else:
            lists, qrels, fingerprints = self._lists(judged), judged.qrels(), query_fingerprints(judged)
        return JudgedListPair.from_lists(lists, qrels, self.settings.measure, fingerprints)

    @property
    def _candidate_lists(self) -> NamedLists:
        """The candidate as a record has it; a Ranker has no lists until it ranks."""
        lists = None if self._runs is None else system_hash(self._runs[0], self.settings.measure)
        return {"name": self.candidate_name, "lists": lists}

    # Learning and proving --------------------------------------------------------------------------------------------

    def fit_scorer(self, valid: Any) -> Self:
        """Fit the scorer on judged queries, which can then no longer calibrate; fix the thresholds for `update`.

        `valid` is `RankingData` with a Ranker, judgments with two runs.
        """
        judged_lists = self._judged_lists(valid)
        differences = np.zeros(len(judged_lists.lists.queries))
        differences[judged_lists.rows] = judged_lists.judged.candidate - judged_lists.judged.baseline
        self.scorer.fit(judged_lists.lists, judged_lists.qrels, differences)
        self._thresholds = fixed_quantiles(judged_lists.score(self.scorer).scores)
        self._scorer_queries = frozenset().union(*judged_lists.fingerprints)
        self.threshold_, self._certificate, self._sequential = None, None, None
        return self

    def calibrate(
        self,
        judged: Any,
        *,
        sample: Draws | Strata | str | os.PathLike[str] | None = None,
        unlabelled: Any = None,
        record: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Find the threshold that keeps most gain with the risk within its level, and certify it.

        `judged` is `RankingData` with a Ranker, judgments with two runs. `sample` says how the queries were chosen:
        `Draws` of `judge_next`, `Strata`, or the file of either; by default they are a plain random sample.
        `unlabelled` is all of the traffic (documents, or a pair of runs), and bounds what a loss can be at most. A
        `record` remembers what was decided on these queries, and leaves less of δ to each further question; it holds
        its own draws for the two rankings.
        """
        if self._sequential is not None:
            raise ArgumentError("this guard already works in batches (update); create another one to use calibrate")
        if self._one_per_unit and not isinstance(judged, DrawnLists):
            raise ArgumentError(
                "lists of one user are not independent draws; give one list of each user: "
                "PersonalRanker.later_lists(study).later"
            )
        judged_lists = self._judged_lists(judged)
        self._check_unseen(judged_lists)
        largest = 1.0 if unlabelled is None else float(self._lists(unlabelled).worst_case(self.settings.measure).max())
        if largest <= 0:
            raise DataError(
                "no query of the traffic can lose anything, because both systems show the same results; there is "
                "nothing to prove"
            )
        with ExitStack() as stack:
            kept = None if record is None else stack.enter_context(open_record(record))
            evidence = self._evidence(sample)
            if kept is not None:
                evidence = replace(evidence, sample=draws_of_record(kept, judged_lists, evidence.sample))
            selected, no_loss = judged_lists.select(leave_out=evidence.leave_out)
            scored = selected.score(self.scorer)
            calibration, counted, sampling = calibration_of(scored, self.settings, evidence.sample, largest)
            question = None
            if kept is not None and record is not None:
                claim = self.settings.claim(self.scorer.name, [sampling["kind"], largest])
                question = guard_question(kept, self._candidate_lists, judged_lists, counted, claim, evidence.sample)
                kept.write(record)  # before anybody can have seen what comes of it
                calibration = replace(calibration, delta=question.data["delta"])
            least = calibration.least()
            if least is None or len(calibration) >= least:
                result = find_threshold(calibration, thresholds_for(calibration.scores, self._thresholds))
            else:
                result = None
            outcome = CalibrationOutcome(
                settings=self.settings,
                scorer=self.scorer.name,
                calibration=calibration,
                judged=counted,
                result=result,
                sampling=sampling,
                largest=largest,
                record=None if question is None else certificate_record(question, self.settings.delta),
                nothing_to_lose=no_loss,
            )
            unit = {"unit": judged.to_dict()} if isinstance(judged, DrawnLists) else {}
            self._certificate = certify(outcome, self._names(selected.judged.queries) | unit)
        self.threshold_ = self._certificate["threshold"]
        return self

    def update(self, batch: Any) -> Self:
        """Show more as judgments arrive: one bet for each threshold that `fit_scorer` fixed.

        It may be looked at after every batch; whatever is shown keeps the level with confidence 1 − δ at all times.
        """
        if self._certificate is not None and self._sequential is None:
            raise ArgumentError("this guard is already calibrated; create another one to work in batches (update)")
        if self._one_per_unit:
            raise ArgumentError("update cannot tell whether a user comes again in a later batch; call calibrate once")
        if self._thresholds is None:
            raise ArgumentError("update needs thresholds that were fixed on other queries; call fit_scorer first")
        judged_lists = self._judged_lists(batch)
        self._check_unseen(judged_lists)
        selected, no_loss = judged_lists.select(leave_out=self._evidence().leave_out)
        sequential = self._sequential or SequentialThresholds.start(self.settings, self._thresholds)
        sequential = sequential.with_batch(selected.score(self.scorer), selected.fingerprints, no_loss)
        self._certificate = sequential.certificate(self.scorer.name, self._names(selected.judged.queries))
        self._sequential, self.threshold_ = sequential, self._certificate["threshold"]
        return self

    @property
    def certificate_(self) -> Certificate:
        """What is proved; see `Certificate`."""
        if self._certificate is None:
            raise ArgumentError("nothing is proved yet; call calibrate or update first")
        return self._certificate

    def _evidence(self, sample: Any = None) -> Evidence:
        return Evidence.read(sample=sample, unanswered=self.settings.nothing_to_lose_treatment)

    def _check_unseen(self, judged_lists: JudgedListPair) -> None:
        text = getattr(self._ranker, "training_queries_", None) or ""
        trained = frozenset(text[at : at + HASH_DIGITS] for at in range(0, len(text), HASH_DIGITS))
        for earlier, which in (
            (trained, "to train or validate the model"),
            (self._scorer_queries, "to fit the scorer"),
        ):
            check_new(judged_lists.fingerprints, earlier, judged_lists.judged.queries, which)

    def _names(self, queries: tuple[str, ...]) -> dict[str, Any]:
        known = self._ranker is None or self._ranker.training_queries_ is not None
        return {
            "candidate": self.candidate_name, "baseline": self.baseline_name,
            "queries_sha256": queries_hash(queries), "training_known": known,
        }  # fmt: skip

    # Serving ---------------------------------------------------------------------------------------------------------

    def shown(self, data: Any = None) -> GuardedLists:
        """For each query which list is shown, and why."""
        return self._serve(self._lists(data))

    def _serve(self, lists: ListPair) -> GuardedLists:
        certificate = self.certificate_
        return GuardedLists(
            lists.queries, self.scorer.scores(lists), self.threshold_, self.scorer.name, certificate["reason"],
            self.candidate_name, self.baseline_name,
        )  # fmt: skip

    def predict(self, data: RankingData) -> Floats:
        """A score for each document: the candidate's where its list is shown, the baseline's elsewhere."""
        lists = self._lists(data)
        if lists.data is None:
            raise ArgumentError(
                "this guard was made from runs, so it has no document scores to predict; call to_run instead"
            )
        return lists.chosen_scores(self._serve(lists).shown)

    def to_run(self, data: Any = None, name: str = "guarded") -> Run:
        """The lists that are shown: of documents with a Ranker, of a pair of runs or its own otherwise."""
        return self._served(data, name)[0]

    def _served(self, data: Any = None, name: str = "guarded") -> tuple[Run, GuardedLists]:
        """`to_run` and `shown` in one go."""
        lists = self._lists(data)
        choice = self._serve(lists)
        return lists.chosen_run(choice.shown, name), choice

    # On disk ---------------------------------------------------------------------------------------------------------

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write JSON and the Ranker's own files; a scorer that is a function cannot be saved."""
        from surefoot.decide.guard.storage import save

        save(self, folder)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> RiskGuard:
        """A guard that was saved; one whose files were changed is refused."""
        from surefoot.decide.guard.storage import load

        return load(cls, folder)


def _named_baseline(ranker: Any, baseline: Any) -> str:
    if baseline is None and len(ranker.baselines_) == 1:
        return str(ranker.baselines_[0])
    if not isinstance(baseline, str):
        raise ArgumentError(
            f"baseline is {shortened(baseline)}; with a Ranker, use the name of a baseline in the data, or feature:25"
        )
    return baseline
