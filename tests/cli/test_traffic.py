"""`--traffic` of every command: the same as in Python, what is printed and saved, and how bad files are refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import surefoot as sf

TREES = ("--trees", "3", "--set", "num_leaves=4", "--set", "min_data_in_leaf=5")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = sf.demo.runs(queries=40)
    made.qrels.write(tmp_path / "qrels.txt")
    for run in made.runs[:3]:
        run.write(tmp_path / f"{run.name}.run")
    lines = [f"{query},{1000 // (i + 1)}" for i, query in enumerate(made.qrels.queries[:35])]
    (tmp_path / "traffic.csv").write_text("\n".join(["query,count", *lines]) + "\n", encoding="utf-8")
    return tmp_path


def test_evaluate(surefoot, home: Path) -> None:
    runs = [home / "today.run", home / "bold.run", home / "steady.run"]
    code, out, err = surefoot(
        "evaluate", home / "qrels.txt", *runs, "-b", "today", "--traffic", home / "traffic.csv",
        "--segments", "by-traffic", "--json", home / "a.json", "--html", home / "a.html",
    )  # fmt: skip
    assert (code, err) == (0, f"Wrote the page to {home / 'a.html'}\n")
    scores = sf.score(home / "qrels.txt", runs, "nDCG@10", traffic=home / "traffic.csv")
    assert json.loads((home / "a.json").read_text()) == sf.assess(scores, "today", segments="by-traffic").to_dict()
    words = " ".join(out.split())
    assert "5 judged queries without traffic are left out." in words
    assert "weighted by traffic" in words
    assert "of traffic)" in words


def test_draw_and_decide(surefoot, home: Path) -> None:
    draw = ["judge", "next", home / "bold.run", "-b", home / "today.run", "-n", 50, "--seed", 4]
    code, out, _ = surefoot(
        *draw, "--traffic", home / "traffic.csv", "-o", home / "d.json", "--csv", home / "judge.csv"
    )
    assert code == 0
    assert "queries that are asked more, were drawn more often" in " ".join(out.split())
    assert (home / "judge.csv").read_text().splitlines()[0] == "query,times,could_lose,count,documents_to_judge"
    gate = ["gate", home / "qrels.txt", home / "today.run", home / "bold.run", "-b", "today", "--risk", "0.9"]
    decided = [*gate, "--sample", home / "d.json", "--json", home / "g.json"]
    assert surefoot(*decided)[0] == 0
    assert json.loads((home / "g.json").read_text())["sample"]["by_traffic"]["left_out"] == 5


def test_studies(surefoot, home: Path) -> None:
    pair = [home / "qrels.txt", home / "today.run", home / "bold.run"]
    code, out, _ = surefoot("stability", "subsets", *pair, "--sizes", "10", "--traffic", home / "traffic.csv")
    assert code == 0
    assert "weighted by traffic" in " ".join(out.split())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("traffic")
    data = sf.demo.letor(queries=48, documents=8, features=6, seed=1)
    data.write(home / "all.txt")
    data.select(range(36)).write(home / "train.txt")
    data.select(range(36, 48)).write(home / "vali.txt")
    counts = {query: number % 7 for number, query in enumerate(data.queries)}
    lines = [f"{query},{count}\n" for query, count in counts.items()]
    (home / "traffic.csv").write_text("query,count\n" + "".join(lines))
    (home / "train_only.csv").write_text("query,count\n" + "".join(lines[:36]))
    (home / "negative.csv").write_text("query,count\n1,3\n2,-3\n")
    (home / "twice.csv").write_text("query,count\n1,3\n1,4\n")
    (home / "zero.csv").write_text("query,count\n1,0\n")
    (home / "other.csv").write_text("query,count\nsomething else,3\n")
    return home


def test_train_weighs_training_and_validation_queries(surefoot, folder: Path, tmp_path: Path) -> None:
    code, out, err = surefoot(
        "train", folder / "train.txt", "--valid", folder / "vali.txt", "-b", "bm25=feature:1", "--objective", "u_risk",
        "--alpha", "5", *TREES, "--traffic", folder / "traffic.csv", "-o", tmp_path / "model", "--card",
        tmp_path / "card.md", "--stop-on", "u_risk@5",
    )  # fmt: skip
    assert (code, err) == (0, "")
    printed = " ".join(out.split())
    assert "training: 30 queries" in printed
    assert "without traffic, and left out: 6" in printed
    assert "validation: 11 queries" in printed
    assert "30 training queries with" in printed
    assert "weighted by traffic, against bm25" in printed
    assert "of traffic" in printed
    fitted = json.loads((tmp_path / "model" / "ranker.json").read_text())["fitted"]
    assert (fitted["traffic_"]["queries"], fitted["traffic_"]["left_out"]) == (30, 6)
    assert "30 queries count by their traffic" in (tmp_path / "card.md").read_text()
    valid = sf.read_letor(folder / "vali.txt").with_traffic(folder / "traffic.csv")
    model = sf.Ranker.load(tmp_path / "model")
    assert model.score(valid) == pytest.approx(fitted["history_"]["valid"]["effectiveness"][-1])


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("negative.csv", "negative.csv, line 3: the count of query '2' is -3"),
        ("twice.csv", "twice.csv, line 3: query '1' appears twice"),
        ("zero.csv", "zero.csv: every count is 0"),
        ("other.csv", "no query has traffic"),
        ("train_only.csv", "the validation data: no query has traffic"),
        ("missing.csv", "missing.csv"),
    ],
)
def test_bad_traffic_is_refused_in_a_line(surefoot, folder: Path, tmp_path: Path, file: str, message: str) -> None:
    for command in (
        ["train", folder / "train.txt", "--valid", folder / "vali.txt"],
        ["sweep", folder / "all.txt", "-b", "bm25=feature:1", "--workers", "1"],
    ):
        if command[0] == "sweep" and file in ("other.csv", "train_only.csv"):
            continue  # the sweep's own tests have these
        code, _, err = surefoot(*command, *TREES, "--traffic", folder / file, "-o", tmp_path / "model")
        assert code == 2
        assert message in " ".join(err.split())
        assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--objective", "geo_risk", "--alpha", "5"], "objective 'geo_risk' cannot be used with weights of queries"),
        (["--stop-on", "geo_risk@5"], "stop_on='geo_risk@5' cannot be used with weights of queries"),
    ],
)
def test_georisk_is_refused(surefoot, folder: Path, tmp_path: Path, more: list[str], message: str) -> None:
    line = ["train", folder / "train.txt", "--valid", folder / "vali.txt", "-b", "a=feature:1", "-b", "b=feature:2"]
    code, _, err = surefoot(*line, *TREES, "--traffic", folder / "traffic.csv", "-o", tmp_path / "model", *more)
    assert code == 2
    assert message in " ".join(err.split())
    assert not (tmp_path / "model").exists()


@pytest.mark.heavy
def test_sweep_and_select(surefoot, folder: Path, tmp_path: Path) -> None:
    line = [
        "sweep", folder / "all.txt", "-b", "a=feature:1", "-b", "b=feature:2", *TREES, "--folds", "3", "--objective",
        "u_risk", "--alpha", "1,5", "-o", tmp_path / "s", "--html", tmp_path / "t.html", "--json", tmp_path / "t.json",
    ]  # fmt: skip
    code, out, err = surefoot(*line, "--traffic", folder / "traffic.csv")
    assert (code, err) == (0, "")
    assert "weighted by traffic" in out
    assert "GeoRisk α" not in out
    assert json.loads((tmp_path / "t.json").read_text())["traffic"]["left_out"] == 7
    assert "weighted by traffic" in (tmp_path / "t.html").read_text()
    chosen = ["select", tmp_path / "s", "--max-risk", "1"]
    for more in ([], ["--traffic", folder / "traffic.csv"]):
        code, out, err = surefoot(*chosen, *more)
        assert (code, err) == (0, "")
        assert "as often as they are asked" in " ".join(out.split())
    for wrong, message in (
        ([*chosen, "--traffic", folder / "train_only.csv"], "the sweep was made with other traffic"),
        (["select", tmp_path / "s", "--geo-risk", "5"], "the policy geo_risk cannot be used with weights of queries"),
        ([*line, "--force"], "has a sweep of other data"),
        ([*line, "--force", "--traffic", folder / "train_only.csv"], "has a sweep of other data"),
        ([*line[:-6], "-o", tmp_path / "new", "--objective", "geo_risk", "--traffic", folder / "traffic.csv"],
         "objective 'geo_risk' cannot be used with weights of queries"),
    ):  # fmt: skip
        code, _, err = surefoot(*wrong)
        assert code == 2
        assert message in " ".join(err.split())
