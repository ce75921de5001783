"""What a release must keep to: conditions, each at a level, on all queries or on segments.

The same file may have what stays from release to release: the judgments, the live run, the record.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from surefoot.arguments import LARGEST_COUNT, finite_number, is_real
from surefoot.data.reading.files import existing_file, file_status, read_text, system_name
from surefoot.decide.evidence.conditions import CONDITIONS, ConditionKind, ConditionRule
from surefoot.decide.options import DELTA, EVERY_SEGMENT, LEAST_DELTA, MOST_DELTA
from surefoot.errors import ArgumentError, DataError, SurefootError, did_you_mean, shortened
from surefoot.measures.notation import named_measure
from surefoot.risk.tradeoff import LARGEST_ALPHA


@dataclass(frozen=True)
class ReleaseSettings:
    """The files and names of a release; paths in a policy file are relative to its folder."""

    qrels: str | None = None
    baseline: str | None = None  # the file of the live run, or its name
    measure: str | None = None
    record: str | None = None
    segments: str | None = None
    sample: str | None = None

    @classmethod
    def parse(
        cls, table: Mapping[Any, Any], folder: str | os.PathLike[str], error: Callable[[str], Exception]
    ) -> ReleaseSettings:
        """The settings among the keys of a policy.

        >>> ReleaseSettings.parse({"qrels": "qrels.txt", "measure": "AP", "risk": 0.02}, "ci", ValueError).qrels
        'ci/qrels.txt'
        """
        found: dict[str, str] = {}
        for key in SETTINGS:
            value = table.get(key)
            if key == "segments" and isinstance(value, Mapping):  # the conditions on segments may stand there too
                value = value.get(SEGMENTS_FILE)
                value = None if isinstance(value, Mapping) else value  # a segment of this name
            if value is None:
                continue
            if not isinstance(value, str) or not value.strip():
                raise error(f"{key} is {shortened(value)}; write a text, such as {_EXAMPLES[key]}")
            found[key] = value if key in _NAMES else str(Path(folder) / value)
        live = found.get("baseline")
        if live is not None and (Path(folder) / live).is_file():  # or else it is a name
            found["baseline"] = str(Path(folder) / live)
        return cls(**found)

    def for_scores(self, measure: str) -> ReleaseSettings:
        """The same for scores of a measure, whose systems have names: they must be of the measure that is settled."""
        if self.measure is not None and self.measure != measure:
            settled, found = named_measure(self.measure), named_measure(measure)
            if settled is None or settled != found:
                raise ArgumentError(
                    f"the policy is for {shortened(self.measure)}, and the scores are {shortened(measure)}; give "
                    "scores of that measure, or change the policy"
                )
        if self.baseline is None or file_status(self.baseline) is None:
            return self
        return replace(self, baseline=system_name(self.baseline))


NO_SETTINGS = ReleaseSettings()
SEGMENTS_FILE = "file"  # in the table of segments, beside the tables of their conditions
SETTINGS = tuple(field.name for field in fields(ReleaseSettings))
_NAMES = ("baseline", "measure")
_EXAMPLES = {
    "qrels": 'qrels = "qrels.txt"', "baseline": 'baseline = "today.run"', "measure": 'measure = "nDCG@10"',
    "record": 'record = "release.json"', "segments": 'segments = "segments.csv"', "sample": 'sample = "draws.json"',
}  # fmt: skip


_MOST_DOTS = 200  # in a line
_Error = Callable[[str], Exception]


def _example() -> str:
    """A policy that has everything."""
    lines = [condition.policy_example() for condition in CONDITIONS.values()]
    return ", ".join([*lines, f"delta = {DELTA}", '[segments."NAME"]'])


@dataclass(frozen=True)
class ReleasePolicy:
    """The conditions of a release, all of which must hold, and δ, the chance of a wrong claim that is accepted."""

    rules: tuple[ConditionRule, ...]
    delta: float = DELTA
    other_below: int = 0  # queries in the file of segments, below which a segment counts to `other`
    settings: ReleaseSettings = NO_SETTINGS  # what stays from release to release; no part of the question

    @classmethod
    def read(cls, source: Any, changes: Mapping[str, Any] | None = None) -> ReleasePolicy:
        """A policy from a TOML file or a dict of the same keys; `changes` go before the file's own.

        >>> u_risk = {"alpha": 5, "above": 0}
        >>> policy = ReleasePolicy.read({"risk": 0.02, "u_risk": u_risk, "segments": {"new": {"gain": 0}}})
        >>> [rule.words for rule in policy.rules], policy.rules[-1].segment
        (['risk ≤ 0.02', 'U_Risk(5) > 0', 'gain > 0'], 'new')
        """
        if isinstance(source, ReleasePolicy):
            return source
        if isinstance(source, str | os.PathLike):
            table = _toml(source, read_text(existing_file(source)))
            merged = _merge(table, changes or {})
            return _parse(merged, Path(source).parent, lambda message: DataError.at(source, None, message))
        if isinstance(source, Mapping):
            return _parse(source, "", lambda message: ArgumentError(f"policy: {message}"))
        raise ArgumentError(f"the policy is {shortened(source)}; give a TOML file or a dict, such as {{'risk': 0.02}}")

    def to_dict(self) -> dict[str, Any]:
        """Plain data that JSON can hold."""
        return {
            "delta": self.delta, "rules": [rule.to_dict() for rule in self.rules], "other_below": self.other_below,
        }  # fmt: skip


def policy_table(rules: Sequence[ConditionRule], delta: float) -> dict[str, Any]:
    """The keys of a policy of these rules, as its TOML has them.

    >>> policy_table([ConditionRule("risk", 0.02), ConditionRule("u_risk", 0.0, 5.0, "new")], 0.05)
    {'delta': 0.05, 'risk': 0.02, 'segments': {'new': {'u_risk': {'alpha': 5.0, 'above': 0.0}}}}
    """
    table: dict[str, Any] = {"delta": delta}
    for rule in rules:
        own = table if rule.segment is None else table.setdefault("segments", {}).setdefault(rule.segment, {})
        key = rule.condition.level_key
        own[rule.name] = rule.level if rule.alpha is None else {"alpha": rule.alpha, key: rule.level}
    return table


def _toml(source: str | os.PathLike[str], text: str) -> dict[str, Any]:
    """What a TOML file says; the parser itself takes minutes for keys of very many parts."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.count(".") > _MOST_DOTS:
            raise DataError.at(
                source, number, f"has a line with {line.count('.'):,} dots, which is too many; write {_example()}"
            )
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # an integer of thousands of digits, brackets within brackets
        raise DataError.at(source, None, f"is not TOML ({shortened(str(error), 200)}); write {_example()}") from error


