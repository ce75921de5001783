"""`surefoot select` copies out whatever was chosen, and `rank`, `control` and `export` know what it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import surefoot as sf


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep with inner folds and all strategies; its first baseline is a feature."""
    home = tmp_path_factory.mktemp("select")
    sf.demo.letor(queries=60, documents=8, features=6, seed=1).write(home / "all.txt")
    sf.sweep(
        home / "all.txt", home / "s", baselines=["first=feature:1"], objectives=["u_risk"], alphas=[5], seeds=[0, 1],
        grid={"n_estimators": 5, "num_leaves": 4, "min_data_in_leaf": 5, "feature_fraction": 0.5}, folds=3,
        choose_by="cross-validation", inner_folds=2, strategies="all", workers=2,
    )  # fmt: skip
    return home


@pytest.mark.heavy
def test_the_choice_and_how_sure_it_is(surefoot, swept: Path, tmp_path: Path) -> None:
    line = ["select", swept / "s", "--less-risk", "0.05", "--nearest"]
    code, out, err = surefoot(*line, "-o", tmp_path / "model", "--json", tmp_path / "c.json")
    assert (code, err) == (0, "")
    words = " ".join(out.split())
    assert (
        "models with more gain and at least 5 % less risk than gain alone, each fold took the one with the most"
        in words
    )
    assert "on its training queries, by cross-validation" in words
    assert "On new queries, the choice satisfies the policy with a probability of" in words
    assert "Compared with the gain-only model, nDCG(exp)@10 changes by" in words
    choice = json.loads((tmp_path / "c.json").read_text())
    assert choice["choose_by"] == "cross-validation"
    assert choice["policy"]["name"] == "less_risk"
    assert all(0 <= fold["probability"] <= 1 for fold in choice["folds"])
    code, out, err = surefoot(*line[:-1], "--strategies", "--less-risk", "1")
    assert (code, out) == (2, "")
    assert "is required, and the least is" in err
    assert surefoot(*line, "--choose-by", "validation", "--one-se")[0] == 0


@pytest.mark.heavy
def test_a_mean_is_exported_and_a_blend_ranks_and_is_controlled(surefoot, swept: Path, tmp_path: Path) -> None:
    policy = ["--max-risk", "1", "--choose-by", "validation"]
    code, out, err = surefoot("select", swept / "s", *policy, "-o", tmp_path / "plain", "-q")
    assert (code, out, err) == (0, "", "")
    data, target = swept / "all.txt", tmp_path / "solr.json"
    code, _, err = surefoot("export", tmp_path / "plain", "--to", "solr", "--missing", "zero", "-o", target)
    assert (code, err) == (0, "")
    code, out, err = surefoot(
        "select", swept / "s", "--max-risk", "0", "--nearest", "--strategies", "-o", tmp_path / "m"
    )
    assert (code, err) == (0, ""), err
    assert "blended" in out
    code, _, err = surefoot("rank", tmp_path / "m", data, "-o", tmp_path / "blend.run")  # its baseline is a feature
    assert (code, err) == (0, "")
    code, _, err = surefoot("rank", tmp_path / "m", data, "-b", "first=feature:1", "-o", tmp_path / "named.run")
    assert (tmp_path / "named.run").read_text().replace("named", "") == (
        (tmp_path / "blend.run").read_text().replace("blend", "")
    )
    letor = sf.read_letor(data)
    for name, queries in (("valid", range(0, 30)), ("judged", range(30, 60))):
        letor.select(list(queries)).write(tmp_path / f"{name}.txt")
    files = ["--fit-scorer", tmp_path / "valid.txt", "--calibrate", tmp_path / "judged.txt"]
    code, _, err = surefoot("guard", tmp_path / "m", *files, "-b", "feature:1", "-o", tmp_path / "c", "-q")
    assert (code, err.count("\n")) == (2, 1)  # the model has learned from these queries: it knows which
    assert "were already used to train or validate the model" in err
    sf.demo.letor(queries=60, documents=8, features=6, seed=9).write(tmp_path / "new.txt")
    new = sf.read_letor(tmp_path / "new.txt")
    for name, queries in (("valid", range(0, 30)), ("judged", range(30, 60))):
        new.select(list(queries)).write(tmp_path / f"{name}.txt")
    code, _, err = surefoot("guard", tmp_path / "m", *files, "-b", "feature:1", "-o", tmp_path / "c", "-q")
    assert (code, err) == (0, "")
    code, _, err = surefoot("rank", tmp_path / "c", tmp_path / "new.txt", "-o", tmp_path / "c.run")
    assert (code, err) == (0, "")
    code, _, err = surefoot("export", tmp_path / "m", "--to", "solr", "--missing", "zero", "-o", tmp_path / "x.json")
    assert (code, err.count("\n")) == (2, 1)
    assert "blended with its baseline 'first'" in err
    assert "a search engine can run only its trees" in err
