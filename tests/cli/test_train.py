"""`surefoot train` and `surefoot rank`: the same numbers everywhere, and how they say no."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import surefoot as sf


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    home = tmp_path_factory.mktemp("letor")
    for name, seed in (("train", 1), ("vali", 2)):
        made = sf.synthetic_letor(queries=40, documents=15, features=12, seed=seed)
        ids = [f"D{number:05d}" for number in range(len(made))]
        named = sf.RankingData(made.X, made.y, group=made.lengths, doc_ids=ids)
        named.write(home / f"{name}.txt")
        named.to_run(made.baselines["bm25"], "bm25").write(home / f"{name}.run")
    return home


SMALL = ("--trees", "8", "--set", "num_leaves=4", "--set", "min_data_in_leaf=5", "--set", "num_threads=1")


def test_train_rank_and_evaluate_print_the_same_numbers(surefoot, folder: Path, tmp_path: Path) -> None:
    code, out, err = surefoot(
        "train", folder / "train.txt", "--valid", folder / "vali.txt", "-b", "bm25=feature:1", "--objective", "u_risk",
        "--alpha", "5", *SMALL, "-o", tmp_path / "model", "--html", tmp_path / "report.html",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert "Saved 8 trees" in out
    assert "against bm25" in out
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")
    code, out_rank, _ = surefoot(
        "rank", tmp_path / "model", folder / "vali.txt", "-o", tmp_path / "c.run", "--qrels", tmp_path / "q.txt"
    )  # fmt: skip
    assert code == 0
    assert "Ranked" in out_rank
    measure = "nDCG(dcg='exp-log2')@10"
    code, evaluated, _ = surefoot(
        "evaluate", tmp_path / "q.txt", tmp_path / "c.run", "-b", "c", "-m", measure, "--json", "-"
    )
    mean = json.loads(evaluated)["systems"][0]["mean"]
    assert f"{mean:.4f}" in out
    details = json.loads((tmp_path / "model" / "ranker.json").read_text())
    assert details["fitted"]["history_"]["valid"]["effectiveness"][-1] == pytest.approx(mean, abs=1e-12)


def test_baselines_from_a_run_and_from_a_model(surefoot, folder: Path, tmp_path: Path) -> None:
    common = ("train", folder / "train.txt", *SMALL)
    assert surefoot(*common, "-o", tmp_path / "first", "--quiet")[:2] == (0, "")
    code, out, _ = surefoot(
        *common, "-b", f"run:{folder / 'train.run'}", "-b", f"old=model:{tmp_path / 'first'}",
        "--objective", "geo_risk", "--alpha", "1", "-o", tmp_path / "second",
    )  # fmt: skip
    assert code == 0
    assert "train" in out
    assert "old" in out
    assert sf.Ranker.load(tmp_path / "second").baselines_ == ["train", "old"]


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".run.gz"])
def test_rank_into_any_file(surefoot, folder: Path, tmp_path: Path, ending: str) -> None:
    surefoot("train", folder / "train.txt", *SMALL, "-o", tmp_path / "m", "--quiet")
    code, _, _ = surefoot("rank", tmp_path / "m", folder / "vali.txt", "-o", tmp_path / f"c{ending}")
    assert code == 0
    assert (tmp_path / f"c{ending}").stat().st_size > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--objective", "u_risk"), "compares with a baseline; give --baseline"),
        (("-b", "feature:99"), "there is no feature 99"),
        (("-b", "feature:x"), "names no feature"),
        (("-b", "bm25"), "is not understood"),
        (("-b", "model:absent"), "is not a folder"),
        (("--set", "num_leafs=5"), "unknown parameter 'num_leafs'"),
        (("--set", "num_leaves"), "is not understood"),
        (("--html", "x.html"), "give --valid"),
        (("--measure", "P@10"), "cannot be optimised"),
        (("--early-stopping", "5"), "needs validation data"),
    ],
)
def test_what_is_refused(surefoot, folder: Path, tmp_path: Path, options, message: str) -> None:
    code, _, err = surefoot("train", folder / "train.txt", "--trees", "2", "-o", tmp_path / "model", *options)
    assert code == 2
    assert message in err
    assert not (tmp_path / "model").exists()


def test_a_run_without_a_document_in_common(surefoot, folder: Path, tmp_path: Path) -> None:
    sf.read_run({"1": {"other": 1.0}}).write(tmp_path / "other.run")
    code, _, err = surefoot(
        "train", folder / "train.txt", "-b", f"run:{tmp_path / 'other.run'}", "-o", tmp_path / "model"
    )
    assert code == 2
    assert "shares no document with the data" in err
