"""`surefoot personalize` and `surefoot demo clicks`, and `surefoot rank` with what `--save` wrote."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.clicks.logs import q12, write_lines
from tests.personal.small import small_study, small_table

import surefoot as sf
from surefoot.personal.personal_ranker import PersonalRanker
from surefoot.personal.study import Personalization

SMALL = ["--trees", "10", "--beta", "0.1", "--alpha", "1", "--set", "min_data_in_leaf=20"]


@pytest.fixture
def log(surefoot, tmp_path: Path) -> Path:
    made = ["demo", "clicks", "-o", tmp_path / "clicks.log", "--layout", "yandex2014", "--users", "60", "--seed", "3"]
    code, out, err = surefoot(*made, "--segments", tmp_path / "kinds.csv")
    assert (code, err) == (0, "")
    assert "of 60 users" in out
    return tmp_path / "clicks.log"


def test_the_whole_way(surefoot, log: Path, tmp_path: Path) -> None:
    command = ["personalize", log, "-o", tmp_path / "study", *SMALL, "--segments", log.parent / "kinds.csv"]
    outputs = ["--html", tmp_path / "p.html", "--json", tmp_path / "p.json", "--csv", tmp_path / "p.csv"]
    code, out, err = surefoot(*command, *outputs, "--save", tmp_path / "model")
    assert code == 0, err
    warned = "surefoot: warning: the saved model may be no better than the shown order. We cannot tell yet"
    assert err.startswith(warned)
    assert "Standard gain" in out
    assert "By kind" in out
    written = Personalization.read(tmp_path / "p.json").to_dict()
    assert written == json.loads((tmp_path / "study" / "personalization.json").read_text())
    assert set(written["chosen"][0]["segments"]["kind"]) == {"ambiguous", "plain", "refinding"}
    assert "<script" in (tmp_path / "p.html").read_text()
    with PersonalRanker.load(tmp_path / "model") as ranker:
        assert ranker.about["model"] in (written["recommendation"]["name"], "Standard gain")
    code, out, _ = surefoot(*command, "--markdown", "-")
    assert code == 0
    assert out.startswith("**We cannot tell yet: ")
    assert "\n\nPersonalized re-ranking of" in out


def test_a_method_to_save_is_known_before_training(surefoot, log: Path, tmp_path: Path) -> None:
    command = ["personalize", log, "-o", tmp_path / "study", *SMALL, "--save", tmp_path / "model"]
    code, _, err = surefoot(*command, "--method", "Weighted initial preferences β = 0.2")
    assert code == 2
    assert "; did you mean Weighted initial preferences β = 0.1? Choose one of: Standard gain, " in err
    assert not (tmp_path / "study").exists()


def test_horizons_are_compared(surefoot, log: Path, tmp_path: Path) -> None:
    code, out, _ = surefoot("personalize", log, "-o", tmp_path / "study", *SMALL, "--horizons")
    assert code == 0
    assert "long-term features alone" in " ".join(out.split())


def test_features_only(surefoot, log: Path, tmp_path: Path) -> None:
    code, out, _ = surefoot("personalize", log, "-o", tmp_path / "study", "--features-only")
    assert code == 0
    assert "features in" in out
    assert list((tmp_path / "study" / "features").rglob("*.parquet"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--layout", "yandex2013"], "there is no layout 'yandex2013'"), (["--dwell", "soon"], "--dwell is 'soon'"),
        (["--dwell", "400,50"], "rising order"), (["--labels", "clicks"], "there are no labels 'clicks'"),
        (["--split", "month"], "there is no split by 'month'"), (["--backend", "flink"], "there is no backend 'flink'"),
        (["--preset", "huge"], "there is no preset 'huge'"), (["--unit", "moon"], "unit is 'moon'"),
        (["--clock", "wall"], "clock is 'wall'"), (["--labels", "last", "--dwell", "1,2"], "need exactly one"),
        (["--set", "leaves=3"], "leaves"), (["--set", "num_leaves=-3"], "num_leaves"), (["--memory", "much"], "much"),
        (["--beta", "-1"], "-1"), (["--alpha", "-2"], "-2"), (["--segments", "no.csv"], "no.csv"),
        (["--layout", "yandex2012"], "--unit"), (["--layout", "metarank"], "is this the layout"),
        (["--layout", "ubi"], "ubi"), (["--set", "n_models=0"], "n_models"),
    ],
)  # fmt: skip
def test_bad_options(surefoot, log: Path, tmp_path: Path, options: list[str], message: str) -> None:
    code, out, err = surefoot("personalize", log, "-o", tmp_path / "study", *SMALL, *options)
    assert (code, out) == (2, "")
    assert message in err
    assert not (tmp_path / "study").exists()  # so that the corrected command finds nothing of the refused one


def test_features_of_other_options_are_named_and_begun_anew(surefoot, log: Path, tmp_path: Path) -> None:
    study = tmp_path / "study"
    command = ["personalize", log, "-o", study, "--features-only"]
    assert surefoot(*command)[0] == 0
    (study / "mine.txt").write_text("of somebody else")
    before = (study / "log.json").read_bytes()
    other = [*command, "--dwell", "50", "--no-last"]
    code, out, err = surefoot(*other)
    assert (code, out) == (2, "")
    assert "with other options: --dwell was 50,400 and is 50, --last was yes and is no; " in err
    assert "choose another folder, or begin anew here with --force" in err
    assert (study / "log.json").read_bytes() == before
    assert surefoot(*other, "--force")[0] == 0
    assert (study / "mine.txt").read_text() == "of somebody else"
    anew = json.loads((study / "log.json").read_text())
    assert anew["satisfaction"] == {"thresholds": [50.0], "last": False}
    assert surefoot("personalize", log, "-o", tmp_path / "alone", *other[4:])[0] == 0
    assert json.loads((tmp_path / "alone" / "log.json").read_text()) == anew
    log.write_bytes(log.read_bytes() + log.read_bytes().splitlines(keepends=True)[-1])
    code, _, err = surefoot(*other)
    assert (code, "another log, or of a log that has changed since" in err) == (2, True)


def test_a_log_without_a_unit(surefoot, tmp_path: Path) -> None:
    log = write_lines(tmp_path / "log", [q12(1, 0, "x", "a")])
    code, _, err = surefoot("personalize", log, "-o", tmp_path / "study")
    assert code == 2
    assert "--unit ms" in err


def test_no_output_replaces_the_log(surefoot, log: Path, tmp_path: Path) -> None:
    assert surefoot("personalize", log, "-o", tmp_path / "study", "--json", log, "--force")[0] == 2
    assert surefoot("demo", "clicks", "--layout", "yandex2014", "-o", log, "--users", "1")[0] == 2


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved") / "model"
    small_study().save(folder, method="Standard gain")
    return folder


def shown_lists() -> pl.DataFrame:
    lists = pl.read_parquet(f"{small_table().folder}/results/lists/**/*.parquet", hive_partitioning=False).head(4)
    return lists.rename({"impression": "id"}).drop("list", "scores", "number", "place")


def test_a_batch_of_lists(surefoot, model: Path, tmp_path: Path) -> None:
    lists, run = tmp_path / "lists.parquet", tmp_path / "p.run"
    shown_lists().rename({"documents": "results"}).write_parquet(lists)
    code, out, err = surefoot("rank", model, lists, "-o", run, "--why", tmp_path / "w.jsonl")
    assert (code, err) == (0, "")
    assert "Wrote 4 lists" in out
    reasons = [json.loads(line) for line in (tmp_path / "w.jsonl").read_text().splitlines()]
    ranked = {query: list(found) for query, found in sf.read_run(run).to_dict().items()}
    assert {one["id"]: one["documents"] for one in reasons} == ranked
    code, _, err = surefoot("rank", model, lists, "-o", run)
    assert code == 2
    assert "already exists" in err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table.drop("time"), "has no column time"),
        (lambda table: table.with_columns(time=-1), "row 1: time is -1"),
        (lambda table: table.drop("domains"), "row 1: domains must be given"),
        (lambda table: table.with_columns(id=pl.lit("a")), "id 'a' is missing or appears twice"),
        (lambda table: table.with_columns(id=pl.concat_list("id")), "id is of type List"),
        (lambda table: table.with_columns(documents=pl.lit("a")), "row 1: results is 'a'; expected an array"),
        (lambda table: table.head(0), "has no rows"),
    ],
)
def test_wrong_lists_are_refused(surefoot, model: Path, tmp_path: Path, change, message: str) -> None:
    change(shown_lists()).write_parquet(tmp_path / "lists.parquet")
    code, out, err = surefoot("rank", model, tmp_path / "lists.parquet", "-o", tmp_path / "p.run")
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert message in err
    assert not (tmp_path / "p.run").exists()


def test_wrong_files_are_refused(surefoot, model: Path, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no table")
    for folder, lists, message in (
        (model, tmp_path / "none", "cannot be read (No such file or directory)"),
        (model, tmp_path / "text", "cannot be read as Parquet"),
        (tmp_path, tmp_path / "text", "ranker.json: there is no such file"),
    ):  # fmt: skip
        code, _, err = surefoot("rank", folder, lists, "-o", tmp_path / "p.run")
        assert (code, len(err.splitlines())) == (2, 1)
        assert message in err
    shown_lists().write_parquet(tmp_path / "lists.parquet")
    code, _, err = surefoot("rank", tmp_path, tmp_path / "lists.parquet", "-o", tmp_path / "p.run")
    assert code == 2
    assert "ranker.json" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--method", "Standard gain"], "works only with --save"),
        (["--save", "model", "--features-only"], "trains no model"),
        (["--save", "model", "--no-last"], "make the study without --no-last"),
        (["--save", "."], "is there already; choose a new folder"),
    ],
)
def test_what_cannot_be_saved_is_refused_before_any_work(
    surefoot, tmp_path: Path, monkeypatch, options: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = surefoot("personalize", "clicks.log", "-o", "study", *options)
    assert (code, len(err.splitlines())) == (2, 1)
    assert message in err
    assert list(tmp_path.iterdir()) == []
