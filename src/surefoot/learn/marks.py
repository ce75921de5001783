"""Marks of the files of a training; a model's folder has none."""

from __future__ import annotations

from surefoot.data.writing.marks import json_mark

CHECKPOINT = json_mark("checkpoint")