def _merge(table: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The table with these keys changed, those of segments one by one."""
    own, other = table.get("segments"), changes.get("segments")
    if isinstance(own, str):
        own = {SEGMENTS_FILE: own}
    if not isinstance(own, Mapping) or other is None:
        return {**table, **changes}
    tables = {name: table for name, table in own.items() if name not in other}
    tables |= {
        name: _merge(own[name], change) if isinstance(own.get(name), dict) else change for name, change in other.items()
    }
    return {**table, **changes, "segments": tables}


def _parse(policy: Mapping[Any, Any], folder: str | os.PathLike[str], error: _Error) -> ReleasePolicy:
    settings = ReleaseSettings.parse(policy, folder, error)
    rules = list(_rules(policy, None, ("delta", "segments", "other_below", *SETTINGS), error))
    delta = _number(policy.get("delta", DELTA), "delta", error)
    if not LEAST_DELTA <= delta <= MOST_DELTA:
        raise error(f"delta is {delta:g}; it must be from {LEAST_DELTA:g} to {MOST_DELTA:g}, such as {DELTA:g}")
    segments = policy.get("segments", {})
    if isinstance(segments, str):
        segments = {SEGMENTS_FILE: segments}
    if not isinstance(segments, Mapping):
        raise error(
            f"segments is {shortened(segments)}; write a table for each segment: [segments.NAME] with risk = 0.05"
        )
    for name, table in segments.items():
        if name == SEGMENTS_FILE and isinstance(table, str):  # the file, and not a segment of this name
            continue
        if not isinstance(name, str) or not name.strip():
            raise error(
                f"a segment has the name {shortened(name)}; use the name of a segment, or {EVERY_SEGMENT!r} for every "
                "segment"
            )
        if not isinstance(table, Mapping):
            raise error(f"segments.{_shown(name)} is {shortened(table)}; write a table with keys such as risk = 0.05")
        own = list(_rules(table, name, (), error))
        if not own:
            raise error(f"segments.{_shown(name)} has no conditions; add at least one, such as risk = 0.05")
        rules += own
    if not rules:
        raise error(f"has no conditions; add at least one, such as {_example()}")
    other_below = policy.get("other_below", 0)
    if type(other_below) is not int or not 0 <= other_below <= LARGEST_COUNT:
        raise error(f"other_below is {shortened(other_below)}; it must be a number of queries, such as 50")
    if other_below and EVERY_SEGMENT not in segments:
        raise error(f"other_below works only with conditions on every segment; write [segments.{EVERY_SEGMENT!r}]")
    return ReleasePolicy(tuple(rules), delta, other_below, settings)


def _rules(
    table: Mapping[Any, Any], segment: str | None, besides: tuple[str, ...], error: _Error
) -> Iterator[ConditionRule]:
    """The conditions in the order of `CONDITIONS`, whatever the order of the keys."""
    prefix, known = "" if segment is None else f"segments.{_shown(segment)}.", (*CONDITIONS, *besides)
    for key in table:
        if key not in known:
            raise error(
                f"{prefix}{_shown(key)} is not a key of a policy{did_you_mean(key, known) or '.'} The keys are: "
                f"{', '.join(dict.fromkeys(known))}"
            )
    for name, condition in CONDITIONS.items():
        if name in table:
            yield _rule(condition, table[name], segment, f"{prefix}{name}", error)


def _rule(condition: ConditionKind, value: Any, segment: str | None, key: str, error: _Error) -> ConditionRule:
    if not condition.has_alpha:
        level = _number(value, key, error)
        low, high = condition.limits(None)
        if not low < level < high:
            why = " (no number of queries can prove that nothing is lost)" if condition.at_most and level == 0 else ""
            raise error(f"{key} is {level:g}; it must be above {low:g} and below {high:g}{why}")
        return ConditionRule(condition.name, level, segment=segment)
    part = condition.level_key
    if not isinstance(value, Mapping) or set(value) != {"alpha", part}:
        raise error(f"{key} is {shortened(value)}; write {condition.policy_example().partition(' = ')[2]}")
    alpha, level = (_number(value[each], f"{key}.{each}", error) for each in ("alpha", part))
    if not 0 <= alpha <= LARGEST_ALPHA:
        raise error(f"{key}.alpha is {alpha:g}; it must be from 0 to {LARGEST_ALPHA:,.0f}")
    low, high = condition.limits(alpha)
    if not low < level < high:
        raise error(f"{key}.{part} is {level:g}; with alpha = {alpha:g} it must be above {low:g} and below {high:g}")
    return ConditionRule(condition.name, level, alpha, segment)


def _number(value: Any, key: str, error: _Error) -> float:
    number = finite_number(value) if is_real(value) or not isinstance(value, str) else None
    if number is None:
        raise error(f"{key} is {shortened(value)}; it must be a number")
    return number


def _shown(key: Any) -> str:
    return shortened(key)[1:-1] if isinstance(key, str) else shortened(key)


_MOST_LINES = 2000  # of a file that is searched
_AT_LINE = re.compile(r"\(at line (\d+), column \d+\)")


def wrong_line(path: Path, wrong: str) -> int | None:
    """The line that is wrong in the way that `ReleasePolicy.read` says, if one is.

    Errors are told in one order of the keys, so the error of the whole file is also that of every start of the file
    that holds the wrong line.
    """
    match = _AT_LINE.search(wrong)
    if match:
        return int(match[1])
    lines = read_text(path).split("\n")
    if len(lines) > _MOST_LINES or _error("") == wrong:
        return None
    return next((n for n in range(1, len(lines) + 1) if _error("\n".join(lines[:n])) == wrong), None)


def _error(text: str) -> str | None:
    """What is wrong with a policy of this text, if that can be said: a start of a file may end within a value."""
    try:
        ReleasePolicy.read(tomllib.loads(text))
    except SurefootError as error:
        return str(error).removeprefix("policy: ")
    except ValueError:
        return None
    return None


def policy_template() -> str:
    """A policy to start from, with a word on every key."""
    return files("surefoot.decide.gate").joinpath("assets/policy.toml").read_text(encoding="utf-8")
