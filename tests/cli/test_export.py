"""`surefoot export` as a user meets it."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

import surefoot as sf

FIXTURE = Path(__file__).parents[1] / "export" / "fixtures" / "lightgbm"


@pytest.fixture
def home(tmp_path: Path, monkeypatch) -> Path:
    sf.Ranker.load(FIXTURE).save(tmp_path / "model")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_model_for_elasticsearch(surefoot, home: Path) -> None:
    line = ("export", "model", "--to", "elasticsearch-plugin", "--missing", "zero", "-o", "es")
    code, out, err = surefoot(*line)
    assert (code, err) == (0, "")
    assert "so that none is below 0" in out
    assert "means 0 to the model" in out
    files = "model.json, model.features.json, model.upload.json, model.rows.json, model.replay.py, model.md"
    assert f"Wrote to es: {files}" in out
    rows = json.loads((home / "es" / "model.rows.json").read_text())
    assert min(rows["scores"]) >= 0  # Lucene refuses others
    assert rows["model"] == "es"
    assert json.loads((home / "es" / "model.json").read_text())["objective"] == "rank:ndcg"
    assert surefoot(*line)[0] == 2
    code, _, err = surefoot(*line, "--force", "--keep-negative")
    assert code == 0
    assert err.startswith(
        "surefoot: warning: scores can be below 0 (down to -0.6685), and the Elasticsearch plugin ref"
    )
    assert "scores can be below 0" in (home / "es" / "model.md").read_text()
    line = "export model --to solr --missing nan -o s -q --rows 7 --name x"
    assert surefoot(*line.split()) == (0, "", "")
    assert len(json.loads((home / "s" / "model.rows.json").read_text())["rows"]) == 7
    assert json.loads((home / "s" / "model.json").read_text())["name"] == "x"


@pytest.mark.parametrize("to", ["elasticsearch", "elastic"])
def test_which_elasticsearch(surefoot, home: Path, to: str) -> None:
    code, _, err = surefoot("export", "model", "--to", to, "--missing", "zero", "-o", "es")
    assert code == 2
    assert "write elasticsearch-plugin for that of the plugin, or elasticsearch-native for Elastic's own" in err


def test_an_export_is_checked(surefoot, home: Path) -> None:
    assert surefoot("export", "model", "--to", "solr", "--missing", "zero", "-o", "s", "-q")[0] == 0
    scores = json.loads((home / "s" / "model.rows.json").read_text())["scores"]
    (home / "good.txt").write_text("".join(f"{score!r}\n" for score in scores))
    code, out, err = surefoot("check", "s", "good.txt")
    assert (code, err) == (0, "")
    assert out.startswith("s: the search engine scores as the model does\n")
    (home / "bad.txt").write_text("".join(f"{score + 1!r}\n" for score in scores))
    code, out, _ = surefoot("check", "s", "bad.txt", "--json", "-")
    assert (code, json.loads(out)["agree"]) == (1, False)
    for line, message in (
        (("check", "s"), "give the scores of the search engine"),
        (("check", "s", "good.txt", "--url", "http://localhost:9"), "give the scores of the search engine"),
        (("check", "s", "--url", "http://localhost:9"), "it is for solr; --url is for elasticsearch-plugin, "),
        (("check", "s", "model/model.txt"), "write one line per row"),
        (("check", "good.txt", "--url", "http://localhost:9"), "--url is for the folder of an export"),
        (("check", "s", "good.txt", "--json", "good.txt", "--force"), "would overwrite the input file"),
    ):
        code, out, err = surefoot(*line)
        assert (code, out, message in err) == (2, "", True), err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--to elasticsearch-plugin -o es", "Missing option '--missing'"),
        ("--missing zero -o es", "Missing option '--to'"),
        ("--to lucene --missing zero -o es", "cannot export to 'lucene'"),
        ("--to solr --missing mean -o es", "choose what a feature that a document lacks means"),
        ("--to opensearch --missing zero --target-version 3.4 -o es", "export to ranklib"),
        ("--to solr --missing zero --rows -3 -o es", "rows is -3"),
        ("--to solr --missing zero -o model/model.txt --force", "is not a folder"),
        ("--to solr --missing zero -o xgboost --force", "would overwrite the input file"),
        ("--to solr --missing zero -o mine", "model.features.json already exists"),
        ("--to solr --missing zero -o", "requires an argument"),
    ],
)
def test_refusals(surefoot, home: Path, line: str, message: str) -> None:
    (home / "mine").mkdir()
    (home / "mine" / "model.features.json").write_text("filled in by hand")
    model = "xgboost" if "-o xgboost" in line else "model"  # whose file is called model.json
    shutil.copytree(FIXTURE.with_name("xgboost"), home / "xgboost")
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    code, out, err = surefoot("export", model, *line.split())
    assert (code, out) == (2, "")
    assert message in err
    assert {path: path.read_bytes() for path in home.rglob("*") if path.is_file()} == before


def test_names_of_features(surefoot, home: Path) -> None:
    names = [f"feature {number}" for number in range(1, 10)]
    line = "export model --to solr --missing zero -q -o s --features names.txt"
    (home / "names.txt").write_text("\n".join(names) + "\n\n")
    assert surefoot(*line.split()) == (0, "", "")
    assert [feature["name"] for feature in json.loads((home / "s" / "model.json").read_text())["features"]] == names
    for text, message in (
        ("\n".join(names[:8]), "there are 8 feature names; the model has 9"),
        ("\n".join([*names[:8], "feature 3"]), "names.txt, line 9: 'feature 3' also appears in line 3"),
        ("a\n\nb", "names.txt, line 2: the line has no name"),
        ("a\rb", "names.txt, line 1"),
        ("", "names.txt"),
    ):
        (home / "names.txt").write_text(text)
        code, _, err = surefoot(*line.split(), "--force")
        assert code == 2
        assert message in err


def test_letor_features_go_by_their_numbers(surefoot, home: Path) -> None:
    sf.demo.letor(queries=20, documents=10, features=30, seed=1).write(home / "train.txt")
    line = "train train.txt --trees 3 --set num_leaves=4 --set min_data_in_leaf=5 --threads 1 -q -o letor"
    assert surefoot(*line.split()) == (0, "", "")
    export = "--to solr --missing zero -q --force -o s"

    def exported(*more: str) -> list[str]:
        assert surefoot("export", *more, *export.split())[0] == 0
        return [feature["name"] for feature in json.loads((home / "s" / "model.json").read_text())["features"]]

    assert exported("letor") == [f"feature_{number}" for number in range(1, 31)]


def test_scores_are_not_below_0_where_they_are_refused(surefoot, home: Path) -> None:
    for to in ("elasticsearch-plugin", "opensearch", "ranklib", "elasticsearch-native", "solr", "vespa"):
        refuses = to not in ("solr", "vespa")
        for keep in ((), ("--keep-negative",)):
            line = ("export", "model", "--to", to, "--missing", "zero", "-q", "--force", "-o", f"to {to}", *keep)
            code, out, err = surefoot(*line)
            assert (code, out, "scores can be below 0" in err) == (0, "", bool(keep) and refuses), to
            rows = json.loads((home / f"to {to}" / "model.rows.json").read_text())
            assert (min(rows["scores"]) >= 0) == (refuses and not keep)


def test_onnx_without_its_library(surefoot, home: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    code, _, err = surefoot("export", "model", "--to", "onnx", "--missing", "zero", "-o", "m")
    assert code == 2
    assert 'pip install "surefoot[onnx]"' in err
    assert not (home / "m").exists()


@pytest.mark.engines("xgboost")
def test_a_model_of_xgboost(surefoot, home: Path) -> None:
    line = ("--to", "opensearch", "--missing", "nan", "--target-version", "3.8", "-o", "x")
    code, out, err = surefoot("export", FIXTURE.with_name("xgboost"), *line)
    assert (code, err) == (0, "")
    assert "so that none is below 0" in out
    assert min(json.loads((home / "x" / "model.rows.json").read_text())["scores"]) >= 0


def test_no_model(surefoot, home: Path) -> None:
    code, _, err = surefoot("export", "absent", "--to", "solr", "--missing", "zero", "-o", "es")
    assert code == 2
    assert "is not a folder" in err
