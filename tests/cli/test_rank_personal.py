"""`surefoot rank` and `surefoot personalize --save`."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.personal.small import small_study, small_table

import surefoot as sf


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved") / "model"
    small_study().save(folder, method="Standard gain")
    return folder


def shown_lists() -> pl.DataFrame:
    lists = pl.read_parquet(f"{small_table().folder}/results/lists/**/*.parquet", hive_partitioning=False).head(4)
    return lists.rename({"impression": "id"}).drop("list", "scores", "number", "place")


def test_a_batch_of_lists(surefoot, model: Path, tmp_path: Path) -> None:
    lists, run = tmp_path / "lists.parquet", tmp_path / "p.run"
    shown_lists().rename({"documents": "results"}).write_parquet(lists)
    code, out, err = surefoot("rank", model, lists, "-o", run, "--why", tmp_path / "w.jsonl")
    assert (code, err) == (0, "")
    assert "Wrote 4 lists" in out
    reasons = [json.loads(line) for line in (tmp_path / "w.jsonl").read_text().splitlines()]
    ranked = {query: list(found) for query, found in sf.read_run(run).to_dict().items()}
    assert {one["id"]: one["documents"] for one in reasons} == ranked
    code, _, err = surefoot("rank", model, lists, "-o", run)
    assert code == 2
    assert "already exists" in err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table.drop("time"), "has no column time"),
        (lambda table: table.with_columns(time=-1), "row 1: time is -1"),
        (lambda table: table.drop("domains"), "row 1: domains must be given"),
        (lambda table: table.with_columns(id=pl.lit("a")), "id 'a' is missing or appears twice"),
        (lambda table: table.with_columns(id=pl.concat_list("id")), "id is of type List"),
        (lambda table: table.with_columns(documents=pl.lit("a")), "row 1: results is 'a'; expected an array"),
        (lambda table: table.head(0), "has no rows"),
    ],
)
def test_wrong_lists_are_refused(surefoot, model: Path, tmp_path: Path, change, message: str) -> None:
    change(shown_lists()).write_parquet(tmp_path / "lists.parquet")
    code, out, err = surefoot("rank", model, tmp_path / "lists.parquet", "-o", tmp_path / "p.run")
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert message in err
    assert not (tmp_path / "p.run").exists()


def test_wrong_files_are_refused(surefoot, model: Path, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no table")
    for folder, lists, message in (
        (model, tmp_path / "none", "cannot be read (No such file or directory)"),
        (model, tmp_path / "text", "cannot be read as Parquet"),
        (tmp_path, tmp_path / "text", "ranker.json: there is no such file"),
    ):  # fmt: skip
        code, _, err = surefoot("rank", folder, lists, "-o", tmp_path / "p.run")
        assert (code, len(err.splitlines())) == (2, 1)
        assert message in err
    shown_lists().write_parquet(tmp_path / "lists.parquet")
    code, _, err = surefoot("rank", tmp_path, tmp_path / "lists.parquet", "-o", tmp_path / "p.run")
    assert code == 2
    assert "ranker.json" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--method", "Standard gain"], "works only with --save"),
        (["--save", "model", "--features-only"], "trains no model"),
        (["--save", "model", "--no-last"], "make the study without --no-last"),
        (["--save", "."], "is there already; choose a new folder"),
    ],
)
def test_what_cannot_be_saved_is_refused_before_any_work(
    surefoot, tmp_path: Path, monkeypatch, options: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = surefoot("personalize", "clicks.log", "-o", "study", *options)
    assert (code, len(err.splitlines())) == (2, 1)
    assert message in err
    assert list(tmp_path.iterdir()) == []
