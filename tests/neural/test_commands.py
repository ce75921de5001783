"""`surefoot train --engine torch`, and the commands that take what it saves."""

from __future__ import annotations

import json

import numpy as np
import pytest

import surefoot as sf
from surefoot.neural.loading import load_ranker

pytestmark = pytest.mark.neural


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("letor")
    for seed, name in enumerate(("train", "vali", "test"), start=1):
        sf.demo.letor(queries=40, documents=12, features=8, seed=seed).write(home / f"{name}.txt")
    return home


TRAIN = (
    "train train.txt --valid vali.txt -b bm25=feature:1 --objective u_risk --alpha 5 --engine torch --epochs 3 "
    "--set hidden=[8] --set device=cpu --threads 1 --force"
)


def test_from_letor_data_to_a_page_a_guard_and_onnx(surefoot, folder) -> None:
    code, out, err = surefoot(f"{TRAIN} -o model --html page.html")
    assert code == 0, err
    assert "Saved the network after epoch " in out
    assert "On the validation data. These are the validation queries" in out.replace("\n", " ")
    assert "α = 5: losses count" in out  # that of the training
    page = (folder / "page.html").read_text()
    assert 'id="data-caution"' in page
    assert "which the training used to choose this model" in page
    code, out, err = surefoot("rank model train.txt -b bm25=feature:1 -o shown.run --html hurt.html")
    assert code == 0, err
    assert "α = 5: losses count" in out
    assert 'id="data-caution"' not in (folder / "hurt.html").read_text()
    code, _, err = surefoot("rank model train.txt -o other.run --html other.html")
    assert (code, "--html needs --baseline" in err) == (2, True)
    assert "<html" in (folder / "page.html").read_text(encoding="utf-8")
    assert surefoot("rank model test.txt -o new.run --force")[0] == 0
    test = sf.read_letor(folder / "test.txt")
    run, model = sf.read_run(folder / "new.run"), sf.NeuralRanker.load(folder / "model")
    assert run.to_dict().keys() == set(test.queries)
    assert np.allclose(test.scores_of(run) if test.doc_ids is not None else model.predict(test), model.predict(test))
    code, _, err = surefoot(
        "guard model --fit-scorer vali.txt --calibrate test.txt -b bm25=feature:1 --risk 0.5 -o safe --force"
    )
    assert code == 0, err
    code, out, err = surefoot("rank safe test.txt -o safe.run --force")
    assert code == 0, err
    assert surefoot("export model --to onnx --missing nan -o net --force")[0] == 0
    assert json.loads((folder / "net" / "model.rows.json").read_text())["target"] == "onnx"
    assert surefoot("export model --to vespa --missing nan -o vespa.onnx --force")[0] == 0


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("--trees 5", "--trees is for trees, and --engine torch trains a network; give --epochs"),
        ("--init-baseline", "--init-baseline is for trees"),
        ("--estimate first", "--estimate is for trees"),
        ("--card card.md", "--card is for trees"),
        ("--dask local:2", "--dask is for trees"),
        ("--set num_leaves=5", "NeuralRanker has no parameter 'num_leaves'"),
        ("--set dropout=2", "dropout is 2"),
        ("--objective regression", "has no pairs"),
    ],
)
def test_options_that_networks_do_not_have(surefoot, folder, more, words) -> None:
    code, _, err = surefoot(f"{TRAIN} -o refused {more}")
    assert code == 2
    assert words in err
    assert not (folder / "refused").exists()


def test_epochs_are_for_networks(surefoot) -> None:
    code, _, err = surefoot("train train.txt --epochs 3 -o refused")
    assert code == 2
    assert "--epochs is for networks" in err


def test_a_network_is_exported_to_what_takes_one(surefoot) -> None:
    assert surefoot(f"{TRAIN} -o model")[0] == 0
    code, _, err = surefoot("export model --to solr --missing zero -o solr")
    assert (code, "give onnx or vespa" in err) == (2, True)
    code, _, err = surefoot("export model --to onnx --missing zero --keep-negative -o net2")
    assert (code, "are for trees" in err) == (2, True)


def test_a_sweep_of_networks_and_the_one_to_ship(surefoot, folder) -> None:
    line = (
        "sweep train.txt -b bm25=feature:1 --objective u_risk --alpha 5 --seeds 0 --folds 3 --engine torch "
        "--epochs 2,4 --set hidden=[[4],[8]] --set device=cpu --workers 1 --threads 1 -o swept"
    )
    code, out, err = surefoot(line)
    assert code == 0, err
    assert "u_risk α = 5" in out
    code, _, err = surefoot("select swept --max-risk 1 -o chosen")
    assert code == 0, err
    assert isinstance(load_ranker(folder / "chosen"), sf.NeuralRanker)
    model = sf.TradeOffs.read(folder / "swept").models("u_risk α=5")[0]
    assert isinstance(model, sf.NeuralRanker)
    assert 1 <= model.best_iteration_ <= 4
    code, _, err = surefoot(f"{line}3".replace("[[4],[8]]", "[4,8]"))  # one network of two layers, or two of one?
    assert (code, "give each network's layers as a list" in err) == (2, True)
    code, _, err = surefoot(f"{line}2 --learn-baselines --held-out 0.2")
    assert (code, "learns trees" in err) == (2, True)
