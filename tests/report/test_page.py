"""The page's payload and text: what it holds, how large it is, and that nothing in it can run or call out."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import ArgumentError, DataError
from surefoot.report.assessment import Assessment
from surefoot.report.family import script_of
from surefoot.report.options import PANEL_ALPHAS
from surefoot.report.page import SCRIPTS, page_payload
from surefoot.report.page_results import pack, packed_results
from surefoot.report.provenance import Link, Provenance, SourceFile

HOSTILE = ["<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>", '"onmouseover=alert(3)', "\u202eevil"]


def embedded(html: str) -> dict[str, Any]:
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    assert match is not None
    return json.loads(match[1])


def floats(text: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.frombuffer(base64.b64decode(text), dtype="<f8")


def unpack(packed: dict[str, Any]) -> list[int]:
    raw, width = base64.b64decode(packed["data"]), packed["width"]
    return [int.from_bytes(raw[i : i + width], "little") for i in range(0, len(raw), width)]


def documents_of(results: dict[str, Any]) -> list[str]:
    ids, last = [], ""
    rest, separator = results["ids"]["rest"], results["ids"]["separator"]
    ends = rest if separator is None else rest.split(separator)
    for shared, end in zip(unpack(results["ids"]["shared"]), ends, strict=True):
        last = last[:shared] + end
        ids.append(last)
    return ids


@pytest.fixture(scope="module")
def demo() -> Assessment:
    made = sf.demo.runs(queries=40)
    return sf.assess(sf.score(made.qrels, made.runs, "nDCG@10"), baseline="today", alphas=[0, 5], depth=10)


def test_payload_holds_the_matrix_to_the_last_bit(demo: Assessment) -> None:
    payload = embedded(demo.to_html())
    assert payload["systems"] == list(demo.scores.systems)
    assert payload["queries"] == list(demo.scores.queries)
    assert np.array_equal(
        floats(payload["measures"][0]["scores"]).reshape(demo.scores.values.shape), demo.scores.values
    )
    assert payload["start"] == {"alpha": 5, "baseline": "today", "system": "steady"}  # nearest to being shipped
    assert payload["critical_value"] == demo.to_dict()["critical_value"]
    script = re.findall(r"<script>(.*)</script>", demo.to_html(), re.DOTALL)[0]
    read = set(re.findall(r"(?<!\w\.)\bdata\??\.(\w+)", script)) - {"trim"}  # that of a text node
    assert set(payload) == read  # what the scripts read, and nothing else


def test_scripts_take_constants_from_the_payload(demo: Assessment) -> None:
    payload = embedded(demo.to_html())
    assert payload["panel_alphas"] == list(PANEL_ALPHAS)
    assert not re.search(r"\b95 %|\[0, 5, 10, 15\]|\b9\.5\b", script_of(SCRIPTS))


def test_the_system_shown_first_is_no_baseline() -> None:
    scores = sf.Scores([[0.9, 0.8], [0.7, 0.8], [0.5, 0.6]], ["today", "last", "new"], ["q1", "q2"])
    a = sf.assess(scores, baseline=["today", "last"])
    assert embedded(a.to_html())["start"]["system"] == "new"
    assert "new loses" in a._repr_html_()
    every = sf.assess(scores, baseline=["today", "last", "new"])
    assert embedded(every.to_html())["start"]["system"] == "today"


def test_start(demo: Assessment) -> None:
    payload = page_payload([(demo.to_dict(), demo.scores)], system="dense", alpha=2)
    assert payload["start"] == {"alpha": 2.0, "baseline": "today", "system": "dense"}
    with pytest.raises(ArgumentError, match="no system is named 'nobody'"):
        demo.to_html(system="nobody")
    with pytest.raises(ArgumentError, match="alpha is -1"):
        demo.to_html(alpha=-1)


def test_results_are_the_runs(demo: Assessment) -> None:
    results = embedded(demo.to_html())["results"]
    ids, levels, queries = documents_of(results), results["levels"], demo.scores.queries
    assert ids == sorted(set(ids))
    grades = demo.scores.qrels.to_dict()
    baseline = next(run for run in demo.scores.runs if run.name == "today")
    for run, packed in zip(demo.scores.runs, results["systems"], strict=True):
        assert np.cumsum(unpack(packed["queries"])).tolist() == list(range(len(queries)))
        own = zip(unpack(packed["documents"]), unpack(packed["grades"]), strict=True)
        places = iter(unpack(packed["places"])) if packed["places"] else itertools.repeat(0)
        for query, length in zip(queries, unpack(packed["lengths"]), strict=True):
            expected, base = (list(one.to_dict()[query])[:20] for one in (run, baseline))
            for document, place in zip(expected, places, strict=False):
                if place:  # what the baseline's list has too is its place there
                    assert base[place - 1] == document
                else:
                    number, level = next(own)
                    assert (ids[number], levels[level - 1]) == (document, grades[query][document])
            assert length == len(expected)
        assert next(own, None) is None


def test_only_the_most_hurt_and_most_helped_have_results(demo: Assessment) -> None:
    results = embedded(demo.to_html(detail=3))["results"]
    bold = demo.scores.systems.index("bold")
    order = np.argsort(demo.scores["bold"] - demo.scores["today"], kind="stable")
    numbers = np.cumsum(unpack(results["systems"][bold]["queries"])).tolist()
    assert numbers == sorted([*order[:3], *order[-3:]])
    assert embedded(demo.to_html(detail=0))["results"] is None
    for wrong in (-1, 2.5, True):
        with pytest.raises(ArgumentError, match="detail is"):
            demo.to_html(detail=wrong)


def test_rounding_in_the_mean_makes_no_query_the_most_hurt() -> None:
    queries = ["q1", "q2", "q3"]
    qrels = {query: {"d1": 1} for query in queries}
    runs = {name: {query: {"d1": 1.0} for query in queries} for name in "abc"}
    scored = sf.score(qrels, runs, "RR")
    values = np.array([[0.1, 0.1, 0.1], [0.1, 0.2, 0.1], [0.1, 0.3, 0.1]])
    assert values[:, 1].mean() != 0.2  # by rounding
    scores = sf.Scores(values, list("abc"), queries, runs=scored.runs, qrels=scored.qrels)
    html = sf.assess(scores, baseline="mean", alphas=[0]).to_html(detail=1)
    shown = embedded(html)["results"]["systems"][1]["queries"]
    assert np.cumsum(unpack(shown)).tolist() == [0, 2]  # as the page's own order, which takes all three for ties


def test_results_with_gaps() -> None:
    qrels = {"q1": {"a b": 2, "c,d": 0}, "q2": {"e;|~^\tf": 1.5}, "q3": {"g": 0}}
    runs = {
        "today": {"q1": {"a b": 2.0, "un judged": 1.0}, "q2": {"e;|~^\tf": 1.0}},
        "new": {"q1": {"c,d": 2.0, "a b": 1.0}, "q3": {"g": 1.0}},
    }
    scores = sf.score(qrels, runs, "nDCG@10")
    results = packed_results(scores, "today", [scores.values - scores["today"]], 500)
    assert results is not None
    assert results["ids"]["separator"] is None
    assert documents_of(results) == ["a b", "c,d", "e;|~^\tf", "g", "un judged"]
    assert results["levels"] == [0, 1.5, 2]
    today, new = results["systems"]
    assert unpack(today["lengths"]) == [2, 1, 0]
    assert unpack(today["grades"]) == [3, 0, 2]
    assert unpack(new["lengths"]) == [2, 0, 1]
    assert unpack(new["places"]) == [0, 1, 0]  # of its results, in the baseline's list
    assert unpack(new["documents"]) == [1, 3]  # those that the baseline's list does not have,
    assert unpack(new["before"]) == [0, 0]  # and where they stood before
    assert unpack(new["after"]) == [0, 0]  # where those of the baseline went that its list does not have


def test_pack_keeps_numbers() -> None:
    for numbers in ([], [0], [255], [256, 3], [70_000, 1], [2**24]):
        assert unpack(pack(np.array(numbers, dtype=np.int64))) == numbers


def test_ids_beyond_the_basic_plane() -> None:
    ids = ["😀a", "😀b", "é1", "é2"]
    scores = sf.score({"q": dict.fromkeys(ids, 1)}, {"a": {"q": dict.fromkeys(ids, 1.0)}}, "nDCG@10")
    results = packed_results(scores, None, [scores.values], 5)
    assert results is not None
    assert documents_of(results) == sorted(ids)


def test_without_runs() -> None:
    payload = embedded(sf.assess({"a": {"q": 0.5, "r": 0.1}, "b": {"q": 0.2, "r": 0.3}}, "a").to_html())
    assert payload["results"] is None
    assert payload["measures"][0]["churn"] is None


@pytest.mark.parametrize("baseline", ["a", "mean", "median", "max", ["a", "b"], ["max", "b"], ["a"]])
def test_baselines(baseline: str | list[str]) -> None:
    scores = {"a": {"q": 0.5, "r": 0.1}, "b": {"q": 0.2, "r": 0.3}, "c": {"q": 0.5, "r": 0.1}}
    payload = embedded(sf.assess(scores, baseline).to_html())
    assert payload["start"]["baseline"] == (baseline if isinstance(baseline, str) else baseline[0])
    assert payload["start"]["system"] != payload["start"]["baseline"]


def test_a_system_named_as_a_virtual_baseline() -> None:
    scores = {"mean": {"q": 0.5, "r": 0.1}, "per-query mean": {"q": 0.2, "r": 0.3}, "c": {"q": 0.4, "r": 0.1}}
    payload = embedded(sf.assess(scores, "c").to_html())
    assert payload["virtual"][0] == {"key": "per-query per-query mean", "kind": "mean"}


def test_single_query_and_identical_systems() -> None:
    for scores in ({"a": {"q": 0.5}, "b": {"q": 0.25}}, {"a": {"q": 0.5, "r": 1}, "b": {"q": 0.5, "r": 1}}):
        assessment = sf.assess(scores, "a")
        assert embedded(assessment.to_html())["queries"]
        assert "NaN" not in assessment._repr_html_()


def test_written_whole_or_not_at_all(demo: Assessment, tmp_path: Path) -> None:
    demo.write(tmp_path / "report.html")
    html = demo.to_html()
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == html
    with pytest.raises(DataError, match="cannot be written"):
        demo.write(tmp_path / "no" / "report.html")


def test_command_line(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from surefoot.cli.commands import application

    (tmp_path / "scores.csv").write_text("query,a,b\nq1,0.5,0.25\nq2,0.1,0.3\n")
    arguments = ["evaluate", "--scores", tmp_path / "scores.csv", "--baseline", "a", "--html", tmp_path / "page.html"]
    result = CliRunner().invoke(application(), [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    assert embedded((tmp_path / "page.html").read_text(encoding="utf-8"))["start"]["baseline"] == "a"
    assert f"Wrote the page to {tmp_path / 'page.html'}" in result.stderr
    (tmp_path / "q.tsv").write_text("q1\tgoats on ice\n")
    extras = ["--texts", tmp_path / "q.tsv", "--title", "Spring", "--detail", "3"]
    result = CliRunner().invoke(application(), [str(argument) for argument in [*arguments, *extras, "--quiet"]])
    assert (result.exit_code, result.output) == (0, "")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<title>Spring</title>" in page
    for name in ("scores.csv", "q.tsv"):
        sha256 = hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
        assert f'<bdi>{name}</bdi> <code title="SHA-256 {sha256}">{sha256[:12]}</code>' in page
    assert embedded(page)["texts"]["queries"] == ["goats on ice", ""]
    for wrong, message in (
        ([*arguments[:-2], *extras], "--texts, --title, --detail only affects the page, and no page is written"),
        ([*arguments[:-1], tmp_path / "q.tsv", *extras, "--force"], "q.tsv"),
    ):
        result = CliRunner().invoke(application(), [str(argument) for argument in wrong])
        assert isinstance(result.exception, ArgumentError)
        assert message in str(result.exception)
    assert (tmp_path / "q.tsv").read_text() == "q1\tgoats on ice\n"
    result = CliRunner().invoke(application(), ["demo", "--output", str(tmp_path / "demo"), "--queries", "12"])
    assert result.exit_code == 0, result.output
    assert "report.html" in result.output
    assert embedded((tmp_path / "demo" / "report.html").read_text(encoding="utf-8"))["start"]["system"] == "bold"


def test_texts_of_what_is_shown_alone(demo: Assessment) -> None:
    queries = {"q03": "goats " * 100, "q04": "ibex", "elsewhere": "no"}
    shown = documents_of(embedded(demo.to_html(detail=1))["results"])
    titles = {shown[0]: "<b>A title</b>", "unknown": "not shown"}
    payload = embedded(demo.to_html(texts=queries, documents=titles, detail=1))
    texts = dict(zip(payload["queries"], payload["texts"]["queries"], strict=True))
    assert texts["q04"] == "ibex"
    assert len(texts["q03"]) == 200
    assert texts["q03"].endswith("…")
    assert texts["q05"] == ""
    assert payload["texts"]["documents"] == ["<b>A title</b>"] + [""] * (len(shown) - 1)
    assert embedded(demo.to_html())["texts"] == {"queries": None, "documents": None}
    with pytest.raises(DataError, match="no such file"):
        demo.to_html(texts="no such file")


def test_the_page_says_what_it_is(demo: Assessment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    sources = [SourceFile("a.run", "ab" * 32), SourceFile("<b>")]
    links = [Link("decision", "the gate/decision?.html")]
    provenance = Provenance(command="surefoot evaluate a b", sources=sources, links=links)
    html = demo.to_html(title="Spring <release>", provenance=provenance)
    assert "<title>Spring &lt;release&gt;</title>" in html
    assert "<dt>Date</dt><dd>2023-11-14 22:13 UTC</dd>" in html
    assert "<code>surefoot evaluate a b</code>" in html
    assert f'<bdi>a.run</bdi> <code title="SHA-256 {"ab" * 32}">abababababab</code>' in html
    assert "<bdi>&lt;b&gt;</bdi></span>" in html
    assert '<a href="./the%20gate/decision%3F.html">decision</a>' in html
    assert demo.to_html() == demo.to_html()


def test_the_date_is_that_of_now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    before = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    assert before <= Provenance().date() <= f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"


def test_policy_allows_the_page_alone(demo: Assessment) -> None:
    html = demo.to_html()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy is not None
    allowed = policy[1].replace("&#39;", "'")
    assert allowed.startswith("default-src 'none'; ")
    assert "unsafe" not in allowed
    for tag in ("style", "script"):
        match = re.search(rf"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
        assert match is not None
        digest = base64.b64encode(hashlib.sha256(match[1].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in allowed
    assert not re.search(r"\sstyle=|\son\w+=", html.split("<script", 1)[0])
    for sink in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "fetch(",
        "XMLHttp",
        "import(",
    ):
        assert sink not in html
    addresses = set(re.findall(r"https?://[\w./]+", html))
    assert addresses == {"http://www.w3.org/2000/svg"}  # a name, not an address to load
    assert set(re.findall(r'(?:src|href)="([^"]*)"', html)) == {"data:,", "#main-content"}


@pytest.mark.parametrize("name", [*HOSTILE, "a\u2028b", "\ud800 alone", "&lt;b&gt;", "{{ 7*7 }}{% raw %}"])
def test_hostile_names_stay_data(name: str) -> None:
    scores = sf.Scores([[0.1, 0.4], [0.3, 0.2]], [name, "b"], [name, "q"], measure=name)
    assessment = sf.assess(scores, name)
    html = assessment.to_html()
    assert embedded(html)["systems"] == [name, "b"]
    assert html.count("<script") == 2
    assert "<img" not in html
    assert "\u202e" not in html.split("<script")[0]
    html.encode()
    notebook = assessment._repr_html_()
    assert "<script" not in notebook
    assert "<img" not in notebook
    assert "\u202e" not in notebook
    notebook.encode()


def test_notebook_view_is_small_and_says_it_in_words(demo: Assessment) -> None:
    view = demo._repr_html_()
    assert len(view) < 20_000
    assert "bold gains" in view
    assert "<script" not in view
    scores = sf.Scores(np.random.default_rng(0).uniform(size=(60, 5)), [f"s{i}" for i in range(60)], list("abcde"))
    assert "… 35 more systems" in sf.assess(scores, "s0")._repr_html_()
    assert sf.assess({"only": {"q": 0.5}}, "only")._repr_html_()


def test_sizes() -> None:
    empty = sf.assess({"a": {"q": 0.5}, "b": {"q": 0.5}}, "a").to_html()
    assert len(empty.encode()) <= 200_000
    values = np.round(np.random.default_rng(0).uniform(size=(49, 50)), 5)
    matrix = sf.Scores(values, [f"system-{i}" for i in range(49)], [str(i) for i in range(50)])
    assert len(sf.assess(matrix, "system-0").to_html().encode()) <= 450_000


def test_size_of_ten_thousand_queries() -> None:
    """The worst case: no result in common, and ids of 25 characters that share nothing."""
    import polars as pl

    rng = np.random.default_rng(0)
    queries, depth = 10_000, 20
    names = np.repeat([f"query-{i:05d}" for i in range(queries)], depth)
    runs = []
    for name in "abcde":
        letters = rng.integers(97, 123, size=(queries * depth, 25), dtype=np.uint8).view("S25").ravel().astype(str)
        frame = {"query_id": names, "doc_id": letters, "score": np.tile(np.arange(depth, 0, -1.0), queries)}
        runs.append(sf.read_run(pl.DataFrame(frame), name))
    scores = sf.Scores(
        rng.uniform(size=(5, queries)),
        list("abcde"),
        [f"query-{i:05d}" for i in range(queries)],
        runs=runs,
        qrels=sf.read_qrels({"query-00000": {"x": 1}}),
    )
    html = sf.assess(scores, "a", alphas=[5]).to_html()
    print(f"10,000 × 5: {len(html.encode()):,} bytes")
    assert len(html.encode()) <= 6_000_000
    results = embedded(html)["results"]
    assert [len(unpack(one["lengths"])) for one in results["systems"]][1:] == [1000] * 4


def test_size_with_segments_and_texts() -> None:
    """10,000 queries × 5 systems with runs, 20 segments and the queries' texts."""
    rng = np.random.default_rng(0)
    queries = [f"query-{i:05d}" for i in range(10_000)]
    scores = sf.Scores(rng.uniform(size=(5, 10_000)), list("abcde"), queries)
    kinds = {query: f"kind {i % 20}" for i, query in enumerate(queries)}
    texts = {query: "".join(rng.choice(list("abcdefgh "), 60)) for query in queries}
    html = sf.assess(scores, "a", alphas=[5], segments=kinds).to_html(texts=texts)
    without = sf.assess(scores, "a", alphas=[5]).to_html()
    # With the worst case of results above, at most 6 MB, the page stays below 8 MB.
    assert len(html.encode()) - len(without.encode()) <= 1_000_000
