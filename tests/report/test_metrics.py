"""Flat metrics: every number of the assessment once, under a name that trackers take."""

from __future__ import annotations

import json
import os
import posixpath
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.choose.gaining import gaining_sweep
from tests.cli.conftest import surefoot  # noqa: F401
from tests.conftest import require
from tests.personal.small import small_study

import surefoot as sf
from surefoot.report.metrics import safe_names

NAMES = ["today", "a/b", "a:b", "a_b", "A_b", "..", ".", "", " ", "../../etc", "=x", "новый", "x" * 300, "x" * 301,
         "a\nb", "\udcff", "queries", "segments", "alpha_5", "mean"]  # fmt: skip
SAFE = re.compile(r"[\w.\- ]+(/[\w.\- ]+){2,8}")


def assessed(systems: list[str], measure: str = "nDCG@10", **options: Any) -> sf.Assessment:
    values = np.random.default_rng(1).random((len(systems), 12)).round(3)
    scores = sf.Scores(values, systems, [f"q{i}" for i in range(12)], measure)
    return sf.assess(scores, baseline=systems[0], alphas=[0, 0.5, 1e6], **options)


def numbers(value: Any) -> list[float]:
    """Every number in plain data, and in lists of two, but truth values: by a walk of its own."""
    if isinstance(value, dict):
        return [number for inner in value.values() for number in numbers(inner)]
    if isinstance(value, list):
        return [number for inner in value for number in numbers(inner)] if len(value) == 2 else []
    return [value] if isinstance(value, int | float) and not isinstance(value, bool) else []


def test_every_figure_is_there_once() -> None:
    kinds = {"length": {f"q{i}": "long" if i % 3 else "short" for i in range(12)}}
    a = assessed(["today", "new", "other"], segments=kinds, bootstrap=20)
    data, metrics = a.to_dict(), a.to_metrics()
    assert metrics["nDCG_at_10/new/alpha_0.5/u_risk"] == data["systems"][1]["alpha"]["0.5"]["u_risk"]
    interval = data["systems"][1]["alpha"]["0"]["geo_risk_interval"]
    assert [metrics[f"nDCG_at_10/new/alpha_0/geo_risk_interval/{end}"] for end in ("low", "high")] == interval
    assert metrics["nDCG_at_10/new/segments/length/short/queries"] == 4
    rows = [row for column in data["segments"] for segment in column["segments"] for row in segment["systems"]]
    for row in (*data["systems"], *rows):
        row.pop("outcome_by_alpha")
    counts = [12] * 3 + [segment["queries"] for segment in data["segments"][0]["segments"]] * 3
    counts += data["missing"].values()
    assert sorted(metrics.values()) == sorted(
        [*(n for row in (*data["systems"], *rows) for n in numbers(row)), *counts]
    )


def test_absent_figures_are_left_out() -> None:
    a = assessed(["today", "new"])
    assert a.to_dict()["systems"][0]["alpha"]["0"]["t_risk"] is None
    metrics = a.to_metrics()
    assert "nDCG_at_10/today/alpha_0/t_risk" not in metrics
    assert "nDCG_at_10/new/alpha_0/t_risk" in metrics
    assert all(np.isfinite(value) and not isinstance(value, bool) for value in metrics.values())


def test_names_that_trackers_take(tmp_path: Path) -> None:
    a = assessed(NAMES, segments={"a/b": {"q1": ".."}, "a:b": {"q1": "x" * 300}})
    metrics = a.to_metrics()
    for name in metrics:
        assert SAFE.fullmatch(name), name
        assert posixpath.normpath(name) == name  # or MLflow would refuse it
        assert len(name) <= 250
        assert not name.startswith((".", "/"))
    assert len({name.casefold() for name in metrics}) == len(metrics)
    folders = {name.rpartition("/")[0] for name in metrics}  # MLflow's file store makes folders of the parts
    parents = {"/".join(folder.split("/")[:n]) for folder in folders for n in range(1, folder.count("/") + 2)}
    assert not parents & set(metrics)
    means = {name: metrics[f"nDCG_at_10/{part}/mean"] for name, part in safe_names(NAMES).items()}
    assert means == {row["system"]: row["mean"] for row in a.to_dict()["systems"]}
    a._write(tmp_path / "m.json", "metrics")
    assert json.loads((tmp_path / "m.json").read_text()) == metrics


