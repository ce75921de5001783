"""Every output of every command: never onto an input, never two to one file, never over another's file."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from tests.cli.inputs import check_refused, named_letor, write_dates, write_runs

import surefoot as sf
from surefoot.cli.evaluate import charts_folder
from surefoot.cli.outputs import check_outputs
from surefoot.errors import ArgumentError
from surefoot.learn.model_files import DETAILS_FILE_NAME, MODEL_FILE_NAMES, is_model_file, unfinished_name

SMALL = ("--trees", "2", "--set", "num_leaves=4", "--set", "min_data_in_leaf=5", "--set", "num_threads=1", "-q")


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """Every kind of file that a command reads."""
    home = write_runs(tmp_path_factory.mktemp("inputs"), runs=2, queries=8, depth=10)
    runs = [sf.read_run(home / f"{name}.run") for name in ("today", "bold")]
    sf.score(sf.read_qrels(home / "qrels.txt"), runs, "nDCG@10").write(home / "scores.csv")
    write_dates(home / "dates.txt", 8)
    data, bm25 = named_letor("D")
    data.write(home / "train.txt")
    bm25.write(home / "base.run")
    sf.Ranker(n_estimators=2, num_leaves=4, min_data_in_leaf=5, num_threads=1).fit(data).save(home / "model")
    return home


@pytest.fixture
def home(made: Path, tmp_path: Path, monkeypatch) -> Path:
    """A copy of the files that this test may lose, as the folder to work in."""
    for file in made.rglob("*"):
        if file.is_file():
            copy = tmp_path / file.relative_to(made)
            copy.parent.mkdir(exist_ok=True)
            copy.write_bytes(file.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


RUNS = "qrels.txt today.run bold.run"
STUDIES = {
    "noise": f"stability noise {RUNS} --sizes 0.1 --seeds 1 -m nDCG@5",
    "subsets": f"stability subsets {RUNS} --subsets 9 -m nDCG@5",
    "time": f"stability time {RUNS} --dates dates.txt --size 2 --subsets 9 -m nDCG@5",
    "compare": f"stability measures {RUNS} --bootstrap 9 -m nDCG@5",
}
TRAIN = f"train train.txt {' '.join(SMALL)}"
ONTO_INPUTS = [
    *(f"{line} {option} {target} --force" for line in STUDIES.values() for option in ("--json", "--html")
      for target in ("qrels.txt", "bold.run")),
    f"{STUDIES['time']} --html dates.txt --force",
    f"{STUDIES['time']} --json ./dates.txt --force",
    *(f"evaluate {RUNS} -b today {option} {target} --force" for option in ("--json", "--csv", "--html")
      for target in ("qrels.txt", "today.run")),
    "evaluate --scores scores.csv -b today --csv scores.csv --force",
    f"{TRAIN} -o out --html train.txt --valid train.txt --force",
    f"{TRAIN} -o out --valid qrels.txt --html qrels.txt --force",
    f"{TRAIN} -o out --checkpoint train.txt --force",
    f"{TRAIN} -o out --valid train.txt --checkpoint train.txt --force",
    f"{TRAIN} -o out -b base.run --checkpoint base.run --force",
    f"{TRAIN} -o out -b bm25=base.run --valid train.txt --html base.run --force",
    f"{TRAIN} -o out -b model --checkpoint model/ranker.json --force",
    f"{TRAIN} -b model -o model --force",
    f"{TRAIN} -b ./model/ -o model --force",
    f"train model/model.txt {' '.join(SMALL)} -o model --force",
    "rank model train.txt -o model/model.txt --force",
    "rank model train.txt -o model/ranker.json --force",
    "rank model train.txt -o train.txt --force",
    "rank model train.txt -o x.run --qrels train.txt --force",
    "rank model train.txt -o x.run --qrels model/model.txt --force",
    "rank model train.txt -o base.run -b base.run --force",
]  # fmt: skip


@pytest.mark.parametrize("line", ONTO_INPUTS)
def test_no_output_goes_onto_an_input(surefoot, home: Path, line: str) -> None:
    check_refused(surefoot, home, line, " input")


TWO_TO_ONE = [
    *(f"{line} --json x --html ./x" for line in STUDIES.values()),
    f"{TRAIN} -o out --checkpoint x --html x --valid train.txt",
    f"{TRAIN} -o out --html out --valid train.txt",
    f"{TRAIN} -o out --checkpoint out",
    "rank model train.txt -o x --qrels ../{home}/x",
    f"evaluate {RUNS} -b today --figures f --csv f",
]


@pytest.mark.parametrize("line", TWO_TO_ONE)
def test_no_two_outputs_go_to_one_file(surefoot, home: Path, line: str) -> None:
    check_refused(surefoot, home, line.format(home=home.name), "would both write to")


@pytest.mark.parametrize("option", ["--html", "--checkpoint"])
def test_nothing_else_goes_into_a_model(surefoot, home: Path, option: str) -> None:
    check_refused(
        surefoot,
        home,
        f"{TRAIN} --valid train.txt -o model {option} model/x --force",
        "would replace the whole folder model",
    )


def test_links_and_other_names_are_the_same_file(surefoot, home: Path) -> None:
    (home / "link.run").symlink_to("today.run")
    os.link(home / "today.run", home / "hard.run")
    (home / "here").symlink_to(".")
    for target in ("link.run", "hard.run", "here/today.run", f"../{home.name}/today.run"):
        check_refused(
            surefoot, home, f"evaluate {RUNS} -b today --json {target} --force", "would overwrite the input file"
        )


REPLACEABLE = {
    "json": (f"evaluate {RUNS} -b today -q --json", "x.json"),
    "json.gz": (f"evaluate {RUNS} -b today -q --json", "x.json.gz"),
    "csv": (f"evaluate {RUNS} -b today -q --csv", "x.csv"),
    "page": (f"evaluate {RUNS} -b today -q --html", "x.html"),
    **{f"{name} json": (f"{line} -q --json", f"{name}.json") for name, line in STUDIES.items()},
    "study's page": (f"{STUDIES['compare']} -q --html", "study.html"),
}


@pytest.mark.parametrize("what", REPLACEABLE)
def test_what_surefoot_wrote_is_replaced_and_what_others_wrote_is_not(surefoot, home: Path, what: str) -> None:
    command, target = REPLACEABLE[what]
    (home / target).touch()  # an empty file may be replaced, as the shell's > leaves one
    for _ in range(2):
        assert surefoot(*command.split(), target)[0] == 0
    (home / target).write_text("mine\n")
    check_refused(surefoot, home, f"{command} {target}", "it is not marked as a file that surefoot wrote")
    assert surefoot(*command.split(), target, "--force")[0] == 0
    assert (home / target).read_bytes() != b"mine\n"


def test_per_query_tables(surefoot, home: Path) -> None:
    line = f"evaluate {RUNS} -b today -q --csv x.csv --per-query"
    for _ in range(2):
        assert surefoot(*line.split())[0] == 0
    (home / "x.per-query.csv").write_bytes(b"mine")
    check_refused(surefoot, home, line, "add --force")


@pytest.mark.parametrize("ending", ["pdf", "svg", "png"])
def test_figures(surefoot, home: Path, ending: str) -> None:
    from surefoot.report.canvas import new_figure, save_chart

    drawn = home / "charts" / f"t-risk.{ending}"
    drawn.parent.mkdir()
    figure = new_figure(3, 2)
    save_chart(figure, drawn)
    check_outputs([charts_folder("charts")], [])
    figure.savefig(drawn)  # as anyone's program would
    check_refused(
        surefoot, home, f"evaluate {RUNS} -b today --figures charts", "it is not marked as a file that surefoot wrote"
    )
    check_outputs([charts_folder("charts")], [], force=True)
    with pytest.raises(ArgumentError, match="would overwrite the input file"):
        check_outputs([charts_folder("charts")], [drawn], force=True)


def test_runs_judgments_and_models_need_force(surefoot, home: Path) -> None:
    rank = "rank model train.txt -q -o x.run --qrels q.txt"
    assert surefoot(*rank.split())[0] == 0
    check_refused(surefoot, home, rank, "--output: x.run already exists")
    assert surefoot(*rank.split(), "--force")[0] == 0
    (home / "x.run").unlink()
    check_refused(surefoot, home, rank, "--qrels: q.txt already exists")
    check_refused(surefoot, home, f"{TRAIN} -o model", "--output: model already contains a model")
    assert surefoot(*TRAIN.split(), "-o", "model", "--force")[0] == 0
    (home / "model" / unfinished_name("model.txt", "a" * 64)).write_text("left by a training that was killed")
    assert surefoot(*TRAIN.split(), "-o", "model", "--force")[0] == 0
    assert {file.name for file in (home / "model").iterdir()} == {MODEL_FILE_NAMES["lightgbm"], DETAILS_FILE_NAME}
    (home / "model" / "notes.txt").write_text("mine")
    check_refused(
        surefoot, home, f"{TRAIN} -o model --force", "contains files that do not belong to a model (notes.txt)"
    )
    check_refused(surefoot, home, f"{TRAIN} -o . --force", "")


def test_the_files_of_a_model_are_those_that_are_saved(home: Path) -> None:
    assert {file.name for file in (home / "model").iterdir()} == {MODEL_FILE_NAMES["lightgbm"], DETAILS_FILE_NAME}
    assert all(
        map(is_model_file, (*MODEL_FILE_NAMES.values(), DETAILS_FILE_NAME, unfinished_name("model.json", "0" * 64)))
    )
    assert not any(
        map(is_model_file, ("notes.txt", ".model.txt.next", unfinished_name("model.txt", "x"), "model.txt.gz"))
    )


def test_a_checkpoint_is_tried_and_known_before_training(surefoot, home: Path) -> None:
    check_refused(surefoot, home, f"{TRAIN} -o out --checkpoint absent/state", "there is no folder")
    check_refused(surefoot, home, f"{TRAIN} -o out --checkpoint bold.run", "it is not marked")
    (home / "state").write_text('{"schema": "surefoot/checkpoint/1", "fingerprint": "other"}')
    check_refused(
        surefoot, home, f"{TRAIN} -o out --checkpoint state", "state: is "
    )  # known as one, and refused as such


def test_demo_replaces_its_own_files_only(surefoot, home: Path) -> None:
    (home / "qrels.txt").write_text("301 0 FBIS3-10082 1\n")
    check_refused(surefoot, home, "demo -o . --no-learn --queries 4", "qrels.txt already exists, and it is not marked")
    for seed in (1, 2):
        assert surefoot("demo", "-o", "d", "--no-learn", "--queries", "4", "--seed", seed)[0] == 0
    (home / "d" / "bold.run").write_text("q1 Q0 d7 1 0.5 mine\n")
    check_refused(surefoot, home, "demo -o d --no-learn --queries 4", "d/bold.run already exists")


def test_pipes_and_devices_take_what_they_are_given(surefoot, home: Path) -> None:
    code, out, _ = surefoot(*f"evaluate {RUNS} -b today -q --json /dev/null --csv /dev/null --html /dev/null".split())
    assert (code, out) == (0, "")
    os.mkfifo(home / "pipe")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append((home / "pipe").read_bytes()))
    reader.start()
    assert surefoot(*f"evaluate {RUNS} -b today -q --json pipe".split())[0] == 0
    reader.join()
    assert read[0].startswith(b'{\n  "schema": "surefoot/')
    code, _, err = surefoot(*f"evaluate {RUNS} -b today -q --json /dev/full".split())
    assert code == 2
    assert "/dev/full: cannot be written (No space left" in err
