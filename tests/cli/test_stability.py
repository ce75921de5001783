"""`surefoot stability` as users meet it."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from tests.cli.inputs import write_runs

from surefoot.stability.study import Study


@pytest.fixture
def stability(surefoot):
    """Run a study; gives its exit code, output and errors."""
    return partial(surefoot, "stability")


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    write_runs(tmp_path, runs=3)
    dates = "".join(f"q{i:02d} 2026-11-{1 + i // 10:02d}\n" for i in range(1, 31))
    (tmp_path / "dates.txt").write_text(dates)
    return [tmp_path / "qrels.txt", tmp_path / "today.run", tmp_path / "bold.run"]


@pytest.mark.heavy
def test_every_study_prints_and_writes(stability, files, tmp_path: Path) -> None:
    for study, more, message in (
        ("noise", ("--sizes", "0,0.1", "--seeds", 2), "Noise on the percentiles of 2 runs, 30 queries"),
        (
            "subsets",
            ("--sizes", "5,30"),
            "chooses its winner, on 1,000 random subsets of K queries (out of 30)",
        ),
        (
            "time",
            ("--dates", tmp_path / "dates.txt", "--size", 5),
            "How often each measure chooses its winner in 3 days",
        ),
        ("measures", (), "2 systems on 30 queries"),
    ):
        code, out, err = stability(study, *files, *more, "--json", tmp_path / f"{study}.json")
        assert (code, err) == (0, ""), study
        assert message in out
        assert "SoftNDCG@5" in out
        data = json.loads((tmp_path / f"{study}.json").read_text())
        assert data["schema"].startswith("surefoot/stability-")
        code, out, _ = stability(study, *files, *more, "--json", "-")
        assert json.loads(out) == data
        table = tmp_path / f"{study}.csv"
        for _ in range(2):  # what surefoot wrote it may replace
            assert stability(study, *files, *more, "--csv", table, "-q") == (0, "", "")
        assert table.read_text() == Study.read(tmp_path / f"{study}.json").to_csv()
        assert stability(study, *files, *more, "--csv", "-")[1] == table.read_text()
        code, _, err = stability(study, *files, *more, "--csv", "-", "--json", "-")
        assert (code, "would both be printed" in err) == (2, True)


def test_measures_and_names(stability, files) -> None:
    code, out, _ = stability("measures", files[0], f"f1={files[1]}", f"f2={files[2]}", "-m", "AP", "-m", "rNDCG@3")
    assert code == 0
    assert "rNDCG@3" in out
    assert "f1" in out
    code, out, _ = stability("noise", *files[:2], "--raw", "--seeds", 2, "--quiet")
    assert (code, out) == (0, "")


def test_what_is_refused(stability, files, tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_text("q01\n")
    for arguments, message in [
        (("noise", files[0]), "at least one run"),
        (("noise", *files, "--sizes", "a"), "--sizes is 'a'"),
        (("noise", *files, "--query", "q99"), "no judged query is named 'q99'"),
        (("noise", *files, "-m", "SoftNDCG(sigma=0)@5"), "sigma=0"),
        (("subsets", *files[:2]), "at least 2 runs"),
        (("subsets", *files, "--sizes", "31"), "a subset of 31 queries is not possible, because there are 30"),
        (("subsets", *files, "--sizes", "1.5"), "--sizes is 1.5; it must be a whole number of at least 1"),
        (("subsets", *files, tmp_path / "steady.run"), "this study compares exactly two systems, but there are 3"),
        (("time", *files), "the queries have no dates"),
        (("time", *files, "--dates", tmp_path / "bad.txt"), "line 1: no date after 'q01'"),
        (("time", *files, "--dates", tmp_path / "dates.txt"), "no day has 50 queries"),
        (("measures", *files, files[1]), "2 systems are named 'today'"),
    ]:
        code, out, err = stability(*arguments, "--json", tmp_path / "never.json")
        assert (code, out) == (2, ""), arguments
        assert message in err
        assert "Traceback" not in err
    assert not (tmp_path / "never.json").exists()


def test_a_page(stability, files, tmp_path: Path) -> None:
    code, _, err = stability("subsets", *files, "--html", tmp_path / "picks.html", "--quiet")
    assert (code, err) == (0, "")
    assert "How often the winner is picked" in (tmp_path / "picks.html").read_text()
