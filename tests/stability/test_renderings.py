"""What people and programs read of studies: JSON by its schema, CSV, notebook, and a page that no name breaks."""

from __future__ import annotations

import csv
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from markupsafe import escape
from tests.report.notebooks import checked as checked_view
from tests.report.notebooks import told
from tests.report.schemas import check_data

import surefoot as sf
from surefoot.errors import ArgumentError, DataError
from surefoot.report.kinds import KINDS
from surefoot.report.line_chart import ChartLine, line_chart
from surefoot.stability.front import front
from surefoot.stability.page import to_page
from surefoot.stability.study import Study
from surefoot.stability.text import findings, title

HOSTILE = "</style><script>alert(1)</script>\u202e\"'&\ud800"


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.append((tag, dict(attrs)))


def checked(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    assert {tag for tag, _ in reader.tags}.isdisjoint({"img", "iframe", "object", "base"})
    for _, attributes in reader.tags:
        assert not any(name.startswith("on") or name in ("style", "src") for name in attributes)
        assert attributes.get("href") in (None, "data:,", "#main-content")
    assert "default-src 'none'" in next(a["content"] for t, a in reader.tags if t == "meta" and "http-equiv" in a)
    assert set(re.findall(r"https?://[^\"' ]+", page)) <= {"http://www.w3.org/2000/svg"}  # a name, not an address
    return reader


def test_all_pages_have_one_shell(studies) -> None:
    scores = sf.Scores([[0.5, 0.25], [0.75, 0.0]], ["today", "new"], ["q1", "q2"])
    pages = [studies[0].to_html(), sf.assess(scores, baseline="today").to_html()]
    heads = [re.search(r'<meta name="viewport".*?<title>', page, re.DOTALL)[0] for page in pages]
    assert heads[0] == heads[1]


def test_every_study_has_a_safe_page(studies, tmp_path: Path) -> None:
    for study in studies:
        study.write(tmp_path / "study.html")
        page = study.to_html()
        assert (tmp_path / "study.html").read_text() == page
        tags = [tag for tag, _ in checked(page).tags]
        assert (tags.count("h1"), tags.count("h2")) == (1, 2)
        assert "&lt;script&gt;" in page
        assert len(page) < 200_000
    page = to_page([study.to_dict() for study in studies])
    reader = checked(page)
    assert sum(tag == "svg" for tag, _ in reader.tags) == 18  # nine charts, wide and narrow
    assert all(escape(front(study.to_dict()).headline) in page for study in studies)


def test_names_cannot_break_out_of_the_page() -> None:
    scores = sf.Scores(np.array([[0.5, 0.6], [0.4, 0.7]]), [HOSTILE, "b"], ["q", HOSTILE], HOSTILE)
    for study in (sf.stability.subsets(scores, sizes=[1]), sf.stability.measures(scores, replicates=5)):
        checked(to_page([study.to_dict()])).close()


def test_a_page_needs_a_study() -> None:
    with pytest.raises(ArgumentError, match="at least one study"):
        to_page([])


def test_charts_of_one_point_and_of_constant_lines() -> None:
    for x, values in (([5.0], [0.5]), ([1.0, 2.0], [0.0, 0.0])):
        drawn = line_chart(x, [ChartLine("a", values)], label="l", x_label="x", y_label="y", logarithmic=True)
        assert "nan" not in drawn
        assert "inf" not in drawn


def test_reading_back(studies, tmp_path: Path) -> None:
    for study in studies:
        again = Study.read(written(tmp_path, study))
        assert again.to_dict() == study.to_dict()
        assert (again.to_text(), again.to_csv(), again.to_html()) == (study.to_text(), study.to_csv(), study.to_html())
        for key in ("results", "systems", "measures", "sizes", "periods", "disagreements"):
            data = {name: value for name, value in study.to_dict().items() if name != key}
            if data != study.to_dict():
                (tmp_path / "bad.json").write_text(json.dumps(data))
                with pytest.raises(DataError, match=r"bad\.json: is damaged or incomplete"):
                    Study.read(tmp_path / "bad.json")
    for text in ("{}", "[1]", "no", '{"schema": "surefoot/assessment/1"}', "[" * 100_000):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(DataError, match=r"bad\.json"):
            Study.read(tmp_path / "bad.json")


def written(folder: Path, study: Study) -> Path:
    study.write(folder / "study.json")
    return folder / "study.json"


def test_csv(studies, tmp_path: Path) -> None:
    for study in studies:
        study.write(tmp_path / "study.csv")
        header, *lines = csv.reader((tmp_path / "study.csv").read_text().splitlines())
        assert all(len(line) == len(header) for line in lines)
        assert {line[header.index("measure")] for line in lines} == set(study.to_dict()["measures"])


def test_studies_hold_nothing_that_is_not_in_it(studies: list[Study]) -> None:
    assert tuple(study.schema for study in studies) == KINDS["study"].schemas
    for study in studies:
        check_data(study.to_dict(), "study")


def test_edges_hold_to_it() -> None:
    scores = sf.Scores([[0.5, 0.5], [0.5, 0.5]], ["a", "b"], ["q", "r"])
    dates = {"q": "2026-11-15"}
    for study in (
        sf.stability.subsets(scores, subsets=1),
        sf.stability.time(scores, dates, size=1, subsets=1, period="month"),
        sf.stability.measures(scores, replicates=2, most=0),
    ):
        check_data(study.to_dict(), "study")


def test_another_type_is_refused_by_its_place(studies: list[Study]) -> None:
    data = json.loads(studies[1].to_json())
    data["subsets"] = 2.5
    with pytest.raises(DataError, match=r"subsets is 2\.5; expected a whole number"):
        Study.from_dict(data)


@pytest.mark.parametrize("number", range(4))
def test_a_study_in_a_notebook(studies: list[Study], number: int) -> None:
    study = studies[number]
    words, root = told(study._repr_html_()), checked_view(study._repr_html_())
    data = study.to_dict()
    for sentence in (title(data), *findings(data)):
        assert sentence.replace("\u202e", "�") in words
    assert len(root.find(".//tbody")) >= 2
    assert "<script" not in study._repr_html_()