def test_several_measures() -> None:
    scores = [sf.Scores([[0.5, 0.25]], ["a"], ["q1", "q2"], measure) for measure in ("P@5", "P_at_5", "P(rel=2)@5")]
    metrics = sf.assess(scores, baseline="a", alphas=[1]).to_metrics()
    assert len([name for name in metrics if name.endswith("/a/mean")]) == 3


@given(st.lists(st.text(max_size=60) | st.sampled_from(NAMES), unique=True, max_size=12))
def test_no_two_names_become_one(names: list[str]) -> None:
    parts = safe_names(names)
    assert list(parts) == names
    assert len({part.casefold() for part in parts.values()}) == len(names)
    for name, part in parts.items():
        assert re.fullmatch(r"[\w.\- ]{1,40}", part)
        assert part.strip(". ")
        if re.fullmatch(r"[\w\-]{1,40}", name) and sum(other.casefold() == name.casefold() for other in names) == 1:
            assert part == name
    assert safe_names(reversed(names)) == parts  # whatever order they come in


def test_names_that_would_be_one_have_both_a_hash() -> None:
    """So that neither stands for the other in another run of the pipeline, which may have only one of them."""
    both = safe_names(["a/b", "a:b"])
    assert all(part.startswith("a_b-") for part in both.values())
    assert safe_names(["a_b", "a/b"]) == {"a_b": "a_b", "a/b": both["a/b"]}


# Other results


def check_names(metrics: dict[str, float]) -> None:
    """Names that trackers take, and finite numbers."""
    for name, value in metrics.items():
        assert re.fullmatch(r"[\w.\- ]+(/[\w.\- ]+)+", name), name
        assert posixpath.normpath(name) == name
        assert len(name) <= 250
        assert np.isfinite(value)
        assert not isinstance(value, bool)
    assert len({name.casefold() for name in metrics}) == len(metrics)
    folders = {"/".join(name.split("/")[:depth]) for name in metrics for depth in range(1, name.count("/") + 1)}
    assert not folders & set(metrics)


def test_a_decision_s_metrics(tmp_path: Path) -> None:
    scores = sf.Scores(
        np.random.default_rng(1).random((2, 40)).round(3), ["today", "a/b"], [f"q{i}" for i in range(40)]
    )
    policy = {"risk": 0.3, "gain": -0.5, "u_risk": {"alpha": 5, "above": -0.9}, "segments": {"..": {"risk": 0.9}}}
    kinds = {"kind": {f"q{i}": ".." for i in range(30)}}
    decision = sf.gate(scores, baseline="today", policy=policy, segments=kinds)
    data, metrics = decision.to_dict(), decision.to_metrics()
    check_names(metrics)
    (first, *_) = metrics
    before = first.removesuffix("decision/ship")
    assert before.count("/") == 2
    assert [metrics[f"{before}decision/{name}"] for name in ("ship", "stop", "undecided")] == [
        int(data["decision"] == name) for name in ("ship", "stop", "undecided")
    ]
    ways = {"risk": "conditions/risk", "gain": "conditions/gain", "u_risk": "conditions/u_risk/alpha_5"}
    segment = safe_names([".."])[".."]
    for one in data["conditions"]:
        way = ways[one["name"]] if one["segment"] is None else f"segments/{segment}/conditions/risk"
        for name in ("observed", "bound", "bound_fails", "level", "p_holds", "p_fails", "queries"):
            assert metrics[f"{before}{way}/{name}"] == one[name]
    assert metrics[f"{before}queries"] == 40
    decision._write(tmp_path / "m.json", "metrics")
    assert json.loads((tmp_path / "m.json").read_text()) == metrics


