"""Files that are read back later: JSON that names its schema and bears a hash of all it holds."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from surefoot.data.hashes import check_seal
from surefoot.data.reading.files import read_json
from surefoot.errors import DataError


def read_sealed(
    path: str | os.PathLike[str], schemas: tuple[str, ...], otherwise: str, refused: Mapping[str, str]
) -> dict[str, Any]:
    """The plain data of a file that has one of the schemas and was not changed, the first of which is today's.

    `otherwise` says what another file is not; `refused` has for older schemas why they cannot be used.
    """
    data = read_json(path)
    schema = data.get("schema") if isinstance(data, dict) else None
    for older, reason in refused.items():
        if schema == older:
            raise DataError.at(path, None, reason)
    if not isinstance(data, dict) or schema not in schemas:
        raise DataError.at(path, None, f"{otherwise}; expected JSON with the schema {schemas[0]!r}")
    check_seal(data, path)
    return data
