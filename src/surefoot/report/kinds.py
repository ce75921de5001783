"""The kinds of results: what the JSON of each names, the types of its data, and its JSON Schema, made from these.

The table is light to import. No schema is in a checkout: `hatch_build.py` writes them all into the wheel.
"""

from __future__ import annotations

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

_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}


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
    return {} if kind is Any else {"type": _PLAIN[kind]}


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
