"""scikit-learn's manners, with scikit-learn or without it."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

from surefoot.errors import ArgumentError, did_you_mean, shortened
from surefoot.learn.import_learner import brief_waiting

if TYPE_CHECKING:

    class BaseEstimator:
        """Stands for scikit-learn's."""
else:
    try:  # costs no time: LightGBM imports scikit-learn too, where it is installed
        with brief_waiting():  # scikit-learn brings an OpenMP, which XGBoost and others then use
            from sklearn.base import BaseEstimator
    except ImportError:

        class BaseEstimator:
            """Nothing: what learning needs is below."""


_OTHER_NAMES = {"lr": "learning_rate", "n_estimators": "epochs", "seed": "random_state"}  # in PyTorch and Ranker


class Estimator(BaseEstimator):
    """An estimator whose further keyword parameters go to its engine; a BaseEstimator where scikit-learn is installed.

    Where scikit-learn routes metadata, it hands on query ids, baselines and weights unasked.
    """

    engine_parameters: dict[str, Any]

    __metadata_request__fit = {"qid": True, "baseline": True, "sample_weight": True}  # noqa: RUF012
    __metadata_request__predict = {"qid": True, "baseline": True}  # noqa: RUF012
    __metadata_request__score = {"qid": True, "baseline": True, "sample_weight": True}  # noqa: RUF012

    @classmethod
    def _own_names(cls) -> list[str]:
        signature = inspect.signature(cls.__init__).parameters
        return [name for name, each in signature.items() if name != "self" and each.kind != each.VAR_KEYWORD]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The estimator's own parameters and the engine's."""
        return {name: getattr(self, name) for name in self._own_names()} | self.engine_parameters

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters; a name that is not the estimator's own goes to the engine."""
        own = self._own_names()
        for name, value in parameters.items():
            if name in own:
                setattr(self, name, value)
            else:
                self.engine_parameters[name] = value
        return self

    def _refuse_unknown(self, names: Iterable[str]) -> None:
        """Refuse names that are not the estimator's own, where it has no engine that they could go to."""
        own = self._own_names()
        for name in names:
            if name not in own:
                hint = did_you_mean(_OTHER_NAMES.get(name, name), own) or "."
                raise ArgumentError(
                    f"{type(self).__name__} has no parameter {shortened(name)}{hint} It has {', '.join(own)}"
                )

    def __repr__(self) -> str:
        """What differs from the defaults."""
        defaults = {name: each.default for name, each in inspect.signature(type(self).__init__).parameters.items()}
        changed = {name: value for name, value in self.get_params().items() if value != defaults.get(name)}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in changed.items())})"

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there is a model."""
        return hasattr(self, "booster_")
