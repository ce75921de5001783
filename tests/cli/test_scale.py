"""`surefoot train --engine xgboost` and `--dask`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import surefoot as sf
from surefoot.cli.commands import application


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(application(), [str(each) for each in arguments])
    output = (
        result.output if result.exception is None or result.exit_code == 0 else f"{result.output}{result.exception}"
    )
    return result.exit_code, output


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    data = sf.demo.letor(queries=40, documents=12, features=5, seed=1).with_baselines_only([])
    for name, queries in (("train", np.arange(30)), ("valid", np.arange(30, 40))):
        (tmp_path / name).mkdir()
        for number, part in enumerate(np.array_split(queries, 3)):
            data.select(part).write(tmp_path / name / f"part-{number}.parquet")
    data.select(np.arange(30)).write(tmp_path / "train.txt")
    data.select(np.arange(30, 40)).write(tmp_path / "valid.txt")
    return tmp_path


SMALL = ("--trees", "5", "--set", "max_depth=3", "--set", "min_child_weight=0.01", "-b", "b=feature:1")


@pytest.mark.engines("xgboost")
def test_xgboost(parts: Path) -> None:
    options = ("--objective", "u_risk", "-a", "5", *SMALL, "--engine", "xgboost")
    code, message = run("train", parts / "train.txt", "--valid", parts / "valid.txt", *options, "-o", parts / "model")
    assert code == 0, message
    assert (parts / "model" / "model.json").is_file()
    assert sf.Ranker.load(parts / "model").engine == "xgboost"
    code, message = run("rank", parts / "model", parts / "valid.txt", "-o", parts / "valid.run")
    assert code == 0, message
    code, message = run("train", parts / "train.txt", *options, "--set", "num_leaves=3", "-o", parts / "other")
    assert code != 0
    assert "XGBoost's is max_leaves" in message


@pytest.mark.heavy
@pytest.mark.engines("distributed", "xgboost")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_local_cluster(parts: Path) -> None:
    options = ("--objective", "saro", "-a", "5", *SMALL, "--dask", "local:2")
    code, message = run("train", parts / "train", "--valid", parts / "valid", *options, "-o", parts / "model")
    assert code == 0, message
    assert "validation: effectiveness" in message
    ranker = sf.Ranker.load(parts / "model")
    valid = sf.read_letor(parts / "valid.txt")
    assert ranker.history_["valid"]["effectiveness"][-1] == pytest.approx(ranker.score(valid), abs=1e-9)


@pytest.mark.heavy
@pytest.mark.engines("distributed", "xgboost")
@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--dask", "nowhere"), "--dask is 'nowhere'"),
        (("--dask", "local:2", "--engine", "lightgbm"), "learns on one machine"),
        (
            ("--dask", "local:2", "--html", "x.html"),
            "--html is not possible with --dask",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_what_a_cluster_refuses(parts: Path, more: tuple[str, ...], message: str, monkeypatch) -> None:
    monkeypatch.chdir(parts)
    code, output = run("train", parts / "train", "--trees", "2", *more, "-o", parts / "model")
    assert code != 0
    assert message in output
    assert not (parts / "model").exists()
