"""What a sweep has trained, query by query, and what is made of it without training (Wang et al., SIGIR 2012, §5).

The mean of several seeds' scores, blending with the baseline, selective re-ranking, and mixing by chance: with the
baseline, or two models with each other. Means are made of every setting. Blends and selective re-ranking are made of
the gain-only model, and on demand of every setting, of its mean where there are several seeds.

The parts are validation and test data and, where models are chosen by cross-validation, the training queries of each
fold, each scored by a model that did not learn from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from surefoot.arrays import Floats
from surefoot.choose.options import BLENDED, CROSS_VALIDATION, MIXTURE, MODEL, RANDOM, SEED_MEAN, SELECTIVE
from surefoot.choose.plan import SweepSetting, TrainingJob, reported_measures
from surefoot.choose.store import SweepStore
from surefoot.choose.trainings import SweepTrainings
from surefoot.errors import expecting
from surefoot.learn.measured_queries import EVALUATION_PARTS, EvaluationQueries, MeasuredQueries
from surefoot.learn.options import OBJECTIVE
from surefoot.risk.vectors import relative_weights

DocumentScores: TypeAlias = dict[str, list[Floats]]  # of each part, for each fold
WEIGHTS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)  # of the gain-only model in a blend
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)  # of validation queries that selective re-ranking touches
FEW_STEPS = (0.5, 0.7, 0.9)  # weights and shares of every other model: the table stays readable
CHANCES = (0.25, 0.5, 0.75)  # of the model in a mixture with the baseline
EVEN_CHANCE = 0.5  # of either model in a mixture of two


@dataclass
class Candidate:
    """One way to rank. `values[part]` is [seed, measure, query], the queries of all folds one after the other.

    `seeds` are the seeds whose models the first of these rankings is made of: one, or all where it is their mean.
    """

    name: str
    kind: str
    setting: SweepSetting
    values: dict[str, Floats]
    tau: dict[str, Floats] | None = None  # [seed, query]: Kendall's τ with the first baseline's ranking
    parameters: dict[str, dict[str, Any]] = field(default_factory=dict)  # by fold
    seeds: tuple[int, ...] = ()
    weight: float | None = None  # of the model in a blend
    share: float | None = None  # of validation queries that selective re-ranking touches
    chance: float | None = None  # of a mixture: how often the (first) model is used
    mixed: tuple[Candidate, Candidate] | None = None  # of a mixture of two models

    def gains(self, part: str, baseline: Floats) -> Floats:
        """What each query gains over the baseline's values, the mean over seeds."""
        return np.asarray(self.values[part][:, 0].mean(axis=0) - baseline)

    def losses(self, part: str, baseline: Floats) -> Floats:
        """What each query loses, at least 0; the mean over seeds, and for a mixture what is expected."""
        if self.mixed is not None and self.chance is not None:
            one, other = (candidate.losses(part, baseline) for candidate in self.mixed)
            return np.asarray(self.chance * one + (1 - self.chance) * other)
        return np.asarray(np.maximum(baseline - self.values[part][:, 0], 0).mean(axis=0))