@pytest.mark.heavy
def test_a_sweep_s_metrics() -> None:
    result = gaining_sweep()
    data, metrics = result.to_dict(), result.to_metrics()
    check_names(metrics)
    measure = safe_names([data["measure"]])[data["measure"]]
    names = safe_names(row["name"] for row in data["rows"])
    for row in data["rows"]:
        for part in ("valid", "test"):
            before = f"{measure}/candidates/{names[row['name']]}/{part}"
            assert metrics[f"{before}/gain"] == row[part]["gain"]
            assert {name: metrics[f"{before}/u_risk/alpha_{name}"] for name in row[part]["u_risk"]} == row[part][
                "u_risk"
            ]
            if "interval" in row[part]:
                low, high = row[part]["interval"]["gain"]
                assert (metrics[f"{before}/interval/gain/low"], metrics[f"{before}/interval/gain/high"]) == (low, high)
    assert metrics[f"{measure}/choice/take"] == 1
    assert metrics[f"{measure}/recommended/test/gain"] == data["recommendation"]["test"]["gain"]
    assert not [name for name in metrics if "/bins/" in name]


@pytest.mark.heavy
def test_a_personalization_s_metrics() -> None:
    result = small_study()
    data, metrics = result.to_dict(), result.to_metrics()
    check_names(metrics)
    measure = safe_names([data["measure"]])[data["measure"]]
    names = safe_names(row["name"] for row in data["rows"])
    for row in data["rows"]:
        for part in ("valid", "test"):
            own = {name: value for name, value in row[part].items() if value is not None}
            assert {name: metrics[f"{measure}/models/{names[row['name']]}/{part}/{name}"] for name in own} == own
    assert metrics[f"{measure}/shown/test"] == data["shown"]["test"]
    decided = [name for name in ("take", "any", "keep", "unclear") if metrics.get(f"{measure}/choice/{name}")]
    assert decided == [data["recommendation"]["choice"]]


def test_training_without_validation_data_has_no_metrics(surefoot, tmp_path: Path) -> None:  # noqa: F811
    sf.demo.letor(queries=10, documents=5, features=4).write(tmp_path / "train.txt")
    code, _, err = surefoot("train", tmp_path / "train.txt", "-o", tmp_path / "m", "--metrics", tmp_path / "x.json")
    assert code == 2
    assert "--metrics shows the assessment on validation data; add --valid FILE" in err
    assert not (tmp_path / "m").exists()


# The real trackers, as docs/pipelines.md shows them


DOCS = (Path(__file__).parents[2] / "docs" / "pipelines.md").read_text(encoding="utf-8")


