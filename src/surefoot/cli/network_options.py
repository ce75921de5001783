"""`surefoot train --engine torch`: a network in place of trees, from the options that both have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from surefoot.errors import ArgumentError
from surefoot.learn.options import ESTIMATE

if TYPE_CHECKING:
    from surefoot.neural.ranker import NeuralRanker

_SHARED = (
    "objective", "alpha", "measure", "rule", "early_stopping_rounds", "stop_on", "checkpoint", "checkpoint_every",
    "random_state", "n_models",
)  # fmt: skip


def make_network(
    ranker_arguments: dict[str, Any], epochs: int | None, trees: int | None, dask: str | None, threads: int | None,
    init_model: object, card: object, traffic: object, parameters: dict[str, Any],
) -> NeuralRanker:  # fmt: skip
    """A `NeuralRanker` of the options of `train`; those that only trees have are refused."""
    from surefoot.neural.libraries import torch
    from surefoot.neural.ranker import NeuralRanker

    for option, given in (
        ("--trees", trees is not None),
        ("--estimate", ranker_arguments["estimate"] != ESTIMATE),
        ("--init-baseline", ranker_arguments["init"] is not None),
        ("--init-model", init_model is not None),
        ("--card", card is not None),
        ("--traffic", traffic is not None),
        ("--dask", dask is not None),
    ):
        if given:
            hint = "; give --epochs" if option == "--trees" else ""
            raise ArgumentError(f"{option} is for trees, and --engine torch trains a network{hint}")
    ranker = NeuralRanker(**{name: ranker_arguments[name] for name in _SHARED})
    if epochs is not None:
        ranker.epochs = epochs
    ranker.set_params(**parameters)
    ranker.check_settings()
    if threads is not None:
        torch.set_num_threads(threads)
    return ranker
