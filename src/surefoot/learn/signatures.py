"""Signatures of the files of a training and of explanations; a model's folder has none."""

from __future__ import annotations

import re

from surefoot.data.writing.signatures import json_signature

CHECKPOINT = json_signature("checkpoint")
EXPLANATION_JSON = json_signature("explanation")
EXPLANATION_MARKDOWN = re.compile(rb"\A# Query ")
CARD = re.compile(rb"\A---\nlibrary_name: surefoot\n")