class TrainedModels:
    """Everything that a sweep has trained; settings whose trainings failed on some fold are left out."""

    def __init__(self, store: SweepStore) -> None:
        self.store, self.plan = store, store.plan
        with expecting("a sweep", store.folder, "start it in a new folder"):
            self._take_up(store)

    def _take_up(self, store: SweepStore) -> None:
        self.trainings = SweepTrainings(store, finished=True)
        self.measures = reported_measures(self.plan.measure)
        self.part_names = (*EVALUATION_PARTS, *([CROSS_VALIDATION] if self.plan.inner_folds else []))
        self.folds = [
            fold for fold in self.trainings.folds if store.has_fold(fold) and store.has_inner_folds(fold)
        ]  # fmt: skip
        self.parts = {fold: {part: self._part(fold, part) for part in self.part_names} for fold in self.folds}
        self.baselines: list[str] = store.fold(self.folds[0])["baselines"] if self.folds else []
        self._baseline_values: dict[str, Floats] = {}
        self._weights: dict[str, Floats | None] = {}
        self._ready = {fold: self.trainings.ready_jobs(fold) for fold in self.folds}
        self._jobs: dict[SweepSetting, list[list[TrainingJob]]] = {}
        self._inner_jobs: dict[
            TrainingJob, list[TrainingJob]
        ] = {}  # of each training, those without one inner fold after the other
        for setting in self.plan.settings():
            by_seed = self._jobs_by_seed(setting)
            every_job = [one for jobs in by_seed for job in jobs for one in (job, *self._inner_jobs[job])]
            if all(len(jobs) == len(self.trainings.folds) for jobs in by_seed) and all(
                map(self.trainings.is_done, every_job)
            ):
                self._jobs[setting] = by_seed

    def _jobs_by_seed(self, setting: SweepSetting) -> list[list[TrainingJob]]:
        by_seed: dict[int, list[TrainingJob]] = {seed: [] for seed in self.plan.seeds}
        for fold in self.folds:
            own = [job for job in self._ready[fold] if job.setting == setting]
            for job in own:
                if job.inner is None:
                    by_seed[job.seed].append(job)
                    self._inner_jobs[job] = [
                        inner for inner in own if inner.seed == job.seed and inner.inner is not None
                    ]
        return list(by_seed.values())

    def _part(self, fold: str, part: str) -> EvaluationQueries:
        is_inner = part == CROSS_VALIDATION
        arrays = self.store.inner_folds(fold) if is_inner else self.store.fold_arrays(fold)
        labels_offsets_ties = arrays[f"{part}_labels"], arrays[f"{part}_offsets"], arrays[f"{part}_ties"]
        by_measure = [MeasuredQueries(measure, *labels_offsets_ties, threads=1) for measure in self.measures]
        count = len(arrays[f"{part}_offsets"]) - 1
        queries = list(map(str, range(count))) if is_inner else self.store.fold(fold)["queries"][part]
        return EvaluationQueries(
            queries, by_measure, arrays[f"{part}_baselines"], arrays.get(f"{part}_aggregate"),
            arrays.get(f"{part}_weights"),
        )  # fmt: skip

    @property
    def settings(self) -> list[SweepSetting]:
        """The settings that were trained on every fold with every seed."""
        return list(self._jobs)

    @property
    def gain_only(self) -> SweepSetting | None:
        """The setting that all others are held against: the first that optimises gain alone."""
        return next((setting for setting in self.settings if setting.objective == OBJECTIVE), None)

    def jobs(self, setting: SweepSetting) -> list[list[TrainingJob]]:
        """A setting's trainings: for each seed, one per fold."""
        return self._jobs[setting]

    def spans(self, part: str) -> dict[str, slice]:
        """Where each fold's queries stand among all of a part."""
        ends = np.cumsum([0, *(len(evaluation.queries) for evaluation in self.evaluation(part))]).tolist()
        return {fold: slice(first, last) for fold, (first, last) in zip(self.folds, pairwise(ends), strict=True)}

    def queries(self, part: str) -> list[str]:
        """The queries' names; with their fold's where two folds have one of the same name."""
        names = [query for fold in self.folds for query in self.parts[fold][part].queries]
        if len(set(names)) == len(names):
            return names
        return [f"{fold}/{query}" for fold in self.folds for query in self.parts[fold][part].queries]

    def query_weights(self, part: str) -> Floats | None:
        """How often each query of a part is asked; None without traffic."""
        if part not in self._weights:
            each = [evaluation.weights for evaluation in self.evaluation(part)]
            known = [weights for weights in each if weights is not None]
            self._weights[part] = np.concatenate(known) if known else None
        return self._weights[part]

    def is_weighted(self, part: str) -> bool:
        """Whether queries of a part count differently."""
        weights = self.query_weights(part)
        return weights is not None and bool((weights != weights[0]).any())

    def relative_weights(self, part: str, queries: slice = slice(None)) -> Floats | None:
        """The weights of some queries of a part, relative to their own mean; None where all count the same."""
        weights = self.query_weights(part)
        return relative_weights(weights[queries]) if weights is not None and self.is_weighted(part) else None

    def baseline_values(self, part: str) -> Floats:
        """M(q) of every baseline: [baseline, measure, query]."""
        if part not in self._baseline_values:
            self._baseline_values[part] = np.concatenate(
                [
                    np.stack([evaluation.values(row) for row in evaluation.baselines])
                    for evaluation in self.evaluation(part)
                ],
                axis=2,
            )
        return self._baseline_values[part]

    def evaluation(self, part: str) -> list[EvaluationQueries]:
        """The queries of a part, for each fold."""
        return [self.parts[fold][part] for fold in self.folds]

    def _scores(self, job: TrainingJob) -> dict[str, Floats]:
        """What a training's model gives the documents of every part."""
        stored = self.store.arrays(job)
        scores = {part: stored[f"{part}_scores"] for part in EVALUATION_PARTS}
        if self._inner_jobs[job]:
            inner = [self.store.arrays(inner_job)["scores"] for inner_job in self._inner_jobs[job]]
            scores[CROSS_VALIDATION] = np.concatenate(inner)
        return scores

    def scores(self, setting: SweepSetting) -> list[DocumentScores]:
        """The documents' scores by a setting's models, for each seed."""
        by_seed = [[self._scores(job) for job in jobs] for jobs in self._jobs[setting]]
        return [{part: [fold[part] for fold in folds] for part in self.part_names} for folds in by_seed]

    def models(self) -> Iterator[Candidate]:
        """The trained settings."""
        for setting, by_seed in self._jobs.items():
            model = self.candidate(setting.name, MODEL, setting, self.scores(setting), self.plan.seeds[:1])
            yield replace(model, parameters={job.fold: dict(job.parameters) for job in by_seed[0]})

    def candidate(
        self, name: str, kind: str, setting: SweepSetting, scores: Sequence[DocumentScores], seeds: tuple[int, ...],
        weight: float | None = None, share: float | None = None,
    ) -> Candidate:  # fmt: skip
        """A candidate whose documents have these scores, for each seed."""
        values, tau = {}, {}
        for part in self.part_names:
            evaluation = self.evaluation(part)
            by_seed = [list(zip(evaluation, seed[part], strict=True)) for seed in scores]
            values[part] = np.stack(
                [np.concatenate([fold.values(own) for fold, own in folds], axis=1) for folds in by_seed]
            )
            tau[part] = np.stack([np.concatenate([fold.tau(own) for fold, own in folds]) for folds in by_seed])
        return Candidate(name, kind, setting, values, tau, seeds=seeds, weight=weight, share=share)

    def threshold(self, fold: str, share: float) -> float:
        """The aggregate up to which selective re-ranking touches this share of a fold's validation queries.

        With weights it is the least one at or below which that share of their traffic is.
        """
        aggregate = self.aggregate(fold, "valid")
        weights = self.relative_weights("valid", self.spans("valid")[fold])
        if weights is None:
            return float(np.quantile(aggregate, share))
        order = np.argsort(aggregate, kind="stable")
        reached = np.cumsum(weights[order]) >= share * weights.sum() * (1 - 1e-12)
        return float(aggregate[order][int(reached.argmax())])

    def aggregate(self, fold: str, part: str) -> Floats:
        """Each query's aggregate of a feature (its max, min, mean or entropy over documents); empty without one."""
        aggregate = self.parts[fold][part].aggregate
        return np.zeros(0) if aggregate is None else aggregate

    def aggregate_ranks(self, part: str) -> Floats | None:
        """The aggregate of each query, as its rank among the fold's, from 0 to 1, so that folds can be put together.

        With weights it is the share of the fold's traffic that has at most this aggregate.
        """
        if not self.folds or any(evaluation.aggregate is None for evaluation in self.evaluation(part)):
            return None
        by_fold = [self.aggregate(fold, part) for fold in self.folds]
        if not self.is_weighted(part):
            return np.concatenate(
                [np.searchsorted(np.sort(aggregate), aggregate, side="right") / len(aggregate) for aggregate in by_fold]
            )
        spans = self.spans(part)
        ranks = []
        for fold, aggregate in zip(self.folds, by_fold, strict=True):
            weights = self.relative_weights(part, spans[fold])
            order = np.argsort(aggregate, kind="stable")
            until = np.append(0.0, np.cumsum(np.ones(len(order)) if weights is None else weights[order]))
            ranks.append(until[np.searchsorted(aggregate[order], aggregate, side="right")] / until[-1])
        return np.concatenate(ranks)


