"""The terminal's tables: which columns stay where it is narrow, colour, and the order of systems."""

from __future__ import annotations

import io
import re

import pytest

import surefoot as sf
from surefoot.report.columns import SUMMARY_COLUMNS
from surefoot.report.tables import plain_console, rendered
from surefoot.report.text import tables
from surefoot.report.top_lists import query_tables


@pytest.fixture(scope="module")
def demo() -> sf.Assessment:
    made = sf.demo.runs()
    return sf.assess(sf.score(made.qrels, made.runs, "nDCG@10"), baseline="today", alphas=[5], bootstrap=20)


def headings(assessment: sf.Assessment, width: int) -> list[str]:
    text = rendered(tables(assessment.to_dict(), assessment.rows()), width)
    assert max(map(len, text.splitlines())) <= width
    return [" ".join(line.split()[1:]) for line in text.splitlines() if line.startswith(" system")]


@pytest.mark.parametrize(
    ("width", "summary", "at_alpha", "bootstrap", "moved"),
    [
        (40, "mean risk lost", "U_Risk T_Risk", "U_Risk low U_Risk high", "re-ranked mean τ"),
        (60, "mean gain risk won lost >20%", "U_Risk T_Risk p GeoRisk", "U_Risk low U_Risk high",
         "re-ranked mean τ gain/re-ranked"),
        (80, "mean gain reward risk won lost tied >20% worst", "U_Risk U low U high T_Risk p GeoRisk",
         "U_Risk low U_Risk high GeoRisk low GeoRisk high", "re-ranked mean τ of re-ranked gain/re-ranked"),
        (120, "mean gain reward risk won lost tied >20% worst",
         "U_Risk U low U high T_Risk p skewness p robust p Z_Risk GeoRisk",
         "U_Risk low U_Risk high Z_Risk low Z_Risk high GeoRisk low GeoRisk high",
         "re-ranked mean τ of re-ranked gain/re-ranked"),
    ],
)  # fmt: skip
def test_what_tells_most_stays_where_it_is_narrow(
    demo: sf.Assessment, width: int, summary: str, at_alpha: str, bootstrap: str, moved: str
) -> None:
    assert headings(demo, width) == [summary, at_alpha, bootstrap, moved]


def printed(assessment: sf.Assessment) -> str:
    stream = io.StringIO()
    console = plain_console(file=stream, width=100, force_terminal=True, color_system="standard")
    for part in tables(assessment.to_dict(), assessment.rows()):
        console.print(part)
    return stream.getvalue()


def test_headings_and_their_meaning_are_those_of_the_columns(demo: sf.Assessment) -> None:
    text = rendered(tables(demo.to_dict(), demo.rows()), 200)
    meanings = {column.key: column.explain(demo.to_dict(), by_traffic=False) for column in SUMMARY_COLUMNS}
    for key, heading in (("loss_over_20", ">20%"), ("worst_mean", "worst")):
        assert f"{heading}: {meanings[key][0].lower()}{meanings[key][1:]}" in text
    assert meanings["worst_mean"].endswith("the worst 5 % of queries")
    assert re.search(r"α +U_Risk +T_Risk +Z_Risk +GeoRisk$", text, re.MULTILINE)
    assert "U low and U high: 95 % interval" in text


def test_a_terminal_has_colour_unless_the_user_wants_none(demo: sf.Assessment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = printed(demo)
    assert re.search("\x1b\\[32m *0\\.134", coloured)  # bold's gain
    assert re.search("\x1b\\[31m *−2\\.221", coloured)  # and its risk
    monkeypatch.setenv("NO_COLOR", "1")
    assert not re.search("\x1b\\[3[0-9]m", printed(demo))


def test_queries_are_shown_in_the_order_of_the_table(demo: sf.Assessment) -> None:
    for sort in ("mean", "risk", "u_risk"):
        rows = demo.rows(sort)
        text = rendered(query_tables(demo.to_dict(per_query=True), rows), 120)
        shown = re.findall("^(\\S+) hurts", text, re.MULTILINE)
        assert shown == [row["system"] for row in rows if row["losses"]]
