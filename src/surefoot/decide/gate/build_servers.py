"""A decision for build servers: JUnit's XML, and in GitHub Actions the job's summary and lines shown as errors."""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ET
from datetime import UTC, datetime
from pathlib import Path

from surefoot.build_log import harmless, write_command
from surefoot.data.reading.files import file_status
from surefoot.data.writing.all_or_nothing import reporting_write_errors
from surefoot.decide.gate.decision_text import notes
from surefoot.decide.gate.decision_words import condition_name, headline, sentence, shown_name, unit_of
from surefoot.errors import visible
from surefoot.risk.assessment_data import Json

SUMMARY = "GITHUB_STEP_SUMMARY"  # the variable that names the summary's file
# The variable that names a file for the lines: the action prints them once commands count again in its log.
ANNOTATIONS = "SUREFOOT_ANNOTATIONS"
MOST_BYTES = 1 << 20  # of a step's summary; GitHub shows nothing of a longer one
MOST_LINES = 10  # of a kind that GitHub shows of a step
_CUT = "\n\n… cut: a job's summary has 1 MiB at most.\n"


def commands(data: Json) -> list[str]:
    """A line `::error` for each condition that fails, or `::warning` for each that is open; none where it ships."""
    kind, status, verb = {
        "stop": ("error", "fails", "fails"), "undecided": ("warning", "open", "is open"), "ship": ("notice", "", ""),
    }[data["decision"]]  # fmt: skip
    lines = [
        command(
            kind,
            f"{shown_name(data['candidate'])}: {condition_name(condition)} {verb}",
            sentence(condition, unit_of(data)),
        )
        for condition in data["conditions"]
        if condition["status"] == status
    ]
    if len(lines) > MOST_LINES:
        more = len(lines) - MOST_LINES + 1
        lines = [*lines[: MOST_LINES - 1], command(kind, f"{more} more conditions", headline(data))]
    return lines


def command(kind: str, title: str, message: str) -> str:
    """A workflow command whose texts cannot end it.

    >>> command("error", "risk: 5 %, at least", "a\\nb")
    '::error title=risk%3A 5 %25%2C at least::a%0Ab'
    """
    title, message = harmless(title), harmless(message)
    for letter, code in (("%", "%25"), ("\r", "%0D"), ("\n", "%0A")):
        title, message = title.replace(letter, code), message.replace(letter, code)
    for letter, code in ((":", "%3A"), (",", "%2C")):
        title = title.replace(letter, code)
    return f"::{kind} title={title}::{message}"


def annotate(data: Json, *, error: bool = False) -> None:
    """Give the lines to GitHub: by the file for them, or by printing them."""
    lines, path = commands(data), os.environ.get(ANNOTATIONS)
    if path:
        with reporting_write_errors(path), Path(path).open("a", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
    else:
        for line in lines:
            write_command(line, error=error)


def append_summary(path: str | os.PathLike[str], markdown: str) -> None:
    """Add to the job's summary, as much as it may hold."""
    file_state = file_status(path)
    room = MOST_BYTES - (file_state.st_size if file_state is not None else 0) - 1
    text = ("\n" + markdown).encode()
    if len(text) > room:
        fitting = text[: max(0, room - len(_CUT.encode()))].decode(errors="ignore")
        text = (fitting[: fitting.rfind("\n") + 1] + _CUT).encode() if room > len(_CUT.encode()) else b""
    with reporting_write_errors(path), Path(path).open("ab") as file:
        file.write(text)


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
