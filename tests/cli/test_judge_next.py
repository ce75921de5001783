"""`surefoot judge next`: what it lists, what it writes, and how it says no."""

from __future__ import annotations

from pathlib import Path

import pytest

import surefoot as sf
from surefoot.decide.evidence.record import read_record

TODAY = {f"q{number}": ["a", "b", "c"] for number in range(8)}
NEW = TODAY | {"q1": ["b", "a", "c"], "q2": ["a", "c", "b"], "=q3": ["d", "e", "f"]}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    sf.read_run(TODAY | {"=q3": ["a", "b"]}).write(tmp_path / "today.run")
    sf.read_run(NEW).write(tmp_path / "new.run")
    sf.read_qrels({"q1": {"a": 1, "b": 0}, "=q3": {"a": 1}}).write(tmp_path / "qrels.txt")
    return tmp_path


def test_the_same_as_in_python(surefoot, home: Path) -> None:
    code, out, err = surefoot(
        "judge", "next", home / "new.run", "--baseline", home / "today.run", "-m", "nDCG@3", "-n", 40, "--seed", 4,
        "-o", home / "draws.json", "--csv", home / "judge.csv", "--qrels", home / "qrels.txt",
    )  # fmt: skip
    assert (code, err) == (0, "")
    draws = sf.Draws.read(home / "draws.json")
    same = sf.judge_next(
        [sf.read_run(home / "today.run"), sf.read_run(home / "new.run")],
        baseline=sf.read_run(home / "today.run").name,
        measure="nDCG@3",
        n=40,
        seed=4,
    )
    assert draws.to_dict() == same.to_dict()
    assert "40 draws from 9 queries" in out
    lines = (home / "judge.csv").read_text().splitlines()
    assert lines[0] == "query,times,could_lose,documents_to_judge"
    assert lines[1].startswith("'=q3,")  # a spreadsheet takes it as text
    to_judge = {line.split(",")[0]: line.split(",")[3] for line in lines[1:]}
    assert to_judge == {"'=q3": "4", "q1": "1", "q2": "3"}


def drawing(home: Path, *options: object) -> list[object]:
    """What draws for a record."""
    return ["judge", "next", home / "new.run", "-b", home / "today.run", *options, "--record", home / "r.json"]


def test_draws_are_fresh_and_kept_in_a_record(surefoot, home: Path) -> None:
    line = drawing(home, "-m", "nDCG@3", "-n", 9)
    for _ in range(2):
        assert surefoot(*line, "-q") == (0, "", "")
    seeds = [draws.seed for draws in read_record(home / "r.json").draws]
    assert seeds[0] != seeds[1]
    judged = {query: {"a": 1} for query in (*TODAY, "=q3")}
    sf.read_qrels(judged).write(home / "all.txt")
    shown = " ".join(surefoot("gate", "--record", home / "r.json")[1].split())
    assert shown.count("9 draws for new against today") == 2
    assert shown.count("no look yet. To judge: ") == 2
    code, out, _ = surefoot(
        "gate", home / "all.txt", home / "today.run", home / "new.run", "-m", "nDCG@3", "-b", "today", "--risk", 0.9,
        "--record", home / "r.json",
    )  # fmt: skip
    assert code in (0, 3)
    assert "18 draws from 9 queries" in out.replace("\n", " ")
    assert surefoot("gate", "--record", home / "r.json")[1].count("looked at.") == 2
    before = (home / "today.run").read_bytes()
    code, _, err = surefoot(*line[:-1], home / "today.run")
    assert (code, (home / "today.run").read_bytes()) == (2, before)
    assert "would overwrite" in err


def test_a_uniform_sample_is_listed(surefoot, home: Path) -> None:
    line = drawing(home, "--uniform", "-n", 4)
    code, out, err = surefoot(*line, "--csv", home / "judge.csv")
    assert (code, err) == (0, "")
    assert "4 queries, drawn at random from the 9 that the runs answer" in out
    lines = (home / "judge.csv").read_text().splitlines()
    assert lines[0] == "query,documents_to_judge"
    sampled = read_record(home / "r.json").sampled
    assert [row.split(",")[0].removeprefix("'") for row in lines[1:]] == sampled
    shown = " ".join(surefoot("gate", "--record", home / "r.json")[1].split())
    assert f"4 queries of a random order of 9: no look yet. To judge: {', '.join(sampled)}." in shown
    code, _, err = surefoot(*line[:-3], 6, *line[-2:])
    assert (code, "ask for at most 5" in err) == (2, True)


def test_again_into_the_same_files_but_never_onto_an_input(surefoot, home: Path) -> None:
    line = ["judge", "next", home / "new.run", "-b", home / "today.run", "-m", "P@1", "--to-prove", "gain", "-q"]
    assert surefoot(*line, "-o", home / "d.json", "--csv", home / "d.csv") == (0, "", "")
    assert surefoot(*line, "-o", home / "d.json")[0] == 2  # what was judged by these draws would be lost
    assert surefoot(*line, "-o", home / "d.json", "--csv", home / "d.csv", "--force") == (0, "", "")
    before = (home / "new.run").read_bytes()
    code, _, err = surefoot(*line, "-o", home / "new.run", "--force")
    assert (code, (home / "new.run").read_bytes()) == (2, before)
    assert "would overwrite" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-m", "DCG@3"], "no maximum"),
        (["-m", "nDCG@3", "--to-prove", "fun"], "must be 'risk' or 'gain'"),
        (["-m", "nDCG@3", "-n", "0"], "-n"),
        (["-m", "nDCG@3", "-n", "10000000"], "n is 10,000,000"),
        (["-m", "nDCG@3", "--qrels", "nowhere.txt"], "nowhere.txt"),
        (["--record", "r.json"], "a record holds its draws, so leave -o out"),
        (["--uniform"], "--uniform needs --record FILE"),
        (["-b", "new"], "two runs are needed, the live one and the candidate; found 1"),
    ],
)
def test_refusals(surefoot, home: Path, options: list[str], message: str) -> None:
    line = ["judge", "next", home / "new.run", "-b", home / "today.run", "-o", home / "draws.json", *options]
    code, _, err = surefoot(*line)
    assert code == 2
    assert message in err
    assert not (home / "draws.json").exists()


def test_runs_that_show_the_same_leave_nothing_to_judge(surefoot, home: Path) -> None:
    (home / "same.run").write_bytes((home / "new.run").read_bytes())
    line = ["judge", "next", home / "new.run", "-b", home / "same.run", "-m", "AP", "-o", home / "draws.json"]
    code, _, err = surefoot(*line)
    assert (code, "nothing to judge" in err) == (2, True)
