"""Ranker's own parameters, checked; they are kept as given until `fit`, as scikit-learn's conventions ask for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from surefoot.arguments import LARGEST_COUNT, finite_number, integer
from surefoot.data.types.ranking_data import RankingData
from surefoot.errors import ArgumentError, shortened
from surefoot.learn.criteria import Criterion
from surefoot.learn.objectives import OBJECTIVE_KINDS, Objective
from surefoot.learn.training_weights import georisk_refusal
from surefoot.measures.notation import Measure

if TYPE_CHECKING:
    from surefoot.learn.ranker import Ranker

IMPORTANCES = ("split", "gain")
_MOST_MODELS = 1000  # of one mean
SEED_COUNT = 2**31  # engines take seeds from 0 to one less


@dataclass(frozen=True)
class TrainingSettings:
    """A ranker's parameters, checked; `patience` is its early_stopping_rounds."""

    objective: Objective
    measure: Measure
    criterion: Criterion
    sigma: float
    trees: int
    patience: int | None
    checkpoint: str | os.PathLike[str] | None
    checkpoint_every: int
    seed: int
    models: int = 1

    @classmethod
    def from_ranker(cls, ranker: Ranker) -> Self:
        """Check a ranker's own parameters; those of its engine are checked by the engine."""
        for name, value, known in (
            ("delta_cutoff", ranker.delta_cutoff, ("measure", None)),
            ("init", ranker.init, (None, "baseline")),
            ("history", ranker.history, (True, False)),
        ):
            if not any(value is each or (isinstance(value, str) and value == each) for each in known):
                raise ArgumentError(f"{name} is {shortened(value)}; it must be {' or '.join(map(repr, known))}")
        check_importance(ranker.importance_type)
        Criterion.parse(ranker.score_on, "score_on")
        sigma = finite_number(ranker.sigma)
        if sigma is None or not 1e-6 <= sigma <= 1e6:
            raise ArgumentError(f"sigma is {shortened(ranker.sigma)}; it must be a number from 1e-06 to 1e+06")
        objective = Objective(ranker.objective, _alpha(ranker), ranker.rule, ranker.estimate)
        measure = Measure.parse(ranker.measure)
        families = objective.kind.measure_families
        if families is not None and measure.family not in families:
            raise ArgumentError(
                f"objective {objective.name!r} needs the gains of {', '.join(families)}, and {measure} has no gains"
            )
        rounds = ranker.early_stopping_rounds
        return cls(
            objective=objective,
            measure=measure,
            criterion=Criterion.parse(ranker.stop_on),
            sigma=sigma,
            trees=_count("n_estimators", ranker.n_estimators),
            patience=None if rounds is None else _count("early_stopping_rounds", rounds),
            checkpoint=check_checkpoint(ranker.checkpoint),
            checkpoint_every=_count("checkpoint_every", ranker.checkpoint_every),
            seed=check_seed(ranker.random_state),
            models=integer("n_models", ranker.n_models, 1, _MOST_MODELS),
        )

    def check_data(
        self,
        train: RankingData,
        has_validation: bool,
        changes_trees: str | None,
        weighted: Sequence[bool] = (False, False),
    ) -> None:
        """Refuse settings that do not go with the data, or with a parameter that `changes_trees`.

        `weighted` says whether training and validation queries count differently.
        """
        if weighted[0] and self.objective.kind.needs_totals:
            raise georisk_refusal(f"objective {self.objective.name!r}")
        if weighted[1] and self.criterion.name == "geo_risk":
            raise georisk_refusal(f"stop_on={str(self.criterion)!r}")
        if self.patience is not None and not has_validation:
            raise ArgumentError("early_stopping_rounds needs validation data; give valid=")
        if self.criterion.name != "effectiveness" and not train.baselines:
            raise self.criterion.no_baseline_error()
        if changes_trees and self.patience is not None:
            raise ArgumentError(
                f"{changes_trees} changes earlier trees, so no number of trees is the best; leave out "
                "early_stopping_rounds"
            )
        if changes_trees and self.checkpoint is not None:
            raise ArgumentError(
                f"{changes_trees} changes earlier trees, so training cannot continue from a checkpoint; leave out "
                "checkpoint"
            )


def check_importance(kind: Any) -> str:
    """How importances are counted, if it is one of the ways."""
    if not isinstance(kind, str) or kind not in IMPORTANCES:
        raise ArgumentError(f"importance_type is {shortened(kind)}; it must be {' or '.join(map(repr, IMPORTANCES))}")
    return kind


def _alpha(ranker: Ranker) -> Any:
    if ranker.alpha is not None:
        return ranker.alpha
    kind = OBJECTIVE_KINDS.get(ranker.objective) if isinstance(ranker.objective, str) else None
    if kind is not None and kind.needs_baseline:
        raise ArgumentError(
            f"objective {ranker.objective!r} needs alpha, such as alpha=5: each loss against the baseline counts 1 + α "
            "times"
        )
    return 0.0


def _count(name: str, value: Any) -> int:
    return integer(name, value, 1, LARGEST_COUNT)


def check_checkpoint(value: Any) -> str | os.PathLike[str] | None:
    """The name of a file, or None."""
    if value is not None and (not isinstance(value, str | os.PathLike) or not str(value)):
        raise ArgumentError(f"checkpoint is {shortened(value)}; it must name a file")
    return value


def check_seed(value: Any) -> int:
    """A seed, if it is one; None draws one."""
    if value is None:
        return int(np.random.default_rng().integers(SEED_COUNT))
    if isinstance(value, bool | np.bool_ | np.random.RandomState | np.random.Generator):
        raise ArgumentError(f"random_state is {shortened(value)}; give a whole number, or None to draw one")
    return integer("random_state", value, 0, SEED_COUNT - 1)
