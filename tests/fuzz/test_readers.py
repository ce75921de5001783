"""Every reader against a slow one on files that are nearly right: the same meaning, or both refuse.

Of runs, judgments, scores and LETOR more than 2,000 different mutants are accepted, and mean what the slow one reads.
Seeded and bounded; `make fuzz` tries many more.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.fuzz import mutations, slow_readers
from tests.fuzz.mutations import DATES, NUMBERS, WORDS

import surefoot as sf
from surefoot.data.letor import text as letor_text
from surefoot.data.reading import run_lines
from surefoot.data.reading.query_tables import read_dates
from surefoot.data.types.preferences import read_preferences

pytestmark = pytest.mark.heavy

BLOCKS = [24, 200, 1 << 20]
EACH = 510  # accepted mutants of runs, of judgments, of scores and of LETOR: more than 2,000 in all
RUNS = [
    b"q1 Q0 d1 1 2.5 t\nq1 Q0 d2 2 1.5 t\nq2 Q0 d1 1 0.5 t\n",
    b"q1\tQ0\td1\t1\t2\tt\nq1\tQ0\td2\t2\t2\tt\nq2\tQ0\td3\t1\t2\tt\nq2\tQ0\td1\t1\t3\tt",
    b"  q1   Q0 d1  1 2.5 t \n\nq1 Q0 d10 1 2.5 t\r\nq2 Q0 d9 2 1e-3 t\r\n",
    b"\xef\xbb\xbfq1 Q0 \xc3\xa9 1 1 t\nq1 Q0 \xe6\x96\x87 1 1 t\nq2 Q0 d1 1 1 t\nq1 Q0 d1 1 0 t\n",
    b"q1\td1\t1\nq2\td1\t1\nq1\td2\t2\n",
]
QRELS = [
    b"q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 2\n",
    b"q1\t0\td1\t1\nq1\t0\td2\t0\nq2\t0\td3\t-1",
    b"q1 0  d1 1\r\nq2 0 d1 0.5\r\n\r\nq1 0 d2 1\r\n",
    b"q1\td1\t1\r\nq1\td2\t0\r\nq2\td3\t-1\r\n",
]
SCORES = [
    b"query,a,b\n1,0.5,0.25\n2,0,1\n",
    b"topic\ta\tb\nq1\t.5\t1e-3\nq2\t1\t0\n\n",
    b'query,"a, b",c\n"q ""1""",0.5,1\r\n"q\n2",1,2\r\n',
    b"\xef\xbb\xbfquery;a;b\r\n1; 0.5;1\r\n2;0.25 ;0\r\n",
]
LETOR = [
    b"2 qid:1 1:0.5 2:1 #docid = d1\n0 qid:1 1:0.25 3:1 #docid = d2\n1 qid:2 2:3 #docid = d1\n",
    b"1 qid:a 1:1e-3 2:nan # d1\r\n0.5 qid:a 2:16777217 # d2\r\n\r\n# comment\n0 qid:b 1:+.5 4:-0\n",
    b"0 qid:1\t1:0.1000000014901161193847656250001 2:3.4028235e38 #docid=x inc = 1\n1 qid:2 1:1 #docid = x\n",
]
PREFERENCES = [
    b"pair,list,rank,score,grade,preferred\n1,A,1,0.9,2,A\n1,A,2,0.5,0,A\n1,B,1,0.9,1,A\n2,A,1,1,1,B\n2,B,1,1,0.5,B\n",
    b'pair,list,rank,score,grade,preferred,note\r\n"x ""y""",B,1,1e-3,2,B,"a,\n b"\r\n"x ""y""",A,1,0.9,2,B,\r\n',
]
DATED = [
    b"query date\n301 2026-11-15\n302 2026-11-16 10:30:00\n",
    b"301,2026-11-15\r\n302\t2026-02-28T10:00\r\n\r\n303  2024-02-29\r\n",
]


def meaning(read: Callable[[], Any]) -> Any:
    """What a reader makes of its input, or that it refused; anything else it raises is a failure."""
    try:
        return read()
    except (sf.SurefootError, slow_readers.Refused):
        return "refused"


def agree(
    folder: Path,
    name: str,
    seeds: list[bytes],
    tokens: list[bytes],
    usual: int,
    fast: Callable[[Path], Any],
    slow: Callable[[bytes], Any],
    least: int = 0,
) -> None:
    """Try so many inputs, and on with gentler ones until `least` different mutants are accepted.

    Of each the two say the same.
    """
    path = folder / name
    accepted: set[bytes] = set()
    taken = 0

    def held(number: int, data: bytes) -> bool:
        path.write_bytes(data)
        result, expected = meaning(lambda: fast(path)), meaning(lambda: slow(data))
        assert result == expected, (number, data, result, expected)
        if result != "refused" and data not in seeds:
            accepted.add(data)
        return bool(result != "refused")

    tried = mutations.count(usual)
    for number, data in mutations.mutated(seeds, tokens, name, tried):
        taken += held(number, data)
    assert min(taken, tried - taken) > tried // 50  # else the mutations try too little
    for gently, data in mutations.gently_mutated(seeds, name):
        if len(accepted) >= mutations.count(least):
            break
        assert gently < 20 * mutations.count(least)  # else they are not gentle
        if data not in accepted:
            held(gently, data)
    print(f"{name}: {taken} of {tried} accepted, and of these and gentler ones {len(accepted)} different mutants")


