"""Files of Quepid, the Search Relevance Workbench and `_rank_eval`, runs with ir_metadata: read, written, refused."""

from __future__ import annotations

import csv
import gzip
import json
import os
import pickle
import threading
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.data.files import check_refused, write_file

import surefoot as sf
from surefoot.data.reading.formats import FORMATS
from surefoot.data.reading.frames import QUERY_COLUMNS
from surefoot.data.tools.judgments import write_judgments
from surefoot.data.tools.tool_file import Content, json_path, offset_of
from surefoot.errors import ArgumentError, DataError

JUDGED = {"red dress": {"d1": 3.0, "d2": 0.0}, "-40 degrees": {"d3": 1.0}}
RATINGS = "query,docid,rating\nred dress,d1,3\nred dress,d2,0\nred dress,d9,\nshoes,,\n -40 degrees,d3,1"
BOOK = (
    'query,docid,Ann,"Bo, Dr",Unknown\nred dress,d1,3,2,\nred dress,d2,,,0\nred dress,d9,,,\n -40 degrees,d3,1,,1|0\n'
)
SNAPSHOT = (
    "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position,title\r\n"
    "(15/11/2026) new,2026-11-15T08:00:00Z,7,red dress,d2,2,Blue\r\n"
    "(15/11/2026) new,2026-11-15T08:00:00Z,7,red dress,d1,1,\r\n"
    "(15/11/2026) new,2026-11-15T08:00:00Z,7, -40 degrees,d3,1,Cold\r\n"
)
WORKBENCH = {
    "name": "Imported",
    "type": "IMPORT_JUDGMENT",
    "judgmentRatings": [
        {"query": "red dress", "ratings": [{"docId": "d1", "rating": "3.0"}, {"docId": "d2", "rating": "0.0"}]},
        {"query": "-40 degrees", "ratings": [{"docId": "d3", "rating": 1}]},
        {"query": "shoes", "ratings": []},
    ],
}
RESULTS = [
    {
        "id": "1",
        "searchConfigurationId": "today",
        "searchText": "red dress",
        "documentIds": ["d2", "d1"],
        "metrics": [],
    },
    {"id": "2", "searchConfigurationId": "new", "searchText": "red dress", "documentIds": ["d1", "d2"], "metrics": []},
    {"id": "3", "searchConfigurationId": "new", "searchText": "-40 degrees", "documentIds": ["d3"], "metrics": []},
    {"id": "4", "searchConfigurationId": "today", "searchText": "-40 degrees", "documentIds": [], "metrics": []},
]
EXPERIMENT = {
    "id": "e",
    "type": "PAIRWISE_COMPARISON",
    "searchConfigurationList": ["today", "new"],
    "results": [
        {"queryText": "red dress", "metrics": [{"metric": "jaccard", "value": 1.0}],
         "snapshots": [{"searchConfigurationId": "today", "docIds": ["d2", "d1"]},
                       {"searchConfigurationId": "new", "docIds": ["d1", "d2"]}]},
        {"queryText": "-40 degrees", "metrics": [],
         "snapshots": [{"searchConfigurationId": "today", "docIds": []},
                       {"searchConfigurationId": "new", "docIds": ["d3"]}]},
    ],
}  # fmt: skip
REQUEST = {
    "requests": [
        {"id": "red dress", "request": {"query": {"match": {"text": "red dress"}}},
         "ratings": [{"_index": "shop", "_id": "d1", "rating": 3}, {"_index": "shop", "_id": "d2", "rating": 0}]},
        {"id": "-40 degrees", "template_id": "t", "params": {}, "ratings": [{"_index": "s", "_id": "d3", "rating": 1}]},
        {"id": "shoes", "request": {}, "ratings": []},
    ],
    "metric": {"precision": {"k": 10}},
}  # fmt: skip
RESPONSE = {
    "metric_score": 0.5,
    "details": {
        "red dress": {
            "metric_score": 0.5,
            "unrated_docs": [{"_index": "shop", "_id": "d7"}],
            "hits": [{"hit": {"_index": "shop", "_id": "d1", "_score": 1.5}, "rating": 3},
                     {"hit": {"_index": "shop", "_id": "d7", "_score": 1.5}, "rating": None}],
            "metric_details": {},
        },
        "shoes": {"metric_score": 0, "unrated_docs": [], "hits": []},
    },
    "failures": {},
}  # fmt: skip


def hits(sources: list[Any]) -> dict[str, Any]:
    """A search's answer with these documents."""
    entries = [{"_index": "i", "_id": str(i), "_score": 1.0, "_source": source} for i, source in enumerate(sources)]
    return {"took": 1, "hits": {"total": {"value": len(entries)}, "hits": entries}}


