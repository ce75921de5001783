"""Signatures: what only surefoot writes at either end of a file, so that its own files can be replaced and no others.

TREC lines and Parquet have no room for one, and a model's folder has none. States that cannot be made again (draws,
records) have none either: they are never replaced unasked.
"""

from __future__ import annotations

import re
from typing import TypeAlias

Signature: TypeAlias = re.Pattern[bytes]


def json_signature(schema: str) -> Signature:
    """The signature of JSON whose schema is of this kind, in any version.

    >>> bool(json_signature("sweep").search(b'{"schema": "surefoot/sweep/1"'))
    True
    >>> bool(json_signature("sweep").search(b'{"schema": "surefoot/sweep-plan/1"'))
    False
    """
    return re.compile(rb'\A\{\s*"schema": "surefoot/' + re.escape(schema).encode() + b"/")


# Of an assessment; all pages and charts
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

# Of studies of stability
STUDY_JSON = re.compile(rb'\A\{\s*"schema": "surefoot/stability-')
STUDY_CSV = re.compile(
    rb"\A(?:system,measure,noise,|measure,(?:rank,system,mean,|\w+,(?:queries,)?(?:difference,)?rate,))"
)

# Of a sweep's result and a choice
SWEEP_JSON = json_signature("sweep")
CHOICE_JSON = json_signature("choice")
SWEEP_CSV = re.compile(rb"\Acandidate,kind,objective,alpha,part,")

# Of decisions, certificates, draws, and lists that a guard shows
DECISION_JSON = json_signature("decision")
DECISION_MARKDOWN = re.compile(rb"\A<!-- surefoot decision -->")
DECISION_JUNIT = re.compile(rb'<testsuite name="surefoot gate: ')
CERTIFICATE_JSON = json_signature("certificate")
SERVED_JSON = json_signature("shown")  # which list each query is shown
SERVED_CSV = re.compile(rb"\Aquery,shown,score,threshold,why\n")
HISTORY_JSON = json_signature("history")
HISTORY_CSV = re.compile(rb"\Adate,kind,file,measure,baseline,candidate,decision,")
DRAWS_CSV = re.compile(rb"\Aquery,times,could_lose,documents_to_judge\n")

# Of a training, and explanations
CHECKPOINT = json_signature("checkpoint")
EXPLANATION_JSON = json_signature("explanation")
EXPLANATION_MARKDOWN = re.compile(rb"\A# Query ")
CARD = re.compile(rb"\A---\nlibrary_name: surefoot\n")

# Of a study of personalization
PERSONAL_JSON = json_signature("personalization")
PERSONAL_CSV = re.compile(rb"\Amodel,method,beta,alpha,chosen_as,part,")

# Of generated data
DEMO = re.compile(rb"\A(q\d+) (?:Q0|0|automatic) \1-d\d{3} ")  # runs and judgments of `demo.runs`

# A result of any command as JSON: one may take the place of another, but never of a state.
_RESULTS = (
    ASSESSMENT_JSON, STUDY_JSON, SWEEP_JSON, CHOICE_JSON, DECISION_JSON, CERTIFICATE_JSON, SERVED_JSON, PERSONAL_JSON,
    EXPLANATION_JSON, HISTORY_JSON,
)  # fmt: skip
JSON = re.compile(b"|".join(signature.pattern for signature in _RESULTS))
