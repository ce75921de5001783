"""Automatic judges on the command line: drawing, deciding, comparing, converting, and how each says no."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefoot as sf

LISTS = [["a", "b", "c", "d"], ["b", "a", "c", "d"], ["d", "c", "b", "a"]]
IDS = [f"q{number}" for number in range(80)]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    people = {query: {document: int(rng.choice(3, p=[0.6, 0.2, 0.2])) for document in "abcd"} for query in IDS}
    judge = {
        query: {document: grade if rng.random() < 0.8 else int(rng.integers(3)) for document, grade in grades.items()}
        for query, grades in people.items()
    }
    sf.read_qrels(people).write(tmp_path / "people.qrels")
    sf.read_qrels(judge).write(tmp_path / "auto.qrels")
    sf.read_run(dict.fromkeys(IDS, LISTS[0])).write(tmp_path / "today.run")
    new = {query: LISTS[int(rng.choice(3, p=[0.4, 0.4, 0.2]))] for query in IDS}
    sf.read_run(new).write(tmp_path / "new.run")
    return tmp_path


def draw(surefoot: Any, home: Path, *more: Any) -> tuple[int, str, str]:
    line = ["judge", "next", home / "new.run", "-b", home / "today.run", "-m", "nDCG@4", "-n", 40]
    return surefoot(*line, "-o", home / "draws.json", *more)


def gate(surefoot: Any, home: Path, *more: Any) -> tuple[int, str, str]:
    line = ["gate", home / "people.qrels", home / "today.run", home / "new.run", "-b", "today", "-m", "nDCG@4"]
    return surefoot(*line, "--risk", 0.1, *more)


def test_from_drawing_to_deciding(surefoot, home: Path) -> None:
    (home / "topics.tsv").write_text("".join(f"{query}\ttext of {query}\n" for query in IDS))
    code, out, err = draw(
        surefoot, home, "--automatic", home / "auto.qrels", "--csv", home / "judge.csv", "--seed", 3,
        "--documents-csv", home / "quepid.csv", "--query-set", home / "set.json", "--texts", home / "topics.tsv",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert "belong to the automatic judgments auto" in out.replace("\n", " ")
    draws = sf.Draws.read(home / "draws.json")
    first_drawn = list(dict.fromkeys(draws.to_dict()["sequence"]))
    rows = (home / "judge.csv").read_text().splitlines()[1:]
    assert [row.split(",")[0] for row in rows] == first_drawn  # in the order of the draws
    lines = (home / "quepid.csv").read_text().splitlines()
    assert lines[0] == "query,docid,rating"
    assert all(line.endswith(",") for line in lines[1:])  # nobody sees a grade
    assert list(dict.fromkeys(line.split(",")[0] for line in lines[1:])) == [f"text of {one}" for one in first_drawn]
    asked = [one["queryText"] for one in json.loads((home / "set.json").read_text())["querySetQueries"]]
    assert asked == [f"text of {one}" for one in first_drawn]
    code, out, err = gate(
        surefoot, home, "--sample", home / "draws.json", "--automatic", home / "auto.qrels", "--json", home / "d.json"
    )
    assert code in (0, 1, 3)
    assert err == ""
    assert "Without the judge" in out
    data = json.loads((home / "d.json").read_text())
    assert data["automatic"]["sha256"] == draws.to_dict()["automatic"]["sha256"]


def test_gate_says_no(surefoot, home: Path) -> None:
    assert draw(surefoot, home, "--automatic", home / "auto.qrels", "-q") == (0, "", "")
    drawn = ["--sample", home / "draws.json"]
    for more, said in (
        (["--automatic", home / "auto.qrels"], "need queries that were drawn with them"),
        ([*drawn], "drawn with automatic judgments"),
        ([*drawn, "--automatic", home / "people.qrels"], "are not those that the draws were made with"),
        ([*drawn, "--automatic", home / "nowhere.qrels"], "nowhere.qrels"),
    ):
        code, _, err = gate(surefoot, home, *more)
        assert (code, said in " ".join(err.split())) == (2, True), err
    with (home / "auto.qrels").open("a") as file:
        file.write("q0 0 z 1\n")
    code, _, err = gate(surefoot, home, *drawn, "--automatic", home / "auto.qrels")
    assert (code, "are not those" in err) == (2, True)


def test_judge_next_says_no(surefoot, home: Path) -> None:
    sf.read_qrels({"q1": {"a": 1}}).write(home / "few.qrels")
    for more, said in (
        (["--automatic", home / "few.qrels"], "have no judgment for"),
        (["--unjudged", "zero"], "only with --automatic"),
        (["--texts", home / "few.qrels"], "only with --documents-csv"),
        (["--automatic", home / "auto.qrels", "--unjudged", "drop"], "must be 'error' or 'zero'"),
        (["--automatic", home / "draws.json"], "draws.json"),
    ):
        code, _, err = draw(surefoot, home, *more)
        assert (code, said in " ".join(err.split())) == (2, True), err
        assert not (home / "draws.json").exists()


def test_control_says_no(surefoot, tmp_path: Path) -> None:
    line = ["guard", tmp_path, "--fit-scorer", "v", "--calibrate", "j", "-b", "feature:1", "-o", tmp_path / "out"]
    code, _, err = surefoot(*line, "--automatic", "auto.qrels")
    assert (code, "cannot use automatic judgments yet" in " ".join(err.split())) == (2, True)


def test_agreement(surefoot, home: Path) -> None:
    line = ["judge", "agreement", home / "people.qrels", home / "auto.qrels"]
    runs = [home / "today.run", home / "new.run"]
    code, out, err = surefoot(*line, *runs, "-b", "today", "-m", "nDCG@4", "--html", home / "a.html")
    assert (code, err) == (0, "")
    assert "auto.qrels agrees with people.qrels" in out
    assert "<!doctype html>" in (home / "a.html").read_text()
    code, out, _ = surefoot(*line, "--json", "-")
    assert (code, json.loads(out)["schema"]) == (0, "surefoot/agreement/1")
    code, _, err = surefoot(*line, "-b", "today")
    assert (code, "need runs" in err) == (2, True)


def test_texts_of_a_judge_become_ids(surefoot, home: Path) -> None:
    lines = [
        {"model": "m", "query": "red  dress", "passage": "A dress.", "judgment": 3},
        {"model": "m", "query": "red dress", "passage": "A shoe.", "judgment": 0, "result_status": 0},
        {"model": "m", "query": "shoes", "passage": "A shoe.", "judgment": 2, "result_status": 1},
    ]
    (home / "umbrela.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (home / "topics.tsv").write_text("q1\tred dress\nq2\tshoes\n")
    (home / "texts.tsv").write_text("d1\tA dress.\nd2\tA shoe.\n")
    code, _, err = surefoot(
        "convert", home / "umbrela.jsonl", "--texts", home / "topics.tsv", "--documents", home / "texts.tsv",
        "-o", home / "u.qrels",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert (home / "u.qrels").read_text() == "q1 automatic d1 3\nq2 automatic d2 2\n"
    again = sf.read_qrels(home / "u.qrels")
    assert again.origin is not None
    assert again.origin.is_automatic
    (home / "texts.tsv").write_text("d1\tA dress.\n")
    code, _, err = surefoot(
        "convert", home / "umbrela.jsonl", "--documents", home / "texts.tsv", "-o", home / "v.qrels"
    )
    assert (code, "have no id" in err) == (2, True)
