"""Signatures of the files of generated data."""

from __future__ import annotations

import re

DEMO = re.compile(rb"\A(q\d+) (?:Q0|0|automatic) \1-d\d{3} ")  # runs and judgments of `demo.runs`
