"""What every JSON schema of results is held to."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import jsonschema


def check_file(package: str, name: str, schema: dict[str, Any]) -> None:
    """The file in the package is what the types give."""
    text = files(package).joinpath(name).read_text(encoding="utf-8")
    assert json.loads(text) == schema


def check_data(data: dict[str, Any], schema: Callable[..., dict[str, Any]]) -> None:
    """The data hold nothing that is not in the schema, which later versions may add to."""
    jsonschema.Draft202012Validator.check_schema(schema())
    plain = json.loads(json.dumps(data, allow_nan=False))
    assert plain == data  # no tuples, nor keys that are no texts
    loose, strict = (jsonschema.Draft202012Validator(schema(strict=strict)) for strict in (False, True))
    strict.validate(plain)
    loose.validate({**plain, "later": 1})
    assert not strict.is_valid({**plain, "later": 1})
