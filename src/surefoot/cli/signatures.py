"""Signatures: what only surefoot writes at either end of a file, so that its own files can be replaced and no others.

TREC lines and Parquet have no room for one, and a model's folder has none. States that cannot be made again (draws,
records) have none either: they are never replaced unasked.
"""

from __future__ import annotations

import re
from typing import TypeAlias

Signature: TypeAlias = re.Pattern[bytes]


def _json(schema: str) -> Signature:
    """The signature of JSON whose schema begins so."""
    return re.compile(rf'\A\{{\s*"schema": "surefoot/{schema}'.encode())


CHECKPOINT, EXPLANATION_JSON, HISTORY_JSON = map(_json, ("checkpoint/", "explanation/", "history/"))
JSON = _json(  # a result of any command: one may take the place of another, but never of a state
    "(?:(?:assessment|sweep|choice|decision|certificate|shown|personalization|explanation|history)/|stability-)"
)
SYSTEMS_CSV = re.compile(rb"\A(?:measure,)?system,mean,gain,reward,risk,")
QUERIES_CSV = re.compile(rb"\A(?:measure,)?query,system,baseline,score,difference,")
STUDY_CSV = re.compile(
    rb"\A(?:system,measure,noise,|measure,(?:rank,system,mean,|\w+,(?:queries,)?(?:difference,)?rate,))"
)
SWEEP_CSV = re.compile(rb"\Acandidate,kind,objective,alpha,part,")
PERSONAL_CSV = re.compile(rb"\Amodel,method,beta,alpha,chosen_as,part,")
HISTORY_CSV = re.compile(rb"\Adate,kind,file,measure,baseline,candidate,decision,")
DRAWS_CSV = re.compile(rb"\Aquery,times,could_lose,documents_to_judge\n")
SERVED_CSV = re.compile(rb"\Aquery,shown,score,threshold,why\n")  # which list each query is shown
METRICS = re.compile(  # those of an assessment, or of a result that decides
    rb'\A\{\s*"(?:(?P<system>[^"\n]+/)mean": [-+.e\d]+,\s*"(?P=system)geometric_mean": [-+.e\d]+,'
    rb'\s*"(?P=system)reward": |(?P<what>[^"\n]+/)(?P<how>decision|choice)/\w+": [01],\s*"(?P=what)(?P=how)/\w+": [01],'
    rb'\s*"(?P=what)(?P=how)/(?:undecided|unclear)": [01],)'
)
PAGE = re.compile(rb'<meta name="generator" content="surefoot ')
CHART = re.compile(rb"\A(?:\x89PNG|<\?xml|%PDF)(?s:.*)[>(\0]surefoot \d")
DECISION_MARKDOWN = re.compile(rb"\A<!-- surefoot decision -->")
DECISION_JUNIT = re.compile(rb'<testsuite name="surefoot gate: ')
EXPLANATION_MARKDOWN = re.compile(rb"\A# Query ")
CARD = re.compile(rb"\A---\nlibrary_name: surefoot\n")
DEMO = re.compile(rb"\A(q\d+) (?:Q0|0|automatic) \1-d\d{3} ")  # made-up runs and judgments
