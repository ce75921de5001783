"""What may be shipped after a sweep, query by query: its models, and what can be made of them without training.

Selective re-ranking, blending with the baseline, the mean of several seeds' scores, and mixing with the baseline by
chance (Wang et al., SIGIR 2012, §5) all start from the gain-only model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from surefoot.arrays import Floats
from surefoot.choose.options import BLENDED, MODEL, NAIVE, SEED_MEAN, SELECTIVE
from surefoot.choose.plan import Job, Setting, reported_measures
from surefoot.choose.store import Store
from surefoot.choose.trainings import Trainings
from surefoot.learn.held_out import EVALUATED, HeldOutQueries
from surefoot.learn.measured_queries import MeasuredQueries
from surefoot.learn.options import OBJECTIVE

WEIGHTS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)  # of the model in a blend
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)  # of validation queries that selective re-ranking touches
CHANCES = (0.25, 0.5, 0.75)  # of the model in a mixture


@dataclass
class Candidate:
    """One way to rank. `values[part]` is [seed, measure, query], the queries of all folds one after the other."""

    name: str
    kind: str
    setting: Setting
    values: dict[str, Floats]
    tau: dict[str, Floats] | None = None  # [seed, query]
    parameters: dict[str, dict[str, Any]] = field(default_factory=dict)  # by fold
    share: float | None = None  # of a mixture: how often the model is used


class Candidates:
    """Everything that a sweep offers; incomplete settings, whose trainings failed on some fold, are left out."""

    def __init__(self, store: Store) -> None:
        self.store, self.plan = store, store.plan
        self.trainings = Trainings(store, finished=True)
        self.measures = reported_measures(self.plan.measure)
        self.folds = [fold for fold in self.trainings.folds if store.has_fold(fold)]
        self.parts = {fold: {part: self._part(fold, part) for part in EVALUATED} for fold in self.folds}
        self.baselines: list[str] = store.fold(self.folds[0])["baselines"] if self.folds else []
        self._baseline_values: dict[str, Floats] = {}
        self._jobs: dict[Setting, list[list[Job]]] = {}
        jobs = {fold: self.trainings.points(fold) for fold in self.trainings.folds if fold in self.folds}
        for setting in self.plan.settings():
            by_seed = [
                [job for fold in self.folds for job in jobs[fold] if (job.setting, job.seed) == (setting, seed)]
                for seed in self.plan.seeds
            ]
            if all(len(one) == len(self.trainings.folds) and all(map(self.trainings.is_done, one)) for one in by_seed):
                self._jobs[setting] = by_seed

    def _part(self, fold: str, part: str) -> HeldOutQueries:
        arrays = self.store.fold_arrays(fold)
        judged = arrays[f"{part}_labels"], arrays[f"{part}_offsets"], arrays[f"{part}_ties"]
        targets = [MeasuredQueries(measure, *judged, threads=1) for measure in self.measures]
        return HeldOutQueries(
            self.store.fold(fold)["queries"][part], targets, arrays[f"{part}_baselines"],
            arrays.get(f"{part}_aggregate"),
        )  # fmt: skip

    @property
    def settings(self) -> list[Setting]:
        """The settings that were trained on every fold with every seed."""
        return list(self._jobs)

    @property
    def gain_only(self) -> Setting | None:
        """The setting that all others are held against: the first that optimises gain alone."""
        return next((setting for setting in self.settings if setting.objective == OBJECTIVE), None)

    def jobs(self, setting: Setting) -> list[list[Job]]:
        """A setting's trainings: for each seed, one per fold."""
        return self._jobs[setting]

    def spans(self, part: str) -> dict[str, slice]:
        """Where each fold's queries stand among all of a part."""
        ends = np.cumsum([0, *(len(held_out.queries) for held_out in self._held_out(part))]).tolist()
        return {fold: slice(first, last) for fold, (first, last) in zip(self.folds, pairwise(ends), strict=True)}

    def queries(self, part: str) -> list[str]:
        """The queries' names; with their fold's where two folds have one of the same name."""
        names = [query for fold in self.folds for query in self.parts[fold][part].queries]
        if len(set(names)) == len(names):
            return names
        return [f"{fold}/{query}" for fold in self.folds for query in self.parts[fold][part].queries]

    def baseline_values(self, part: str) -> Floats:
        """M(q) of every baseline: [baseline, measure, query]."""
        if part not in self._baseline_values:
            self._baseline_values[part] = np.concatenate(
                [np.stack([held_out.values(row) for row in held_out.baselines]) for held_out in self._held_out(part)],
                axis=2,
            )
        return self._baseline_values[part]

    def _held_out(self, part: str) -> list[HeldOutQueries]:
        return [self.parts[fold][part] for fold in self.folds]

    def models(self) -> Iterator[Candidate]:
        """The trained settings."""
        for setting, seeds in self._jobs.items():
            values: dict[str, list[Floats]] = {part: [] for part in EVALUATED}
            tau: dict[str, list[Floats]] = {part: [] for part in EVALUATED}
            for jobs in seeds:
                arrays = [self.store.arrays(job) for job in jobs]
                for part in EVALUATED:
                    values[part].append(np.concatenate([one[f"{part}_values"] for one in arrays], axis=1))
                    pairs = zip(self._held_out(part), arrays, strict=True)
                    tau[part].append(np.concatenate([held_out.tau(one[f"{part}_scores"]) for held_out, one in pairs]))
            yield Candidate(
                setting.name, MODEL, setting,
                {part: np.stack(rows) for part, rows in values.items()},
                {part: np.stack(rows) for part, rows in tau.items()},
                {job.fold: dict(job.parameters) for job in seeds[0]},
            )  # fmt: skip

    def strategies(self) -> Iterator[Candidate]:
        """What can be made of the gain-only model, or of each where a grid has several."""
        for setting in self.settings:
            if setting.objective == OBJECTIVE:
                scores = [[self.store.arrays(job) for job in jobs] for jobs in self._jobs[setting]]
                yield from self._seed_mean(setting, scores)
                yield from self._blends(setting, scores)
                yield from self._selective(setting, scores)

    def _scored(self, name: str, kind: str, setting: Setting, scores: Sequence[dict[str, list[Floats]]]) -> Candidate:
        """A candidate whose documents have scores: for each seed, part and fold."""
        values, tau = {}, {}
        for part in EVALUATED:
            held_out = self._held_out(part)
            by_seed = [list(zip(held_out, seed[part], strict=True)) for seed in scores]
            values[part] = np.stack(
                [np.concatenate([fold.values(own) for fold, own in folds], axis=1) for folds in by_seed]
            )
            tau[part] = np.stack([np.concatenate([fold.tau(own) for fold, own in folds]) for folds in by_seed])
        return Candidate(name, kind, setting, values, tau)

    def _seed_mean(self, setting: Setting, scores: Sequence[Sequence[Any]]) -> Iterator[Candidate]:
        if len(scores) > 1:
            mean = {
                part: [
                    np.mean([seed[fold][f"{part}_scores"] for seed in scores], axis=0)
                    for fold in range(len(self.folds))
                ]
                for part in EVALUATED
            }
            yield self._scored(f"{setting.name}, mean of {len(scores)} seeds", SEED_MEAN, setting, [mean])

    def _blends(self, setting: Setting, scores: Sequence[Sequence[Any]]) -> Iterator[Candidate]:
        for weight in WEIGHTS:
            blended = [
                {
                    part: [
                        (1 - weight) * held_out.standardised(held_out.baselines[0])
                        + weight * held_out.standardised(one[f"{part}_scores"])
                        for held_out, one in zip(self._held_out(part), seed, strict=True)
                    ]
                    for part in EVALUATED
                }
                for seed in scores
            ]
            yield self._scored(f"{setting.name} blended w={weight:g}", BLENDED, setting, blended)

    def _selective(self, setting: Setting, scores: Sequence[Sequence[Any]]) -> Iterator[Candidate]:
        """The model where the aggregate is at most a threshold: the quantile of a share on the validation queries."""
        if any(self.parts[fold]["valid"].aggregate is None for fold in self.folds):
            return
        for share in SHARES:
            by_seed: list[dict[str, list[Floats]]] = []
            for seed in scores:
                mixed: dict[str, list[Floats]] = {part: [] for part in EVALUATED}
                for fold, one in zip(self.folds, seed, strict=True):
                    threshold = np.quantile(self._aggregate(fold, "valid"), share)
                    for part in EVALUATED:
                        held_out = self.parts[fold][part]
                        low = np.repeat(self._aggregate(fold, part) <= threshold, held_out.lengths)
                        mixed[part].append(np.where(low, one[f"{part}_scores"], held_out.baselines[0]))
                by_seed.append(mixed)
            yield self._scored(f"{setting.name} selective {share:.0%}", SELECTIVE, setting, by_seed)

    def _aggregate(self, fold: str, part: str) -> Floats:
        aggregate = self.parts[fold][part].aggregate
        return np.zeros(0) if aggregate is None else aggregate

    def aggregates(self, part: str) -> Floats | None:
        """The aggregate of each query, as its rank among the fold's, from 0 to 1, so that folds can be put together."""
        if not self.folds or any(held_out.aggregate is None for held_out in self._held_out(part)):
            return None
        by_fold = [self._aggregate(fold, part) for fold in self.folds]
        return np.concatenate([np.searchsorted(np.sort(one), one, side="right") / len(one) for one in by_fold])

    def mixtures(self, gain: Candidate) -> Iterator[Candidate]:
        """The gain-only model with some chance, else the baseline: what is expected of each query."""
        for chance in CHANCES:
            values = {
                part: chance * gain.values[part] + (1 - chance) * self.baseline_values(part)[0][None]
                for part in EVALUATED
            }
            yield Candidate(f"{gain.name} naïve p={chance:g}", NAIVE, gain.setting, values, share=chance)
