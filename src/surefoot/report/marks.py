"""Marks of an assessment's files, of all pages and of all figures."""

from __future__ import annotations

import re

from surefoot.data.writing.marks import json_mark

ASSESSMENT_JSON = json_mark("assessment")
SYSTEMS_CSV = re.compile(rb"\A(?:measure,)?system,mean,gain,reward,risk,")
QUERIES_CSV = re.compile(rb"\A(?:measure,)?query,system,baseline,score,difference,")
METRICS = re.compile(rb'\A\{\s*"([^"\n]+/)mean": [-+.e\d]+,\s*"\1geometric_mean": [-+.e\d]+,\s*"\1reward": ')
PAGE = re.compile(rb'<meta name="generator" content="surefoot ')
FIGURE = re.compile(rb"\A(?:\x89PNG|<\?xml|%PDF)(?s:.*)[>(\0]surefoot \d")
