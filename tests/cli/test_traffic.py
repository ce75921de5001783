"""`--traffic` on the command line: the same as in Python, and bad files are refused with their line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import surefoot as sf


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = sf.demo.runs(queries=40)
    made.qrels.write(tmp_path / "qrels.txt")
    for run in made.runs[:3]:
        run.write(tmp_path / f"{run.name}.run")
    lines = [f"{query},{1000 // (i + 1)}" for i, query in enumerate(made.qrels.queries[:35])]
    (tmp_path / "traffic.csv").write_text("\n".join(["query,count", *lines]) + "\n", encoding="utf-8")
    return tmp_path


def test_evaluate(surefoot, home: Path) -> None:
    runs = [home / "today.run", home / "bold.run", home / "steady.run"]
    code, out, err = surefoot(
        "evaluate", home / "qrels.txt", *runs, "-b", "today", "--traffic", home / "traffic.csv",
        "--segments", "by-traffic", "--json", home / "a.json", "--html", home / "a.html",
    )  # fmt: skip
    assert (code, err) == (0, f"Wrote the page to {home / 'a.html'}\n")
    scores = sf.score(home / "qrels.txt", runs, "nDCG@10", traffic=home / "traffic.csv")
    assert json.loads((home / "a.json").read_text()) == sf.assess(scores, "today", segments="by-traffic").to_dict()
    words = " ".join(out.split())
    assert "5 judged queries without traffic are left out." in words
    assert "weighted by traffic" in words
    assert "of traffic)" in words


def test_draw_and_decide(surefoot, home: Path) -> None:
    draw = ["judge", "next", home / "bold.run", "-b", home / "today.run", "-n", 50, "--seed", 4]
    code, out, _ = surefoot(
        *draw, "--traffic", home / "traffic.csv", "-o", home / "d.json", "--csv", home / "judge.csv"
    )
    assert code == 0
    assert "queries that are asked more, were drawn more often" in " ".join(out.split())
    assert (home / "judge.csv").read_text().splitlines()[0] == "query,times,could_lose,count,documents_to_judge"
    gate = ["gate", home / "qrels.txt", home / "today.run", home / "bold.run", "-b", "today", "--risk", "0.9"]
    decided = [*gate, "--sample", home / "d.json", "--json", home / "g.json"]
    assert surefoot(*decided)[0] == 0
    assert json.loads((home / "g.json").read_text())["sample"]["by_traffic"]["left_out"] == 5


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q001,-3", "line 3: the count of query 'q001' is -3"),
        ("q001,nan", "line 3: the count of query 'q001' is nan"),
        ("zzz,5", "line 3: query 'zzz' appears twice"),
        ("q001", "line 3"),
    ],
)
def test_bad_files(surefoot, home: Path, line: str, message: str) -> None:
    (home / "bad.csv").write_text(f"query,count\nzzz,5\n{line}\n", encoding="utf-8")
    code, out, err = surefoot(
        "evaluate", home / "qrels.txt", home / "today.run", home / "bold.run", "-b", "today", "--traffic",
        home / "bad.csv", "--json", home / "out.json",
    )  # fmt: skip
    assert (code, out) == (2, "")
    assert message in err
    assert not (home / "out.json").exists()


def test_the_traffic_file_is_never_replaced(surefoot, home: Path) -> None:
    code, _, err = surefoot(
        "evaluate", home / "qrels.txt", home / "today.run", home / "bold.run", "-b", "today", "--traffic",
        home / "traffic.csv", "--csv", home / "traffic.csv", "--force",
    )  # fmt: skip
    assert code == 2
    assert "traffic.csv" in err


def test_studies(surefoot, home: Path) -> None:
    pair = [home / "qrels.txt", home / "today.run", home / "bold.run"]
    code, out, _ = surefoot("stability", "subsets", *pair, "--sizes", "10", "--traffic", home / "traffic.csv")
    assert code == 0
    assert "weighted by traffic" in " ".join(out.split())
