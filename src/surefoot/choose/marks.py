"""Marks of the files of a sweep's result and of a choice."""

from __future__ import annotations

import re

from surefoot.data.writing.marks import json_mark

SWEEP_JSON = json_mark("sweep")
CHOICE_JSON = json_mark("choice")
SWEEP_CSV = re.compile(rb"\Acandidate,kind,objective,alpha,part,")
