"""`surefoot guard` and `surefoot rank` on its folder: from files to lists with a bound, and how they say no."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from tests.decide.guard.guarded import calibrated, parts, ranker

import surefoot as sf


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("control")
    for name, data in parts().items():
        data.with_baselines_only([]).write(folder / f"{name}.txt")
    ranker().save(folder / "model")
    return folder


@pytest.fixture(scope="module")
def line(home: Path) -> list[object]:
    return [
        "guard", home / "model", "--fit-scorer", home / "valid.txt", "--calibrate", home / "judged.txt",
        "-b", "feature:1",
        "--risk", "0.05",
    ]  # fmt: skip


def test_control_and_rank_are_what_python_does(surefoot, home: Path, line: list[object], tmp_path: Path) -> None:
    code, out, err = surefoot(*line, "-o", tmp_path / "c", "--html", tmp_path / "c.html", "--json", tmp_path / "c.json")
    assert (code, err) == (0, "")
    certificate = sf.Certificate.read(tmp_path / "c.json")
    assert certificate["threshold"] == pytest.approx(calibrated().threshold_)
    assert certificate["sentence"] in out
    assert "it loses on average at most 0.05 of nDCG(exp)@10" in certificate["sentence"]
    assert (tmp_path / "c.html").read_text().startswith("<!doctype html>")
    code, out, err = surefoot("rank", tmp_path / "c", home / "traffic.txt", "-o", tmp_path / "shown.run", "--name", "x")
    assert (code, err) == (0, "")
    run = sf.read_run(tmp_path / "shown.run").to_dict()
    expected = calibrated().to_run(parts()["traffic"]).to_dict()
    assert {q: list(d) for q, d in run.items()} == {q: list(d) for q, d in expected.items()}
    with (tmp_path / "shown.shown.csv").open() as file:
        rows = list(csv.DictReader(file))
    shown = calibrated().shown(parts()["traffic"]).shown
    assert [row["shown"] for row in rows] == ["model" if takes else "feature1" for takes in shown]
    assert f"model is shown for {shown.sum()} queries" in out
    assert all("predicted_gain:regression" in row["why"] for row in rows)


def test_decisions_as_json_and_judgments_beside(surefoot, home: Path, tmp_path: Path) -> None:
    calibrated().save(tmp_path / "c")  # its baseline is one of the data's, which the file has not
    common = ["rank", tmp_path / "c", home / "traffic.txt", "-o", tmp_path / "shown.run"]
    code, _, err = surefoot(*common)
    assert (code, "has no baseline 'bm25'" in err) == (2, True)
    assert not (tmp_path / "shown.run").exists()
    code, _, err = surefoot(*common, "-b", "bm25=feature:1", "--shown", tmp_path / "d.json", "--qrels", tmp_path / "q")
    assert (code, err) == (0, "")
    assert len(json.loads((tmp_path / "d.json").read_text())["shown"]) == 300
    assert len(sf.read_qrels(tmp_path / "q").queries) == 300


def test_what_is_there_is_not_lost(surefoot, home: Path, line: list[object], tmp_path: Path) -> None:
    assert surefoot(*line, "-o", tmp_path / "c", "-q") == (0, "", "")
    before = (tmp_path / "c" / "guard.json").read_bytes()
    code, _, err = surefoot(*line, "-o", tmp_path / "c")
    assert (code, "already contains a guard" in err) == (2, True)
    assert surefoot(*line, "-o", tmp_path / "c", "-q", "--force")[0] == 0
    assert (tmp_path / "c" / "guard.json").read_bytes() == before
    (tmp_path / "c" / "notes.txt").write_text("mine")
    code, _, err = surefoot(*line, "-o", tmp_path / "c", "--force")
    assert (code, "do not belong to a guard" in err) == (2, True)
    code, _, err = surefoot(*line, "-o", home / "model", "--force")
    assert code == 2
    assert (home / "model" / "model.txt").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--calibrate", "train.txt"], "already used to train or validate the model"),
        (["--calibrate", "valid.txt"], "already used to fit the scorer"),
        (["--risk", "0"], "risk is 0.0; it must be above 0"),
        (["--delta", "2"], "delta is 2.0"),
        (["-m", "DCG@10"], "no maximum"),
        (["--sample", "shares.csv"], "sum to 0.9"),
        (["--scorer", "own"], "scorer is 'own'"),
        (["--calibrate", "nowhere.txt"], "nowhere.txt"),
    ],
)
def test_refusals(
    surefoot, home: Path, line: list[object], tmp_path: Path, options: list[str], message: str, monkeypatch
) -> None:
    (home / "shares.csv").write_text("query,stratum,share\nq1,a,0.5\nq2,b,0.4\n")
    monkeypatch.chdir(home)
    code, _, err = surefoot(*line, *options, "-o", tmp_path / "c")
    assert (code, message in err) == (2, True), err
    assert not (tmp_path / "c").exists()


def test_only_a_guard_says_which_list_is_shown(surefoot, home: Path, tmp_path: Path) -> None:
    line = ["rank", home / "model", home / "traffic.txt", "-o", tmp_path / "x.run"]
    code, _, err = surefoot(*line, "--shown", tmp_path / "d.csv")
    assert (code, "--shown works only with a guard" in err) == (2, True)
    assert not (tmp_path / "x.run").exists()
