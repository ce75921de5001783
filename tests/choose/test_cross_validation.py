"""Inner folds: every training query is scored by a model that did not learn from it; killed sweeps go on."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from tests.choose.conftest import CROSSED

import surefoot as sf
from surefoot.choose.store import SweepStore
from surefoot.choose.trainings import SweepTrainings
from surefoot.errors import ArgumentError


def test_inner_folds_part_the_training_queries(crossed: tuple[sf.TradeOffs, SweepStore]) -> None:
    fold = crossed[1].source.load("Fold1")
    parts = fold.inner_folds(3, 0)
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(fold.train.queries)))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    with pytest.raises(ArgumentError, match="too few for 16 inner folds"):
        fold.inner_folds(16, 0)


def test_models_do_not_learn_from_what_they_score(crossed: tuple[sf.TradeOffs, SweepStore]) -> None:
    store = crossed[1]
    fold = store.source.load("Fold2")
    parts = fold.inner_folds(3, store.source.seed)
    for job in SweepTrainings(store).ready_jobs("Fold2"):
        if job.inner is None or job.seed == 0 or job.setting.name == "u_risk α=1":
            continue
        rest = np.setdiff1d(np.arange(len(fold.train.queries)), parts[job.inner])
        ranker = sf.Ranker(**store.plan.ranker_arguments(job)).fit(
            fold.train.select(rest).with_baselines_only(["today"])
        )
        left_out = fold.train.select(parts[job.inner])
        np.testing.assert_array_equal(store.arrays(job)["scores"], ranker.predict(left_out))


def test_a_row_has_the_figures_of_all_training_queries(crossed: tuple[sf.TradeOffs, SweepStore]) -> None:
    result, store = crossed
    row = next(row for row in result.rows if row["name"] == "u_risk α=5, mean of 2 seeds")
    fold = store.source.load("Fold3")
    parts = fold.inner_folds(3, store.source.seed)
    jobs = [job for job in SweepTrainings(store).ready_jobs("Fold3") if job.setting.name == "u_risk α=5"]
    differences: list[float] = []
    for number, part in enumerate(parts):
        own = [store.arrays(job)["scores"] for job in jobs if job.inner == number]
        data = fold.train.select(part)
        runs = [data.to_run((own[0] + own[1]) / 2, "model"), data.to_run(data.baselines["today"], "today")]
        scores = sf.score(data.qrels(), runs, store.plan.measure)
        differences.extend(scores["model"] - scores["today"])
    figures = row["folds"]["Fold3"]["cross_validation"]
    assert figures["queries"] == len(fold.train.queries) == len(differences)
    assert figures["gain"] == pytest.approx(np.mean(differences), abs=1e-12)
    losses = np.maximum(-np.array(differences), 0)
    assert figures["risk"] == pytest.approx(losses.mean(), abs=1e-12)
    assert figures["standard_error"]["risk"] == pytest.approx(losses.std(ddof=1) / len(losses) ** 0.5)
    assert result.to_dict()["inner_folds"] == 3


@pytest.mark.heavy
def test_cross_validation_is_added_to_a_sweep_without_it(made: sf.RankingData, tmp_path: Path) -> None:
    plain = {**CROSSED, "choose_by": "validation", "alphas": [5]}
    before = sf.sweep(made, tmp_path / "s", **plain)
    stored = {path: path.stat().st_mtime_ns for path in (tmp_path / "s").glob("points/*/point.json")}
    seen: list[tuple[int, int]] = []
    both = {**plain, "choose_by": "cross-validation"}
    after = sf.sweep(made, tmp_path / "s", **both, on_progress=lambda state: seen.append((state.done, state.total)))
    assert seen[-1] == (3 * 2 * 2 * 4, 3 * 2 * 2 * 4)
    assert stored == {path: path.stat().st_mtime_ns for path in (tmp_path / "s").glob("points/*/point.json")}
    for old, new in zip(before.rows, after.rows, strict=True):
        assert old["test"] == new["test"]
    again = sf.sweep(made, tmp_path / "s", **plain).to_dict()
    assert again == before.to_dict()


@pytest.mark.heavy
def test_killed_in_the_middle_the_result_is_the_same(tmp_path: Path) -> None:
    sf.demo.letor(queries=45, documents=10, features=6, seed=2).write(tmp_path / "all.txt")

    def line(folder: str) -> list[str]:
        settings = "--objective u_risk --alpha 5 --trees 20 --seeds 0,1 --folds 3 --workers 2 -q"
        more = "--set min_data_in_leaf=5 --set feature_fraction=0.5 --choose-by cross-validation"
        start = [sys.executable, "-m", "surefoot", "sweep", str(tmp_path / "all.txt"), "-b", "first=feature:1"]
        return [*start, *settings.split(), *more.split(), "-o", str(tmp_path / folder)]

    subprocess.run(line("whole"), check=True)
    killed = tmp_path / "killed"
    for count in (3, 20, 40):
        process = subprocess.Popen(line("killed"))
        while len(list(killed.glob("inner/[0-9a-f]*"))) < count and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
    before = {path: path.stat().st_mtime_ns for path in killed.glob("inner/[0-9a-f]*/arrays.npz")}
    subprocess.run(line("killed"), check=True)
    assert all(path.stat().st_mtime_ns == when for path, when in before.items())
    assert len(before) >= 40
    assert len(list(killed.glob("inner/[0-9a-f]*"))) == 3 * 2 * 2 * 5
    assert sf.TradeOffs.read(killed).to_dict() == sf.TradeOffs.read(tmp_path / "whole").to_dict()


def test_wrong_words_are_refused(made: sf.RankingData, tmp_path: Path) -> None:
    for wrong, message in (
        ({"choose_by": "luck"}, "choose_by is 'luck'; it must be one of validation, cross-validation"),
        ({"strategies": "none"}, "strategies is 'none'; it must be one of gain, all"),
        ({"choose_by": "cross-validation", "inner_folds": 1}, "inner_folds"),
    ):
        with pytest.raises(ArgumentError, match=message):
            sf.sweep(made, tmp_path / "s", **wrong)
    assert not (tmp_path / "s").exists()
