"""Results per query of other programs that are nearly right, against slow readers: the same meaning, or both refuse.

Seeded and bounded; `make fuzz` tries many more.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from tests.fuzz import mutations, slow_results
from tests.fuzz.mutations import NUMBERS, WORDS
from tests.fuzz.slow_readers import Refused, refuse_if
from tests.fuzz.test_readers import meaning

import surefoot as sf

pytestmark = pytest.mark.heavy

NAMES = [b"map", b"AP", b"P_10", b"all", b"num_ret", b"runid", b"q1", b"name", b"qid", b"measure", b"value"]
LINES = [
    b"map           \t1\t0.5000\nP_10          \t1\t0.1\nmap\t2\t0.25\nrunid\tall\tx\nmap\tall\t0.3750\n",
    b"map 1 0.5\r\nmap 2 .25\r\n\r\nmap 3 1e-3\r\nmap all 0.25\r\n",
    b"1\tAP\t0.5\n1\tP@10\t0.25\n2\tAP\t0.75\nall\tAP\t0.625\n",
    b"q1\tAP\t0.5\nq2\tAP\t0.25",
    b"\xef\xbb\xbfmap \xc3\xa9 0.5\nmap \xe6\x96\x87 1\nmap q1 0\nmap all 0.5\n",
]
TABLES = [
    b"name,qid,measure,value\na,1,map,0.5\na,2,map,0.25\nb,1,map,1\nb,2,map,0\n",
    b"name\tqid\tmeasure\tvalue\r\na\t1\tmap\t0.5\r\nb\t1\tAP\t.25\r\nb\t1\tmap\t1\r\n",
    b'system;query_id;metric;score\n"a ""x""";1;AP;0.5\nb;1;AP;1e-3\n',
    b"qid,measure,value\n1,map,0.5\n2,map,0.25\nall,map,0.375\n",
    b"run,topic,score\na,1,0.5\nb,1,0.25\n",
]
JSON = {"1": {"map": 0.5, "P_10": 0.1}, "2": {"map": 0.25, "P_10": 0.2}}
PREDICTIONS = {
    "mteb_model_meta": {"model_name": "m", "revision": "1"},
    "en": {"test": {"q1": {"d1": 0.5, "d2": 1}, "q2": {"d1": 2}}},
}


def read(path: Path, measure: str | None = "map") -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sf.SurefootWarning)  # the lines for all need not be the mean
        scores = sf.read_scores(path, measure)
    return list(scores.systems), list(scores.queries), scores.values.tolist()


def agree(path: Path, seeds: list[bytes], usual: int, slow: Callable[[bytes, str, str], Any]) -> None:
    kept = refused = 0
    for number, data in mutations.mutated(seeds, NUMBERS + WORDS + NAMES, path.name, mutations.count(usual)):
        path.write_bytes(data)
        result, expected = meaning(lambda: read(path)), meaning(lambda data=data: slow(data, path.stem, "map"))
        if expected not in ("a table", "a matrix"):  # those are read, or refused, as such
            assert result == expected, (number, data, result, expected)
            kept += result != "refused"
            refused += result == "refused"
    print(f"{path.name}: {kept} accepted, {refused} refused")
    assert min(kept, refused) > (kept + refused) // 50


def test_lines(tmp_path: Path) -> None:
    agree(tmp_path / "today.eval", LINES, 1200, slow_results.lines)


def test_long_tables(tmp_path: Path) -> None:
    agree(tmp_path / "perquery.csv", TABLES, 1200, slow_results.long_table)


@pytest.mark.parametrize("name", ["today.json", "predictions.json", "today.jsonl"])
def test_json(tmp_path: Path, name: str) -> None:
    """Read or refused; and what was read is what the text says."""
    path = tmp_path / name
    content: Any = PREDICTIONS if "predictions" in name else JSON
    for number, data in mutations.mutated_json(content, name, mutations.count(400), lambda changed: changed):
        if name.endswith("l"):
            rows = [{"query_id": query, "measure": measure, "value": value}
                    for query, measured in JSON.items() for measure, value in measured.items()]  # fmt: skip
            lines = [json.dumps(row).encode() for row in rows]
            at = number % len(lines)
            data = b"\n".join([*lines[:at], data if number % 3 else lines[at], *lines[at + 1 :]])  # noqa: PLW2901
        path.write_bytes(data)
        if "predictions" in name:
            result = meaning(lambda: sf.read_run(path).to_dict())
            if result != "refused" and "mteb_model_meta" in json.loads(data):
                (splits,) = (value for key, value in json.loads(data).items() if key != "mteb_model_meta")
                (run,) = splits.values()
                assert {query: dict(found) for query, found in result.items()} == {
                    query: {document: float(score) for document, score in found.items()}
                    for query, found in run.items()
                    if found
                }, (number, data)
        elif name.endswith(".json"):
            result = meaning(lambda: read(path))
            if result != "refused":
                expected = json.loads(data)
                assert result[1:] == (list(expected), [[float(row["map"]) for row in expected.values()]]), (
                    number,
                    data,
                )
        else:
            meaning(lambda: read(path))


@pytest.mark.parametrize("maker", ["dict", "polars", "pandas"])
def test_frames(maker: str) -> None:
    import random

    odd: list[Any] = [None, "x", float("nan"), True, 0.5, "0.5", "map", "all", 1, "", b"x", 1e300, "AP"]
    for number in range(mutations.count(300)):
        rng = random.Random(f"{maker} {number}")
        rows = [[name, query, measure, rng.choice([0.5, 0.25, 1.0])]
                for name in "ab" for query in "12" for measure in ("map", "P_10")]  # fmt: skip
        for _ in range(rng.choice((0, 1, 1, 2))):
            rng.choice(rows)[rng.randrange(4)] = rng.choice(odd)
        if rng.random() < 0.3:
            rows.append(list(rng.choice(rows)))
        columns = dict(zip(("name", "qid", "measure", "value"), map(list, zip(*rows, strict=True)), strict=True))
        source: Any = columns
        if maker == "polars":
            source = pl.DataFrame([pl.Series(name, values, dtype=pl.Object) for name, values in columns.items()])
        elif maker == "pandas":
            source = pd.DataFrame(columns, dtype=object)

        def slow(rows: list[list[Any]] = rows) -> Any:
            cells = [[slow_id(cell) for cell in row[:3]] + row[3:] for row in rows]
            return slow_results.chosen([tuple(row) for row in cells], "map")

        assert meaning(lambda source=source: read(source)) == meaning(slow), (number, columns)


def slow_id(value: Any) -> str:
    refuse_if(isinstance(value, bool | bytes) or value is None or not isinstance(value, str | int | float))
    if isinstance(value, str):
        return value
    if not abs(value) <= 2**53 or value != int(value):
        raise Refused
    return str(int(value))