# What is read


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("case.csv", RATINGS),
        ("case.txt", RATINGS),
        ("case.csv", "\ufeff" + RATINGS.replace("\n", "\r\n")),
        ("judgments.json", WORKBENCH),
        ("judgments.json", hits([WORKBENCH])),
        ("request.json", REQUEST),
    ],
)
def test_judgments(tmp_path: Path, name: str, content: Any) -> None:
    assert sf.read_qrels(write_file(tmp_path / name, content)).to_dict() == JUDGED


def test_judgments_in_gzip(tmp_path: Path) -> None:
    path = write_file(tmp_path / "case.csv.gz", gzip.compress(RATINGS.encode()))
    assert sf.read_qrels(path).to_dict() == JUDGED
    with pytest.raises(DataError, match=r"case\.csv\.gz: the \.gz data is truncated"):
        sf.read_qrels(write_file(path, path.read_bytes()[:-12]))


@pytest.mark.parametrize(
    ("judges", "first", "last"),
    [(None, 2.5, 2 / 3), ("mean", 2.5, 2 / 3), ("median", 2.5, 1), ("min", 2, 0), ("max", 3, 1)],
)
def test_a_book_of_several_judges(tmp_path: Path, judges: str | None, first: float, last: float) -> None:
    book = sf.read_qrels(write_file(tmp_path / "book.csv", BOOK), judges=judges)
    assert book.to_dict() == {"red dress": {"d1": first, "d2": 0.0}, "-40 degrees": {"d3": pytest.approx(last)}}


def test_a_rule_for_judges_where_there_are_none(tmp_path: Path) -> None:
    write_file(tmp_path / "q.txt", "q1 0 d1 2\n")
    for source in (tmp_path / "q.txt", write_file(tmp_path / "c.csv", RATINGS), JUDGED):
        with pytest.raises(ArgumentError, match="judges='max' says how several judges' ratings become one"):
            sf.read_qrels(source, judges="max")
    with pytest.raises(ArgumentError, match="judges is 'most'; it must be one of mean, median, min, max"):
        sf.read_qrels(write_file(tmp_path / "book.csv", BOOK), judges="most")


def test_a_table_that_is_no_book(tmp_path: Path) -> None:
    """Names that a column of judgments has are not judges'."""
    text = "query,docid,note,relevance\nq,d,seen,2\n"
    assert sf.read_qrels(write_file(tmp_path / "a.csv", text)).to_dict() == {"q": {"d": 2.0}}
    for name in ("score", "rank", "position"):
        with pytest.raises(DataError, match="no column 'relevance'"):
            sf.read_qrels(write_file(tmp_path / "a.csv", f"query,docid,{name}\nq,d,2\n"))
    assert sf.read_run(write_file(tmp_path / "a.csv", "query,docid,rank\nq,d,2\n")).to_dict() == {"q": {"d": -2.0}}


def test_a_snapshot_is_a_run_by_position(tmp_path: Path) -> None:
    run = sf.read_run(write_file(tmp_path / "new.csv", SNAPSHOT))
    assert (run.name, run.to_dict()) == ("new", {"red dress": {"d1": -1.0, "d2": -2.0}, "-40 degrees": {"d3": -1.0}})
    assert run.documents().to_list() == ["d1", "d2", "d3"]


def test_a_response_is_a_run_by_the_order_of_hits(tmp_path: Path) -> None:
    run = sf.read_run(write_file(tmp_path / "new.json", RESPONSE))
    assert run.to_dict() == {"red dress": {"d1": -1.0, "d7": -2.0}}  # although their scores tie
    assert pickle.loads(pickle.dumps(run)).to_dict() == run.to_dict()


@pytest.mark.parametrize("form", ["list", "answer", "lines", "lines of answers", "pairs", "answer with pairs"])
def test_each_configuration_is_a_run(tmp_path: Path, form: str) -> None:
    one_document = {
        "list": RESULTS,
        "answer": hits(RESULTS),
        "pairs": EXPERIMENT,
        "answer with pairs": hits([EXPERIMENT]),
    }
    content: Any = one_document.get(form)
    records: Any = RESULTS if form == "lines" else hits(RESULTS)["hits"]["hits"]
    if content is None:
        content = "".join(json.dumps(record) + "\n\n" for record in records)
    path = write_file(tmp_path / ("r.json" if form in one_document else "r.jsonl"), content)
    runs = {run.name: run.to_dict() for run in sf.read_runs(path)}
    new = {"red dress": {"d1": -1.0, "d2": -2.0}, "-40 degrees": {"d3": -1.0}}
    assert runs == {"today": {"red dress": {"d2": -1.0, "d1": -2.0}}, "new": new}
    assert sf.read_run(path, name="new").to_dict() == new
    for name, message in (
        (None, "contains 2 runs: today, new; choose one"),
        ("x", "contains 2 runs, none of them 'x': today, new"),
    ):
        with pytest.raises(DataError, match=message):
            sf.read_run(path, name)


