"""Tables in other processes: forked children read, or fail at once; what was read is pickled, also from elsewhere."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import DataError

RUN = "".join(f"q{q} Q0 d{d:03d} 1 {d % 7} t\n" for q in range(9) for d in range(99))
CHILD = """
import os, sys, warnings
warnings.simplefilter("ignore")  # newer Pythons warn of forks beside threads
import surefoot as sf

def read():
    run, qrels = sf.read_run("a.run"), sf.read_qrels("q.txt")
    data = sf.read_letor("l.txt")
    return (
        run.to_dict(),
        sf.score(qrels, [run], "AP").values.tolist(),
        sf.score(before, [run], "AP").values.tolist(),
        sf.read_scores("s.csv").values.tolist(),
        data.ranking([1, 1]).order.tolist(),
        data.to_run([2, 1], "x").to_dict(),
    )

def refused(call):
    try:
        call()
    except sf.SurefootError as error:
        return 'get_context("spawn")' in str(error)

before = sf.read_qrels("q.txt")
expected = read()
sf.read_scores("s.csv").write("s.parquet")
sf.read_letor("l.txt").write("l.parquet")
child = os.fork()
if child == 0:
    found = False
    try:
        found = read() == expected and all(map(refused, (
            lambda: sf.read_scores("s.parquet"),
            lambda: sf.read_letor("l.parquet"),
            lambda: sf.read_run("a.run").write("b.run"),
            lambda: sf.read_run("a.run").write("b.parquet"),
            lambda: sf.read_scores("s.csv").write("b.csv"),
            lambda: sf.read_letor("l.txt").write("b.txt"),
        )))
    finally:
        os._exit(0 if found else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "a.run").write_text(RUN)
    (tmp_path / "q.txt").write_text("q1 0 d001 1\nq2 0 d002 2\nq3 0 d003 0\n")
    (tmp_path / "s.csv").write_text("query,a,b\n1,0.5,0.25\n2,0,1\n")
    (tmp_path / "l.txt").write_text("1 qid:1 1:0.5 #docid = a\n0 qid:1 1:0.25 #docid = b\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_reads_what_its_parent_reads(folder: Path) -> None:
    done = subprocess.run([sys.executable, "-c", CHILD], timeout=120, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_of_a_parent_that_read_nothing_is_as_fast_and_as_able(folder: Path) -> None:
    code = """
import os, sys, surefoot as sf
from surefoot.data.reading import polars_process
child = os.fork()
if child == 0:
    sf.read_run("a.run").write("b.parquet")
    os._exit(1 if polars_process.threads_lost() else 0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], timeout=120, check=False)
    assert done.returncode == 0
    assert Path("b.parquet").exists()


def test_no_thread_outlives_a_read(folder: Path) -> None:
    def ours() -> list[str]:
        return [
            thread.name for thread in threading.enumerate() if "Executor" in thread.name or "surefoot" in thread.name
        ]

    before = ours()
    sf.read_run("a.run")
    sf.read_letor("l.txt")
    Path("bad.run").write_text(RUN + "wrong\n")
    with pytest.raises(DataError) as wrong:
        sf.read_run("bad.run")
    Path("wide.txt").write_text("1 qid:1 1:1\n" * 1000 + "1 qid:1 1000000:1\n")
    with pytest.raises(DataError) as wide:
        sf.read_letor("wide.txt")
    assert ours() == before
    assert wrong.traceback
    assert wide.traceback  # which hold on to all that the calls held


def test_pickles_after_a_change_of_folder(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    run, qrels = sf.read_run("a.run"), sf.read_qrels("q.txt")
    scores = sf.score(qrels, {"today": run, "new": {"q1": {"d001": 1.0}}}, "AP")
    things = [run, qrels, run.only(1)[0], run.renamed("x"), sf.read_letor("l.txt"), scores, sf.assess(scores, "today")]
    text = pickle.dumps(things)
    os.chdir(tmp_path_factory.mktemp("elsewhere"))
    back = pickle.loads(text)
    for old, new in zip(things[:4], back[:4], strict=True):
        assert new.to_dict() == old.to_dict()
    np.testing.assert_array_equal(back[4].X, things[4].X)
    assert back[5].runs[0].documents().to_list() == run.documents().to_list()
    np.testing.assert_array_equal(back[5].values, scores.values)
    assert back[6].to_dict() == things[6].to_dict()


def test_a_pickle_of_a_file_that_has_changed(folder: Path) -> None:
    text = pickle.dumps(sf.read_run("a.run"))
    Path("a.run").write_text(RUN + "q1 Q0 new 1 1 t\n")
    with pytest.raises(DataError, match=r"a\.run: the file has changed since it was read"):
        pickle.loads(text).documents()
