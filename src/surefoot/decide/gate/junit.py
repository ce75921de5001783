"""A decision as JUnit's XML, which every build server shows: a test case for each condition."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from datetime import UTC, datetime

from surefoot.decide.gate.decision_text import notes
from surefoot.decide.gate.decision_words import condition_name, headline, sentence, shown_name, unit_of
from surefoot.errors import visible
from surefoot.risk.assessment_data import Json

_NO_XML = re.compile("[\ufffe\uffff]")  # which XML cannot hold, besides what `visible` replaces


def to_junit(data: Json) -> str:
    """A suite with a case for each condition: one that fails is a failure, one that is open is so where all is."""
    undecided = data["decision"] == "undecided"
    open_ = sum(condition["status"] == "open" for condition in data["conditions"])
    failed = sum(condition["status"] == "fails" for condition in data["conditions"])
    root = ET.Element("testsuites")
    suite = ET.SubElement(
        root,
        "testsuite",
        name=_text(
            f"surefoot gate: {shown_name(data['candidate'])} against {shown_name(data['baseline'])}, {data['measure']}"
        ),
        package="surefoot.gate",
        id="0",
        timestamp=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S"),
        hostname="localhost",
        tests=str(len(data["conditions"])),
        failures=str(failed + open_ * undecided),
        errors="0",
        skipped=str(open_ * (not undecided)),
        time="0",
    )
    properties = ET.SubElement(suite, "properties")
    for key in ("decision", "candidate", "baseline", "measure", "queries", "delta"):
        ET.SubElement(properties, "property", name=key, value=_text(str(data[key])))
    for condition in data["conditions"]:
        case = ET.SubElement(
            suite, "testcase", name=_text(condition_name(condition)), classname="surefoot.gate", time="0"
        )
        text = _text(sentence(condition, unit_of(data)))
        if condition["status"] == "fails" or (condition["status"] == "open" and undecided):
            kind = "stop" if condition["status"] == "fails" else "undecided"
            ET.SubElement(case, "failure", message=text, type=kind).text = text
        elif condition["status"] == "open":
            ET.SubElement(case, "skipped", message=text)
    ET.SubElement(suite, "system-out").text = _text(" ".join([headline(data), *notes(data)]))
    ET.SubElement(suite, "system-err")
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _text(text: str) -> str:
    return _NO_XML.sub("�", visible(text))
