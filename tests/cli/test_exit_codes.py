"""Exit codes say what was decided, whatever is odd about levels, records or the error stream."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.inputs import write_runs

import surefoot as sf
from surefoot.data.hashes import json_hash, seal
from surefoot.errors import SurefootError


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_runs(tmp_path_factory.mktemp("codes"), runs=3, queries=60, depth=50)


def gate(surefoot: Any, home: Path, *options: object, candidate: str = "steady") -> tuple[int, str, str]:
    runs = (home / "today.run", home / f"{candidate}.run")
    return surefoot("gate", home / "qrels.txt", *runs, "-m", "nDCG@10", "-b", "today", *options)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--risk", "1e-308"], 1), (["--share-hurt", "1e-310"], 1), (["--risk", "1e-17"], 1),
        (["--gain", "-0.9999999999999999"], 0), (["--u-risk", "5:1e-310"], (1, 3)),
        (["--risk", "0.9999999999999999"], 0),
        (["--risk", "0.03", "--delta", "1e-12"], 3),
    ],
)  # fmt: skip
def test_levels_of_any_size_decide(surefoot, home: Path, options: list[str], code: Any) -> None:
    exit_code, out, err = gate(surefoot, home, *options)
    assert exit_code in (code if isinstance(code, tuple) else (code,)), out
    assert err == ""


@pytest.mark.parametrize("delta", ["1e-320", "5e-324", "1e-13", "0"])
def test_a_delta_that_nothing_reaches_is_refused(surefoot, home: Path, delta: str) -> None:
    code, _, err = gate(surefoot, home, "--risk", 0.03, "--delta", delta)
    assert code == 2
    assert "it must be from 1e-12 to 0.5" in err


def _changed(at: int, *keys: Any, value: Any) -> Callable[[Any], None]:
    def change(entries: Any) -> None:
        *path, last = keys
        held = entries[at]["entry"]
        for key in path:
            held = held[key]
        held[last] = value

    return change


CHANGES = [
    _changed(0, "candidate", value=0), _changed(0, "baseline", value={"name": 5, "lists": None}),
    _changed(0, "settings", value=None), _changed(0, "rules", value=7), _changed(0, "number", value=0),
    _changed(0, "delta", value=1.5), _changed(0, "budget", value="x"), _changed(1, "batches", value=[]),
    _changed(1, "batches", value=[0]), _changed(1, "question", value=2), _changed(1, "p", value=[["x"]]),
    _changed(1, "batches", 0, "given", value=[]), _changed(1, "batches", 0, "judged", "baseline", value=[2.0]),
    _changed(1, "batches", 0, "judged", "query", value=["a"] * 200), _changed(1, "decision", value="maybe"),
    _changed(1, "batches", 0, "unanswered", value={}), _changed(1, "kind", value="odd"),
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_a_forged_record_is_refused_though_its_hashes_fit(surefoot, home: Path, tmp_path: Path, change: Any) -> None:
    path = tmp_path / "record.json"
    options = ("--risk", 0.5, "--record", path)
    assert gate(surefoot, home, *options)[0] in (0, 1, 3)
    data = json.loads(path.read_text())
    change(data["entries"])
    before = ""
    for chained in data["entries"]:
        before = chained["sha256"] = json_hash([before, chained["entry"]])
    path.write_text(json.dumps(seal(data)))
    forged = path.read_text()
    code, _, err = gate(surefoot, home, *options)
    assert (code, path.read_text()) == (2, forged)
    assert err.startswith("surefoot: ")
    assert "record.json" in err


@pytest.mark.parametrize(("kind", "schema"), [("--record", "record/1"), ("--sample", "draws/1")])
def test_a_number_beyond_all_in_a_sealed_file_is_refused(
    surefoot, home: Path, tmp_path: Path, kind: str, schema: str
) -> None:
    path = tmp_path / "sealed.json"
    path.write_text(f'{{"schema": "surefoot/{schema}", "measure": 1e999, "sha256": "0"}}')
    code, _, err = gate(surefoot, home, "--risk", 0.5, kind, path)
    assert code == 2
    assert "was changed after surefoot wrote it" in err


def test_a_stratum_without_a_name_is_refused(surefoot, home: Path, tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("query,stratum,share\nq001,head,0.5\nq002,,0.5\n")
    code, _, err = gate(surefoot, home, "--risk", 0.5, "--sample", tmp_path / "s.csv")
    assert code == 2
    assert "s.csv, line 3: the stratum is missing" in err
    for row, message in (
        ("q002,head,0.4", "s.csv, line 3: stratum 'head' has the share '0.4' here and '0.5' above"),
        ("q001,tail,0.5", "s.csv, line 3: query 'q001' appears twice"),
        ("q002,tail,0.4", "sum to 0.9"),
    ):
        (tmp_path / "s.csv").write_text(f"query,stratum,share\nq001,head,0.5\n{row}\n")
        code, _, err = gate(surefoot, home, "--risk", 0.5, "--sample", tmp_path / "s.csv")
        assert (code, message in err) == (2, True), err


ENDS = {"full": "2>/dev/full", "closed": "2>&-", "nobody reads": "2> >(exec true)"}


@pytest.mark.heavy
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize(
    ("options", "code"),
    [("steady.run --risk 0.5", 0), ("bold.run --risk 0.001", 1), ("nowhere.run --risk 0.5", 2),
     ("steady.run --risk 0.03 --delta 1e-9", 3), ("steady.run --nonsense", 2)],
)  # fmt: skip
def test_an_error_stream_that_cannot_be_written_changes_no_exit_code(
    home: Path, end: str, options: str, code: int
) -> None:
    line = f"{sys.executable} -m surefoot gate qrels.txt today.run {options} -m nDCG@10 -b today >/dev/null {ENDS[end]}"
    assert subprocess.run(["bash", "-c", line], cwd=home, check=False).returncode == code


def test_a_bug_is_never_a_decision(surefoot, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 1 means stop: an error of surefoot's own, traceback and all, ends with 2."""

    def broken(*_: Any, **__: Any) -> None:
        raise KeyError("unexpected")

    monkeypatch.setattr("surefoot.decide.gate.gate.look_alone", broken)
    code, _, err = gate(surefoot, home, "--risk", 0.5)
    assert code == 2
    assert "KeyError" in err
    assert "this is a bug in surefoot" in err


