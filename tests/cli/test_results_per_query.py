"""`surefoot evaluate --scores` and `gate --scores` of results per query, and folders of runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.inputs import check_refused

TODAY = "map          \t1\t0.5000\nmap          \t2\t0.2500\nP_10\t1\t0.1\nP_10\t2\t0.2\nmap\tall\t0.3750\n"
NEW = TODAY.replace("0.2500", "0.7500").replace("0.3750", "0.6250").replace("\t0.1\n", "\t0.3\n")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("today.eval").write_text(TODAY)
    Path("new.eval").write_text(NEW)
    Path("matrix.csv").write_text("query,today,new\n1,0.5,0.5\n2,0.25,0.75\n")
    Path("evals").mkdir()
    Path("evals/a.eval").write_text(TODAY)
    Path("evals/b.eval").write_text(NEW)
    return tmp_path


def run(surefoot, line: str) -> tuple[int, str, str]:
    return surefoot(*line.split())


@pytest.mark.parametrize("measure", ["map", "AP"])
def test_files_of_trec_eval(surefoot, home: Path, measure: str) -> None:
    code, out, err = run(surefoot, f"evaluate --scores today.eval new.eval -m {measure} -b today -a 5 --json -")
    assert (code, err) == (0, "")
    data = json.loads(out)
    assert (data["measure"], data["queries"]) == ("AP", 2)
    assert {row["system"]: row["mean"] for row in data["systems"]} == {"today": 0.375, "new": 0.625}
    _, matrix, _ = run(surefoot, "evaluate --scores matrix.csv -m AP -b today -a 5 --json -")
    assert json.loads(matrix) == data


def test_a_folder_and_names(surefoot, home: Path) -> None:
    code, out, _ = run(surefoot, "evaluate --scores evals -m map -m P_10 -b a -a 5 --json - --html page.html")
    assert code == 0
    assert [part["measure"] for part in json.loads(out)["measures"]] == ["AP", "P@10"]
    assert "a.eval" in Path("page.html").read_text()
    code, out, _ = run(surefoot, "evaluate --scores live=today.eval evals -m map -b live -a 5 --json -")
    assert [row["system"] for row in json.loads(out)["systems"]] == ["live", "a", "b"]
    code, out, _ = run(surefoot, "gate --scores today.eval new.eval -m AP -b today --risk 0.5 --json -")
    assert code in (0, 3), out


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("evaluate --scores today.eval new.eval -b today", "today.eval has 2 measures; choose one or more"),
        ("evaluate --scores today.eval new.eval -b today -m ERR@20", "the measure 'ERR@20' is not in today.eval;"),
        ("evaluate --scores today.eval evals/a.eval today=new.eval -b a -m map", "both belong to today; name one"),
        ("evaluate --scores today.eval matrix.csv -b today -m map", "matrix.csv: this is a score matrix, and"),
        ("evaluate --scores matrix.csv today.eval -b today -m map", "give either judgments and runs or --scores"),
        ("evaluate --scores matrix.csv -m AP -m RR -b today", "a score matrix has one measure only"),
        ("evaluate --scores matrix.csv -m AP -b today --missing drop", "--missing works only with runs and"),
        ("evaluate --scores today.eval -m  -b today", "needs an argument|requires an argument|-m is empty"),
        ("evaluate --scores evals/none.eval today.eval -m map -b today", "evals/none.eval: cannot be read"),
        ("evaluate --scores today.eval new.eval -m map -b today --json new.eval", "new.eval"),
        ("evaluate --scores evals -m map -b a --json evals/a.eval", "evals/a.eval"),
    ],
)  # fmt: skip
def test_what_is_refused(surefoot, home: Path, line: str, message: str) -> None:
    if "|" in message:
        assert run(surefoot, line)[0] == 2
    else:
        check_refused(surefoot, home, line, message)


def test_a_difference_from_the_line_for_all_is_told(surefoot, home: Path) -> None:
    Path("new.eval").write_text(NEW.replace("0.6250", "0.6000"))
    code, _, err = run(surefoot, "evaluate --scores today.eval new.eval -m map -b today -q")
    assert code == 0
    assert "new.eval, line 5: map of all queries is 0.6000, but the mean of the 2 queries there is 0.625" in err


def test_missing_queries(surefoot, home: Path) -> None:
    Path("new.eval").write_text("map 1 0.5\nmap all 0.5\n")
    line = "evaluate --scores today.eval new.eval -m map -b today -a 5 --json -"
    check_refused(surefoot, home, line, "new.eval: system 'new' has no value for 1 of 2 queries; the first is '2'")
    code, out, _ = run(surefoot, f"{line} --missing zero")
    assert (code, json.loads(out)["missing"]) == (0, {"today": 0, "new": 1})
    code, out, _ = run(surefoot, f"{line} --missing drop")
    assert (code, json.loads(out)["dropped"], json.loads(out)["queries"]) == (0, 1, 1)


def test_a_folder_of_runs(surefoot, home: Path) -> None:
    Path("qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    Path("runs").mkdir()
    Path("runs/today.json").write_text('{"q1": {"d1": 1.0, "d2": 2.0}}')
    Path("runs/new.json").write_text('{"q1": {"d1": 3.0, "d2": 2.0}}')
    code, out, err = run(surefoot, "evaluate qrels.tsv runs -m RR -b today -a 5 --json - --html page.html")
    assert (code, "new.json" in Path("page.html").read_text()) == (0, True), err
    assert {row["system"]: row["mean"] for row in json.loads(out)["systems"]} == {"today": 0.5, "new": 1.0}
