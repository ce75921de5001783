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
    code, out, err = surefoot("export", "model", "--to", "elasticsearch", "--missing", "zero", "-o", "es.json")
    assert code == 0
    assert err.startswith(
        "surefoot: warning: SCORES CAN BE BELOW 0 (down to -0.6685), which Lucene forbids: export with"
    )
    assert "SCORES CAN BE BELOW 0" in (home / "es.md").read_text()
    assert "means 0 to the model" in out
    assert (
        "Wrote es.json, and to the same folder es.features.json, es.upload.json, es.rows.json, es.replay.py, es.md"
        in out
    )
    assert json.loads((home / "es.json").read_text())["objective"] == "rank:ndcg"
    line = "export model --to solr --missing nan -o s.json -q --rows 7 --name x"
    assert surefoot(*line.split()) == (0, "", "")
    assert len(json.loads((home / "s.rows.json").read_text())["rows"]) == 7
    assert json.loads((home / "s.json").read_text())["name"] == "x"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--to elasticsearch -o es.json", "Missing option '--missing'"),
        ("--missing zero -o es.json", "Missing option '--to'"),
        ("--to lucene --missing zero -o es.json", "cannot export to 'lucene'"),
        ("--to solr --missing mean -o es.json", "choose what a feature that a document lacks means"),
        ("--to opensearch --missing zero --target-version 3.4 -o es.json", "export to ranklib"),
        ("--to opensearch --missing zero --engine-version 3.4 -o es.json", "export to ranklib"),
        ("--to solr --missing nan --engine-version 9 --target-version 9 -o es.json", "give only --target-version"),
        ("--to solr --missing zero --rows -3 -o es.json", "rows is -3"),
        ("--to solr --missing zero -o model/model.txt --force", "would overwrite the input file"),
        ("--to solr --missing zero -o model/ranker.json --force", "would overwrite the input file"),
        ("--to solr --missing zero -o es.md", "call the model es.json"),
        ("--to solr --missing zero -o mine.json", "mine.features.json already exists"),
        ("--to solr --missing zero -o absent/es.json", "there is no folder"),
        ("--to solr --missing zero -o", "requires an argument"),
        ("--to solr --missing zero --output=", "is a folder; give a file name"),
        ("--to solr --missing zero -o .", "is a folder; give a file name"),
        ("--to solr --missing zero -o /", "is a folder; give a file name"),
        ("--to solr --missing zero -o ..", "is a folder; give a file name"),
        ("--to solr --missing zero -o model", "it is a folder"),
    ],
)
def test_refusals(surefoot, home: Path, line: str, message: str) -> None:
    (home / "mine.features.json").write_text("filled in by hand")
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    code, out, err = surefoot("export", "model", *line.split())
    assert (code, out) == (2, "")
    assert message in err
    assert {path: path.read_bytes() for path in home.rglob("*") if path.is_file()} == before


def test_names_of_features(surefoot, home: Path) -> None:
    names = [f"feature {number}" for number in range(1, 10)]
    line = "export model --to solr --missing zero -q -o s.json --features names.txt"
    (home / "names.txt").write_text("\n".join(names) + "\n\n")
    assert surefoot(*line.split()) == (0, "", "")
    assert [feature["name"] for feature in json.loads((home / "s.json").read_text())["features"]] == names
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
    assert surefoot(*line.replace("s.json", "names.txt").split(), "--force")[0] == 2


def test_letor_features_go_by_their_numbers(surefoot, home: Path) -> None:
    sf.demo.letor(queries=20, documents=10, features=30, seed=1).write(home / "train.txt")
    line = "train train.txt --trees 3 --set num_leaves=4 --set min_data_in_leaf=5 --threads 1 -q -o letor"
    assert surefoot(*line.split()) == (0, "", "")
    export = "--to solr --missing zero -q --force -o s.json"

    def exported(*more: str) -> list[str]:
        assert surefoot("export", *more, *export.split())[0] == 0
        return [feature["name"] for feature in json.loads((home / "s.json").read_text())["features"]]

    assert exported("letor") == [f"feature_{number}" for number in range(1, 31)]
    before = home / "before"  # as models of LETOR data were saved before their numbers were kept
    shutil.copytree(home / "letor", before)
    details = json.loads((before / "ranker.json").read_text())
    details["fitted"]["feature_names_in_"] = [f"Column_{place}" for place in range(30)]
    (before / "ranker.json").write_text(json.dumps(details))
    assert exported("before") == [f"Column_{place}" for place in range(30)]
    assert exported("before", "--names", "letor") == [f"feature_{number}" for number in range(1, 31)]
    code, _, err = surefoot("export", "model", "--names", "numbers", *export.split())
    assert code == 2
    assert "--names can only be " in err


def test_scores_below_0_are_told_loudly(surefoot, home: Path) -> None:
    for to in ("elasticsearch", "opensearch", "ranklib", "elastic", "solr"):
        line = f"export model --to {to} --missing zero -q --force -o m.json"
        code, out, err = surefoot(*line.split())
        assert (code, out) == (0, "")
        assert "SCORES CAN BE BELOW 0" in err, to
        assert "--positive" in err
        assert surefoot(*line.split()) == (0, "", "")
    assert surefoot(*["export", "model", "--to", "vespa", "--missing", "zero", "-q", "-o", "v.json"]) == (0, "", "")


def test_onnx_without_its_library(surefoot, home: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    code, _, err = surefoot("export", "model", "--to", "onnx", "--missing", "zero", "-o", "m.onnx")
    assert code == 2
    assert 'pip install "surefoot[onnx]"' in err
    assert not list(home.glob("m.*"))


@pytest.mark.engines("xgboost")
def test_a_model_of_xgboost(surefoot, home: Path) -> None:
    line = ("--to", "opensearch", "--missing", "nan", "--engine-version", "3.8", "-o", "x.json")
    code, out, err = surefoot("export", FIXTURE.with_name("xgboost"), *line)
    assert (code, err) == (0, "")
    assert "so that none is below 0" in out
    assert min(json.loads((home / "x.rows.json").read_text())["scores"]) >= 0


def test_no_model(surefoot, home: Path) -> None:
    code, _, err = surefoot("export", "absent", "--to", "solr", "--missing", "zero", "-o", "es.json")
    assert code == 2
    assert "is not a folder" in err