def test_one_configuration_is_named_as_its_file(tmp_path: Path) -> None:
    for content in (RESULTS[0], RESULTS[:1], hits(RESULTS[:1])):
        path = write_file(tmp_path / "live.json", content)
        assert [run.name for run in sf.read_runs(path)] == ["live"]
        assert (sf.read_run(path).name, sf.read_run(path, "now").name) == ("live", "now")


def test_pipes(tmp_path: Path) -> None:
    for name, content in (("r.jsonl", "".join(json.dumps(each) + "\n" for each in RESULTS[:1])),
                          ("s.jsonl", '{"q": {"d": 1}}\n{"r": {"d": 1}}\n'), ("t.json", json.dumps(RESULTS[:1])),
                          ("u.csv", SNAPSHOT)):  # fmt: skip
        os.mkfifo(tmp_path / name)
        writer = threading.Thread(target=write_file, args=(tmp_path / name, content))
        writer.start()
        assert len(sf.read_run(tmp_path / name))
        writer.join()


# What only looks like a tool's file


@pytest.mark.parametrize(
    "content",
    [
        {"judgmentRatings": ["d1", "d2"], "requests": ["d1"], "hits": ["d2"], "details": ["d3"]},
        {"hits": {"hits": 2.0}, "details": {"hits": 1.0}, "_source": {"d": 1.0}, "requests": {"ratings": 1.0}},
    ],
)
def test_queries_called_as_keys_are(tmp_path: Path, content: Any) -> None:
    run = sf.read_run(write_file(tmp_path / "a.json", content))
    assert run.queries == tuple(content)
    assert run.to_dict() == sf.read_run(content).to_dict()


@pytest.mark.parametrize(
    ("read", "name", "content", "message"),
    [
        (sf.read_run, "a.csv", RATINGS, "a Quepid case's ratings, which contains judgments, but a run is needed here"),
        (sf.read_run, "a.csv", BOOK, "a Quepid book, which contains judgments"),
        (sf.read_run, "a.json", WORKBENCH, "judgments of the Search Relevance Workbench, which contains judgments"),
        (sf.read_run, "a.json", REQUEST, "a _rank_eval request, which contains judgments"),
        (sf.read_qrels, "a.csv", SNAPSHOT, "a Quepid snapshot, which contains a run, but judgments are needed here"),
        (sf.read_qrels, "a.json", RESPONSE, "a _rank_eval response, which contains a run"),
        (sf.read_qrels, "a.json", RESULTS, "results of the Search Relevance Workbench, which contains a run"),
    ],
)
def test_the_other_kind_is_refused(tmp_path: Path, read: Any, name: str, content: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read(write_file(tmp_path / name, content))


# What is refused, and where


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (RATINGS.replace("d1,3", "d1,good"), "line 2: 'rating' is 'good', not a number"),
        (RATINGS.replace("d3,1", "d3,nan"), "line 6: 'rating' is nan; every value must be finite"),
        (RATINGS.replace("d3,1", "d3,1e999"), "line 6: 'rating' is inf"),
        (RATINGS.replace("d2,0", "d1,0"), "line 3: document 'd1' appears twice in query 'red dress' (first at line 2)"),
        (RATINGS.replace("shoes,,", "shoes,,2"), "line 5: 'docid' is missing"),
        (RATINGS.replace("red dress,d2", ",d2"), "line 3: 'query' is missing"),
        (RATINGS.replace("d2,0", "d2,0,5"), "line 3: found 4 columns"),
        (RATINGS.replace("red dress,d2", '"red dress,d2'), "line 3: a quotation mark is not closed"),
        ("query,docid,rating\nshoes,,\nred,d1,\n", "no document is rated"),
        (BOOK.replace("d1,3,2", "d1,3,x"), "line 2: the rating by 'Bo, Dr' is 'x', not a number"),
        (BOOK.replace("1|0", "1|inf"), "line 5: the rating by 'Unknown' is inf; every rating must be finite"),
        (BOOK.replace("Unknown", "Ann"), "line 1: two columns are named 'Ann'"),
        ("query,docid,Ann\nq,d,\n", "no document is rated"),
        (BOOK.replace(',"Bo, Dr"', ",Bo").replace("d1,3,2,", "d1,3"), "line 2: found 3 columns, but the header has 5"),
        ("query,docid\nq,d\n", "no column 'relevance'"),
        (RATINGS.encode("utf-16"), "line 1: not UTF-8 text"),
        (RATINGS.encode("utf-16-le"), "line 1: found a NUL byte"),
        (RATINGS.replace("red dress,d2", "rød,d2").encode("latin-1"), "line 3: not UTF-8 text (byte 0xf8)"),
    ],
)  # fmt: skip
def test_tables_that_are_no_judgments(tmp_path: Path, text: str | bytes, message: str) -> None:
    check_refused(sf.read_qrels, write_file(tmp_path / "a.csv", text), message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SNAPSHOT.replace("new,2026-11-15T08:00:00Z,7, -40", "old,2026-11-15T08:00:00Z,7, -40"),
         "line 4: 'Snapshot Name' is '(15/11/2026) old', but '(15/11/2026) new' in the rows above, so a second"),
        (SNAPSHOT.replace("08:00:00Z,7, -40", "09:00:00Z,7, -40"), "line 4: 'Snapshot Time' is"),
        (SNAPSHOT.replace("Doc Position", "Where"), "no column 'Doc Position', so the order of the results"),
        (SNAPSHOT.replace("d1,1", "d1,"), "line 3: 'Doc Position' is missing"),
        (SNAPSHOT.replace("d1,1", "d1,0"), "line 3: 'Doc Position' is '0', not a position"),
        (SNAPSHOT.replace("d1,1", "d1,1.5"), "line 3: 'Doc Position' is '1.5', not a position"),
        (SNAPSHOT.replace("d1,1", "d1,²"), "line 3: 'Doc Position' is '²', not a position"),
        (SNAPSHOT.replace("d1,1", "d1,2"), "line 3: position 2 of query 'red dress' appears twice (first at line"),
        (SNAPSHOT.replace("d1,1", "d2,1"), "line 3: document 'd2' appears twice in query 'red dress' (first at"),
        (SNAPSHOT.replace("d1,1", ",1"), "line 3: 'Doc ID' is missing"),
        (SNAPSHOT.partition("\r")[0] + "\n", "no query in it has a document"),
    ],
)  # fmt: skip
def test_tables_that_are_no_run(tmp_path: Path, text: str, message: str) -> None:
    check_refused(sf.read_run, write_file(tmp_path / "a.csv", text), message)


