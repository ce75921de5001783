"""`surefoot train --engine cross-encoder` and `surefoot rank --run`, in one process and in two."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.generated_text import ambiguous_queries, load_model, write_model
from safetensors.torch import load_file

import surefoot as sf
from surefoot.neural import rerank

pytestmark = pytest.mark.neural
SOURCE = Path(sf.__file__).parents[1]
ROOT = Path(__file__).parents[2]

TEXTS = "--run live.run --queries queries.tsv --documents docs.jsonl"
TRAIN = (
    f"train base --engine cross-encoder --qrels train.qrels {TEXTS} --set learning_rate=0.01 --set use_cpu=true "
    "--threads 1"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("texts")
    write_model(home / "base", hidden=16, length=24)
    parts = {"train.qrels": range(12), "valid.qrels": range(12, 20), "odd.qrels": range(0, 20, 7)}
    rows, _ = ambiguous_queries(20, 1)
    names = [[f"d{number}-{place}" for place in range(10)] for number in range(20)]
    (home / "queries.tsv").write_text("".join(f"q{number}\t{row['query']}\n" for number, row in enumerate(rows)))
    (home / "docs.jsonl").write_text(
        "".join(
            json.dumps({"_id": name, "title": "", "text": text}) + "\n"
            for ids, row in zip(names, rows, strict=True)
            for name, text in zip(ids, row["docs"], strict=True)
        )
    )
    sf.read_run({f"q{number}": ids for number, ids in enumerate(names)}).write(home / "live.run")
    for file, numbers in parts.items():
        grades = {f"q{n}": dict(zip(names[n], rows[n]["labels"], strict=True)) for n in numbers}
        if file == "odd.qrels":
            grades["q7"] = {"d0-0": 1}  # which is not among its documents
        sf.read_qrels(grades).write(home / file)
    return home


def test_from_texts_to_a_run_that_is_assessed_and_gated(surefoot, folder) -> None:
    more = "--valid valid.qrels --objective u_risk --alpha 5 --stop-on u_risk@5 --epochs 2 --html page.html"
    code, out, err = surefoot(f"{TRAIN} {more} -o model --force")
    assert (code, err) == (0, "")
    assert "training: 12 queries, 120 documents" in out
    assert "Saved the cross-encoder to model/" in out
    assert "On the validation data." in out
    assert "<html" in (folder / "page.html").read_text(encoding="utf-8")
    code, out, err = surefoot(f"rank model {TEXTS} --depth 6 -o new.run --checkpoint state.jsonl --force")
    assert (code, err) == (0, "")
    assert out == "Wrote 200 documents of 20 queries to new.run\n"
    assert not (folder / "state.jsonl").exists()
    expected = rerank(
        load_model(folder / "model"), folder / "live.run", folder / "queries.tsv", folder / "docs.jsonl", depth=6
    )
    assert sf.read_run(folder / "new.run").to_dict() == expected.to_dict()
    assert surefoot("evaluate valid.qrels live.run new.run -b live")[0] == 0
    assert surefoot("gate valid.qrels live.run new.run -b live --risk 0.9")[0] in (0, 1, 3)
    assert {each.name for each in folder.iterdir() if each.name.startswith(".")} == set()


@pytest.mark.filterwarnings("ignore:'pin_memory' argument is set as true:UserWarning")  # PyTorch's, without a card
def test_the_recipe_of_the_page_runs_as_it_stands(folder, tmp_path, monkeypatch) -> None:
    """But for the model's name, in whose place there is a folder."""
    text = (ROOT / "docs" / "cross-encoders.md").read_text(encoding="utf-8")
    program = text.split("```python\n")[1].split("```")[0]
    assert "microsoft/MiniLM-L12-H384-uncased" in program
    program = program.replace("microsoft/MiniLM-L12-H384-uncased", str(folder / "base"))
    for name in ("live.run", "queries.tsv", "docs.jsonl", "train.qrels", "valid.qrels"):
        shutil.copy(folder / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    exec(compile(program, "docs/cross-encoders.md", "exec"), {})
    assert len(sf.read_run("new.run").queries) == 20
    assert (tmp_path / "model" / "model.safetensors").is_file()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (f"{TRAIN} -o base", "--output would replace the whole folder base"),
        (f"{TRAIN} --alpha 5 -o refused", "--alpha 5 has no effect with --objective gain"),
        (f"{TRAIN} --objective u_risk -o refused", "needs alpha"),
        (f"{TRAIN} -b live.run -o refused", "--baseline is not possible with --engine cross-encoder; its baseline is"),
        (f"{TRAIN} --trees 5 -o refused", "--trees is not possible"),
        (f"{TRAIN} --models 2 -o refused", "--models is not possible"),
        (f"{TRAIN} --html page.html -o refused", "--html needs validation data"),
        (f"{TRAIN} --set nothing=1 -o refused", "has no parameter 'nothing'"),
        (f"{TRAIN} --set seed=1 -o refused", "seed cannot be set here"),
        (f"{TRAIN.replace('--run live.run', '')} -o refused", "needs --run as well"),
        (f"{TRAIN.replace('train.qrels', 'odd.qrels')} -o refused", "query 'q7': none of the 10 documents is relevant"),
        (f"{TRAIN.replace('train base', 'train no/such')} -o refused", "no/such: cannot be loaded"),
        (f"{TRAIN.replace('queries.tsv', 'docs.jsonl')} -o refused", "row 1, query 'q0': the query has no text"),
        ("train train.qrels --run live.run -o refused", "--run is for re-rankers of text; add --engine cross-encoder"),
        ("train train.qrels --qrels train.qrels -o refused", "--qrels is for re-rankers of text"),
        (f"rank base {TEXTS.replace('--run live.run', '')} -o refused", "base is a cross-encoder, which re-ranks text"),
        (f"rank base train.qrels {TEXTS} -o refused", "TEST is not possible together with --run"),
        (f"rank base {TEXTS} --controlled -o refused", "--controlled is not possible together with --run"),
        ("rank base --run live.run -o refused", "needs --queries, --documents as well"),
        ("rank nothing -o refused", "TEST is missing"),
        ("rank nothing train.qrels --depth 5 -o refused", "--depth is for re-rankers of text; add --run"),
        (f"rank no/such {TEXTS} -o refused", "no/such: cannot be loaded"),
        (f"rank base {TEXTS} -o queries.tsv --force", "would overwrite the input file"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_one_line(surefoot, folder, line, words) -> None:
    code, out, err = surefoot(line)
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1
    assert not (folder / "refused").exists()


def test_unusable_queries_can_be_left_out(surefoot, folder) -> None:
    code, out, err = surefoot(f"{TRAIN.replace('train.qrels', 'odd.qrels')} --skip-unusable -o skipped")
    assert (code, err) == (0, "")
    assert "training: 2 queries, 20 documents" in out


def test_two_processes_are_as_one(surefoot, folder) -> None:
    """The same model, with sums over the queries of both processes, as one process learns from the joined batches."""
    # Plain SGD: Adam makes a step even of gradients that are 0 but for rounding, as those of attention's key biases.
    train = TRAIN.replace("learning_rate=0.01", "learning_rate=0.5 --set optim=sgd")
    line = f"{train} --valid valid.qrels --objective saro --alpha 5 --epochs 2 --set per_device_train_batch_size="
    code, _, err = surefoot(f"{line}4 -o one -q")
    assert code == 0, err
    path = os.pathsep.join([str(SOURCE), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": path}
    command = [
        sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "--", "surefoot",
        *f"{line}2 --set ddp_backend=gloo -o two -q".split(),
    ]  # fmt: skip
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr
    one, two = (load_file(folder / name / "model.safetensors") for name in ("one", "two"))
    before = load_file(folder / "base" / "model.safetensors")
    moved = max(float((one[name] - before[name]).abs().max()) for name in one)
    assert moved > 0.01
    for name, each in one.items():
        assert float((each - two[name]).abs().max()) < 1e-4 * moved, name
    assert not [each.name for each in folder.iterdir() if each.name.startswith(".")]
