"""Tools' files that are nearly right, against slow readers: the same meaning, or both refuse, with the file's name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fuzz import slow_tools
from tests.fuzz.mutations import NUMBERS, WORDS, count, mutated
from tests.fuzz.slow_readers import Refused

import surefoot as sf
from surefoot.errors import DataError

pytestmark = pytest.mark.heavy

JUDGED = [
    b"query,docid,rating\nq1,d1,3\nq1,d2,\nq2,,\n -4,d1,0.5\n",
    b"query,docid,Ann,Bo\nq1,d1,3,1\nq1,d2,,\nq2,d1,1|0,\n",
    b'query,docid,rating\r\n"red, dress",d1,3\r\n"red, dress",d2,0\r\n',
    b"query;docid;rating\nq1;d1;1\n",
]
SNAPSHOTS = [
    b"Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position\na,1,7,q1,d1,1\na,1,7,q1,d2,2\na,1,7,q2,d,1\n",
    b'Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position,x\r\n"a, b",1,7," =q",d1,1,\r\n',
]
RATED = [{"query": "q1", "ratings": [{"docId": "d1", "rating": "1.0"}, {"docId": "d2", "rating": 0}]}]
WORKBENCH = [
    {"name": "x", "type": "IMPORT_JUDGMENT", "judgmentRatings": RATED},
    {"hits": {"hits": [{"_id": "1", "_source": {"judgmentRatings": RATED}}]}},
    {"requests": [{"id": "q1", "ratings": [{"_id": "d1", "rating": 2}]}, {"id": "q2", "ratings": []}]},
]
RESULTS = [
    [{"searchConfigurationId": "a", "searchText": "q1", "documentIds": ["d1", "d2"]},
     {"searchConfigurationId": "b", "searchText": "q1", "documentIds": ["d2"]}],
    {"hits": {"hits": [{"_source": {"searchConfigurationId": "a", "searchText": "q1", "documentIds": ["d1"]}}]}},
    {"results": [{"queryText": "q1", "snapshots": [{"searchConfigurationId": "a", "docIds": ["d1"]},
                                                   {"searchConfigurationId": "b", "docIds": []}]}]},
    {"details": {"q1": {"hits": [{"hit": {"_id": "d1"}}, {"hit": {"_id": "d2"}}]}, "q2": {"hits": []}}, "failures": {}},
]  # fmt: skip
KEYS = [b'"docId"', b'"query"', b'"rating"', b"[]", b"{}", b'"d1"', b'"q1"', b"null", b'"_source":', b'"hits":{}']
NAMES = [b"query", b"docid", b"rating", b"rank", b"score", b"relevance", b"Doc ID", b"Query Text", b"|", b" -"]


@pytest.mark.parametrize(
    ("name", "seeds", "kind", "usual"),
    [
        ("judged.csv", JUDGED, "judgments", 1200),
        ("snapshot.csv", SNAPSHOTS, "run", 800),
        ("judged.json", [json.dumps(value).encode() for value in WORKBENCH], "judgments", 1200),
        ("results.json", [json.dumps(value).encode() for value in RESULTS], "run", 1200),
    ],
)
def test_tools(tmp_path: Path, name: str, seeds: list[bytes], kind: str, usual: int) -> None:
    path = tmp_path / name
    tokens = [*NUMBERS, *WORDS, *(NAMES if name.endswith("csv") else KEYS)]
    outcomes = {True: 0, False: 0}
    for number, data in mutated(seeds, tokens, name, count(usual)):
        path.write_bytes(data)
        result, expected = read(path, kind), slow(data, name, kind)
        if result is not None and expected is None and name.endswith("json"):
            expected = ordinary(data, kind)
        assert result == expected, (number, data, result, expected)
        outcomes[result is None] += 1
    print(f"{name}: {outcomes[False]} accepted, {outcomes[True]} refused")
    assert min(outcomes.values()) > sum(outcomes.values()) // 50


def read(path: Path, kind: str) -> Any:
    try:
        if kind == "run":
            runs = sf.read_runs(path)
            return {run.name if len(runs) > 1 else None: run.to_dict() for run in runs}
        return {None: sf.read_qrels(path).to_dict()}
    except DataError as error:
        return None if str(error).startswith(str(path)) else f"refused without its name: {error}"


def slow(data: bytes, name: str, kind: str) -> Any:
    try:
        tables = (slow_tools.table if name.endswith("csv") else slow_tools.tool_json)(data, kind)
    except Refused:
        return None
    return {run if len(tables) > 1 else None: table for run, table in tables.items()}


def ordinary(data: bytes, kind: str) -> Any:
    """What an ordinary JSON file means, if a change made one: of that other tests know."""
    value = json.loads(data)
    return {None: (sf.read_run(value) if kind == "run" else sf.read_qrels(value)).to_dict()}
