"""The objectives of `learn` for networks, in PyTorch: a loss over padded lists, and a ranker of features.

`list_measures.py` has the measures on padded lists, what a swap of two documents changes of them, and what objectives
make of that; `loss.py` is the loss, which needs NumPy and PyTorch alone. `network.py` is the network of `NeuralRanker`
(`ranker.py`), `training.py` trains it, several models at once, and `saved_network.py` saves it; nothing that is loaded
is ever executed. Importing this loads nothing heavy: its names are loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot.lazy import attach

if TYPE_CHECKING:
    from surefoot.neural.loss import RiskLoss as RiskLoss
    from surefoot.neural.ranker import NeuralRanker as NeuralRanker

__getattr__, __dir__, __all__ = attach(
    __name__,
    {"loss": ("RiskLoss",), "ranker": ("NeuralRanker",)},
)
