"""`surefoot convert`, and `surefoot evaluate` of the files that teams have."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import surefoot as sf

QRELS = "q1 0 d1 2\nq1 0 d2 0\nq2 0 d3 1\n"
TOPICS = "q1\tred  dress\nq2\t-40 degrees\nq3\tshoes\n"
NEW = "q1 Q0 d7 1 9 t\nq1 Q0 d1 2 8 t\nq1 Q0 d8 3 7 t\nq2 Q0 d3 1 9 t\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch) -> Path:
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "topics.tsv").write_text(TOPICS)
    (tmp_path / "new.run").write_text(NEW)
    (tmp_path / "book.csv").write_text("query,docid,Ann,Bo\nred dress,d1,3,2\n")
    results = [
        {"searchConfigurationId": run, "searchText": query, "documentIds": documents}
        for run, query, documents in (("a", "red dress", ["d1", "d2"]), ("b", "red dress", ["d2", "d1"]),
                                      ("a", "-40 degrees", ["d3"]), ("b", "-40 degrees", ["d9", "d3"]))
    ]  # fmt: skip
    (tmp_path / "results.json").write_text(json.dumps(results))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_documents_to_judge_go_out_and_judgments_come_back(surefoot, home: Path) -> None:
    out = ("convert", "qrels.txt", "--unrated", "new.run", "--depth", 2, "--texts", "topics.tsv", "--to", "quepid")
    code, printed, _ = surefoot(*out, "-o", "next.csv")
    assert (code, printed) == (0, "Read qrels.txt as judgments, and wrote 3 documents of 2 queries to next.csv\n")
    text = (home / "next.csv").read_text()
    assert text == "query,docid,rating\nred dress,d1,2\nred dress,d2,0\nred dress,d7,\n -40 degrees,d3,1\n"
    (home / "judged.csv").write_text(text.replace("d7,", "d7,3"))
    assert surefoot("convert", "judged.csv", "--texts", "topics.tsv", "-o", "more.txt", "-q") == (0, "", "")
    assert (home / "more.txt").read_text() == "q1 0 d7 3\nq1 0 d1 2\nq1 0 d2 0\nq2 0 d3 1\n"


def test_forms(surefoot, home: Path) -> None:
    for to, file, kind in (("workbench", "w.json", "judgmentRatings"), ("query-set", "s.json", "querySetQueries")):
        assert surefoot("convert", "qrels.txt", "--to", to, "-o", file, "--pick", "Round 2")[0] == 0
        body = json.loads((home / file).read_text())
        assert (body["name"], len(body[kind])) == ("Round 2", 2)
    assert sf.read_qrels("w.json").to_dict() == sf.read_qrels("qrels.txt").to_dict()
    assert surefoot("convert", "book.csv", "--merge", "max", "-o", "b.json")[0] == 0
    assert json.loads((home / "b.json").read_text()) == {"red dress": {"d1": 3.0}}
    assert surefoot("convert", "results.json", "--pick", "b", "--texts", "topics.tsv", "-o", "b.run")[0] == 0
    assert (home / "b.run").read_text().splitlines()[0] == "q1 Q0 d2 1 -1.0 b"
    assert surefoot("convert", "qrels.txt", "--to", "trec", "-o", "q.csv")[0] == 0
    assert (home / "q.csv").read_text() == QRELS
    assert surefoot("convert", "new.run", "--to", "quepid", "--depth", 1, "-o", "n.csv")[0] == 0
    assert (home / "n.csv").read_text() == "query,docid,rating\nq1,d7,\nq2,d3,\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("book.csv -o qrels.txt", "qrels.txt already exists"),
        ("book.csv -o book.csv", "--output would overwrite the input file book.csv"),
        ("book.csv -o new.txt", "the query id 'red dress' cannot be written in a TREC line"),
        ("book.csv -o new.txt --texts qrels.txt", "expected an id and a text with one tab between"),
        ("qrels.txt -o new.txt --texts topics.tsv", "2 of 2 queries have no id; the first of them is 'q1'"),
        ("qrels.txt -o new.csv --merge max", "Only files that name their judges have several"),
        ("new.run --merge max -o new.csv", "--merge works only with judgments, but IN is a run"),
        ("new.run --to workbench -o new.json", "no place for documents that are not rated"),
        ("qrels.txt --unrated new.run -o new.csv", "--unrated works only with judgments, and --to of a tool"),
        ("new.run --unrated new.run --to quepid -o new.csv", "--unrated works only with"),
        ("qrels.txt --depth 3 --to quepid -o new.csv", "--depth works only with"),
        ("new.run --depth 3 -o new.csv", "--depth works only with"),
        ("qrels.txt --depth 0 --to quepid -o new.csv", "--depth"),
        ("qrels.txt --pick x -o new.csv", "this looks like judgments"),
        ("qrels.txt --to solr -o new.csv", "--to"),
        ("broken.txt -o new.csv", "line 1: expected 4 columns"),
        ("unclear.json -o new.csv", "could be judgments or a run; call it .qrels or .run"),
        ("results.json -o new.csv", "contains 2 runs: a, b; choose one of them"),
        ("absent -o new.csv", "cannot be read"),
    ],
)
def test_what_is_refused(surefoot, home: Path, line: str, message: str) -> None:
    (home / "broken.txt").write_text("q1 0 d1\n")
    (home / "unclear.json").write_text('{"q1": {"d1": 2, "d2": 1}}')
    before = {path: path.read_bytes() for path in home.iterdir()}
    code, out, err = surefoot("convert", *line.split())
    assert (code, out) == (2, "")
    assert message in err
    assert {path: path.read_bytes() for path in home.iterdir()} == before


def test_judgments_and_runs_are_told_apart(surefoot, home: Path) -> None:
    numbers = {f"d{number}": number for number in range(6)}
    for name, table, what in (
        ("grades.json", {"q1": {"d1": 2, "d2": 1, "d3": 1}}, "judgments"),
        ("scores.json", {"q1": numbers}, "a run"),
        ("few.run", "q1\td1\t1\nq1\td2\t2\n", "a run"),
        ("few.qrels", "q1\td1\t1\nq1\td2\t2\n", "judgments"),
    ):
        (home / name).write_text(table if isinstance(table, str) else json.dumps(table))
        code, out, err = surefoot("convert", name, "-o", f"{name}.csv")
        assert (code, err) == (0, "")
        assert f"Read {name} as {what}, and wrote" in out


def test_teams_files_are_evaluated_as_they_are(surefoot, home: Path) -> None:
    (home / "case.csv").write_text("query,docid,rating\nred dress,d1,2\nred dress,d2,\n -40 degrees,d3,1\nshoes,,\n")
    code, out, err = surefoot(
        "evaluate", "case.csv", "results.json", "-b", "a", "-m", "RR", "--json", "-", "--per-query"
    )
    assert (code, err) == (0, "")
    data = json.loads(out)
    assert [(row["system"], row["mean"]) for row in data["systems"]] == [("a", 1.0), ("b", 0.5)]
    assert data["per_query"]["queries"] == ["red dress", "-40 degrees"]
    code, out, _ = surefoot("evaluate", "case.csv", "b=results.json", "new=results.json", "-b", "b", "-m", "RR", "-q")
    assert code == 2  # the file has no run of the name new
    code, out, _ = surefoot("evaluate", "case.csv", "a=results.json", "b=results.json", "-b", "a", "-m", "RR",
                            "--per-query", "--html", "page.html")  # fmt: skip
    assert code == 0
    assert "red dress" in out
    assert "red dress" in (home / "page.html").read_text()


def test_metrics(surefoot, home: Path) -> None:
    line = ("evaluate", "qrels.txt", "new.run", "b=new.run", "-b", "b", "-m", "RR", "-m", "nDCG@10", "-q")
    assert surefoot(*line, "--metrics", "metrics.json") == (0, "", "")
    first = (home / "metrics.json").read_text()
    metrics = json.loads(first)
    assert metrics["RR/new/mean"] == 0.75
    assert metrics["nDCG_at_10/b/queries"] == 2
    assert surefoot(*line, "--metrics", "metrics.json") == (0, "", "")  # its own is replaced, as a pipeline needs
    assert (home / "metrics.json").read_text() == first
    for other in ('{"RR/new/mean": 0.5}', '{"a/mean": 1, "b/geometric_mean": 2, "a/reward": 0}', "{}"):
        (home / "metrics.json").write_text(other)
        code, _, err = surefoot(*line, "--metrics", "metrics.json")
        assert (code, (home / "metrics.json").read_text()) == (2, other)
        assert "it is not marked as a file that surefoot wrote" in err
