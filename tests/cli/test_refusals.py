"""Numbers out of range, full disks, little memory and hostile names: a message and exit code 2, nothing left behind."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.inputs import check_refused, named_letor, write_runs

import surefoot as sf
from surefoot.data.reading.folders import GUARD, KINDS, PERSONAL
from surefoot.errors import ArgumentError


@pytest.fixture
def home(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write_runs(tmp_path, runs=2)


RUNS = "qrels.txt today.run bold.run"
HUGE = "9" * 30
REFUSED = [
    (f"evaluate {RUNS} -b today --depth 1e30", "--depth"),
    (f"evaluate {RUNS} -b today --depth {HUGE}", "--depth"),
    (f"evaluate {RUNS} -b today --bootstrap {HUGE}", "--bootstrap"),
    (f"evaluate {RUNS} -b today --seed {2**64}", "--seed"),
    (f"evaluate {RUNS} -b today --alpha 1,1.0000001", "the alphas 1.0 and 1.0000001 both appear as 1"),
    (f"evaluate {RUNS} -b today --alpha nan", "alpha is 'nan'"),
    (f"evaluate {RUNS} -b today --alpha ,", "--alpha is ','; write numbers separated by commas"),
    *((f"stability {study} {RUNS} --sizes {sizes}", "--sizes is") for study in ("noise", "subsets")
      for sizes in ("nan", "inf", ",", "5,-inf", "1_0", "x" * 90_000)),
    (f"stability noise {RUNS} --sizes 1e300", "the sizes of noise are"),
    (f"stability noise {RUNS} --seeds {HUGE}", "--seeds"),
    (f"stability subsets {RUNS} --subsets {HUGE}", "--subsets"),
    (f"stability measures {RUNS} --bootstrap {HUGE}", "--bootstrap"),
    (f"stability measures {RUNS} --seed {HUGE}", "--seed"),
    (f"demo --queries {10**12}", "--queries"),
    (f"demo --seed {HUGE}", "--seed"),
    ("demo -o d --seed -1", "--seed"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "message"), REFUSED)
def test_numbers_out_of_range(surefoot, home: Path, line: str, message: str) -> None:
    check_refused(surefoot, home, line, message)


def test_no_number_of_sizes(surefoot, home: Path) -> None:
    code, _, err = surefoot("stability", "subsets", *RUNS.split(), "--sizes", "")
    assert code == 2
    assert "--sizes is empty" in err


def test_python_refuses_the_same() -> None:
    scores = sf.Scores([[0.5, 0.4], [0.3, 0.2]], ["a", "b"], ["1", "2"])
    with pytest.raises(ArgumentError, match=r"both appear as 1 in the output, so"):
        sf.assess(scores, "a", [1, 1.0000001])
    sf.assess(scores, "a", [1, 1.0])  # the same twice is no other
    with pytest.raises(ArgumentError, match="subsets is"):
        sf.stability.subsets(scores, subsets=10**9)
    with pytest.raises(ArgumentError, match="seed is -1"):
        sf.stability.measures(scores, seed=-1)


@pytest.mark.parametrize("name", ["x[/bold]", "[red]b", ":cat:", "a b", "中"])
def test_names_are_printed_as_they_are(surefoot, home: Path, name: str) -> None:
    runs = ("qrels.txt", f"{name}=today.run", "bold.run")
    for command in (("evaluate", *runs, "-b", "bold", "--per-query"), ("stability", "measures", *runs, "-m", "nDCG@5"),
                    ("stability", "noise", *runs, "-m", "nDCG@5", "--seeds", "1")):  # fmt: skip
        code, out, err = surefoot(*command)
        assert (code, err) == (0, "")
        assert name in out


def test_names_of_folders_are_printed_as_they_are(surefoot, home: Path) -> None:
    letor = sf.demo.letor(queries=12, documents=8, features=6, seed=1)
    letor.write(home / "train.txt")
    small = ("--trees", "2", "--set", "min_data_in_leaf=5", "--set", "num_threads=1")
    code, out, _ = surefoot("train", "train.txt", "-b", "[red]b=feature:1", *small, "-o", "m[bold]")
    assert code == 0
    assert "trees to m[bold]/" in out
    assert "[red]b" in out
    code, out, _ = surefoot("demo", "-o", "[red]d", "--no-learn", "--queries", "5")
    assert code == 0
    assert "[red]d/" in out


def test_names_that_are_not_text(surefoot, home: Path) -> None:
    """File names are bytes to the system; what is not UTF-8 in one is shown as �, in every output."""
    odd = home / "\udcff.run"
    odd.write_bytes((home / "today.run").read_bytes())
    outputs = ("--json", "a.json", "--html", "a.html")
    runs = ("qrels.txt", "bold.run", odd)
    assert surefoot("evaluate", *runs, "-b", "\udcff", "--per-query", "--csv", "a.csv", *outputs)[0] == 0
    assert surefoot("stability", "measures", *runs, "-m", "nDCG@5", *outputs)[0] == 0
    assert surefoot("evaluate", *runs[:2], f"a\udcff={odd}", "-b", "a\udcff", *outputs)[0] == 0
    sf.demo.letor(queries=12, documents=8, features=6, seed=1).write(home / "train.txt")
    small = ("--trees", "2", "--set", "min_data_in_leaf=5", "--set", "num_threads=1", "-b", "\udcff=feature:1")
    assert surefoot("train", "train.txt", "--valid", "train.txt", *small, "-o", "m\udcff", "--html", "b.html")[0] == 0
    assert surefoot("rank", "m\udcff", "train.txt", "-o", "a.run")[0] == 0
    assert surefoot("rank", "m\udcff", "train.txt", "-o", "b.run", "--name", "\udcff")[0] == 0


LIMITED = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from surefoot.cli import main
{setup}
sys.argv = ["surefoot", *sys.argv[1:]]
main()
"""
# A file may not grow beyond this: to a program it is what a full disk is.
FULL = "resource.setrlimit(resource.RLIMIT_FSIZE, ({0}, {0}))"


