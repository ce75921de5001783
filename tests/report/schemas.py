"""What the JSON of every result is held to."""

from __future__ import annotations

import copy
import json
from typing import Any

import jsonschema
import pytest

from surefoot.report.kinds import KINDS


def check_data(data: dict[str, Any], kind: str) -> None:
    """The data hold nothing that is not in the schema of their kind, which later versions may add to."""
    schema = KINDS[kind].json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    plain = json.loads(json.dumps(data, allow_nan=False))
    assert plain == data  # no tuples, nor keys that are no texts
    jsonschema.validate({**plain, "later": 1}, schema)
    strict = copy.deepcopy(schema)
    for definition in strict["$defs"].values():
        definition["additionalProperties"] = False
    jsonschema.validate(plain, strict)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**plain, "later": 1}, strict)
