"""Long work where no terminal is: plain lines on the error stream, and none of quick or quiet work."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from tests.cli.inputs import write_runs

import surefoot as sf
from surefoot.cli import bar
from surefoot.cli.bar import progress_lines as lines_of
from surefoot.progress import busy, steps


@pytest.fixture
def soon(monkeypatch) -> None:
    monkeypatch.setattr(bar, "SILENT_SECONDS", 0.1)
    monkeypatch.setattr(bar, "SECONDS_BETWEEN_LINES", 0.1)
    monkeypatch.setattr(bar, "_SECONDS_BEFORE_NEW_STAGE", 0.0)


def test_lines_tell_of_stages(soon, capsys) -> None:
    told: list[str] = []

    def wait_for(words: str) -> None:
        """Until a line begins so; a slow machine has a minute for it."""
        for _ in range(3000):
            time.sleep(0.02)
            out, err = capsys.readouterr()
            assert out == ""
            told.extend(err.splitlines())
            if any(line.startswith(f"surefoot: {words}") for line in told):
                return
        pytest.fail(f"no line begins with {words!r}: {told}")

    with lines_of(quiet=False):
        with busy("Reading the log"):
            wait_for("Reading the log, for ")
        for number in steps(range(4), "Making features"):
            wait_for(f"Making features, {number} of 4 (" if number else "Making features, 4 in all")
    assert told[0].startswith("surefoot: Reading the log, for ")
    assert any(line.startswith("surefoot: Making features, 2 of 4 (50 %), for ") for line in told)
    assert "\x1b" not in "".join(told)
    assert capsys.readouterr().out == ""
    time.sleep(0.3)
    assert capsys.readouterr().err == ""  # what is over is not told of


def test_quick_work_is_not_told_of(capsys) -> None:
    with lines_of(quiet=False):
        assert list(steps(range(3), "Reading runs")) == [0, 1, 2]
    assert capsys.readouterr() == ("", "")


def test_quiet(soon, capsys) -> None:
    with lines_of(quiet=True), busy("Reading the log"):
        time.sleep(0.4)
    assert capsys.readouterr() == ("", "")


def test_a_command_tells_in_lines_and_its_output_stays_as_it_is(soon, surefoot, tmp_path: Path, monkeypatch) -> None:
    write_runs(tmp_path, runs=2)
    line = ("evaluate", tmp_path / "qrels.txt", tmp_path / "today.run", tmp_path / "bold.run", "-b", "today")
    expected = surefoot(*line, "-q", "--json", "-")[1]

    def slow(*arguments: object, **options: object) -> object:
        with busy("Scoring runs"):
            time.sleep(1.0)
        return score(*arguments, **options)

    score = sf.score
    monkeypatch.setattr("surefoot.measures.scoring.score", slow)
    code, out, err = surefoot(*line, "--json", "-")
    assert (code, out) == (0, expected)
    assert "surefoot: Scoring runs, for " in err
    assert surefoot(*line, "-q", "--json", "-")[2] == ""


def test_training_tells_of_trees(soon, surefoot, tmp_path: Path) -> None:
    sf.demo.letor(queries=40, documents=20, features=6, seed=1).write(tmp_path / "train.txt")
    options = ("--trees", "300", "--set", "min_data_in_leaf=1", "--threads", "1", "-o", tmp_path / "model")
    code, _, err = surefoot("train", tmp_path / "train.txt", *options)
    assert code == 0
    assert "surefoot: Growing trees, " in err
    assert " of 300 (" in err