def limited(setup: str, home: Path, *line: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", LIMITED.format(setup=setup), *line],
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="the system cannot limit the size of files")
@pytest.mark.heavy
def test_a_full_disk_leaves_nothing(home: Path) -> None:
    letor = sf.demo.letor(queries=600, documents=20, features=6, seed=1)
    letor.write(home / "test.txt")
    sf.Ranker(n_estimators=2, num_leaves=4, num_threads=1).fit(letor).save(home / "model")
    limited("", home, "evaluate", *RUNS.split(), "-b", "today", "-q")  # what is cached is cached now
    before = sorted(str(path) for path in home.rglob("*"))
    for size, line in [
        (20_000, f"evaluate {RUNS} -b today --figures charts/new"),
        (20_000, f"evaluate {RUNS} -b today --html x.html"),
        (2_000, f"evaluate {RUNS} -b today --json x.json"),
        (20_000, "demo -o new/demo --no-learn"),
        *((20_000, f"rank model test.txt -o x{ending}") for ending in (".parquet", ".run.gz")),
    ]:
        done = limited(FULL.format(size), home, *line.split())
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert "cannot be written (" in done.stderr
        assert "File too large" in done.stderr
        assert sorted(str(path) for path in home.rglob("*")) == before, line


def test_too_little_memory_is_said(surefoot, home: Path, monkeypatch) -> None:
    def exhausted(*_: object, **__: object) -> None:
        raise MemoryError("Unable to allocate 9.0 GiB")

    monkeypatch.setattr("surefoot.report.assessment.assess", exhausted)
    code, out, err = surefoot("evaluate", *RUNS.split(), "-b", "today")
    assert (code, out) == (2, "")
    assert err == "surefoot: not enough memory (Unable to allocate 9.0 GiB); use a smaller input\n"


def test_messages_of_options_do_not_steer_or_flood(surefoot) -> None:
    for line in (["evaluate", "--\x1b[31m"], ["\x1b[31m"], ["evaluate", "--depth", "x" * 100_000], ["x" * 100_000]):
        code, _, err = surefoot(*line)
        assert code == 2
        assert "\x1b" not in err
        assert len(err) < 3000


def test_which_of_two_files_is_wrong_is_said(surefoot, home: Path) -> None:
    for name, seed in (("train", 1), ("vali", 2)):
        data, bm25 = named_letor(name, seed=seed)
        data.write(home / f"{name}.txt")
        bm25.write(home / f"{name}.run")
    for named in ("train", "vali"):
        other = "vali" if named == "train" else "train"
        code, _, err = surefoot("train", "train.txt", "--valid", "vali.txt", "-b", f"{other}.run", "-o", "m")
        assert code == 2
        assert f"{named}.txt: run '{other}.run' shares no document with the data" in err


def test_letters_that_a_terminal_lacks(home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "surefoot", "evaluate", *RUNS.split(), "-b", "today"],
        env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}, capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_folder_of_another_kind_is_named(surefoot, tmp_path: Path) -> None:
    named_letor("test", seed=1)[0].write(tmp_path / "test.txt")
    for kind, what in KINDS.items():
        if kind in (GUARD, PERSONAL):  # `rank` takes these
            continue
        folder = tmp_path / kind.partition(".")[0]
        folder.mkdir()
        (folder / kind).write_text("{}")
        code, _, err = surefoot("rank", folder, tmp_path / "test.txt", "-o", tmp_path / "a.run")
        assert code == 2
        assert f"surefoot: {folder / 'ranker.json'}: " in err
        assert f"there is no such file: {folder} is the folder of {what}" in err or kind == "ranker.json"