def changed(content: Any, *steps: Any, value: Any = None) -> Any:
    """A copy in which one value is another, or, where none is given, gone."""
    copy = json.loads(json.dumps(content))
    inner = copy
    for step in steps[:-1]:
        inner = inner[step]
    if value is None:
        del inner[steps[-1]]
    else:
        inner[steps[-1]] = value
    return copy


RATING = ("judgmentRatings", 0, "ratings", 1)
TWICE_ONE_UNREADABLE = [{"docId": "d1", "rating": "1"}, {"docId": "d1", "rating": ["0"]}]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (changed(WORKBENCH, *RATING, "rating", value="high"),
         "line 12, judgmentRatings[0].ratings[1]: 'rating' is 'high', not a number"),
        (changed(WORKBENCH, *RATING, "rating", value="NaN"), "judgmentRatings[0].ratings[1]: 'rating' is nan"),
        (changed(WORKBENCH, *RATING, "rating", value=True), "judgmentRatings[0].ratings[1]: 'rating' is True"),
        (changed(WORKBENCH, *RATING, "docId", value="d1"),
         "line 12, judgmentRatings[0].ratings[1]: document 'd1' appears twice in query 'red dress' "
         "(first at judgmentRatings[0].ratings[0])"),
        (changed(WORKBENCH, *RATING, "docId"),
         'line 12, judgmentRatings[0].ratings[1]: expected {"docId": …, "rating": …}'),
        (changed(WORKBENCH, *RATING, "docId", value=1.5), "judgmentRatings[0].ratings[1]: 'docId' is 1.5"),
        (changed(WORKBENCH, *RATING, value=["d2", 1]), 'expected {"docId": …, "rating": …}, found'),
        (changed(WORKBENCH, "judgmentRatings", 1, "ratings", value={}), "judgmentRatings[1].ratings: expected a list"),
        (changed(WORKBENCH, "judgmentRatings", 1, "ratings"), "judgmentRatings[1]: expected an object with 'ratings'"),
        (changed(WORKBENCH, "judgmentRatings", 1, "query", value=["x"]), "judgmentRatings[1].query: expected a text"),
        (changed(WORKBENCH, "judgmentRatings", 1, "query", value="red dress"),
         "judgmentRatings[1].query: the query 'red dress' appears twice (first at judgmentRatings[0].query)"),
        (changed(WORKBENCH, "judgmentRatings", 0, "ratings", value=TWICE_ONE_UNREADABLE),
         "judgmentRatings[0].ratings[1]: 'rating' is ['0']"),
        (hits([WORKBENCH, WORKBENCH]), "hits.hits[1]._source: this is a second list of judgments"),
        (changed(REQUEST, "requests", 0, "ratings", 1, "rating", value="x"), "requests[0].ratings[1]: 'rating' is 'x'"),
        (changed(REQUEST, "requests", 0, "ratings", 1, "_id"), "requests[0].ratings[1]: expected"),
        (changed(REQUEST, "requests", 1, "id"), "requests[1]: expected an object with 'id'"),
        (changed(REQUEST, "requests", 1, "id", value="red dress"), "requests[1].id: the query 'red dress' appears"),
        (changed(REQUEST, "requests", value=[REQUEST["requests"][2]]), "a _rank_eval request, but no query in it has"),
        ('{\n"judgmentRatings": [\n{"query": "x",}]}', "line 3: is not JSON"),
        ('{"requests": [{"id": "a", "ratings": [{"_id": "d", "rating": NaN}]}]}', "is not JSON ('NaN is not a number"),
        (json.dumps(WORKBENCH)[:-30], "is not JSON"),
    ],
)  # fmt: skip
def test_json_that_is_no_judgments(tmp_path: Path, content: Any, message: str) -> None:
    check_refused(sf.read_qrels, write_file(tmp_path / "a.json", content), message)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (changed(RESPONSE, "details", "red dress", "hits", 1, "hit", "_id"),
         "details['red dress'].hits[1]: expected {\"hit\": {\"_index\": …, \"_id\": …}, …}"),
        (changed(RESPONSE, "details", "red dress", "hits", 1, "hit", "_id", value="d1"),
         "details['red dress'].hits[1]: document 'd1' appears twice in query 'red dress'"),
        (changed(RESPONSE, "details", "shoes", value=5), "line 32, details.shoes: expected an object with 'hits'"),
        (changed(RESPONSE, "failures", value={"red dress": {"type": "x"}}), "failures: the search of 'red dress'"),
        (changed(RESPONSE, "details", "red dress", "hits", value=[]), "a _rank_eval response, but no query in it has"),
        (changed(RESULTS, 1, "documentIds", value="d1"), "[1].documentIds: expected a list"),
        (changed(RESULTS, 1, "documentIds", value=["d1", "d1"]), "[1].documentIds[1]: document 'd1' appears twice"),
        (changed(RESULTS, 1, "documentIds", value=["d1", {}]), "[1].documentIds[1]: the document's id is {} (dict)"),
        (changed(RESULTS, 1, "documentIds"), "[1]: expected an object with 'documentIds'"),
        (changed(RESULTS, 1, "searchText"), "[1]: expected an object with 'searchText'"),
        (changed(RESULTS, 1, "searchConfigurationId", value=7), "[1].searchConfigurationId: expected a"),
        (changed(RESULTS, 2, "searchText", value="red dress"),
         "[2].searchText: the query 'red dress' appears twice (first at [1].searchText)"),
        (changed(EXPERIMENT, "results", 1, "snapshots", 0, "docIds"),
         "results[1].snapshots[0]: expected an object with 'docIds'"),
        (changed(EXPERIMENT, "results", 0, "snapshots", 1, "searchConfigurationId", value="today"),
         "results[0].queryText: the query 'red dress' appears twice (first at results[0].queryText)"),
        (changed(EXPERIMENT, "results", 1, "snapshots"), "results[1]: expected an object with 'snapshots'"),
        (hits([EXPERIMENT, EXPERIMENT]), "hits.hits[1]._source: this is a second experiment"),
        (hits([*RESULTS, {}]), "hits.hits[4]._source: expected an object with 'searchText'"),
    ],
)  # fmt: skip
def test_json_that_is_no_run(tmp_path: Path, content: Any, message: str) -> None:
    check_refused(sf.read_runs, write_file(tmp_path / "a.json", content), message)


