"""Signatures: what only surefoot writes at either end of a file, so that its own files can be replaced and no others.

Each package has its signatures beside the code that writes the files, in its `signatures.py`; these modules import
nothing heavy, for the command line. TREC lines and Parquet have no room for a signature.
"""

from __future__ import annotations

import re
from typing import TypeAlias

Signature: TypeAlias = re.Pattern[bytes]


def json_signature(schema: str) -> Signature:
    """The signature of JSON whose schema is of this kind, in any version.

    >>> bool(json_signature("sweep").search(b'{"schema": "surefoot/sweep/1"'))
    True
    >>> bool(json_signature("sweep").search(b'{"schema": "surefoot/sweep-plan/1"'))
    False
    """
    return re.compile(rb'\A\{\s*"schema": "surefoot/' + re.escape(schema).encode() + b"/")


def any_of(*signatures: Signature) -> Signature:
    """The signature of a file that has one of these."""
    return re.compile(b"|".join(b"(?:" + signature.pattern + b")" for signature in signatures))


DEMO = re.compile(rb"\A(q\d+) (?:Q0|0|automatic) \1-d\d{3} ")  # runs and judgments of `demo.runs`
