"""Signatures: what only surefoot writes at either end of a file, so that its own files can be replaced and no others.

JSON is known by its schema; that of results is in `report/kinds.py`. TREC lines and Parquet have no room for a
signature. States that cannot be made again (draws, records) and models have none: they are never replaced unasked.
"""

from __future__ import annotations

import re
from typing import TypeAlias

Signature: TypeAlias = re.Pattern[bytes]


def json_signature(*schemas: str) -> Signature:
    """The signature of JSON whose schema is one of these, in any version.

    >>> bool(json_signature("sweep").search(b'{"schema": "surefoot/sweep/1"'))
    True
    >>> bool(json_signature("sweep").search(b'{"schema": "surefoot/sweep-plan/1"'))
    False
    """
    return re.compile(rb'\A\{\s*"schema": "surefoot/(?:' + "|".join(map(re.escape, schemas)).encode() + b")/")


DEMO = re.compile(rb"\A(q\d+) (?:Q0|0|automatic) \1-d\d{3} ")  # runs and judgments of `demo.runs`
CHECKPOINT = json_signature("checkpoint")
CARD = re.compile(rb"\A---\nlibrary_name: surefoot\n")
EXPLANATION_JSON = json_signature("explanation")
EXPLANATION_MARKDOWN = re.compile(rb"\A# Query ")
SYSTEMS_CSV = re.compile(rb"\A(?:measure,)?system,mean,gain,reward,risk,")
QUERIES_CSV = re.compile(rb"\A(?:measure,)?query,system,baseline,score,difference,")
METRICS = re.compile(  # those of an assessment, or of a result that decides
    rb'\A\{\s*"(?:(?P<system>[^"\n]+/)mean": [-+.e\d]+,\s*"(?P=system)geometric_mean": [-+.e\d]+,'
    rb'\s*"(?P=system)reward": |(?P<what>[^"\n]+/)(?P<how>decision|choice)/\w+": [01],\s*"(?P=what)(?P=how)/\w+": [01],'
    rb'\s*"(?P=what)(?P=how)/(?:undecided|unclear)": [01],)'
)
PAGE = re.compile(rb'<meta name="generator" content="surefoot ')
CHART = re.compile(rb"\A(?:\x89PNG|<\?xml|%PDF)(?s:.*)[>(\0]surefoot \d")
STUDY_CSV = re.compile(
    rb"\A(?:system,measure,noise,|measure,(?:rank,system,mean,|\w+,(?:queries,)?(?:difference,)?rate,))"
)
SWEEP_CSV = re.compile(rb"\Acandidate,kind,objective,alpha,part,")
CHOICE_JSON = json_signature("choice")
PERSONAL_CSV = re.compile(rb"\Amodel,method,beta,alpha,chosen_as,part,")
DECISION_MARKDOWN = re.compile(rb"\A<!-- surefoot decision -->")
DECISION_JUNIT = re.compile(rb'<testsuite name="surefoot gate: ')
SHOWN_JSON = json_signature("shown")  # which list each query is shown
SHOWN_CSV = re.compile(rb"\Aquery,shown,score,threshold,why\n")
HISTORY_CSV = re.compile(rb"\Adate,kind,file,measure,baseline,candidate,decision,")
DRAWS_CSV = re.compile(rb"\Aquery,times,could_lose,documents_to_judge\n")
