"""What can be made of a sweep's models without training (Wang et al., SIGIR 2012, §5).

The mean of several seeds' scores, blending with the baseline, selective re-ranking, and mixing by chance: with the
baseline, or two models with each other. Means are made of every setting. Blends and selective re-ranking are made of
the gain-only model, and on demand of every setting, of its mean where there are several seeds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from surefoot.choose.candidates import Candidate, DocumentScores, TrainedModels
from surefoot.choose.options import BLENDED, MIXTURE, RANDOM, SEED_MEAN, SELECTIVE
from surefoot.choose.plan import SweepSetting
from surefoot.learn.options import OBJECTIVE

WEIGHTS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)  # of the gain-only model in a blend
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)  # of validation queries that selective re-ranking touches
FEW_STEPS = (0.5, 0.7, 0.9)  # weights and shares of every other model: the table stays readable
CHANCES = (0.25, 0.5, 0.75)  # of the model in a mixture with the baseline
EVEN_CHANCE = 0.5  # of either model in a mixture of two


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
