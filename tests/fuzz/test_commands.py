"""Command lines of every kind, well and badly formed: exit code 0 or 2, no traceback, no input changed, nothing half.

Seeded; `SUREFOOT_FUZZ` multiplies how many command lines are tried.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
from contextlib import redirect_stderr
from itertools import pairwise
from pathlib import Path

import pytest
from tests.fuzz import mutations

import surefoot as sf
from surefoot.cli import main

pytestmark = pytest.mark.heavy

TRIES = mutations.count(150)
NAMES = ["x[/bold]", "[red]b", ":cat:", "=cmd", "-rf", "a b", "é", "中", "\x1b[31m", "\u202e", "x" * 300, "", ".", "..",
         "~", "$(id)", "a=b", "\udcff", "x\n", "\\", "%s", "{0}"]  # fmt: skip
NUMBERS = [
    "0",
    "1",
    "2",
    "5",
    "-1",
    "1e30",
    "nan",
    "inf",
    "-inf",
    "",
    "0.5",
    "1_000",
    "9" * 30,
    "1e308",
    "x",
    "٣",
    "0x1",
]
MEASURES = ["nDCG@5", "ERR@3", "AP", "rNDCG@3", "SoftNDCG(sigma=0.01)@5", "nDCG@0", "nDCG@" + "9" * 20, "P", "x" * 999,
            "nDCG(dcg='x')@5", "SoftNDCG(sigma=nan)@5", ""]  # fmt: skip
LISTS = ["0", "0,1", "1,1.0000001", "nan", "inf", "", ",", "1e308", "-1", "0,,5", "a", "5,20"]
READ = ["qrels.txt", "today.run", "bold.run", "[red]b.run", "new=bold.run", "scores.csv", "dates.txt", "train.txt",
        "model", "model/model.txt", "model/ranker.json", "absent", ".", "/dev/null", "link.run"]  # fmt: skip
OUTPUTS = ["out", "out.json", "out.csv.gz", "out.run", "out.parquet", "out.html", "new/out", "/dev/null", "/dev/full",
           "-", "folder"]  # fmt: skip
BASELINES = ["today", "bold", "mean", "max", "today,bold", "nobody", "x[/bold]", "feature:1", "feature:99", "feature:x",
             "today.run", "model:model", "b=model:absent", "model:", "run:"]  # fmt: skip


@pytest.fixture(scope="module")
def inputs(tmp_path_factory) -> Path:
    home = tmp_path_factory.mktemp("inputs")
    runs = sf.demo.runs(queries=8, depth=10)
    runs.qrels.write(home / "qrels.txt")
    for run, name in zip(runs.runs[:3], ("today", "bold", "[red]b"), strict=True):
        run.write(home / f"{name}.run")
    for file in home.iterdir():  # as a user's, without the ids that `demo` knows as its own
        file.write_text(file.read_text().replace("-d", "_d"))
    sf.score(runs.qrels, runs.runs[:3], "nDCG@10").write(home / "scores.csv")
    (home / "topics.tsv").write_text("".join(f"q{i:03}\ttext {i}\n" for i in range(1, 9)))
    (home / "book.csv").write_text("query,docid,Ann,Bo\ntext 1,d1,3,\ntext 1,=d2,0,1\n")
    results = [{"searchConfigurationId": name, "searchText": "text 1", "documentIds": ["d1"]} for name in "ab"]
    (home / "results.json").write_text(json.dumps(results))
    (home / "dates.txt").write_text("".join(f"q{i} 2026-11-0{1 + i % 2}\n" for i in range(1, 9)))
    letor = sf.demo.letor(queries=12, documents=8, features=6, seed=1)
    letor.write(home / "train.txt")
    sf.Ranker(n_estimators=2, num_leaves=4, min_data_in_leaf=5, num_threads=1).fit(letor).save(home / "model")
    (home / "link.run").symlink_to("today.run")
    (home / "folder").mkdir()
    return home


def options(draw: random.Random, **usual: list[str]) -> list[str]:
    """Some of the options, each with a value that fits it more often than not."""
    chosen = []
    for name in draw.sample(sorted(usual), draw.randint(0, min(5, len(usual)))):
        option = f"--{name.replace('_', '-')}"
        values = usual[name]
        if not values:
            chosen.append(option)
        else:
            odd = draw.choice([NAMES, NUMBERS, READ])
            chosen += [option, draw.choice(values if draw.random() < 0.8 else odd)]
    return chosen


def command_line(draw: random.Random) -> list[str]:
    files = ["qrels.txt", "today.run", "bold.run"]
    if draw.random() < 0.3:
        files = draw.sample(READ + NAMES, draw.randint(0, 4))
    outputs = OUTPUTS + draw.sample(READ + NAMES, 4)
    study = {"measure": MEASURES, "json": outputs, "html": outputs, "seed": NUMBERS, "force": [], "quiet": []}
    kind = draw.choice(
        [
            "evaluate",
            "scores",
            "noise",
            "subsets",
            "time",
            "compare",
            "train",
            "rank",
            "demo",
            "convert",
            "agreement",
            "odd",
        ]
    )
    match kind:
        case "evaluate" | "scores":
            first = ["--scores", draw.choice(["scores.csv", *READ])] if kind == "scores" else files
            return ["evaluate", *first, *(["-b", draw.choice(BASELINES)] * (draw.random() < 0.9)), *options(
                draw, measure=MEASURES, alpha=LISTS, population=BASELINES, json=outputs, csv=outputs, html=outputs,
                metrics=outputs, latex=outputs, markdown=outputs,
                sort=["mean", "risk", "t_risk@1"], per_query=[], bootstrap=["0", "20", *NUMBERS],
                seed=NUMBERS, depth=NUMBERS, automatic=["qrels.txt", "book.csv", *READ], force=[], quiet=[],
            )]  # fmt: skip
        case "agreement":
            judged = [draw.choice(["qrels.txt", "book.csv", *READ]) for _ in range(2)]
            return ["judge", "agreement", *judged, *(files[1:] if draw.random() < 0.7 else []), *options(
                draw, baseline=BASELINES, candidate=BASELINES, measure=MEASURES, risk=["0.1", *NUMBERS], json=outputs,
                html=outputs, force=[], quiet=[],
            )]  # fmt: skip
        case "noise":
            more = {"sizes": LISTS, "seeds": ["1", "2", "0", "9" * 20], "query": ["q1", *NAMES], "raw": []}
            return ["stability", "noise", *files, "--sizes", "0.1", *options(draw, **study, **more)]
        case "subsets":
            return ["stability", "subsets", *files, *options(draw, **study, sizes=LISTS, subsets=["9", "0", "9" * 20])]
        case "time":
            more = {"dates": ["dates.txt", *READ], "period": ["day", "week", "x"], "size": NUMBERS, "subsets": ["9"]}
            return ["stability", "time", *files, *options(draw, **study, **more)]
        case "compare":
            return ["stability", "measures", *files, *options(draw, **study, bootstrap=["9", "0"], most=NUMBERS)]
        case "train":
            return ["train", draw.choice(["train.txt", "train.txt", *READ]), "-o", draw.choice(outputs), "--trees", "2",
                    "--set", "num_leaves=4", "--set", "min_data_in_leaf=5", "--set", "num_threads=1", *options(
                draw, valid=["train.txt", *READ], baseline=BASELINES, objective=["gain", "u_risk"], html=outputs,
                alpha=["1", "5"], checkpoint=outputs, force=[], quiet=[],
            )]  # fmt: skip
        case "rank":
            return ["rank", draw.choice(["model", "model", *READ]), draw.choice(["train.txt", *READ]), "-o",
                    draw.choice(outputs), *options(
                draw, name=NAMES, baseline=BASELINES, qrels=outputs, force=[],
            )]  # fmt: skip
        case "convert":
            source = draw.choice(["qrels.txt", "book.csv", "results.json", *READ])
            return ["convert", source, "-o", draw.choice(outputs), *options(
                draw, to=["quepid", "workbench", "query-set", "trec"], unrated=["today.run", *READ],
                depth=["3", *NUMBERS], texts=["topics.tsv", *READ], merge=["mean", "max", "vote"],
                documents=["topics.tsv", *READ],
                pick=["a", *NAMES], force=[], quiet=[],
            )]  # fmt: skip
        case "demo":
            return ["demo", "--no-learn", "--queries", draw.choice(["2", "3", "1", "9" * 15]), "-o",
                    draw.choice(["demo", *outputs]), *options(draw, seed=NUMBERS, force=[])]  # fmt: skip
    return draw.choices([*READ, *NAMES, *NUMBERS, "evaluate", "--json", "--help", "-h", "--", "stability"], k=3)


def inputs_of(line: list[str]) -> set[str]:
    """The files that a command line reads: all that is not the value of an option that writes."""
    writes = ("--json", "--csv", "--html", "--metrics", "-o", "--qrels", "--checkpoint")
    read = [part for before, part in pairwise(["", *line]) if before not in writes]
    named = {part.rpartition("=")[2] for part in read}
    named |= {part.removeprefix("run:").removeprefix("model:") for part in named}
    return named | {f"{folder}/{name}" for folder in named for name in ("model.txt", "ranker.json")}


def file_contents(home: Path) -> dict[str, bytes]:
    return {str(path.relative_to(home)): path.read_bytes() for path in home.rglob("*") if path.is_file()}


@pytest.mark.filterwarnings("ignore")
def test_any_command_line(inputs: Path, tmp_path: Path, monkeypatch, capsys) -> None:
    draw = random.Random(int(os.environ.get("SUREFOOT_FUZZ_SEED", "9")))
    codes = {0: 0, 2: 0}
    for turn in range(TRIES):
        home = tmp_path / f"turn{turn}"
        shutil.copytree(inputs, home, symlinks=True)
        monkeypatch.chdir(home)
        line = command_line(draw)
        before = file_contents(home)
        monkeypatch.setattr(sys, "argv", ["surefoot", *line])
        silent = draw.random() < 0.1  # its error stream cannot be written
        errors = Path("/dev/full").open("w", buffering=1) if silent else sys.stderr  # noqa: SIM115
        try:
            with pytest.raises(SystemExit) as caught, redirect_stderr(errors):
                main()
        except Exception as error:
            raise AssertionError(line) from error
        printed = capsys.readouterr()
        code = int(caught.value.code or 0)
        after = file_contents(home)
        assert code in codes, (line, printed.err)
        codes[code] += 1
        assert bool(code) <= (bool(printed.err.strip()) or silent), line
        assert len(printed.err) < 20_000, line
        assert not set("\x1b\x9b\u202e") & set(printed.err + printed.out), line
        assert [path for path in after if path.endswith(".part")] == [], line
        unchanged = inputs_of(line) if "--force" in line else before.keys()
        assert {path for path, data in before.items() if path in unchanged and after.get(path) != data} == set(), line
        shutil.rmtree(home)
    assert min(codes.values()) > TRIES // 20, codes  # both kinds were met
