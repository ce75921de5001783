"""Who learns in a sweep: an engine of trees, or networks, to which epochs are what trees are to the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from surefoot.arguments import LARGEST_COUNT
from surefoot.errors import ArgumentError
from surefoot.learn.engines.contract import Engine, engine_of
from surefoot.learn.options import NETWORK_ENGINE
from surefoot.learn.prepared_data import PreparedData
from surefoot.neural.loading import AnyRanker


class Networks:
    """What a sweep must know of networks, by the names that engines of trees have for it."""

    name = NETWORK_ENGINE
    round_name = "epochs"
    threads_parameter = "num_threads"
    without_effect = frozenset({"num_threads", "device", "engine"})  # what changes no network, beside what rounding may

    @property
    def version(self) -> str:
        """PyTorch's."""
        from surefoot.neural.libraries import torch

        return str(torch.__version__)

    @staticmethod
    def main_name(name: str) -> str:
        """Parameters have one name each."""
        return name


def learner_of(name: Any) -> Engine | Networks:
    """An engine of trees by its name, or networks."""
    return Networks() if name == NETWORK_ENGINE else engine_of(name)


def make_ranker(learner: Engine | Networks, arguments: Mapping[str, Any]) -> AnyRanker:
    """The ranker of a sweep's arguments; `n_estimators` are the epochs of networks."""
    if not isinstance(learner, Networks):
        from surefoot.learn.ranker import Ranker

        return Ranker(**arguments)
    from surefoot.neural.libraries import torch
    from surefoot.neural.ranker import NeuralRanker

    own = {name: value for name, value in arguments.items() if name not in ("engine", "n_estimators", "num_threads")}
    if "num_threads" in arguments:
        torch.set_num_threads(arguments["num_threads"])
    return NeuralRanker(epochs=arguments["n_estimators"]).set_params(**own)


def check_ranker(learner: Engine | Networks, ranker: Any) -> None:
    """Reject what no ranker takes before any data is read."""
    if isinstance(learner, Networks):
        if isinstance(ranker.hidden, int):  # of a grid such as hidden=[256, 128]: meant as one network, read as two
            raise ArgumentError(
                f"hidden is {ranker.hidden} for one of the networks; give each network's layers as a list, such as "
                "hidden=[[256,128],[64]] for two networks"
            )
        ranker.check_settings()
        return
    from surefoot.learn.settings import TrainingSettings

    TrainingSettings.from_ranker(ranker)
    # Lists have a value for each feature, and how many there are the data will say.
    plain = {name: value for name, value in ranker.engine_parameters.items() if not isinstance(value, list | tuple)}
    learner.check(plain, LARGEST_COUNT)


def fit(ranker: Any, data: PreparedData) -> None:
    """Learn from prepared data; networks have no use for what is prepared."""
    if hasattr(ranker, "engine_parameters") and not hasattr(ranker, "epochs"):
        ranker.fit(data)
    else:
        ranker.fit(data.train, valid=data.valid)
