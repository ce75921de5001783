"""Signatures of an assessment's files, of all pages and of all charts."""

from __future__ import annotations

import re

from surefoot.data.writing.signatures import json_signature

ASSESSMENT_JSON = json_signature("assessment")
SYSTEMS_CSV = re.compile(rb"\A(?:measure,)?system,mean,gain,reward,risk,")
QUERIES_CSV = re.compile(rb"\A(?:measure,)?query,system,baseline,score,difference,")
METRICS = re.compile(  # those of an assessment, or of a result that decides
    rb'\A\{\s*"(?:(?P<system>[^"\n]+/)mean": [-+.e\d]+,\s*"(?P=system)geometric_mean": [-+.e\d]+,'
    rb'\s*"(?P=system)reward": |(?P<what>[^"\n]+/)(?P<how>decision|choice)/\w+": [01],\s*"(?P=what)(?P=how)/\w+": [01],'
    rb'\s*"(?P=what)(?P=how)/(?:undecided|unclear)": [01],)'
)
PAGE = re.compile(rb'<meta name="generator" content="surefoot ')
CHART = re.compile(rb"\A(?:\x89PNG|<\?xml|%PDF)(?s:.*)[>(\0]surefoot \d")