def test_json_lines_that_are_no_run(tmp_path: Path) -> None:
    lines = [json.dumps(each) for each in RESULTS]
    for wrong, message in (("{", "line 5: is not JSON"), ("{}", "line 5: expected an object with"),
                           (lines[0], "line 5, searchText: the query 'red dress' appears twice (first at line 1)"),
                           (json.dumps(RESULTS[0] | {"searchText": "x", "documentIds": ["d", "d"]}),
                            "line 5, documentIds[1]: document 'd' appears twice")):  # fmt: skip
        check_refused(sf.read_runs, write_file(tmp_path / "a.jsonl", "\n".join([*lines, wrong])), message)


JSON: st.SearchStrategy[Any] = st.deferred(
    lambda: (
        st.none()
        | st.booleans()
        | st.integers()
        | st.text(max_size=3)
        | st.lists(JSON, max_size=4)
        | st.dictionaries(st.text(max_size=3), JSON, max_size=4)
    )
)


@given(JSON, st.sampled_from([None, 0, 2]))
def test_every_place_of_a_json_text_is_found(value: Any, indent: int | None) -> None:
    text = f" \n{json.dumps(value, indent=indent)}\n"
    places: list[tuple[tuple[Any, ...], Any]] = [((), value)]
    for steps, inner in places:
        assert json.JSONDecoder().raw_decode(text, offset_of(text, steps))[0] == inner
        children = inner.items() if isinstance(inner, dict) else enumerate(inner) if isinstance(inner, list) else ()
        places += [((*steps, step), child) for step, child in children]
    assert len({json_path(steps) for steps, _ in places}) == len(places)


