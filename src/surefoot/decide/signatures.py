"""Signatures of the files of decisions, certificates, draws, and lists that a guard shows.

States that cannot be made again (draws, records) have no signature: they are never replaced unasked.
"""

from __future__ import annotations

import re

from surefoot.data.writing.signatures import json_signature

DECISION_JSON = json_signature("decision")
DECISION_MARKDOWN = re.compile(rb"\A<!-- surefoot decision -->")
DECISION_JUNIT = re.compile(rb'<testsuite name="surefoot gate: ')
CERTIFICATE_JSON = json_signature("certificate")
SERVED_JSON = json_signature("shown")  # which list each query is shown
SERVED_CSV = re.compile(rb"\Aquery,shown,score,threshold,why\n")
HISTORY_JSON = json_signature("history")
HISTORY_CSV = re.compile(rb"\Adate,kind,file,measure,baseline,candidate,decision,")
DRAWS_CSV = re.compile(rb"\Aquery,times,could_lose,documents_to_judge\n")
