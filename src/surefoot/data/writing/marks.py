"""Marks: what only surefoot writes at either end of a file, so that its own files can be replaced and no others.

Each package has its marks beside the code that writes the files, in its `marks.py`; these modules import nothing heavy,
for the command line. TREC lines and Parquet have no room for a mark.
"""

from __future__ import annotations

import re
from typing import TypeAlias

Mark: TypeAlias = re.Pattern[bytes]


def json_mark(schema: str) -> Mark:
    """The mark of JSON whose schema is of this kind, in any version.

    >>> bool(json_mark("sweep").search(b'{"schema": "surefoot/sweep/1"'))
    True
    >>> bool(json_mark("sweep").search(b'{"schema": "surefoot/sweep-plan/1"'))
    False
    """
    return re.compile(rb'\A\{\s*"schema": "surefoot/' + re.escape(schema).encode() + b"/")


def any_of(*marks: Mark) -> Mark:
    """The mark of a file that bears one of these."""
    return re.compile(b"|".join(b"(?:" + mark.pattern + b")" for mark in marks))