def strategies(trained: TrainedModels, of: str) -> Iterator[Candidate]:
    """Everything that gives one ranking and is made of trained models."""
    for setting in trained.settings:
        scores, seeds = trained.scores(setting), trained.plan.seeds
        mean = [mean_scores(scores)] if len(scores) > 1 else []
        mean_name = f"{setting.name}, mean of {len(scores)} seeds"
        if mean:
            yield trained.candidate(mean_name, SEED_MEAN, setting, mean, seeds)
        if setting.objective == OBJECTIVE:
            yield from _with_baseline(trained, setting, setting.name, scores, seeds[:1], WEIGHTS, SHARES)
        if of == "all" and mean:
            yield from _with_baseline(trained, setting, f"{mean_name},", mean, seeds, FEW_STEPS, FEW_STEPS)
        elif of == "all" and setting.objective != OBJECTIVE:
            yield from _with_baseline(trained, setting, setting.name, scores, seeds[:1], FEW_STEPS, FEW_STEPS)


def _with_baseline(
    trained: TrainedModels,
    setting: SweepSetting,
    name: str,
    scores: Sequence[DocumentScores],
    seeds: tuple[int, ...],
    weights: Sequence[float],
    shares: Sequence[float],
) -> Iterator[Candidate]:
    """Blends with the baseline, and selective re-ranking where there is an aggregate."""
    for weight in weights:
        blends = [blended(trained, seed, weight) for seed in scores]
        yield trained.candidate(f"{name} blended w={weight:g}", BLENDED, setting, blends, seeds, weight=weight)
    if any(trained.parts[fold]["valid"].aggregate is None for fold in trained.folds):
        return
    for share in shares:
        chosen = [selective(trained, seed, share) for seed in scores]
        yield trained.candidate(f"{name} selective {share:.0%}", SELECTIVE, setting, chosen, seeds, share=share)


