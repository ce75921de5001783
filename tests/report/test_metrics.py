"""Flat metrics: every number of the assessment once, under a name that trackers take."""

from __future__ import annotations

import json
import os
import posixpath
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
        row.pop("turns")
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
    a.write_metrics(tmp_path / "m.json")
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


# The real trackers, as docs/pipelines.md shows them


DOCS = (Path(__file__).parents[2] / "docs" / "pipelines.md").read_text(encoding="utf-8")


def shown(start: str) -> str:
    """The indented lines of the page from one that starts so."""
    block = re.search(rf"^    {start}.*\n(?:    .*\n|\n)*", DOCS, re.MULTILINE)
    assert block, start
    return textwrap.dedent(block[0])


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")  # MLflow's own
def test_mlflow_keeps_every_metric(tmp_path: Path, monkeypatch) -> None:
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # newer versions ask for it
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "mlruns").as_uri())
    a = assessed(NAMES)
    a.write_metrics("metrics.json")
    Path("report.html").write_text("a page")
    exec(shown("import json, mlflow"), {})
    run = mlflow.last_active_run()
    assert run.data.metrics == a.to_metrics()
    assert (tmp_path / "mlruns" / "0" / run.info.run_id / "artifacts" / "report.html").exists()


@pytest.mark.heavy
def test_dvc_shows_every_metric(tmp_path: Path, monkeypatch) -> None:
    pytest.importorskip("dvc")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    made = sf.synthetic_runs(queries=20, depth=10)
    made.qrels.write(tmp_path / "qrels.txt")
    made.runs[0].write(tmp_path / "today.run")
    made.runs[1].write(tmp_path / "new.run")
    (tmp_path / "dvc.yaml").write_text(shown("stages:"))

    def call(*command: str) -> str:
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    call("git", "init", "-q")
    call("dvc", "init", "-q")
    call("dvc", "config", "core.analytics", "false")
    call("dvc", "repro", "-q")
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
