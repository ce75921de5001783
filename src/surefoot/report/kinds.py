"""The kinds of results: what the JSON of each names, the types of its data, and its JSON Schema, made from these.

Data that were read are held to their types (`check_shape`). The table is light to import. No schema is in a checkout:
`hatch_build.py` writes them all into the wheel.
"""

from __future__ import annotations

import math
import re
from functools import cache
from importlib import import_module
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from surefoot.errors import DataError, shortened

_JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}


class ResultKind(NamedTuple):
    """A kind of result: what messages call it, the schemas that its data may name, and the types of such data."""

    called: str
    schemas: tuple[str, ...]
    module: str  # below surefoot, that has the types: a command loads those of its own kind alone
    types: tuple[str, ...]  # one for each schema, or several for one
    folder: str = ""  # of the package, in which the wheel has the JSON Schema
    title: str = ""  # of that
    description: str = ""

    def shapes(self) -> list[Any]:
        """The types, each a TypedDict."""
        module = import_module(f".{self.module}", "surefoot")
        return [getattr(module, name) for name in self.types]

    def shape_of(self, schema: str) -> Any:
        """The type of data that name this schema."""
        return self.shapes()[self.schemas.index(schema)]

    def json_schema(self) -> dict[str, Any]:
        """The schema of its JSON."""
        definitions: dict[str, Any] = {}
        either = [_schema(shape, definitions) for shape in self.shapes()]
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": self.title,
            "description": self.description,
            "oneOf": either,
            "$defs": definitions,
        }


KINDS = {
    "tradeoffs": ResultKind(
        "the result of a sweep",
        ("surefoot/sweep/1",),
        "choose.tradeoffs_data",
        ("TradeOffsData",),
        "choose",
        "surefoot trade-offs",
        "What the candidates of a sweep risk and gain against a baseline, on each fold's validation and test data. "
        "Absent values are null.",
    ),
    "agreement": ResultKind(
        "an agreement of judges",
        ("surefoot/agreement/1",),
        "decide.agreement.agreement_data",
        ("AgreementData",),
        "decide/agreement",
        "surefoot agreement",
        "How far an automatic judge agrees with people, and how many of their judgments it would save in a gate.",
    ),
    "decision": ResultKind(
        "a decision",
        ("surefoot/decision/1",),
        "decide.gate.decision_data",
        ("DecisionData",),
        "decide/gate",
        "surefoot decision",
        "Whether to ship a candidate: ship where every condition's p_holds is at most delta, stop where any p_fails is "
        "at most delta_fails, undecided otherwise.",
    ),
    "certificate": ResultKind(
        "a certificate",
        ("surefoot/certificate/1",),
        "decide.guard.certificate_data",
        ("CertificateData",),
        "decide/guard",
        "surefoot certificate",
        "What a guard proves of the lists that it shows. Absent values are null.",
    ),
    "history": ResultKind(
        "a history",
        ("surefoot/history/1",),
        "decide.history.history_data",
        ("HistoryData",),
        "decide/history",
        "surefoot history",
        "Past decisions and assessments by date: what each release gained and risked, what was shipped, and which "
        "queries were hurt repeatedly.",
    ),
    "personalization": ResultKind(
        "the result of a personalization",
        ("surefoot/personalization/1",),
        "personal.personal_data",
        ("PersonalizationData",),
        "personal",
        "surefoot personalization",
        "Re-rankers learned from a click log, chosen on validation lists and judged on test lists. Absent values are "
        "null.",
    ),
    "assessment": ResultKind(
        "an assessment",
        ("surefoot/assessment/1",),
        "risk.assessment_data",
        ("AssessmentData", "SeveralMeasures"),
        "report",
        "surefoot assessment",
        "What systems gain and risk against a baseline. Absent values are null, with the reason beside them; keys "
        "under alpha are format(α, 'g'). An assessment of several measures holds one entry for each.",
    ),
    "study": ResultKind(
        "a study of stability",
        tuple(f"surefoot/stability-{about}/1" for about in ("noise", "subsets", "time", "functions")),
        "stability.study_data",
        ("NoiseData", "SubsetsData", "TimeData", "FunctionsData"),
        "stability",
        "surefoot stability",
        "How far measures, and the choices made by them, hold when scores, queries or times change. Absent values are "
        "null.",
    ),
}


def schema_files() -> dict[str, dict[str, Any]]:
    """The JSON Schema of each kind, by the file of the package that has it."""
    return {f"{kind.folder}/{name}.schema.json": kind.json_schema() for name, kind in KINDS.items()}


