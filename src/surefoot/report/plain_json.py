"""Plain data as JSON text that keeps every name exactly and yet cannot steer the terminal it is printed to."""

from __future__ import annotations

import json
from typing import Any

from surefoot.errors import CONTROL_CHARACTERS


def to_json(data: Any) -> str:
    r"""Readable JSON; characters that steer a terminal, or that UTF-8 cannot hold, are written as escapes.

    >>> to_json("α\x9b31m")
    '"α\\u009b31m"\n'
    """
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    # Outside of strings JSON holds none of them but line feeds, which are its own.
    return CONTROL_CHARACTERS.sub(lambda match: match[0] if match[0] == "\n" else f"\\u{ord(match[0]):04x}", text)
