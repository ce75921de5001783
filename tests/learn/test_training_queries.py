"""A ranker knows the queries it was trained on, also when it was saved; rankers saved before still load."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from surefoot.data.hashes import HASH_DIGITS, query_fingerprints
from surefoot.errors import DataError
from surefoot.learn.prepared_data import PreparedData

DATA = sf.demo.letor(queries=20, documents=8, features=5, seed=1)
SMALL = {"n_estimators": 2, "num_leaves": 3, "min_data_in_leaf": 2, "num_threads": 1}


def known(ranker: sf.Ranker, data: sf.RankingData) -> list[bool]:
    text = ranker.training_queries_ or ""
    stored = {text[at : at + HASH_DIGITS] for at in range(0, len(text), HASH_DIGITS)}
    return [bool(each & stored) for each in query_fingerprints(data)]


def test_training_and_validation_queries_are_known_and_no_others(tmp_path: Path) -> None:
    train, valid, other = (DATA.select(np.arange(20) % 3 == rest) for rest in range(3))
    ranker = sf.Ranker(**SMALL).fit(train, valid=valid)
    ranker.save(tmp_path / "model")
    for one in (ranker, sf.Ranker.load(tmp_path / "model"), sf.Ranker(**SMALL).fit(PreparedData(train, valid))):
        assert all(known(one, train) + known(one, valid))
        assert not any(known(one, other))


def test_numbered_queries_of_other_data_are_other_queries() -> None:
    ranker = sf.Ranker(**SMALL).fit(DATA)
    assert not any(known(ranker, sf.demo.letor(queries=20, documents=8, features=5, seed=2)))


def test_neither_order_nor_new_features_hide_a_query() -> None:
    ids = [f"d{number}" for number in range(len(DATA))]
    named = sf.RankingData(DATA.X, DATA.y, group=DATA.lengths, doc_ids=ids)
    ranker = sf.Ranker(**SMALL).fit(named)
    turned = np.concatenate([np.arange(a, b)[::-1] for a, b in zip(DATA.offsets[:-1], DATA.offsets[1:], strict=True)])
    order = [ids[row] for row in turned]
    again = sf.RankingData(DATA.X[turned], DATA.y[turned], group=DATA.lengths, doc_ids=order)
    anew = sf.RankingData(DATA.X * 2, DATA.y, group=DATA.lengths, doc_ids=ids)
    assert all(known(ranker, again) + known(ranker, anew) + known(ranker, DATA))


def test_rankers_with_wrong_ones_are_refused(tmp_path: Path) -> None:
    sf.Ranker(**SMALL).fit(DATA).save(tmp_path)
    path = tmp_path / "ranker.json"
    details = json.loads(path.read_text())
    for wrong in ("abc", 3, "x" * HASH_DIGITS):
        path.write_text(json.dumps(details | {"fitted": details["fitted"] | {"training_queries_": wrong}}))
        with pytest.raises(DataError, match="training_queries_"):
            sf.Ranker.load(tmp_path)