def _schema(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    origin, parts = get_origin(kind), get_args(kind)
    if is_typeddict(kind):
        if kind.__name__ not in definitions:
            definitions[kind.__name__] = {}  # its place, should it hold itself
            definitions[kind.__name__] = _object(kind, definitions)
        return {"$ref": f"#/$defs/{kind.__name__}"}
    if origin is Annotated:
        schema = _schema(parts[0], definitions)
        for more in parts[1:]:
            schema |= {"description": more} if isinstance(more, str) else dict([more])
        return schema
    if origin is NotRequired:
        return _schema(parts[0], definitions)
    if origin is Literal:
        return {"const": parts[0]} if len(parts) == 1 else {"enum": list(parts)}
    if origin in (Union, UnionType):
        return _either([_schema(part, definitions) for part in parts])
    if origin is list:
        return {"type": "array", "items": _schema(parts[0], definitions)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema(parts[1], definitions)}
    return {} if kind is Any else {"type": _JSON_TYPES[kind]}


def _object(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    return {
        "description": kind.__doc__,
        "type": "object",
        "properties": {name: _schema(hint, definitions) for name, hint in hints.items()},
        "required": [name for name, hint in hints.items() if get_origin(hint) is not NotRequired],
    }


def _either(options: list[dict[str, Any]]) -> dict[str, Any]:
    """One of several; written shortly where they are plain types, or null beside known values."""
    if all(set(option) == {"type"} for option in options):
        return {"type": [option["type"] for option in options]}
    if len(options) == 2 and "enum" in options[0] and options[1] == {"type": "null"}:
        return {"enum": [*options[0]["enum"], None]}
    return {"oneOf": options}


_BOUNDS = {
    "minimum": "at least", "maximum": "at most", "exclusiveMinimum": "above", "minItems": "a list of at least",
    "maxItems": "a list of at most",
}  # fmt: skip
_PLAIN = {str: "text", int: "a whole number", float: "a number", bool: "true or false", NoneType: "null"}


def check_shape(data: Any, kind: Any, location: str = "it", *, complete: bool = False) -> None:
    """Refuse data in which something is of another type than `kind`, a TypedDict, says; other keys may be there.

    What is missing shows elsewhere, unless the data must be `complete`.

    >>> from surefoot.risk.assessment_data import AssessmentData
    >>> check_shape({"queries": "many"}, AssessmentData)
    Traceback (most recent call last):
    surefoot.errors.DataError: queries is 'many'; expected a whole number
    """
    wrong = _mismatch(data, kind, location, complete)
    if wrong is not None:
        raise DataError(wrong)


def _mismatch(data: Any, kind: Any, location: str, complete: bool) -> str | None:
    """What is wrong first, if anything is."""
    origin, parts = get_origin(kind), get_args(kind)
    if is_typeddict(kind):
        if not isinstance(data, dict):
            return _message(data, location, "an object")
        hints = _hints(kind)
        before = "" if location == "it" else f"{location}."
        absent = [name for name, hint in hints.items() if name not in data and get_origin(hint) is not NotRequired]
        if complete and absent:
            return f"{before}{absent[0]} is missing"
        inner = ((data[name], hint, f"{before}{name}", complete) for name, hint in hints.items() if name in data)
        return next(filter(None, (_mismatch(*each) for each in inner)), None)
    if origin is Annotated:
        return _mismatch(data, parts[0], location, complete) or _beyond(data, parts[1:], location)
    if origin is NotRequired:
        return _mismatch(data, parts[0], location, complete)
    if origin is Literal:
        return (
            None
            if data in parts and type(data) in map(type, parts)
            else _message(data, location, " or ".join(map(repr, parts)))
        )
    if origin in (Union, UnionType):
        mismatches = [_mismatch(data, part, location, complete) for part in parts]
        return None if None in mismatches else mismatches[0]
    if origin is list:
        if not isinstance(data, list):
            return _message(data, location, "a list")
        return next(
            filter(None, (_mismatch(item, parts[0], f"{location}[{at}]", complete) for at, item in enumerate(data))),
            None,
        )
    if origin is dict:
        if not isinstance(data, dict):
            return _message(data, location, "an object")
        return next(
            filter(None, (_mismatch(item, parts[1], f"{location}.{name}", complete) for name, item in data.items())),
            None,
        )
    return None if kind is Any or _is_plain(data, kind) else _message(data, location, _PLAIN[kind])


def _beyond(data: Any, bounds: tuple[Any, ...], location: str) -> str | None:
    """What is wrong where a number, or the length of a list, is beyond bounds such as ("minimum", 0)."""
    for bound in bounds:
        if not isinstance(bound, tuple) or data is None:
            continue
        name, limit = bound
        if name == "enum":  # names that are looked up are refused where they are
            continue
        if name == "pattern":
            if not re.fullmatch(limit, data):
                return _message(data, location, f"text such as {limit}")
            continue
        value = len(data) if name.endswith("Items") else data
        if value < limit if name.startswith("min") else value <= limit if name.startswith("exc") else value > limit:
            return _message(data, location, f"{_BOUNDS[name]} {limit}")
    return None


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _is_plain(data: Any, kind: type) -> bool:
    if kind is float:
        try:
            return type(data) in (int, float) and math.isfinite(data)
        except OverflowError:
            return False
    return type(data) is kind


def _message(data: Any, location: str, expected: str) -> str:
    return f"{location} is {shortened(data)}; expected {expected}"
