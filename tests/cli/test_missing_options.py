"""Where something is missing or in the wrong place: what may be given, a line each, and what a file looks like."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.inputs import write_runs

import surefoot as sf


@pytest.fixture
def home(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write_runs(tmp_path, runs=3)


@pytest.mark.parametrize("command", [("evaluate",), ("gate", "--risk", "0.1")])
def test_systems_are_listed_where_no_baseline_is_named(surefoot, home: Path, command: tuple[str, ...]) -> None:
    code, out, err = surefoot(*command, "qrels.txt", "today.run", "bold.run", "steady.run")
    assert (code, out) == (2, "")
    assert (
        err.splitlines()
        == [
            "surefoot: say which system is live today, with --baseline:",
            "  --baseline today    (probably, by its name)",
            "  --baseline bold",
            "  --baseline steady",
            "  --baseline mean     (the mean of all systems for each query; median and max also work)",
        ][: 5 if command[0] == "evaluate" else 4]
    )


def test_many_systems_are_listed_in_part(surefoot, tmp_path: Path) -> None:
    names = [f"run{number}" for number in range(30)] + ["prod"]
    sf.Scores([[0.5, 0.4]] * 31, names, ["1", "2"]).to_frame().write_csv(tmp_path / "s.csv")
    code, _, err = surefoot("evaluate", "--scores", tmp_path / "s.csv")
    assert code == 2
    lines = err.splitlines()
    assert lines[1] == "  --baseline prod    (probably, by its name)"
    assert lines[-2] == "  … and 11 more"
    assert len(lines) == 23


def test_conditions_are_listed_where_none_is_given(surefoot, home: Path) -> None:
    code, _, err = surefoot("gate", "qrels.txt", "today.run", "bold.run", "-b", "today")
    assert code == 2
    for example in ("--risk 0.02 ", "--share-hurt 0.05 ", "--gain 0 ", "--u-risk 5:0 ", "--policy FILE "):
        assert f"\n  {example}" in err
        name, value = example.split()
        if name != "--policy":  # each can be typed as it stands
            assert surefoot("gate", "qrels.txt", "today.run", "bold.run", "-b", "today", name, value)[0] in (0, 1, 3)


def test_a_missing_option_says_what_it_takes(surefoot, home: Path) -> None:
    code, _, err = surefoot("export", "model", "--missing", "zero", "-o", "es.json")
    assert code == 2
    first, second = err.splitlines()
    assert first.startswith("surefoot: Missing option '--to'; see ")
    assert first.endswith("surefoot export --help")  # also where another program runs it
    assert second.startswith("  --to: Such as elasticsearch-plugin, solr, onnx.")


RUN = "this looks like a run (six columns, Q0); judgments have four: query, 0, document, grade"
JUDGMENTS = "this looks like judgments (four columns); a run has six: query, Q0, document, rank, score, tag"


@pytest.mark.parametrize(
    ("line", "file", "words"),
    [
        ("evaluate today.run qrels.txt -b today", "today.run", RUN),
        ("evaluate today.run bold.run -b bold", "today.run", RUN),
        ("evaluate qrels.txt today.run qrels.txt -b today", "qrels.txt", JUDGMENTS),
        ("gate bold.run qrels.txt today.run -b today --risk 0.1", "bold.run", RUN),
        ("stability measures bold.run qrels.txt today.run", "bold.run", RUN),
        ("judge next qrels.txt --baseline today.run -o draws.json", "qrels.txt", JUDGMENTS),
        ("check bold.run", "bold.run", RUN),
    ],
)
def test_judgments_and_runs_in_each_others_place(surefoot, home: Path, line: str, file: str, words: str) -> None:
    code, out, err = surefoot(*line.split())
    assert (code, out) == (2, "")
    assert err.startswith(f"surefoot: {file}, line 1: ")
    assert words in err


def test_a_broken_line_of_a_run_does_not_look_like_judgments(surefoot, home: Path) -> None:
    (home / "short.run").write_text("q01 Q0 q01-d000 1 1.0 x\nq01 Q0 d 2\n")
    assert "looks like" not in surefoot("evaluate", "qrels.txt", "short.run", "today.run", "-b", "today")[2]
