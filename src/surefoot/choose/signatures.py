"""Signatures of the files of a sweep's result and of a choice."""

from __future__ import annotations

import re

from surefoot.data.writing.signatures import json_signature

SWEEP_JSON = json_signature("sweep")
CHOICE_JSON = json_signature("choice")
SWEEP_CSV = re.compile(rb"\Acandidate,kind,objective,alpha,part,")
