"""MTEB's predictions, BEIR's files, and folders of them as many systems; means are refused in words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.data.files import write_file

import surefoot as sf
from surefoot.errors import DataError

RUN = {"q1": {"d1": 2.5, "d2": 1.0}, "q2": {"d9": 0.5}}
OTHER = {"q1": {"d2": 3.0}, "q2": {"d1": 0.25, "d9": 0.125}}
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td9\t1\n"
META = {"model_name": "intfloat/e5", "revision": "1"}
MTEB_RESULT = {
    "task_name": "NFCorpus", "mteb_version": "2.0", "evaluation_time": 1.0, "kg_co2_emissions": None,
    "scores": {"test": [{"ndcg_at_10": 0.3, "main_score": 0.3, "hf_subset": "default", "languages": ["eng-Latn"]}]},
}  # fmt: skip
BEIR_RESULT = {
    "ndcg": {"NDCG@1": 0.5, "NDCG@10": 0.25},
    "map": {"MAP@1": 0.5},
    "recall": {"Recall@1": 1},
    "mrr": {"MRR@1": 1},
}


def predictions(folder: Path, model: str, run: Any, task: str = "NFCorpus") -> Path:
    """As `_save_task_predictions` of mteb 2 writes them."""
    folder.mkdir(parents=True, exist_ok=True)
    content = {"mteb_model_meta": {"model_name": model, "revision": "1"}, "default": {"test": run}}
    return write_file(folder / f"{task}_predictions.json", json.dumps(content))


def test_predictions_are_a_run_by_the_models_name(tmp_path: Path) -> None:
    path = predictions(tmp_path, "intfloat/e5", RUN)
    run = sf.read_run(path)
    assert (run.name, run.to_dict()) == ("intfloat/e5", RUN)
    assert sf.read_run(path, name="e5").name == "e5"
    assert [run.name for run in sf.read_runs(path)] == ["intfloat/e5"]


def test_several_splits_are_several_runs(tmp_path: Path) -> None:
    content = {"mteb_model_meta": META, "en": {"dev": RUN, "test": OTHER}}
    path = write_file(tmp_path / "T_predictions.json", json.dumps(content))
    assert [run.name for run in sf.read_runs(path)] == ["intfloat/e5 en/dev", "intfloat/e5 en/test"]
    assert sf.read_run(path, name="intfloat/e5 en/test").to_dict() == OTHER
    with pytest.raises(DataError, match="contains 2 runs: intfloat/e5 en/dev, intfloat/e5 en/test; choose one"):
        sf.read_run(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"mteb_model_meta": META}, "there are no predictions, only the model's name"),
        ({"mteb_model_meta": {}}, "line 1, mteb_model_meta: expected an object with 'model_name'"),
        ({"mteb_model_meta": META, "default": [1]}, r"line 1, default: expected an object"),
        ({"mteb_model_meta": META, "default": {"test": [[0.5]]}}, r"line 1, default\.test: expected an object"),
        ({"mteb_model_meta": META, "default": {"test": {"q1": 3}}}, r"default\.test\.q1: expected an object"),
        ({"mteb_model_meta": META, "default": {"test": {"q1": {"d1": "x"}}}}, r"default\.test\.q1\.d1: .* not a"),
        ({"mteb_model_meta": META, "default": {"test": {}}}, "no query in it has a document"),
    ],
)  # fmt: skip
def test_damaged_predictions_are_refused(tmp_path: Path, content: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        sf.read_run(write_file(tmp_path / "T_predictions.json", json.dumps(content)))


def test_a_folder_of_predictions_is_many_systems(tmp_path: Path) -> None:
    qrels = write_file(tmp_path / "test.tsv", QRELS)
    for model, run in (("intfloat/e5", RUN), ("BAAI/bge", OTHER)):
        predictions(tmp_path / "predictions" / model.replace("/", "__"), model, run)
    runs = sf.read_runs(tmp_path / "predictions")
    assert {run.name: run.to_dict() for run in runs} == {"intfloat/e5": RUN, "BAAI/bge": OTHER}
    expected = sf.score(qrels, {"BAAI/bge": OTHER, "intfloat/e5": RUN}, "nDCG@10")
    assert sf.score(qrels, runs, "nDCG@10").values.tolist() == expected.values.tolist()
    predictions(tmp_path / "predictions" / "intfloat__e5", "intfloat/e5", RUN, task="SciFact")
    with pytest.raises(
        DataError, match=r"'intfloat/e5' is also the system of .*NFCorpus.*; give the files of one task"
    ):
        sf.read_runs(tmp_path / "predictions")


def test_a_folder_of_beirs_runs(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    write_file(folder / "dense.json", json.dumps(RUN))
    write_file(
        folder / "bm25.run", "q1 Q0 d2 0 3.0 beir\nq2 Q0 d1 0 0.25 beir\nq2 Q0 d9 0 0.125 beir\n"
    )  # save_runfile
    assert {run.name: run.to_dict() for run in sf.read_runs(folder)} == {"dense": RUN, "bm25": OTHER}
    (folder / "more").mkdir()
    write_file(folder / "more" / "dense.json", json.dumps(OTHER))
    assert [run.name for run in sf.read_runs(folder)] == ["bm25", "dense", "more/dense"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="the folder has no files"):
        sf.read_runs(tmp_path / "empty")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (MTEB_RESULT, r"this is a result of MTEB, with one mean per measure.* prediction_folder='predictions'"),
        (BEIR_RESULT, r"this is what save_results of BEIR writes, with one mean.*beir\.util\.save_runfile"),
        ({"stat_test": "student", "metrics": ["map"], "model_names": ["a"], "a": {}}, "this is a saved report of ranx"),
    ],
)  # fmt: skip
def test_means_are_refused_with_what_to_save(tmp_path: Path, content: Any, message: str) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    path = write_file(folder / "NFCorpus.json", json.dumps(content, indent=1))
    for read in (sf.read_run, sf.read_runs, sf.read_qrels, sf.read_scores):
        with pytest.raises(DataError, match=rf"NFCorpus\.json: {message}"):
            read(path)
    for read in (sf.read_runs, sf.read_scores):
        with pytest.raises(DataError, match=rf"NFCorpus\.json: {message}"):
            read(folder)
    with pytest.raises(DataError, match=message):
        sf.read_scores(content)