# ir_metadata


METADATA = "# ir_metadata.start\n# platform:\n#   os: Linux # 5\n#\n\n# ir_metadata.end\n"
LINES = "#1 Q0 #d1 1 2.0 #tag\n#1 Q0 d2 2 1.0 t\n"
RUN = {"#1": {"#d1": 2.0, "d2": 1.0}}


@pytest.mark.parametrize("block", [7, 1 << 20])
@pytest.mark.parametrize("header", [METADATA, METADATA.replace("\n", "\r\n"), "\ufeff" + METADATA, ""])
def test_a_header_of_ir_metadata_is_passed_over(tmp_path: Path, monkeypatch, header: str, block: int) -> None:
    monkeypatch.setattr("surefoot.data.reading.run_lines._BLOCK", block)
    monkeypatch.setattr("surefoot.data.reading.formats._FIRST_BYTES", block)
    run = sf.read_run(write_file(tmp_path / "a.run", header + LINES))
    assert run.to_dict() == RUN
    assert sf.read_run(write_file(tmp_path / "a.run.gz", gzip.compress((header + LINES).encode()))).to_dict() == RUN
    marco = sf.read_run(write_file(tmp_path / "b.run", header + "#1\t#d1\t1\n#1\td2\t2\n"))
    assert marco.documents().to_list() == ["#d1", "d2"]
    line = header.count("\n") + 3
    for wrong, message in (("#1 Q0 d2 3 0.5 t\n", f"line {line}: document 'd2' appears twice in query '#1'"),
                           ("#1 Q0 d3 3 x t\n", f"line {line}: the score 'x' is not a number"),
                           ("# ir_metadata.start\n", f"line {line}: expected 6 columns")):  # fmt: skip
        check_refused(sf.read_run, write_file(tmp_path / "c.run", header + LINES + wrong), message)


def test_a_header_of_ir_metadata_that_does_not_end(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    check_refused(sf.read_run, write_file(path, METADATA[:-3]), "line 1: the ir_metadata header does not end")
    without_end = METADATA.replace("# ir_metadata.end\n", "") + LINES.replace("#1 Q0", "q1 Q0")
    message = "line 6: found 'q1 Q0 #d1 1 2.0 #tag' in the ir_metadata header"
    check_refused(sf.read_run, write_file(path, without_end), message)
    check_refused(sf.read_run, write_file(path, METADATA), "the file is empty")
    check_refused(sf.read_run, write_file(path, "\n" + METADATA + LINES), "line 2: expected 6 columns")


# There and back

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), min_size=1, max_size=8).filter(
    # A dict {"qid": […]} is a table of columns, not a run's one query.
    lambda text: text == text.strip(" \t\v\f\r\n") and text not in QUERY_COLUMNS
)
GRADES = st.one_of(st.integers(-3, 9).map(float), st.floats(-1e9, 1e9, allow_nan=False))
TABLES = st.dictionaries(NAMES, st.dictionaries(NAMES, GRADES, min_size=1, max_size=4), min_size=1, max_size=4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("written")


@given(table=TABLES, form=st.sampled_from(["quepid", "workbench"]))
def test_judgments_go_out_and_come_back(folder: Path, table: dict[str, dict[str, float]], form: str) -> None:
    path = folder / ("a.csv" if form == "quepid" else "a.json")
    write_judgments(table, path, form)
    back = sf.read_qrels(path)
    assert back.to_dict() == sf.read_qrels(table).to_dict()
    assert back.queries == tuple(table)


@given(table=TABLES, unrated=st.dictionaries(NAMES, st.lists(NAMES, min_size=1, max_size=4, unique=True), max_size=3))
def test_unrated_documents_go_out_with_empty_cells(
    folder: Path, table: dict[str, dict[str, float]], unrated: dict[str, list[str]]
) -> None:
    path = folder / "u.csv"
    write_judgments(table, path, unrated=unrated or None)
    assert sf.read_qrels(path).to_dict() == sf.read_qrels(table).to_dict()
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["query", "docid", "rating"]
    assert not any(cell.startswith(("-", "=", "+", "@")) for row in rows for cell in row[:2])
    empty = {(query.removeprefix(" "), document.removeprefix(" ")) for query, document, rating in rows if not rating}
    expected = {
        (query, each) for query, listed in unrated.items() for each in listed if each not in table.get(query, {})
    }
    assert empty == expected
    # Once they are judged they come back as judgments.
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *([*row[:2], row[2] or "7"] for row in rows)])
    back = sf.read_qrels(path).to_dict()
    assert all(back[query][document] == 7 for query, document in expected)


