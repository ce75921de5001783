"""The models of a sweep's candidate, one for each fold."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from surefoot.choose import options as choices
from surefoot.choose.candidates import TrainedModels
from surefoot.choose.saved_choice import chosen_ranker
from surefoot.choose.store import SweepStore
from surefoot.errors import ArgumentError, name_list, shortened

if TYPE_CHECKING:
    from surefoot.choose.tradeoffs import TradeOffs
    from surefoot.neural.loading import AnyRanker


def swept_models(result: TradeOffs, folder: Path, name: str, seed: int | None = None) -> list[AnyRanker]:
    """The models of a candidate such as "u_risk α=5", one for each fold, of one seed (by default the first).

    Means of seeds, blends and the like are made of their models, and have no seed of their own.
    """
    candidates = TrainedModels(SweepStore.read(folder))
    for setting in candidates.settings:
        if setting.name == name:
            if seed is not None and seed not in candidates.plan.seeds:
                raise ArgumentError(
                    f"the sweep has no seed {seed!r}; it has {', '.join(map(str, candidates.plan.seeds))}"
                )
            seed_number = 0 if seed is None else candidates.plan.seeds.index(seed)
            seed_of_model = candidates.plan.seeds[seed_number]
            row = {"name": name, "kind": choices.MODEL, "made_of": {"setting": name, "seeds": [seed_of_model]}}
            return [chosen_ranker(candidates, row, fold)[0] for fold in candidates.folds]
    made = {row["name"]: row for row in result.rows if row["kind"] in choices.RANKINGS}
    if name in made and seed is None:
        return [chosen_ranker(candidates, made[name], fold)[0] for fold in candidates.folds]
    known = name_list([setting.name for setting in candidates.settings])
    raise ArgumentError(f"the sweep has no model {shortened(name)} on every fold; it has {known}")
