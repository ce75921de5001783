"""What a release must keep to: conditions on risk, on the share of queries hurt, on gain and on U_Risk."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from surefoot.arguments import finite_number, is_real
from surefoot.data.reading.files import existing_file, read_text
from surefoot.decide.options import DELTA, EVERY, LEAST_DELTA, MOST_DELTA
from surefoot.errors import ArgumentError, DataError, did_you_mean, listed, shortened
from surefoot.risk.tradeoff import LARGEST_ALPHA

ConditionName = Literal["risk", "share_hurt", "gain", "u_risk"]
NAMES: tuple[ConditionName, ...] = get_args(ConditionName)
_MOST_DOTS = 200  # in a line
_EXAMPLE = (
    'risk = 0.02, share_hurt = 0.05, gain = 0.0, u_risk = {alpha = 5, above = 0.0}, delta = 0.05, [segments."NAME"]'
)


@dataclass(frozen=True)
class Rule:
    """One condition: risk or share_hurt at most `level`, gain or U_Risk(α) above it; of all queries or of a segment."""

    name: ConditionName
    level: float
    alpha: float | None = None
    segment: str | None = None

    @property
    def at_most(self) -> bool:
        """Whether the figure must stay below the level; gain and U_Risk must stay above it."""
        return self.name in ("risk", "share_hurt")

    @property
    def words(self) -> str:
        """As in `risk ≤ 0.02` or `U_Risk(5) > 0`."""
        figure = f"U_Risk({self.alpha:g})" if self.name == "u_risk" else self.name
        return f"{figure} {'≤' if self.at_most else '>'} {self.level:g}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data that JSON can hold."""
        return {"name": self.name, "segment": self.segment, "level": self.level, "alpha": self.alpha}


@dataclass(frozen=True)
class Policy:
    """The conditions of a release, all of which must hold, and δ, the chance of a wrong claim that is accepted."""

    rules: tuple[Rule, ...]
    delta: float = DELTA

    @classmethod
    def read(cls, source: Any, changes: Mapping[str, Any] | None = None) -> Policy:
        """A policy from a TOML file or a dict of the same keys; `changes` go before the file's own.

        >>> policy = Policy.read({"risk": 0.02, "u_risk": {"alpha": 5, "above": 0}, "segments": {"new": {"gain": 0}}})
        >>> [rule.words for rule in policy.rules], policy.rules[-1].segment
        (['risk ≤ 0.02', 'U_Risk(5) > 0', 'gain > 0'], 'new')
        """
        if isinstance(source, Policy):
            return source
        if isinstance(source, str | os.PathLike):
            found = _toml(source, read_text(existing_file(source)))
            return _policy(_changed(found, changes or {}), lambda message: DataError.at(source, None, message))
        if isinstance(source, Mapping):
            return _policy(source, lambda message: ArgumentError(f"policy: {message}"))
        raise ArgumentError(f"the policy is {shortened(source)}; give a TOML file or a dict, such as {{'risk': 0.02}}")

    def to_dict(self) -> dict[str, Any]:
        """Plain data that JSON can hold."""
        return {"delta": self.delta, "rules": [rule.to_dict() for rule in self.rules]}


def _toml(source: str | os.PathLike[str], text: str) -> dict[str, Any]:
    """What a TOML file says; the parser itself takes minutes for keys of very many parts."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.count(".") > _MOST_DOTS:
            raise DataError.at(source, number, f"has a line of {line.count('.'):,} dots; write {_EXAMPLE}")
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # an integer of thousands of digits, brackets within brackets
        raise DataError.at(source, None, f"is not TOML ({shortened(str(error), 200)}); write {_EXAMPLE}") from error


def _changed(given: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The same with these keys, those of segments one by one."""
    own, other = given.get("segments"), changes.get("segments")
    if not isinstance(own, Mapping) or other is None:
        return {**given, **changes}
    tables = {name: table for name, table in own.items() if name not in other}
    tables |= {
        name: _changed(own[name], table) if isinstance(own.get(name), dict) else table for name, table in other.items()
    }
    return {**given, **changes, "segments": tables}


_Error = Callable[[str], Exception]


def _policy(given: Mapping[Any, Any], error: _Error) -> Policy:
    rules = list(_rules(given, None, ("delta", "segments"), error))
    delta = _number(given.get("delta", DELTA), "delta", error)
    if not LEAST_DELTA <= delta <= MOST_DELTA:
        raise error(f"delta is {delta:g}; it must be from {LEAST_DELTA:g} to {MOST_DELTA:g}, such as {DELTA:g}")
    segments = given.get("segments", {})
    if not isinstance(segments, Mapping):
        raise error(f"segments is {shortened(segments)}; write a table for each: [segments.NAME] with risk = 0.05")
    for name, table in segments.items():
        if not isinstance(name, str) or not name.strip():
            raise error(
                f"a segment is named {shortened(name)}; name one of the queries' segments, or {EVERY!r} for each"
            )
        if not isinstance(table, Mapping):
            raise error(f"segments.{_shown(name)} is {shortened(table)}; write a table with keys such as risk = 0.05")
        own = list(_rules(table, name, (), error))
        if not own:
            raise error(f"segments.{_shown(name)} has no conditions; give it some, such as risk = 0.05")
        rules += own
    if not rules:
        raise error(f"has no conditions; give some, such as {_EXAMPLE}")
    return Policy(tuple(rules), delta)


def _rules(table: Mapping[Any, Any], segment: str | None, besides: tuple[str, ...], error: _Error) -> Iterator[Rule]:
    """The conditions in the order of NAMES, whatever the order of the keys."""
    place = "" if segment is None else f"segments.{_shown(segment)}."
    for key in table:
        if key not in NAMES + besides:
            known = listed([*NAMES, *besides])
            raise error(
                f"{place}{_shown(key)} is no key of a policy{did_you_mean(key, NAMES + besides)}; known: {known}"
            )
    for name in NAMES:
        if name in table:
            yield _rule(name, table[name], segment, f"{place}{name}", error)


def _rule(name: ConditionName, value: Any, segment: str | None, key: str, error: _Error) -> Rule:
    if name != "u_risk":
        level = _number(value, key, error)
        low, why = (0.0, "no number of queries can prove that nothing is lost") if name != "gain" else (-1.0, "")
        if not low < level < 1:
            more = f" ({why})" if why and level == 0 else ""
            raise error(f"{key} is {level:g}; it must be above {low:g} and below 1{more}")
        return Rule(name, level, segment=segment)
    if not isinstance(value, Mapping) or set(value) != {"alpha", "above"}:
        raise error(f"{key} is {shortened(value)}; write {{alpha = 5, above = 0.0}}")
    alpha, level = (_number(value[part], f"{key}.{part}", error) for part in ("alpha", "above"))
    if not 0 <= alpha <= LARGEST_ALPHA:
        raise error(f"{key}.alpha is {alpha:g}; it must be from 0 to {LARGEST_ALPHA:,.0f}")
    if not -(1 + alpha) < level < 1:
        raise error(f"{key}.above is {level:g}; U_Risk({alpha:g}) lies between {-(1 + alpha):g} and 1")
    return Rule(name, level, alpha, segment)


def _number(value: Any, key: str, error: _Error) -> float:
    found = finite_number(value) if is_real(value) or not isinstance(value, str) else None
    if found is None:
        raise error(f"{key} is {shortened(value)}; it must be a number")
    return found


def _shown(key: Any) -> str:
    return shortened(key)[1:-1] if isinstance(key, str) else shortened(key)
