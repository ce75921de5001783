"""Files that tests of reading write, and the check that one is refused with its name and what is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from surefoot.errors import DataError


def write_file(path: Path, content: Any) -> Path:
    """Write bytes, a text, or anything else as JSON; gives the path."""
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1), encoding="utf-8")
    return path


def check_refused(read: Callable[[Path], Any], path: Path, message: str) -> None:
    """Reading the file must fail with an error that starts with its name and holds the message."""
    with pytest.raises(DataError) as caught:
        read(path)
    assert message in str(caught.value), str(caught.value)
    assert str(caught.value).startswith(str(path))