@pytest.fixture(params=BLOCKS)
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Small blocks too, so that lines and queries go on in the next one."""
    for module in (run_lines, letor_text):
        monkeypatch.setattr(module, "_BLOCK", request.param)
    return int(request.param)


def ranked(table: sf.Run | sf.Qrels) -> list[tuple[str, list[tuple[str, float]]]]:
    return [(query, list(documents.items())) for query, documents in table.to_dict().items()]


def test_runs(tmp_path: Path, block: int) -> None:
    agree(
        tmp_path, f"{block}.run", RUNS, NUMBERS + WORDS, 250,
        lambda path: ranked(sf.read_run(path)), lambda data: slow_readers.trec(data, 6, 4, by_id=True),
        EACH // len(BLOCKS),
    )  # fmt: skip


def test_judgments(tmp_path: Path, block: int) -> None:
    agree(
        tmp_path, f"{block}.qrels", QRELS, NUMBERS + WORDS, 250,
        lambda path: ranked(sf.read_qrels(path)), lambda data: slow_readers.trec(data, 4, 3, by_id=False),
        EACH // len(BLOCKS),
    )  # fmt: skip


def test_scores(tmp_path: Path) -> None:
    def read(path: Path) -> Any:
        scores = sf.read_scores(path)
        return list(scores.systems), list(scores.queries), scores.values.tolist()

    agree(tmp_path, "scores.csv", SCORES, NUMBERS + WORDS + [b"query", b"a,b"], 600, read, slow_readers.scores, EACH)


def test_letor(tmp_path: Path, block: int) -> None:
    def dense(rows: list[dict[int, float]], width: int) -> str:
        assert len(rows) * width < 1 << 24
        return repr([[row.get(feature, 0.0) for feature in range(1, width + 1)] for row in rows])

    def read(path: Path) -> Any:
        data = sf.read_letor(path)
        queries = np.repeat(np.array(data.queries, dtype=object), data.lengths).tolist()
        if data.n_features > 1000:
            return "wide"
        ids = None if data.doc_ids is None else data.doc_ids.to_list()
        return repr(data.X.tolist()), data.y.tolist(), queries, ids

    def slow(data: bytes) -> Any:
        rows, width, labels, queries, ids = slow_readers.letor(data)
        if 4 * len(rows) * width > 1 << 26:
            raise slow_readers.Refused
        return "wide" if width > 1000 else (dense(rows, width), labels, queries, ids)

    agree(tmp_path, f"{block}.txt", LETOR, NUMBERS + WORDS, 250, read, slow, EACH // len(BLOCKS))


def test_preferences(tmp_path: Path) -> None:
    def read(path: Path) -> Any:
        pairs = read_preferences(path)
        lists = [
            [
                [(score, grade) for score, grade in zip(s, g, strict=True) if score > -math.inf]
                for s, g in zip(both, grades, strict=True)
            ]
            for both, grades in zip(pairs.scores.tolist(), pairs.grades.tolist(), strict=True)
        ]
        return list(zip(pairs.names, ["AB"[one] for one in pairs.preferred], lists, strict=True))

    agree(tmp_path, "preferences.csv", PREFERENCES, NUMBERS + WORDS, 600, read, slow_readers.preferences)


def test_dates(tmp_path: Path) -> None:
    agree(tmp_path, "dates.txt", DATED, DATES + WORDS, 800, read_dates, slow_readers.dates)


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz", "zst"])
def test_damaged_compression_is_noticed(tmp_path: Path, ending: str) -> None:
    intact = tmp_path / f"whole.run.{ending}"
    table = sf.read_run({f"q{i}": {f"d{j}": 1 / (1 + i + j) for j in range(9)} for i in range(30)})
    table.write(intact)
    data, expected = intact.read_bytes(), ranked(table)
    rng = random.Random(ending)
    for number in range(mutations.count(150)):
        damaged = bytearray(data)
        at = rng.randrange(len(data))
        if rng.random() < 0.3:
            del damaged[at:]
        else:
            damaged[at] ^= 1 << rng.randrange(8)
        path = tmp_path / f"damaged.run.{ending}"
        path.write_bytes(damaged)
        assert meaning(lambda path=path: ranked(sf.read_run(path))) in ("refused", expected), (number, at)