@given(TABLES)
def test_rank_eval_there_and_back(folder: Path, table: dict[str, dict[str, float]]) -> None:
    request = {
        "requests": [
            {
                "id": query,
                "request": {},
                "ratings": [{"_index": "i", "_id": d, "rating": g} for d, g in documents.items()],
            }
            for query, documents in table.items()
        ]
    }
    assert sf.read_qrels(write_file(folder / "r.json", request)).to_dict() == sf.read_qrels(table).to_dict()
    lists = {query: list(documents) for query, documents in table.items()}
    details = {
        query: {"hits": [{"hit": {"_index": "i", "_id": d, "_score": 1.0}, "rating": None} for d in documents]}
        for query, documents in lists.items()
    }
    run = sf.read_run(write_file(folder / "s.json", {"details": details, "failures": {}}))
    assert run.to_dict() == sf.read_run(lists).to_dict()
    results = [
        {"searchConfigurationId": "a", "searchText": q, "documentIds": documents} for q, documents in lists.items()
    ]
    assert sf.read_run(write_file(folder / "t.json", results)).to_dict() == sf.read_run(lists).to_dict()


def test_what_is_written(tmp_path: Path) -> None:
    qrels = {"q1": {"d1": 2, "=d2": 0.5, "d3": -1}, "q2": {"d1": 0}}
    run = {"q1": ["d7", "d1", "d8"], "q3": ["@d9"]}
    texts = {"q1": "-40 degrees", "q2": 'say "no"', "q3": "a, b", "q4": "unused"}
    write_judgments(qrels, tmp_path / "a.csv", unrated=run, depth=2, queries=texts)
    assert (tmp_path / "a.csv").read_text() == (
        "query,docid,rating\n -40 degrees,d1,2\n -40 degrees, =d2,0.5\n -40 degrees,d3,-1\n -40 degrees,d7,\n"
        '"say ""no""",d1,0\n"a, b", @d9,\n'
    )
    write_judgments(qrels, tmp_path / "Round 2.json", "workbench", queries=texts)
    body = json.loads((tmp_path / "Round 2.json").read_text())
    assert (body["name"], body["type"]) == ("Round 2", "IMPORT_JUDGMENT")
    assert body["judgmentRatings"][1] == {"query": 'say "no"', "ratings": [{"docId": "d1", "rating": "0.0"}]}
    write_judgments(qrels, tmp_path / "set.json", "query-set", unrated=run, name="To judge")
    assert json.loads((tmp_path / "set.json").read_text()) == {
        "name": "To judge",
        "description": "To judge",
        "sampling": "manual",
        "querySetQueries": [{"queryText": "q1"}, {"queryText": "q2"}, {"queryText": "q3"}],
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"form": "csv"}, "form is 'csv'; it must be one of quepid, workbench, query-set"),
        ({"judgments": None}, "there is nothing to write"),
        ({"form": "workbench", "unrated": {"q": ["d"]}}, "no place for documents that are not rated"),
        ({"depth": 3}, "depth is only for unrated documents"),
        ({"unrated": {"q": ["d"]}, "depth": 0}, "depth"),
        ({"form": "workbench", "name": "x" * 51}, "must have 1 to 50 characters, but this name has 51"),
        ({"form": "workbench", "name": " "}, "must have 1 to 50 characters"),
        ({"judgments": {"q ": {"d": 1}}}, "the name 'q ' cannot be written in CSV"),
        ({"judgments": {"q": {"a\rb": 1}}}, r"the name 'a\\rb' cannot be written in CSV"),
        ({"queries": {"x": "text"}}, "1 of 1 queries have no text; the first of them is 'q'"),
        ({"judgments": {"q": {"d": 1}, "r": {"d": 1}}, "queries": {"q": "a", "r": "a"}}, "'q' and 'r' have the same"),
    ],
)  # fmt: skip
def test_what_cannot_be_written(tmp_path: Path, arguments: dict[str, Any], message: str) -> None:
    settings = {"judgments": {"q": {"d": 1}}, "form": "quepid"} | arguments
    with pytest.raises(sf.SurefootError, match=message):
        write_judgments(settings.pop("judgments"), tmp_path / "a.csv", settings.pop("form"), **settings)
    assert not list(tmp_path.iterdir())


