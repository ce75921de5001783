"""Files that are read back later: JSON that names its schema and bears a hash of all it holds."""

from __future__ import annotations

import os
from typing import Any

from surefoot.data.hashes import SEAL, check_seal
from surefoot.data.reading.files import read_json
from surefoot.errors import DataError


def read_sealed(path: str | os.PathLike[str], schema: str, otherwise: str, remedy: str) -> dict[str, Any]:
    """The plain data of a file that names the schema and was not changed, without its hash.

    `otherwise` says what another file is not; `remedy` what to do where it was changed.
    """
    data = read_json(path)
    if not isinstance(data, dict) or data.get("schema") != schema:
        raise DataError.at(path, None, f"{otherwise}; expected JSON with the schema {schema!r}")
    check_seal(data, path, remedy)
    return {name: value for name, value in data.items() if name != SEAL}
