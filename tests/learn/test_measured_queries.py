"""A measure on one set of documents: threads that start late, on the cores that may be used, and after a fork."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

from surefoot.errors import MeasureError
from surefoot.learn.measured_queries import MeasuredQueries
from surefoot.measures.effectiveness import discounts
from surefoot.runtime import cores

SCORES = np.random.default_rng(0).random(400)


def target(threads: int | None = None) -> MeasuredQueries:
    labels = np.arange(400.0) % 3
    return MeasuredQueries("nDCG@5", labels, np.arange(0, 401, 20), np.arange(400), threads)


def parts(of: MeasuredQueries) -> int:
    seen: list[tuple[int, int]] = []
    of.run_in_threads(lambda first, last: seen.append((first, last)))
    assert sorted(seen)[0][0] == 0
    assert max(seen)[1] == of.queries
    return len(seen)


def test_threads_start_when_first_used() -> None:
    before = threading.active_count()
    made = target(threads=3)
    assert threading.active_count() == before
    values = made.values(SCORES)
    assert before < threading.active_count() <= before + 2
    np.testing.assert_array_equal(values, target(threads=1).values(SCORES))


def test_as_many_threads_as_cores_that_may_be_used(monkeypatch) -> None:
    assert cores() == len(os.sched_getaffinity(0)) or not hasattr(os, "sched_getaffinity")
    monkeypatch.setattr("surefoot.learn.measured_queries.cores", lambda: 5)
    assert parts(target()) == 5
    assert parts(target(threads=2)) == 2


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity")
def test_a_process_that_may_use_one_core() -> None:
    code = """
import os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
from tests.learn.test_measured_queries import parts, target
print(parts(target()))
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "1\n"


def test_pickled() -> None:
    made = target(threads=2)
    values = made.values(SCORES)  # its threads run by now
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(made)).values(SCORES), values)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_has_threads_of_its_own() -> None:
    code = """
import os, signal, warnings
warnings.simplefilter("ignore")  # newer Pythons warn of forks beside threads
from tests.learn.test_measured_queries import SCORES, target
made = target(threads=2)
values = made.values(SCORES)
child = os.fork()
if not child:
    signal.alarm(60)  # instead of waiting for ever
    os._exit(0 if (made.values(SCORES) == values).all() else 1)
assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_discounts() -> None:
    np.testing.assert_array_equal(target().discounts, discounts(20))
    assert discounts(20)[2] == 0.5


@pytest.mark.parametrize(
    ("label", "message"),
    [
        (5, r"contains a label of 5, but ERR has max_rel=4; write ERR\(max_rel=5\) if"),
        (2000, "contains a label of 2000"),
    ],
)
def test_labels_above_the_top_of_err(label: float, message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        MeasuredQueries("ERR@5", np.array([0.0, label]), np.array([0, 2]), np.arange(2))