def test_ids_with_spaces_stay_out_of_trec_lines(tmp_path: Path) -> None:
    qrels = sf.read_qrels(write_file(tmp_path / "case.csv", RATINGS))
    for write in (qrels.write, qrels.write_lines):
        with pytest.raises(DataError, match="the query id 'red dress' cannot be written in a TREC line"):
            write(tmp_path / "qrels.txt")
    for ending in ("csv", "json", "jsonl", "parquet"):
        qrels.write(tmp_path / f"qrels.{ending}")
        assert sf.read_qrels(tmp_path / f"qrels.{ending}").to_dict() == JUDGED


def test_a_large_table_is_not_copied_into_lists() -> None:
    """Polars' columns of an ordinary table go on as they are: only a tool's become lists."""
    columns = {"query_id": pl.Series(["q"]), "doc_id": pl.Series(["d"]), "score": pl.Series(["1"])}
    content = Content("a.csv", columns, str, None)
    assert not any(each.recognise(content) for each in FORMATS if each.file_format == "table")
    assert all(isinstance(column, pl.Series) for column in columns.values())


def test_two_ids_of_one_text_are_not_told_apart() -> None:
    from surefoot.data.tools.judgments import with_ids, with_texts

    judged = sf.read_qrels({"red dress": {"d1": 2}})
    with pytest.raises(
        DataError, match="queries 'q1' and 'q2' have the same text, 'red dress', so it is not clear which of them"
    ):
        with_ids(judged, {"q1": "red dress", "q2": "red dress"})
    both = sf.read_qrels({"q1": {"d1": 2}, "q2": {"d1": 1}})
    with pytest.raises(DataError, match="queries 'q1' and 'q2' have the same text, 'red dress', so a tool"):
        with_texts(both, {"q1": "red dress", "q2": "red dress"})


def test_a_query_as_a_number_and_as_a_text_is_one(tmp_path: Path) -> None:
    ratings = [{"docId": "d1", "rating": "1.0"}]
    other = [{"docId": "d2", "rating": "1.0"}]
    data = WORKBENCH | {"judgmentRatings": [{"query": 1, "ratings": ratings}, {"query": "1", "ratings": other}]}
    (tmp_path / "judgments.json").write_text(json.dumps(data))
    with pytest.raises(DataError, match=r"judgmentRatings\[1\]\.query: the query '1' appears twice"):
        sf.read_qrels(tmp_path / "judgments.json")


def test_a_query_that_the_workbench_lists_again_with_the_same_ratings(tmp_path: Path) -> None:
    first, *others = WORKBENCH["judgmentRatings"]
    again = {
        "query": first["query"],
        "ratings": [{**one, "rating": float(one["rating"])} for one in first["ratings"]][::-1],
    }
    path = tmp_path / "judgments.json"
    path.write_text(json.dumps(WORKBENCH | {"judgmentRatings": [first, *others, again]}))
    assert sf.read_qrels(path).to_dict() == JUDGED
    again["ratings"][0]["rating"] = 2.5
    path.write_text(json.dumps(WORKBENCH | {"judgmentRatings": [first, *others, again]}))
    with pytest.raises(DataError, match="the query 'red dress' appears twice"):
        sf.read_qrels(path)


def test_quepids_detailed_export_holds_judgments(tmp_path: Path) -> None:
    (tmp_path / "case.csv").write_text(
        "Team Name,Case Name,Case ID,Query Text,Doc ID,Title,Rating,price\r\n"
        "T,C,7,red dress,d1,Red,3,1\r\nT,C,7,red dress,d2,,0,\r\nT,C,7,red dress,d9,Blue,,2\r\n"
        "T,C,7, -40 degrees,d3,Cold,1,\r\n"
    )
    assert sf.read_qrels(tmp_path / "case.csv").to_dict() == JUDGED
    with pytest.raises(DataError, match="a Quepid case's ratings"):
        sf.read_run(tmp_path / "case.csv")
