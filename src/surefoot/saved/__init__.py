"""`load`: whatever a folder holds that surefoot saved."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from surefoot.data.reading.files import is_folder
from surefoot.data.reading.folders import GUARD, KINDS, PERSONAL, RANKER, saved_kind
from surefoot.errors import DataError, shortened

if TYPE_CHECKING:
    from surefoot.decide.guard.guard import RiskGuard
    from surefoot.learn.ranker import Ranker
    from surefoot.neural.ranker import NeuralRanker
    from surefoot.personal.personal_ranker import PersonalRanker


def load(folder: str | os.PathLike[str]) -> Ranker | NeuralRanker | RiskGuard | PersonalRanker:
    """What `save` wrote: a Ranker, a NeuralRanker, a RiskGuard or a PersonalRanker; the folder says which.

    Any other folder is refused, by what it is.
    """
    if not is_folder(folder):
        raise DataError.at(folder, None, "is not a folder; give the folder that a model was saved to")
    kind = saved_kind(folder)
    if kind == GUARD:
        from surefoot.decide.guard.guard import RiskGuard

        return RiskGuard.load(folder)
    if kind == PERSONAL:
        from surefoot.personal.personal_ranker import PersonalRanker

        return PersonalRanker.load(folder)
    if kind == RANKER:
        from surefoot.neural.loading import load_ranker

        return load_ranker(folder)
    what = "holds nothing that surefoot saved" if kind is None else f"is the folder of {KINDS[kind]}"
    raise DataError(f"{shortened(str(folder))} {what}; load takes the folder of a ranker, a guard or a personal ranker")
