"""Signatures of the files of a study of personalization."""

from __future__ import annotations

import re

from surefoot.data.writing.signatures import json_signature

PERSONAL_JSON = json_signature("personalization")
PERSONAL_CSV = re.compile(rb"\Amodel,method,beta,alpha,chosen_as,part,")
