"""The JSON schemas of results, made from the types of their plain data: here that of an assessment.

`python -m surefoot.report.schema` prints it; a test holds the package's file to it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from surefoot.risk.assessment_data import AssessmentData, SeveralMeasures

_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}


def assessment_schema(*, strict: bool = False) -> dict[str, Any]:
    """The schema of `Assessment.to_dict`; a strict one takes no keys that the types do not have."""
    return schema_of(
        "surefoot assessment",
        "What systems gain and risk against a baseline. Absent values are null, with the reason beside "
        "them; keys under alpha are format(α, 'g'). An assessment of several measures holds one entry for each.",
        (AssessmentData, SeveralMeasures),
        strict=strict,
    )


def schema_of(title: str, description: str, kinds: Sequence[Any], *, strict: bool = False) -> dict[str, Any]:
    """The schema of plain data that is of one of these types; a strict one takes no keys that they do not have."""
    definitions: dict[str, Any] = {}
    either = [_schema(kind, definitions, strict) for kind in kinds]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "description": description,
        "oneOf": either,
        "$defs": definitions,
    }


def _schema(kind: Any, definitions: dict[str, Any], strict: bool) -> dict[str, Any]:
    origin, parts = get_origin(kind), get_args(kind)
    if is_typeddict(kind):
        if kind.__name__ not in definitions:
            definitions[kind.__name__] = {}  # its place, should it hold itself
            definitions[kind.__name__] = _object(kind, definitions, strict)
        return {"$ref": f"#/$defs/{kind.__name__}"}
    if origin is Annotated:
        schema = _schema(parts[0], definitions, strict)
        for more in parts[1:]:
            schema |= {"description": more} if isinstance(more, str) else dict([more])
        return schema
    if origin is NotRequired:
        return _schema(parts[0], definitions, strict)
    if origin is Literal:
        return {"const": parts[0]} if len(parts) == 1 else {"enum": list(parts)}
    if origin in (Union, UnionType):
        return _either([_schema(part, definitions, strict) for part in parts])
    if origin is list:
        return {"type": "array", "items": _schema(parts[0], definitions, strict)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema(parts[1], definitions, strict)}
    return {} if kind is Any else {"type": _PLAIN[kind]}


def _object(kind: Any, definitions: dict[str, Any], strict: bool) -> dict[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    return {
        "description": kind.__doc__,
        "type": "object",
        "properties": {name: _schema(hint, definitions, strict) for name, hint in hints.items()},
        "required": [name for name, hint in hints.items() if get_origin(hint) is not NotRequired],
        **({"additionalProperties": False} if strict else {}),
    }


def _either(options: list[dict[str, Any]]) -> dict[str, Any]:
    """One of several; written shortly where they are plain types, or null beside known values."""
    if all(set(option) == {"type"} for option in options):
        return {"type": [option["type"] for option in options]}
    if len(options) == 2 and "enum" in options[0] and options[1] == {"type": "null"}:
        return {"enum": [*options[0]["enum"], None]}
    return {"oneOf": options}


if __name__ == "__main__":
    print(json.dumps(assessment_schema(), indent=2, ensure_ascii=False))
