"""Engine parameters that speak of features, which users may call by name, as the engines take them: by position."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from surefoot.errors import ArgumentError, did_you_mean, shortened
from surefoot.learn.engines.contract import Engine, Parameters
from surefoot.learn.prepared_data import PreparedData


def checked_parameters(engine: Engine, parameters: Mapping[str, Any], data: PreparedData) -> Parameters:
    """A ranker's engine parameters for this data: features by position, and those that are categories as such."""
    values = by_position(engine, parameters, data.names)
    columns = [place for place, name in enumerate(data.names) if name in data.train.categories]
    if columns:
        values = engine.with_categories(values, columns, len(data.names))
    return engine.check(values, len(data.names))


def by_position(engine: Engine, parameters: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The parameters with positions in place of features' names; what is not a name stays as it is.

    >>> from surefoot.learn.engines.contract import engine_of
    >>> by_position(engine_of(), {"monotone_constraints": {"bm25": 1}, "num_leaves": 8}, ["age", "bm25"])
    {'monotone_constraints': [0, 1], 'num_leaves': 8}
    """
    places = {name: place for place, name in enumerate(names)}
    result = dict(parameters)
    for name, value in parameters.items():
        main = engine.main_name(name)
        if main == "monotone_constraints" and isinstance(value, Mapping):
            constraints: list[Any] = [0] * len(names)
            for feature, direction in value.items():
                constraints[_place(name, feature, places)] = direction
            result[name] = constraints
        elif main == "categorical_feature" and _has_names(value):
            result[name] = [_place(name, feature, places) for feature in value]
        elif main == "interaction_constraints" and isinstance(value, list | tuple) and any(map(_has_names, value)):
            result[name] = [[_place(name, feature, places) for feature in group] for group in value]
    return result


def _has_names(value: Any) -> bool:
    return isinstance(value, list | tuple) and any(isinstance(one, str) and not one.strip().isdigit() for one in value)


def _place(parameter: str, feature: Any, places: Mapping[str, int]) -> int:
    if not isinstance(feature, str) or feature not in places:
        hint = did_you_mean(feature, places) or "."
        raise ArgumentError(f"{parameter} names the feature {shortened(feature)}, but the data does not have it{hint}")
    return places[feature]