def mean_scores(scores: Sequence[DocumentScores]) -> DocumentScores:
    """The mean of the seeds' scores."""
    return {
        part: [np.mean([seed[part][fold] for seed in scores], axis=0) for fold in range(len(folds))]
        for part, folds in scores[0].items()
    }


def blended(trained: TrainedModels, scores: DocumentScores, weight: float) -> DocumentScores:
    """The baseline's and a model's scores, both standardised within each query, in these shares."""
    return {
        part: [
            (1 - weight) * evaluation.standardised(evaluation.baselines[0]) + weight * evaluation.standardised(own)
            for evaluation, own in zip(trained.evaluation(part), folds, strict=True)
        ]
        for part, folds in scores.items()
    }


def selective(trained: TrainedModels, scores: DocumentScores, share: float) -> DocumentScores:
    """The model where the aggregate is at most a threshold: the quantile of a share on the validation queries."""
    chosen: DocumentScores = {}
    for part, folds in scores.items():
        chosen[part] = []
        for fold, own in zip(trained.folds, folds, strict=True):
            evaluation = trained.parts[fold][part]
            is_low = trained.aggregate(fold, part) <= trained.threshold(fold, share)
            chosen[part].append(np.where(np.repeat(is_low, evaluation.lengths), own, evaluation.baselines[0]))
    return chosen


def random_mixtures(trained: TrainedModels, gain_model: Candidate) -> Iterator[Candidate]:
    """The gain-only model with some chance, else the baseline: what is expected of each query."""
    for chance in CHANCES:
        values = {
            part: chance * gain_model.values[part] + (1 - chance) * trained.baseline_values(part)[0][None]
            for part in trained.part_names
        }
        name = f"{gain_model.name} random p={chance:g}"
        yield Candidate(name, RANDOM, gain_model.setting, values, chance=chance)


def mixture(one: Candidate, other: Candidate) -> Candidate:
    """Either model with the same chance, query by query: what is expected of each query."""
    values = {
        part: EVEN_CHANCE * rows.mean(axis=0, keepdims=True)
        + (1 - EVEN_CHANCE) * other.values[part].mean(axis=0, keepdims=True)
        for part, rows in one.values.items()
    }
    name = f"{one.name} or {other.name}, by chance"
    return Candidate(name, MIXTURE, one.setting, values, chance=EVEN_CHANCE, mixed=(one, other))