def shown(start: str) -> str:
    """The indented lines of the page from one that starts so."""
    block = re.search(rf"^    {start}.*\n?(?:    .*\n|\n)*", DOCS, re.MULTILINE)
    assert block, start
    return textwrap.dedent(block[0])


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")  # MLflow's own
def test_mlflow_keeps_every_metric(tmp_path: Path, monkeypatch) -> None:
    require("mlflow")
    mlflow = import_module("mlflow")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # newer versions ask for it
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "mlruns").as_uri())
    a = assessed(NAMES)
    a._write("metrics.json", "metrics")
    Path("report.html").write_text("a page")
    exec(shown("import json, mlflow\n"), {})
    run = mlflow.last_active_run()
    assert run.data.metrics == a.to_metrics()
    assert (tmp_path / "mlruns" / "0" / run.info.run_id / "artifacts" / "report.html").exists()


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")  # MLflow's own
def test_mlflow_keeps_a_model_with_its_files(tmp_path: Path, monkeypatch, surefoot) -> None:  # noqa: F811
    require("mlflow")
    mlflow = import_module("mlflow")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "mlruns").as_uri())
    data = write_letor(tmp_path)
    line = "train train.txt --valid valid.txt -b bm25=feature:1 --trees 5 -o model --metrics metrics.json -q"
    assert surefoot(*line.split())[0] == 0
    names: dict[str, Any] = {}
    exec(shown("import json, mlflow, surefoot as sf"), names)
    kept = mlflow.last_active_run().data
    assert kept.metrics == json.loads(Path("metrics.json").read_text())
    assert {name for name in kept.metrics if name.endswith("/gain")}
    np.testing.assert_array_equal(names["ranker"].predict(data), sf.Ranker.load("model").predict(data))


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
def test_mlflow_keeps_the_metrics_of_all_results(tmp_path: Path, monkeypatch) -> None:
    require("mlflow")
    mlflow = import_module("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "mlruns").as_uri())
    scores = sf.Scores([[0.5, 0.4, 0.3], [0.9, 0.2, 0.8]], ["today", "новый/α"], ["a", "b", "c"], "nDCG@10")
    decision = sf.gate(scores, baseline="today", policy={"risk": 0.9, "u_risk": {"alpha": 5, "above": -0.9}})
    for result in (decision, gaining_sweep(), small_study()):
        with mlflow.start_run():
            mlflow.log_metrics(result.to_metrics())
        assert mlflow.last_active_run().data.metrics == result.to_metrics()


def dvc_pipeline(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """A repository in which the stages of dvc.yaml were run, and what calls further commands in it."""
    require("dvc")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")

    def call(*command: str) -> str:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    call("git", "init", "-q")
    call("dvc", "init", "-q")
    call("dvc", "config", "core.analytics", "false")
    call("dvc", "repro", "-q")
    return call


@pytest.mark.heavy
def test_dvc_keeps_a_model_with_its_metrics(tmp_path: Path, monkeypatch) -> None:
    write_letor(tmp_path)
    (tmp_path / "dvc.yaml").write_text(shown("stages:\n      train:"))
    call = dvc_pipeline(tmp_path, monkeypatch)
    metrics = json.loads(call("dvc", "metrics", "show", "--json"))
    own = json.loads((tmp_path / "training.json").read_text())
    assert next(iter(metrics[""]["data"].values()))["data"] == own
    before = (tmp_path / "new.run").read_bytes()
    for file in ("model/ranker.json", "new.run"):
        (tmp_path / file).unlink()
    call("dvc", "checkout", "-q", "--force")
    assert (tmp_path / "new.run").read_bytes() == before
    assert sf.Ranker.load(tmp_path / "model").alpha == 5


def write_letor(folder: Path) -> sf.RankingData:
    """Data to learn from, to choose by and to rank."""
    parts = {}
    for number, name in enumerate(("train", "valid", "test")):
        parts[name] = sf.demo.letor(queries=30, documents=8, features=6, seed=number).with_baselines_only([])
        parts[name].write(folder / f"{name}.txt")
    return parts["test"]


@pytest.mark.heavy
def test_dvc_shows_every_metric(tmp_path: Path, monkeypatch) -> None:
    made = sf.demo.runs(queries=20, depth=10)
    made.qrels.write(tmp_path / "qrels.txt")
    made.runs[0].write(tmp_path / "today.run")
    made.runs[1].write(tmp_path / "new.run")
    (tmp_path / "dvc.yaml").write_text(shown("stages:\n      evaluate:"))
    call = dvc_pipeline(tmp_path, monkeypatch)
    call("git", "add", "-A")
    call("git", "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "first")
    first = json.loads((tmp_path / "metrics.json").read_text())
    metrics = json.loads(call("dvc", "metrics", "show", "--json"))
    assert next(iter(metrics[""]["data"].values()))["data"] == first
    made.runs[2].write(tmp_path / "new.run")
    call("dvc", "repro", "-q")
    changed = next(iter(json.loads(call("dvc", "metrics", "diff", "--json")).values()))
    name = "nDCG_at_10/new/mean"
    now = json.loads((tmp_path / "metrics.json").read_text())
    assert changed[name] == {"old": first[name], "new": now[name], "diff": pytest.approx(now[name] - first[name])}
