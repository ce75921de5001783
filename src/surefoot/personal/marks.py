"""Marks of the files of a study of personalization."""

from __future__ import annotations

import re

from surefoot.data.writing.marks import json_mark

PERSONAL_JSON = json_mark("personalization")
PERSONAL_CSV = re.compile(rb"\Amodel,method,beta,alpha,chosen_as,part,")
