"""Signatures of the files of studies of stability."""

from __future__ import annotations

import re

STUDY_JSON = re.compile(rb'\A\{\s*"schema": "surefoot/stability-')
STUDY_CSV = re.compile(
    rb"\A(?:system,measure,noise,|measure,(?:rank,system,mean,|\w+,(?:queries,)?(?:difference,)?rate,))"
)
