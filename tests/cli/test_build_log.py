"""Hostile names through every command, in a build: no line of output or error is a command to the build server."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from tests.test_build_log import commands
from typer.main import get_command

import surefoot as sf
from surefoot.build_log import BUILDS
from surefoot.cli.commands import application

OURS = re.compile(r"::(error|warning|notice) title=[^:,\r\n]*::[^\r\n]*")
HOSTILE = [
    "::add-mask::n",
    "##[error]n",
    "##vso[task.complete]n",
    "##teamcity[buildStatus]n",
    "#\u200b#[group]n",
    "\u200b::n",
]
TODAY, NEW, OTHER = "::add-mask::today", "##[error]new", "##vso[task.setvariable]other"
QUERIES = [*HOSTILE, *(f"q{number}" for number in range(34))]
RUNS = [f"{TODAY}=::today.run", f"{NEW}=##[new].run"]
READ = ["::qrels.txt", *RUNS, "-b", TODAY]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("##[hostile]")
    drawn = random.Random(1)
    documents = [f"::d{number}##[d]" for number in range(6)]
    for name, scores in (("::today.run", 0.0), ("##[new].run", 0.3), ("##vso[other].run", 0.6)):
        lines = (f"{q} Q0 {d} 1 {drawn.random() + scores * (d < '::d2')} ::tag" for q in QUERIES for d in documents)
        (folder / name).write_text("\n".join(lines) + "\n")
    grades = {q: {d: drawn.randint(0, 2) for d in documents} for q in QUERIES}
    (folder / "::qrels.txt").write_text("".join(f"{q} 0 {d} {g}\n" for q in grades for d, g in grades[q].items()))
    (folder / "##[auto].txt").write_text(
        "".join(f"{q} automatic {d} {g}\n" for q in grades for d, g in grades[q].items())
    )
    (folder / "segments.csv").write_text(
        "query,segment\n" + "".join(f"{q},{('::head', '##[tail]', '##vso[x]')[i % 3]}\n" for i, q in enumerate(QUERIES))
    )
    (folder / "##[policy].toml").write_text('risk = 0.1\n[segments."##[tail]"]\nrisk = 0.05\n')
    (folder / "##[wrong].toml").write_text('"##[error]risk" = 0.1\n')
    (folder / "::wrong.run").write_text("::q Q0 ##[d] 1 ##vso[x] t\n")
    data = sf.demo.letor(queries=30, documents=8, features=4)
    names = [f"##vso[d]{number}" for number in range(len(data.X))]
    queries = [f"{HOSTILE[query % 4]}{query}" for query, rows in enumerate(data.lengths) for _ in range(rows)]
    letor = sf.RankingData(data.X, data.y, qid=queries, doc_ids=names, baselines=data.baselines)
    letor.with_baselines_only([]).write(folder / "##[letor].parquet")
    return folder


@pytest.fixture
def home(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of hostile files, as the working folder; no build yet."""
    for name in (*BUILDS, "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(made)
    return made


def told(surefoot: Any, line: list[str]) -> tuple[int, str, str]:
    return surefoot(*line, *(["--force"] if "-o" in line else []))


MEASURED = ["-m", "nDCG@10"]
GATE = ["gate", *READ, *MEASURED, "--risk", "0.1", "--segments", "segments.csv", "--segment", "##[tail]:risk=0.05"]
STOP = ["gate", *READ, *MEASURED, "--share-hurt", "0.01", "--segments", "segments.csv",
        "--segment", "##[tail]:share-hurt=0.01"]  # fmt: skip
EVALUATE = ["evaluate", *READ, *MEASURED, "--segments", "segments.csv"]
PRINTED = [
    EVALUATE,
    [*EVALUATE, "--all"],
    *([*EVALUATE, f"--{kind}", "-"] for kind in ("markdown", "latex", "csv")),
    ["evaluate", *READ, *MEASURED, "--per-query"],
    [*EVALUATE, "--json", "-"],
    GATE,
    STOP,
    [*STOP, "--json", "-"],
    [*STOP, "--markdown", "-"],
    ["judge", "next", RUNS[1], "-b", RUNS[0], *MEASURED, "-n", "10", "-o", "::draws.json"],
    ["judge", "agreement", "::qrels.txt", "##[auto].txt", *RUNS, "--baseline", TODAY],
    ["judge", "agreement", "::qrels.txt", "##[auto].txt", *RUNS, "--baseline", TODAY, "--json", "-"],
    ["stability", "noise", "::qrels.txt", *RUNS, "--sizes", "0.1", "--seeds", "2"],
    ["stability", "noise", "::qrels.txt", *RUNS, "--sizes", "0.1", "--seeds", "2", "--json", "-"],
    ["check", "##[policy].toml", "::qrels.txt", "##[wrong].toml", "##[none].toml"],
    ["convert", "::qrels.txt", "-o", "::copy.csv"],
]
REFUSED = [
    ["evaluate", "::qrels.txt", "::wrong.run", RUNS[0], "-b", TODAY],
    ["evaluate", "::qrels.txt", *RUNS, "-b", "##vso[x]"],
    ["evaluate", "::qrels.txt", *RUNS, "-b", "::today\n::error::x\r##[x]"],
    ["evaluate", *READ, "-m", "##teamcity[x]"],
    ["gate", *READ, *MEASURED, "--segment", "##[x]=1"],
    ["gate", *READ, "--policy", "##[wrong].toml"],
    ["judge", "next", "::wrong.run", "-b", "##[none].run"],
    ["rank", "##[model]", "##[letor].parquet"],
    ["train", "::qrels.txt", "--valid", "##[letor].parquet", "-o", "##[x]"],
]


def plain_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


LINES: list[list[str]] = []  # of which output was looked at
HOSTILE_LINES: list[list[str]] = []  # whose output has commands where there is no build


@pytest.mark.parametrize("line", [*PRINTED, *REFUSED], ids=lambda line: " ".join(line[:1] + line[-2:])[:40])
def test_no_line_is_a_command(surefoot: Any, home: Path, monkeypatch: pytest.MonkeyPatch, line: list[str]) -> None:
    code, out, err = told(surefoot, line)
    assert code == (2 if line in REFUSED else code)
    assert err if line in REFUSED else out, err
    LINES.append(line)
    if commands(out + err):
        HOSTILE_LINES.append(line)
    monkeypatch.setenv(BUILDS[(len(line) + len(line[-1])) % 3], "1")
    again = told(surefoot, line)
    assert (again[0], commands(again[1]), commands(again[2])) == (code, [], [])
    assert "\x1b" not in again[1] + again[2]
    if plain_json(out) is not None:
        volatile = re.compile(r'"(created|seconds)": [^,\n]*')
        assert volatile.sub("", json.dumps(plain_json(again[1]))) == volatile.sub("", json.dumps(plain_json(out)))


def test_they_would_be_commands_elsewhere() -> None:
    """The names above are hostile: outside a build, where they harm nobody, they are printed as they are."""
    assert len(HOSTILE_LINES) >= len(LINES) * 0.6, HOSTILE_LINES


def names_of_commands() -> list[str]:
    return sorted(get_command(application()).commands)  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", names_of_commands())
def test_no_error_is_a_command(surefoot: Any, home: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Of every command that there is: files, options and values that it does not know."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    for given in (
        ["##[error]x"], ["::x", "##[x]", "##vso[x]"], ["--##[x]"], ["a", "--::x", "##teamcity[x]"],
        ["noise", "##[x]", "::y"], ["-b", "##[x]", "a", "b"], ["-o", "##[x]/::y", "##[z]"], ["\n::error::x\n"],
        ["\x1b[0Ksection_start:1:x\r\x1b[0Kx"],
    ):  # fmt: skip
        code, out, err = surefoot(name, *given)
        assert code == 2, (given, out, err)
        assert commands(out) == commands(err) == []
        assert "\x1b" not in out + err


def test_annotations_are_commands_and_nothing_else_is(
    surefoot: Any, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    code, out, err = surefoot(*STOP)
    printed = commands(out)
    assert (code, err) == (1, "")
    assert printed
    assert all(OURS.fullmatch(line) for line in printed), printed
    assert "##[" not in out
    code, out, err = surefoot(*STOP, "--json", "-")
    assert (code, commands(out), commands(err)) == (1, [], printed)
    monkeypatch.setenv("SUREFOOT_ANNOTATIONS", str(tmp_path / "annotations"))
    code, out, err = surefoot(*STOP)
    assert (code, commands(out), commands(err)) == (1, [], [])
    assert (tmp_path / "annotations").read_text().splitlines() == printed
    assert TODAY in (tmp_path / "summary.md").read_text()  # a file is as it is


def test_files_are_as_elsewhere(surefoot: Any, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("plain", "build"):
        (tmp_path / name).mkdir()
        surefoot(*EVALUATE, "--csv", tmp_path / name / "a.csv", "--json", tmp_path / name / "a.json")
        monkeypatch.setenv("TF_BUILD", "True")
    for file in ("a.csv", "a.json"):
        text = (tmp_path / "build" / file).read_text()
        assert text == (tmp_path / "plain" / file).read_text()
        assert NEW in text


def test_models_and_their_commands(surefoot: Any, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("lightgbm")
    monkeypatch.setenv("TEAMCITY_VERSION", "2026.1")
    model, letor = tmp_path / "##[model]", "##[letor].parquet"
    tree = ["--trees", "3", "--set", "num_leaves=3", "--set", "min_data_in_leaf=2"]
    for line in (
        ["train", letor, "--valid", letor, "-b", "bm25=feature:1", *tree, "-o", model],
        ["rank", model, letor, "-b", "live=feature:1", "-o", tmp_path / "::new.run"],
        ["explain", model, letor, "::add-mask::n0", "-b", "x=feature:1"],
        ["explain", model, letor, "##[none]", "-b", "x=feature:1"],
        ["export", model, "--to", "opensearch", "--missing", "zero", "-o", tmp_path / "##[es]"],
    ):
        code, out, err = surefoot(*line)
        assert code == (2 if "##[none]" in line else 0), err
        assert commands(out) == commands(err) == [], line
