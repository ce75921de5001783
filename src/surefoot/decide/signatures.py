"""Files of decisions, certificates, draws and guards, and by what each is recognised; light, for the command line.

States that cannot be made again (draws, records) have no signature: they are never replaced unasked.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from surefoot.data.writing.signatures import json_signature
from surefoot.learn.model_files import model_files

DECISION_JSON = json_signature("decision")
DECISION_MARKDOWN = re.compile(rb"\A<!-- surefoot decision -->")
DECISION_JUNIT = re.compile(rb'<testsuite name="surefoot gate: ')
CERTIFICATE_JSON = json_signature("certificate")
SERVED_JSON = json_signature("shown")  # which list each query is shown
SERVED_CSV = re.compile(rb"\Aquery,shown,score,threshold,why\n")
HISTORY_JSON = json_signature("history")
HISTORY_CSV = re.compile(rb"\Adate,kind,file,measure,baseline,candidate,decision,")
DRAWS_CSV = re.compile(rb"\Aquery,times,could_lose,documents_to_judge\n")
GUARD, CERTIFICATE, RANKER = "guard.json", "certificate.json", "ranker"  # of a saved guard


def guard_files(folder: str | os.PathLike[str]) -> list[str]:
    """What is read of a saved guard."""
    return [*(str(Path(folder) / name) for name in (GUARD, CERTIFICATE)), *model_files(Path(folder) / RANKER)]


def is_guard_file(name: str) -> bool:
    """Whether a saved guard's folder holds something of this name."""
    return name in (GUARD, CERTIFICATE, RANKER)
