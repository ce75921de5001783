"""Trainings and savings killed at any moment: they go on to the model of an undisturbed one, and nothing is lost.

What is compared are trainings with the same checkpoints, as each checkpoint begins a new stretch of draws.
SUREFOOT_KILLS=60 tries that many trainings instead of a few.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import surefoot as sf

KILLS = int(os.environ.get("SUREFOOT_KILLS", "4"))
TREES = 30
BOOSTERS: dict[str, dict[str, Any]] = {
    "gbdt": {"feature_fraction": 0.5},
    "bagging": {"bagging_fraction": 0.5, "bagging_freq": 2, "extra_trees": True},
    "goss": {"data_sample_strategy": "goss", "learning_rate": 0.5},
    "linear": {"linear_tree": True, "feature_fraction_bynode": 0.5},
    "quantized": {"use_quantized_grad": True, "max_bin": 15},
}
WAYS = [(booster, watched) for booster in BOOSTERS for watched in (False, True)]
FILES = ("model.txt", "ranker.json")


def train(booster: str, watched: bool, folder: Path, pause: float) -> None:
    """Train and save, with early stopping on validation data where it is `watched`."""
    data = sf.demo.letor(queries=30, documents=15, features=8, seed=1)
    valid = sf.demo.letor(queries=15, documents=15, features=8, seed=2) if watched else None
    stopping = {"early_stopping_rounds": 12, "stop_on": "u_risk@5"} if watched else {}
    ranker = sf.Ranker(
        "saro", 5, estimate="first", n_estimators=TREES, checkpoint=folder / "state.json", checkpoint_every=4,
        num_threads=1, **({"num_leaves": 4, "min_data_in_leaf": 5} | stopping | BOOSTERS[booster]),
    )  # fmt: skip
    ranker.fit(data, valid=valid, progress=lambda trees, history: time.sleep(pause))
    ranker.save(folder / "model")


def apart(action: Callable[[], object], kill_after: float | None = None, waiting_for: Path | None = None) -> bool:
    """Do it in a process of its own, killed so many seconds after a file is there; whether it came to its end."""
    child = os.fork()  # the parent has used neither LightGBM nor Polars, whose threads do not survive this
    if not child:
        try:
            action()
        except BaseException as error:
            print(repr(error), file=sys.stderr)
            os._exit(1)
        os._exit(0)
    ended, status = 0, 0
    if kill_after is not None:
        while not ended and waiting_for is not None and not waiting_for.exists():
            time.sleep(0.005)
            ended, status = os.waitpid(child, os.WNOHANG)
        if not ended:
            time.sleep(kill_after)
            os.kill(child, signal.SIGKILL)
    if not ended:
        _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return not os.WIFSIGNALED(status)


def kill_trainings(number: int, seed: int) -> None:
    """Kill trainings at random, let each go on, and compare it with an undisturbed one."""
    draw = random.Random(seed)
    killed = gone_on = 0
    for place in range(number):
        booster, watched = WAYS[(place + draw.randrange(2) * len(BOOSTERS)) % len(WAYS)]
        with tempfile.TemporaryDirectory() as home:
            undisturbed_home, part = Path(home, "whole"), Path(home, "part")
            undisturbed_home.mkdir()
            part.mkdir()
            undisturbed, disturbed = (partial(train, booster, watched, folder) for folder in (undisturbed_home, part))
            assert apart(partial(undisturbed, 0))
            state = part / "state.json"
            while not apart(partial(disturbed, 0.02), draw.uniform(0, 0.6), state if draw.random() < 0.8 else None):
                killed += 1
                gone_on += state.exists()
                if draw.random() < 0.7:
                    break
            assert apart(partial(disturbed, 0))
            assert not state.exists()
            for name in FILES:
                assert (part / "model" / name).read_bytes() == (undisturbed_home / "model" / name).read_bytes(), (
                    booster,
                    watched,
                )
    print(f"{killed} killed, {gone_on} went on from a checkpoint")


def kill_savings() -> None:
    """Kill a saving before each thing it does on the disk; what is left is the old ranker or the new one."""
    with tempfile.TemporaryDirectory() as home:
        folder, old, new = (Path(home, name) for name in ("model", "old", "new"))

        def make(trees: int, where: Path) -> None:
            ranker = sf.Ranker(n_estimators=trees, num_leaves=4, min_data_in_leaf=5, num_threads=1)
            ranker.fit(sf.demo.letor(queries=20, documents=15, features=5, seed=1)).save(where)

        def save(kill_at: int | None) -> None:
            ranker = sf.Ranker.load(new)
            if kill_at is not None:
                count_down(kill_at)
            ranker.save(folder)

        def trees_left() -> None:
            Path(home, "trees").write_text(str(sf.Ranker.load(folder).best_iteration_))

        assert apart(partial(make, 2, old))
        assert apart(partial(make, 3, new))
        result = []
        for kill_at in range(100):
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(old, folder)
            done = apart(partial(save, kill_at))
            assert apart(trees_left)
            result.append(Path(home, "trees").read_text())
            if done:
                break
            assert apart(partial(save, None))
            left = [path.name for path in folder.iterdir() if not path.name.endswith(".part")]
            assert sorted(left) == list(FILES)
        print(f"{len(result) - 1} killed")
        assert result == sorted(result)
        assert {"2", "3"} == set(result)


def count_down(left: int) -> None:
    """From now on, the process kills itself before the so-manieth change on the disk."""

    def counted(action: Callable[..., Any]) -> Callable[..., Any]:
        def act(*arguments: Any, **named: Any) -> Any:
            nonlocal left
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1
            return action(*arguments, **named)

        return act

    for owner, name in (
        (Path, "mkdir"), (Path, "write_bytes"), (Path, "chmod"), (Path, "replace"), (Path, "unlink"), (os, "fsync"),
    ):  # fmt: skip
        setattr(owner, name, counted(getattr(owner, name)))


def run(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    return done.stdout


@pytest.mark.heavy
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_trainings_killed_at_random_end_alike() -> None:
    assert "killed" in run("trainings", str(KILLS))


@pytest.mark.heavy
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_saving_killed_at_any_step_leaves_a_ranker() -> None:
    assert int(run("savings").split()[0]) >= 5


if __name__ == "__main__":
    import lightgbm  # noqa: F401  # once, for all processes

    sf.Ranker  # noqa: B018
    if sys.argv[1] == "savings":
        kill_savings()
    else:
        kill_trainings(int(sys.argv[2]), seed=9)
