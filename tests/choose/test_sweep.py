"""Sweeps end to end: the models of separate trainings, resumed after kills, alone in their folder; failures."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.choose.candidates import TrainedModels
from surefoot.choose.folds import FoldSource
from surefoot.choose.plan import SweepPlan, SweepSetting, TrainingJob
from surefoot.choose.store import SweepStore
from surefoot.choose.trainings import SweepTrainings, WorkerProcess, _Crew, run
from surefoot.errors import ArgumentError, DataError


def test_models_are_those_of_separate_trainings(store: SweepStore) -> None:
    fold, trained = store.source.load("Fold2"), TrainedModels(store)
    jobs = {(job.setting.name, job.seed): job for job in SweepTrainings(store).ready_jobs("Fold2")}
    for name, seed, names in (("u_risk α=5", 1, ["today"]), ("faro@all α=1", 0, ["today", "other"])):
        job = jobs[name, seed]
        ranker = sf.Ranker(**store.plan.ranker_arguments(job)).fit(
            fold.train.with_baselines_only(names), valid=fold.valid.with_baselines_only(names)
        )
        np.testing.assert_array_equal(store.arrays(job)["test_scores"], ranker.predict(fold.test))
        saved = sf.Ranker.load(store.result_path(job))
        np.testing.assert_array_equal(saved.predict(fold.test.X), ranker.predict(fold.test.X))
        expected = sf.score(fold.test.qrels(), [ranker.to_run(fold.test, "m")], store.plan.measure).values[0]
        model = next(model for model in trained.models() if model.name == name)
        np.testing.assert_allclose(model.values["test"][seed, 0, trained.spans("test")["Fold2"]], expected, atol=1e-12)


def test_parameters_are_the_best_on_validation_data(store: SweepStore) -> None:
    fold = store.source.load("Fold1")
    reached = {}
    for leaves in (4, 6):
        for trees in (3, 6):
            values = [
                sf.Ranker(
                    n_estimators=trees, num_leaves=leaves, min_data_in_leaf=5, feature_fraction=0.7, random_state=seed,
                    num_threads=1,
                ).fit(fold.train).score(fold.valid)
                for seed in (0, 1)
            ]  # fmt: skip
            reached[leaves, trees] = np.mean(values)
    best = max(reached, key=lambda at: reached[at])
    parameters = SweepTrainings(store).parameters("Fold1", SweepSetting("gain"))
    assert parameters is not None
    assert (parameters["num_leaves"], parameters["n_estimators"]) == best
    assert {job.parameters for job in SweepTrainings(store).ready_jobs("Fold1")} == {
        tuple(sorted(parameters.items()))
    }  # reused for every objective and α


def test_rows_are_what_assess_says(result: sf.TradeOffs, store: SweepStore) -> None:
    row = next(row for row in result.rows if row["name"] == "u_risk α=5")
    folds = [store.source.load(name) for name in store.source.names()]
    qrels = {query: grades for fold in folds for query, grades in fold.test.qrels().to_dict().items()}
    expected: list[Any] = []
    for seed in (0, 1):
        runs: dict[str, Any] = {"model": {}, "today": {}}
        for fold in folds:
            jobs = SweepTrainings(store).ready_jobs(fold.name)
            job = next(job for job in jobs if (job.setting.name, job.seed) == ("u_risk α=5", seed))
            runs["model"] |= sf.Ranker.load(store.result_path(job)).to_run(fold.test, "model").to_dict()
            runs["today"] |= fold.test.to_run(fold.test.baselines["today"], "today").to_dict()
        scores = sf.score(qrels, runs, store.plan.measure)
        systems = sf.assess(scores, "today", [0, 5]).to_dict()["systems"]
        expected.append(next(row for row in systems if row["system"] == "model"))
    for key in ("mean", "gain", "reward", "risk", "wins", "losses", "loss_over_20", "worst_mean"):
        assert row["test"][key] == pytest.approx(np.mean([one[key] for one in expected]), abs=1e-9), key
    u_risk = [one["alpha"]["5"]["u_risk"] for one in expected]
    assert row["test"]["u_risk"]["5"] == pytest.approx(np.mean(u_risk), abs=1e-9)
    reranked = [one["churn"]["share_reranked"] for one in expected]
    assert row["test"]["share_reranked"] == pytest.approx(np.mean(reranked), abs=1e-9)
    for number, share in enumerate(row["test"]["bins"]["share"]):
        queries = [one["churn"]["bins"][number]["queries"] for one in expected]
        assert share == pytest.approx(np.mean(queries) / len(qrels), abs=1e-9)


def command(data: Path, folder: Path, *more: str) -> list[str]:
    line = [
        "sweep", str(data), "-b", "first=feature:1", "--objective", "u_risk", "--alpha", "1,5", "--trees", "20,40",
        "--set", "num_leaves=4,6", "--set", "min_data_in_leaf=5", "--seeds", "0,1", "--folds", "3", "-o", str(folder),
        "--workers", "2", *more,
    ]  # fmt: skip
    return [sys.executable, "-m", "surefoot", *line]


@pytest.fixture
def letor(tmp_path: Path) -> Path:
    sf.demo.letor(queries=60, documents=10, features=6, seed=2).write(tmp_path / "all.txt")
    return tmp_path / "all.txt"


@pytest.mark.heavy
def test_killed_at_three_moments_the_result_is_the_same(letor: Path, tmp_path: Path) -> None:
    subprocess.run(
        command(letor, tmp_path / "whole", "--csv", str(tmp_path / "whole.csv")), check=True, capture_output=True
    )
    stored = len(list((tmp_path / "whole" / "points").iterdir()))
    chance = random.Random(5)
    folder = tmp_path / "killed"
    for part in (0.1, 0.4, 0.7):
        process = subprocess.Popen(command(letor, folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        count = int(part * stored)
        while len(list(folder.glob("points/[0-9a-f]*"))) < count and process.poll() is None:
            time.sleep(0.01)
        time.sleep(chance.random() * 0.5)
        process.send_signal(signal.SIGKILL)
        process.wait()
    before = {path: path.stat().st_mtime_ns for path in folder.glob("points/[0-9a-f]*/point.json")}
    assert before
    subprocess.run(command(letor, folder, "--csv", str(tmp_path / "killed.csv")), check=True, capture_output=True)
    assert all(path.stat().st_mtime_ns == when for path, when in before.items())  # nothing is done twice
    assert (tmp_path / "killed.csv").read_text() == (tmp_path / "whole.csv").read_text()
    one, other = (json.loads((place / "result.json").read_text()) for place in (folder, tmp_path / "whole"))
    assert one == other
    assert not list(folder.rglob("*.part"))


@pytest.mark.heavy
def test_two_sweeps_in_one_folder(letor: Path, tmp_path: Path) -> None:
    folder = tmp_path / "both"
    first = subprocess.Popen(command(letor, folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not (folder / "sweep.json").exists():
        time.sleep(0.01)
    second = subprocess.run(command(letor, folder), capture_output=True, text=True, check=False)
    assert second.returncode == 2
    assert "another sweep is working there" in second.stderr
    assert first.wait() == 0
    assert sf.TradeOffs.read(folder).rows


def test_a_stored_training_counts_once_its_answer_is_read(swept: Any, tmp_path: Path) -> None:
    """A fold may be met by one worker just when another has stored its training, but has not said so."""
    shutil.copytree(swept[1], folder := tmp_path / "kept")
    store = SweepStore.read(folder)
    job = SweepTrainings(store).ready_jobs("Fold1")[0]
    shutil.rmtree(store.result_path(job))
    with store.lock():
        store.begin()
        crew = _Crew(store, 1)
        total, seen = crew.progress.total, [crew.progress.done]
        crew._workers.append(worker := WorkerProcess(str(folder)))
        worker.answer()
        worker.start(job)
        while not store.has(job):
            time.sleep(0.01)
        crew._find_startable()
        seen.append(crew.progress.done)
        crew._collect(worker)
        seen.append(crew.progress.done)
        crew.end()
    assert seen == [total - 1, total - 1, total]


@pytest.mark.heavy
def test_a_worker_that_dies_costs_its_point_alone(made: sf.RankingData, small: Any, tmp_path: Path) -> None:
    settings = {**small, "objectives": ["u_risk"], "alphas": [1], "grid": {"n_estimators": 400, "min_data_in_leaf": 5}}
    killed = []

    def look(state: Any) -> None:
        if state.done == 1 and not killed:
            listed = subprocess.run(
                ["pgrep", "-P", str(os.getpid()), "-f", "choose.worker"], capture_output=True, check=True
            )
            killed.append(int(listed.stdout.split()[0]))
            os.kill(killed[0], signal.SIGKILL)

    result = sf.sweep(made, tmp_path / "s", **settings, on_progress=look)
    failures = result.to_dict()["failures"]
    assert len(failures) == 1
    assert "its process died (signal 9)" in failures[0]["message"]
    assert len(result.to_dict()["left_out"]) == 1
    again = sf.sweep(made, tmp_path / "s", **settings)
    assert again.to_dict()["failures"] == again.to_dict()["left_out"] == []


@pytest.mark.heavy
def test_a_point_that_cannot_be_trained(made: sf.RankingData, small: Any, tmp_path: Path) -> None:
    grid = {"n_estimators": 3, "min_data_in_leaf": [5, 100_000]}
    settings = {**small, "objectives": ["u_risk"], "alphas": [1], "grid": grid, "tune": "none"}
    data = sf.sweep(made, tmp_path / "s", **settings).to_dict()
    assert len(data["failures"]) == 2 * 2 * 3
    assert "no tree can be grown" in data["failures"][0]["message"]
    assert len(data["left_out"]) == 2
    assert any("min_data_in_leaf=5" in row["name"] for row in data["rows"])
    seen: list[int] = []
    sf.sweep(made, tmp_path / "s", **settings, on_progress=lambda state: seen.append(len(state.running)))
    assert max(seen) > 0  # tried again


@pytest.mark.heavy
def test_another_plan_finds_what_it_shares(swept: Any, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    shutil.copytree(swept[1], folder)
    stored, seen = SweepStore.read(folder), []
    wider = SweepPlan(**{**vars(stored.plan), "alphas": (1.0, 5.0, 7.0)})
    store = SweepStore(folder, wider, stored.source)
    with store.lock():
        run(store, 2, lambda state: seen.append((state.done, state.total)))
    assert seen[0] == (12 + 3 * 7 * 2, 12 + 3 * 10 * 2)
    assert seen[-1][0] == seen[-1][1]


def test_other_data_in_the_same_folder(letor: Path, tmp_path: Path, small: Any, swept: Any) -> None:
    with pytest.raises(DataError, match="has a sweep of other data"):
        sf.sweep(letor, swept[1], baselines=["first=feature:1"], **small)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    with pytest.raises(DataError, match="contains files that do not belong to a sweep"):
        sf.sweep(letor, tmp_path / "full", baselines=["first=feature:1"])


@pytest.mark.heavy
def test_data_that_changed_since(letor: Path, tmp_path: Path) -> None:
    settings = {
        "baselines": ["first=feature:1"],
        "alphas": [1],
        "grid": {"n_estimators": 2, "min_data_in_leaf": 5},
        "folds": 3,
    }
    sf.sweep(letor, tmp_path / "s", **settings)
    shutil.copy2(letor, tmp_path / "copy.txt")
    letor.touch()
    assert sf.sweep(letor, tmp_path / "s", **settings).rows  # the same, only touched
    sf.demo.letor(queries=60, documents=10, features=6, seed=3).write(letor)
    with pytest.raises(DataError, match="is not the data that this sweep started with"):
        sf.sweep(letor, tmp_path / "s", **settings)
    shutil.copy2(tmp_path / "copy.txt", letor)
    assert sf.sweep(letor, tmp_path / "s", **settings).rows


@pytest.mark.heavy
@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="the system cannot limit the size of files")
def test_a_full_disk(letor: Path, tmp_path: Path) -> None:
    setup = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000)); from surefoot.cli import main; main()"
    )
    line = command(letor, tmp_path / "s")[3:]
    done = subprocess.run([sys.executable, "-c", setup, *line], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "cannot be written (" in done.stderr
    assert not list((tmp_path / "s" / "points").iterdir())
    subprocess.run(command(letor, tmp_path / "s"), check=True, capture_output=True)


@pytest.mark.heavy
def test_baselines_learned_on_held_out_queries(made: sf.RankingData, tmp_path: Path) -> None:
    data, grid = made.with_baselines_only(["today"]), {"n_estimators": 4, "min_data_in_leaf": 3}
    given: dict[str, Any] = {
        "objectives": ["geo_risk"],
        "learn_baselines": True,
        "held_out": 12,
        "grid": grid,
        "folds": 3,
    }
    result = sf.sweep(data, tmp_path / "s", alphas=[5], **given).to_dict()
    assert [row["name"] for row in result["baselines"]] == ["today", "LambdaMART", "GBRT", "AdaRank", "AFS"]
    assert result["queries"]["test"] == 36
    again = sf.sweep(data, tmp_path / "s", alphas=[5, 9], **given).to_dict()
    assert again["baselines"] == result["baselines"]  # kept, not learned again


@pytest.mark.heavy
def test_parameters_that_fail_drop_out_of_the_tuning(made: sf.RankingData, tmp_path: Path) -> None:
    grid = {"n_estimators": 3, "min_data_in_leaf": [5, 100_000]}
    settings: dict[str, Any] = {"objectives": "u_risk", "alphas": [1], "grid": grid, "folds": 3}
    first = sf.sweep(made, tmp_path / "s", **settings)
    assert len(first.rows) > 1
    assert first.to_dict()["failures"] == []
    assert len(first.to_dict()["failed_trials"]) == 3
    assert "The tuning does without Fold1 gain tried with min_data_in_leaf=100000" in first.to_text().replace("\n", " ")
    seen: list[int] = []
    again = sf.sweep(made, tmp_path / "s", **settings, on_progress=lambda state: seen.append(len(state.running)))
    assert max(seen) > 0  # tried again
    assert again.rows == first.rows


@pytest.mark.heavy
def test_what_no_sweep_can_use(made: sf.RankingData, tmp_path: Path) -> None:
    grid = {"n_estimators": 2, "min_data_in_leaf": 5}
    alone = made.with_baselines_only(["today"])
    wrong: list[tuple[Any, dict[str, Any], str]] = [
        (alone, {"objectives": ["geo_risk"]}, "needs several baselines"),
        (alone.with_baseline("u_risk α=1", made.feature(1)), {"alphas": [1]}, "a baseline is called 'u_risk α=1'"),
        (alone.with_baseline(" ", made.feature(1)), {}, "a baseline is called ' '"),
        (alone, {"held_out": 9}, "set learn_baselines too"),
        (None, {}, "data must be a path"),
    ]
    for number, (data, more, message) in enumerate(wrong):
        with pytest.raises(sf.SurefootError, match=message):
            sf.sweep(data, tmp_path / str(number), folds=3, grid=grid, **more)
    parts = [made.select(range(first, first + 12)) for first in (0, 12, 24)]
    with pytest.raises(DataError, match="is in the test data of Fold1 and Fold2"):
        sf.sweep([parts, parts], tmp_path / "twice", grid=grid, alphas=[1])
    with pytest.raises(DataError, match="has a sweep that is not finished"):
        sf.TradeOffs.read(tmp_path / "twice")


def test_nothing_to_compare_with(letor: Path, made: sf.RankingData, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="no baseline to compare with"):
        sf.sweep(letor, tmp_path / "s")
    with pytest.raises(TypeError, match="unexpected keyword argument 'alpha'"):
        sf.sweep(letor, tmp_path / "s", alpha=[1])  # type: ignore[call-arg]
    assert not (tmp_path / "s").exists()


def test_keys_tell_trainings_apart(store: SweepStore) -> None:
    jobs = [job for fold in store.source.names() for job in SweepTrainings(store).ready_jobs(fold)]
    assert len({store.key(job) for job in jobs}) == len(jobs)
    first = jobs[0]
    assert store.key(first) == store.key(TrainingJob.from_dict(json.loads(json.dumps(first.to_dict()))))


def test_a_source_is_plain(store: SweepStore) -> None:
    assert FoldSource.from_dict(json.loads(json.dumps(store.source.to_dict()))) == store.source
