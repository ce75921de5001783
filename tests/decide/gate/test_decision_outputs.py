"""What pipelines read: Markdown, JUnit XML, GitHub's commands and summary, the page; whatever the names."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import pytest
from lxml import etree

import surefoot as sf
from surefoot.decide.gate.build_servers import MOST_BYTES, append_summary, command, commands

SCHEMA = Path(__file__).with_name("junit.xsd")
HOSTILE = [
    "q|1", "<script>alert(1)</script>", "::error::x", "a\nb", "\x1b[31mred", "=cmd()", "x" * 5000, "\ufffe\uffff",
    "`*_[]", "]]>", "&amp;", "\u202eright to left",
]  # fmt: skip


pytestmark = pytest.mark.usefixtures("few")


def decided(kind: str, names: tuple[str, str] = ("today", "new"), queries: list[str] | None = None) -> sf.Decision:
    rng = np.random.default_rng(0)
    ids = queries or [f"q{i}" for i in range(200)]
    ids = [*ids, *(f"more{i}" for i in range(200 - len(ids)))]
    today = rng.uniform(0.5, 0.8, 200)
    new = today + {"ship": 0.1, "stop": -0.4, "undecided": 0.0}[kind] + rng.normal(0, 0.01, 200)
    scores = sf.Scores([today, new], names, ids, "nDCG@10")
    policy = {"risk": 0.005 if kind == "undecided" else 0.05, "gain": 0.0}
    found = sf.gate(scores, candidate=names[1], baseline=names[0], policy=policy)
    assert found.decision == kind
    return found


KINDS = ["ship", "stop", "undecided"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("hostile", [False, True])
def test_junit_is_valid_and_counts_right(kind: str, hostile: bool) -> None:
    names = ("<today>&", "new\x1b]0;x\ufffe") if hostile else ("today", "new")
    text = decided(kind, names, HOSTILE if hostile else None).to_junit()
    tree = etree.parse(io.BytesIO(text.encode()))
    etree.XMLSchema(etree.parse(SCHEMA)).assertValid(tree)
    (suite,) = tree.getroot()
    cases = suite.findall("testcase")
    assert int(suite.get("tests")) == len(cases) == 2
    for kind_, element in (("failures", "failure"), ("skipped", "skipped"), ("errors", "error")):
        assert int(suite.get(kind_)) == len(suite.findall(f"testcase/{element}"))
    assert (suite.find("testcase/failure") is None) == (kind == "ship")


def test_the_schema_refuses_what_is_no_junit() -> None:
    schema = etree.XMLSchema(etree.parse(SCHEMA))
    text = decided("stop").to_junit()
    for old, new in (
        ("<failure ", "<failed "),
        (' tests="2"', ""),
        ('time="0"', 'time="soon"'),
        ("</failure>", "<b/></failure>"),
    ):
        wrong = text.replace(old, new).replace("</failure>", "</failed>" if "failed" in new else "</failure>")
        assert not schema.validate(etree.fromstring(wrong.encode()))


@pytest.mark.parametrize("kind", KINDS)
def test_markdown_has_the_conditions_and_the_queries_hurt_most(kind: str) -> None:
    decision = decided(kind)
    text = decision.to_markdown()
    assert text.startswith("<!-- surefoot decision -->\n")
    assert {"ship": "### Ship: new", "stop": "### Stop: new", "undecided": "### Undecided: new"}[kind] in text
    assert "| risk ≤ " in text
    worst = decision.to_dict()["most_hurt"][:20]
    assert [row["query"] in text for row in worst] == [True] * len(worst)
    rows = [line for line in text.split("\n") if re.match(r"\| \d+ \|", line)]
    assert len(rows) == len(worst)
    if kind == "undecided":
        assert "queries in a new sample would" in text or "would probably not" in text


def test_names_cannot_break_out() -> None:
    decision = decided("stop", ("to|day", "<b>new</b>"), HOSTILE)
    text = decision.to_markdown()
    rows = [line for line in text.split("\n") if line.startswith("|")]
    assert all(len(re.findall(r"(?<!\\)\|", row)) in (6, 8) for row in rows)
    assert not re.search(r"(?<!\\)<(?!!--)", text)
    assert max(map(len, rows)) < 1000
    for shown in (
        text,
        decision.to_text(),
        "\n".join(commands(decision.to_dict())),
        decision.to_csv(),
        decision.to_html(),
    ):
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", shown)
    assert not [line for line in decision.to_text().split("\n") if line.startswith("::")]


def test_commands_are_escaped_and_at_most_ten() -> None:
    assert command("error", "a:b,c%\r\n", "d:e,f%\r\n") == "::error title=a%3Ab%2Cc%25%0D%0A::d:e,f%25%0D%0A"
    assert commands(decided("ship").to_dict()) == []
    (line, *more) = commands(decided("stop").to_dict())
    assert line.startswith(
        "::error title=new%3A risk ≤ 0.05 fails::risk ≤ 0.05 fails: the average loss is at least 0.3"
    )
    assert len(more) == 1
    assert all(line.startswith("::warning title=new") for line in commands(decided("undecided").to_dict()))
    data = decided("stop").to_dict()
    many = commands(data | {"conditions": data["conditions"][:1] * 30})
    assert len(many) == 10
    assert "21 more conditions" in many[-1]


def test_the_summary_is_added_to_and_never_too_long(tmp_path: Path) -> None:
    path = tmp_path / "summary.md"
    path.write_text("before\n")
    append_summary(path, "one\n")
    append_summary(path, "two\n")
    assert path.read_text() == "before\n\none\n\ntwo\n"
    append_summary(path, "é line\n" * 300_000)
    assert path.stat().st_size <= MOST_BYTES
    assert path.read_text().endswith("1 MiB at most.\n")
    size = path.stat().st_size
    append_summary(path, "x" * 2000)
    assert size <= path.stat().st_size <= MOST_BYTES
    append_summary(tmp_path / "new.md", "made\n")
    assert (tmp_path / "new.md").read_text() == "\nmade\n"


def test_of_many_conditions_the_worst_are_told_first() -> None:
    data = decided("stop").to_dict()
    (fails, _), holds = data["conditions"], decided("ship").to_dict()["conditions"][0]
    many = sf.Decision(data | {"conditions": [holds] * 30 + [fails]})
    text = many.to_text()
    assert text.index("• risk ≤ 0.05 fails") < text.index("• risk ≤ 0.05 holds")
    assert "and 21 more conditions" in text
    assert many.to_markdown().count("| risk ≤ 0.05 |") == 31
    assert many.to_html().index('<figure data-kind="keep">') < many.to_html().index('<figure data-kind="ship">')


def test_csv_has_a_line_per_condition() -> None:
    header, *lines = decided("stop").to_csv().splitlines()
    assert header.startswith("decision,condition_name,segment,level,alpha,observed,bound,")
    assert len(lines) == 2
