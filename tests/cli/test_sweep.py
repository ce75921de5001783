"""`surefoot sweep` and `surefoot select` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import surefoot as sf

SMALL = [
    "--trees", "3", "--set", "num_leaves=4", "--set", "min_data_in_leaf=5", "--folds", "3", "--objective", "u_risk",
    "--alpha", "1,5",
]  # fmt: skip


@pytest.fixture
def data(tmp_path: Path) -> Path:
    sf.demo.letor(queries=36, documents=8, features=6, seed=1).write(tmp_path / "all.txt")
    return tmp_path / "all.txt"


@pytest.mark.heavy
def test_from_data_to_a_model(surefoot, data: Path, tmp_path: Path) -> None:
    outputs = ["--html", tmp_path / "t.html", "--json", tmp_path / "t.json", "--csv", tmp_path / "t.csv"]
    line = ["sweep", data, "-b", "first=feature:1", *SMALL, "-o", tmp_path / "s"]
    code, out, err = surefoot(*line, *outputs)
    assert (code, err) == (0, "")
    assert "3 folds, 1 seed" in out
    assert "u_risk α=5" in out
    assert "<title>" in (tmp_path / "t.html").read_text()
    assert json.loads((tmp_path / "t.json").read_text())["schema"] == "surefoot/sweep/1"
    assert (tmp_path / "t.csv").read_text().startswith("candidate,kind,objective,alpha,part,")
    assert surefoot(*line, "-q", *outputs) == (0, "", "")  # again: what is there is taken, and files are replaced
    assert surefoot(*line, "--latex", "-")[1].startswith("% ")
    assert "| candidate |" in surefoot(*line, "--markdown", "-")[1]
    assert surefoot(*line, "--csv", "-")[1] == (tmp_path / "t.csv").read_text()

    code, out, err = surefoot("select", tmp_path / "s", "--max-risk", "1", "-o", tmp_path / "model")
    assert (code, err) == (0, "")
    assert "test queries, it gains" in out
    assert "Copied the model that Fold1 chose" in out
    printed = out.replace("\n", " ").partition("To rank with it, run: surefoot ")[2]
    files = {"DATA": str(data), "RUN": str(tmp_path / "x.run")}
    assert surefoot(*(files.get(word, word) for word in printed.split()))[0] == 0
    code, out, err = surefoot("select", tmp_path / "s", "--max-risk", "1", "--json", "-")
    assert json.loads(out)["schema"] == "surefoot/choice/1"
    for wrong, message in (
        (["--max-risk", "0"], "no candidate satisfies the policy"),
        ([], "give one policy"),
        (["--max-risk", "1", "--largest-area"], "found --max-risk, --largest-area"),
        (["--max-risk", "1", "--fold", "Fold2"], "add --output"),
        (["--geo-risk", "5"], "GeoRisk needs several baselines"),
        (["--max-risk", "1", "-o", tmp_path / "model"], "already contains a model"),
        (["--max-risk", "1", "-o", tmp_path / "new", "--fold", "Fold7"], "there is no fold 'Fold7'"),
        (["--max-risk", "1", "--choose-by", "cross-validation"], "the sweep has no cross-validation"),
        (["--largest-area", "--one-se"], "one_se works only with"),
        (["--keep-gain", "1", "-o", tmp_path / "x", "--fold", "Fold1"], "the gain-only model does not gain there"),
    ):
        code, out, err = surefoot("select", tmp_path / "s", *wrong)
        assert (code, out) == (2, ""), wrong
        assert message in err
    assert not (tmp_path / "new").exists()
    for command, mine in ((line, "sweep.json"), (["select", tmp_path / "s", "--max-risk", "1"], "result.json")):
        code, out, err = surefoot(*command, "--json", tmp_path / "s" / mine, "--force")
        assert (code, out) == (2, "")
        assert "would overwrite the input file" in err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--alpha", "x"], "--alpha is 'x'"),
        (["--alpha", "0"], "α = 0 is gain alone"),
        (["--seeds", "1.5"], "write whole numbers"),
        (["--trees", "0"], "n_estimators"),
        (["--objective", "risk"], "unknown objective"),
        (["--set", "num_leaves"], "write --set num_leaves=50"),
        (["--set", "n_estimators=3"], "has a separate option"),
        (["--set", "num_leaves=abc"], "num_leaves is 'abc'"),
        (["--held-out", "0.5"], "set learn_baselines"),
        (["--set", "alpha=3"], "cannot be in the grid"),
        (["--preset", "wang"], "there is no preset"),
        (["--tune", "all"], "tune is 'all'"),
        (["--strategies", "some"], "strategies is 'some'"),
        (["--choose-by", "luck"], "choose_by is 'luck'"),
        (["--csv", "all.txt"], "would overwrite the input file"),
        (["--selective", "25"], "such as max:25"),
        (["--measure", "nope"], "nope"),
    ],
)
def test_wrong_options_before_anything_is_made(
    surefoot, data: Path, tmp_path: Path, monkeypatch, more: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = surefoot("sweep", data, "-b", "feature:1", "-o", tmp_path / "s", *more)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err
    assert not (tmp_path / "s").exists()


def test_what_cannot_be_read(surefoot, data: Path, tmp_path: Path) -> None:
    for line, message in (
        (["sweep", tmp_path / "absent", "-b", "feature:1", "-o", tmp_path / "s"], "absent"),
        (["sweep", tmp_path, "-b", "feature:1", "-o", tmp_path / "s"], "has no folders Fold1"),
        (["sweep", data, "-o", tmp_path / "s"], "no baseline to compare with"),
        (["sweep", data, "-b", "feature:99", *SMALL, "-o", tmp_path / "t"], "there is no feature 99"),
        (["select", tmp_path / "absent", "--max-risk", "1"], "absent"),
        (["select", tmp_path, "--max-risk", "1"], "result.json"),
    ):
        code, out, err = surefoot(*line)
        assert (code, out, err.count("\n")) == (2, "", 1), err
        assert message in err
    assert not (tmp_path / "s").exists()


@pytest.mark.heavy
def test_trainings_that_fail_are_said_after_the_table(surefoot, data: Path, tmp_path: Path) -> None:
    line = ["sweep", data, "-b", "feature:1", *SMALL, "--tune", "none", "--set", "max_depth=-1,3"]
    line = ["min_data_in_leaf=5,100000" if part == "min_data_in_leaf=5" else part for part in line]
    code, out, err = surefoot(*line, "-o", tmp_path / "s")
    assert code == 2
    assert "u_risk α=5" in out
    assert "training runs failed" in err
    assert "no tree can be grown" in err


@pytest.mark.heavy
def test_a_preset_gives_way_under_any_name(surefoot, data: Path, tmp_path: Path) -> None:
    line = "--trees 3 --folds 3 --objective u_risk --alpha 5 --preset dincer2014"
    names = "--set min_child_samples=5 --set max_leaves=4"
    common = ("sweep", data, "-b", "first=feature:1", "-q", "-o", tmp_path / "s")
    code, _, err = surefoot(*common, *line.split(), *names.split())
    assert (code, err) == (0, "")
    texts = [path.read_text() for path in (tmp_path / "s" / "points").rglob("model.txt")]
    assert texts
    assert all("[min_data_in_leaf: 5]" in text and "[num_leaves: 4]" in text for text in texts)