EMPTY = {  # options whose value a build takes from a variable
    "gate": ("--record", "--sample", "--segments", "-m", "-b", "--policy", "--automatic", "--texts", "--json"),
    "evaluate": ("-m", "-b", "--systems", "--segments", "--traffic", "--html"),
    "sweep": ("--seeds", "--alpha", "-o"), "personalize": ("--actions", "--layout"), "rank": ("--name", "-o"),
}  # fmt: skip


@pytest.mark.parametrize(("command", "option"), [(name, one) for name, several in EMPTY.items() for one in several])
def test_an_empty_value_is_never_left_out(surefoot, home: Path, command: str, option: str) -> None:
    files = (home / "qrels.txt", home / "today.run", home / "steady.run")
    for given in ((option, ""), (f"{option}=",)) if option.startswith("--") else ((option, ""),):
        code, out, err = surefoot(command, *files, "--risk", "0.2", *given)
        assert (code, out, err) == (2, "", f"surefoot: {option} is empty; give it a value\n")


@pytest.mark.parametrize("command", ["gate", "evaluate", "history", "check", "sweep", "convert"])
def test_an_empty_file_name_is_not_the_current_folder(surefoot, command: str) -> None:
    assert surefoot(command, "")[::2] == (2, "surefoot: a file name is empty; give the name of a file\n")


def test_an_empty_record_is_refused_in_python_too(home: Path) -> None:
    runs = [home / "today.run", home / "steady.run"]
    scores = sf.score(home / "qrels.txt", [sf.read_run(run) for run in runs], "nDCG@10")
    with pytest.raises(SurefootError):
        sf.gate(scores, baseline="today", policy={"risk": 0.2}, record="")


@pytest.mark.parametrize("line", ["convert today.run", "evaluate qrels.txt today.run steady.run -b today --figures"])
def test_what_cannot_be_printed_is_no_file_of_that_name(surefoot, home: Path, monkeypatch, line: str) -> None:
    monkeypatch.chdir(home)
    words = line.split()
    code, out, err = surefoot(*words, "-") if words[-1] == "--figures" else surefoot(*words, "-o", "-")
    assert (code, out) == (2, "")
    assert "cannot be printed" in err
    assert not (home / "-").exists()
