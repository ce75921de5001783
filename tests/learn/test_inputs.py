"""What fit, valid and predict take: features and baselines by name, in every form, and what they refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

import surefoot as sf
from surefoot.errors import ArgumentError, DataError
from surefoot.learn.engines.contract import safe_names
from surefoot.learn.inputs import standardised_baseline

NAMES = ["bm25", "title: length", "url[0]", "e,f"]
ORDER = [2, 0, 3, 1]
SMALL: dict[str, Any] = {"n_estimators": 5, "num_leaves": 4, "min_data_in_leaf": 5, "num_threads": 1}


@pytest.fixture(scope="module")
def made() -> sf.RankingData:
    return sf.demo.letor(queries=40, documents=15, features=4, seed=1)


@pytest.fixture(scope="module")
def qid(made) -> np.ndarray[Any, Any]:
    return np.repeat(np.arange(len(made.queries)), made.lengths)


@pytest.fixture(scope="module")
def frame(made) -> pd.DataFrame:
    return pd.DataFrame(made.X, columns=NAMES)


FORMS = {
    "pandas": lambda frame: frame,
    "pandas nullable": lambda frame: frame.convert_dtypes(),
    "pandas of Arrow": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.DataFrame,
    "lazy polars": lambda frame: pl.DataFrame(frame).lazy(),
    "Arrow": pa.Table.from_pandas,
    "RankingData": lambda frame: sf.RankingData(frame, np.zeros(len(frame)), group=[len(frame)]),
}


@pytest.mark.parametrize("form", FORMS)
def test_features_go_by_name(made, frame, qid, form: str) -> None:
    model = sf.Ranker(**SMALL).fit(frame, made.y, qid=qid)
    expected = model.predict(made.X)
    np.testing.assert_array_equal(model.predict(FORMS[form](frame)), expected)
    np.testing.assert_array_equal(model.predict(FORMS[form](frame.iloc[:, ORDER])), expected)
    with pytest.raises(ArgumentError, match=r"it does not have 'bm25' and also has 'x'"):
        model.predict(FORMS[form](frame.rename(columns={"bm25": "x"})))
    with pytest.raises(ArgumentError, match=r"it also has 'x'"):
        model.predict(FORMS[form](frame.assign(x=1.0)))


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, scipy.sparse.csr_matrix, list, np.ma.asarray])
def test_matrices_without_names_go_by_position(made, frame, qid, form) -> None:
    model = sf.Ranker(**SMALL).fit(frame, made.y, qid=qid)
    np.testing.assert_array_equal(model.predict(form(made.X)), model.predict(frame))
    with pytest.raises(ArgumentError, match="the model was trained on 4 features"):
        model.predict(form(made.X[:, :3]))
    nameless = sf.Ranker(**SMALL).fit(form(made.X), made.y, qid=qid)
    np.testing.assert_array_equal(nameless.predict(frame), model.predict(frame))
    assert nameless.feature_names_in_ == ["feature_1", "feature_2", "feature_3", "feature_4"]


def test_what_is_masked_is_missing(made, qid) -> None:
    masked = np.ma.masked_array(made.X, mask=made.X > 1)
    model = sf.Ranker(**SMALL).fit(masked, made.y, qid=qid)
    np.testing.assert_array_equal(model.predict(masked), model.predict(np.where(made.X > 1, np.nan, made.X)))


def test_validation_data_goes_by_name(made, frame, qid) -> None:
    named = sf.RankingData(frame, made.y, qid=qid, baselines=made.baselines)
    other = sf.RankingData(frame.iloc[:, ORDER], made.y, qid=qid, baselines=made.baselines)
    one, two = (sf.Ranker("u_risk", 2, **SMALL).fit(named, valid=valid) for valid in (named, other))
    assert one.history_ == two.history_
    assert one.history_["valid"] == one.history_["train"]
    with pytest.raises(ArgumentError, match="the features of the validation data"):
        sf.Ranker(**SMALL).fit(named, valid=(frame.rename(columns={"bm25": "x"}), made.y, qid, made.baselines))


def test_baselines_go_by_name(made, qid) -> None:
    more = made.with_baseline("other", made.feature(2))
    turned = more.with_baselines_only(["other", "bm25"])
    one, two = (sf.Ranker("geo_risk", 2, init="baseline", **SMALL).fit(more, valid=valid) for valid in (more, turned))
    assert one.history_ == two.history_
    expected = one.predict(more)
    np.testing.assert_array_equal(one.predict(turned), expected)
    scores = np.column_stack(list(more.baselines.values()))
    np.testing.assert_array_equal(one.predict(made.X, qid=qid, baseline=scores), expected)
    np.testing.assert_array_equal(one.predict(made.X, qid=qid, baseline=dict(turned.baselines)), expected)
    for wrong in (made.with_baseline("third", made.feature(2)), made, more.with_baseline("third", made.feature(2))):
        with pytest.raises(ArgumentError, match="starts from a baseline needs this baseline again"):
            one.predict(wrong)
    with pytest.raises(ArgumentError, match="starts from a baseline needs this baseline again"):
        one.predict(made.X, qid=qid, baseline=scores[:, 0])


def test_validation_data_as_a_tuple(made, qid) -> None:
    bm25 = made.baselines["bm25"]
    model = sf.Ranker("u_risk", 2, stop_on="u_risk@5", **SMALL)
    expected = model.fit(made, valid=made).history_
    bare = sf.RankingData(made.X, made.y, qid=qid)
    for valid in (
        (made.X, made.y, qid, bm25),
        (made.X, made.y, qid, bm25[:, None]),
        (made.X, made.y, qid, {"bm25": bm25}),
        (bare, bm25),
    ):
        assert model.fit(made, valid=valid).history_ == expected
    plain = sf.Ranker(**SMALL)
    assert plain.fit(bare, valid=(made.X, made.y, qid)).history_ == plain.fit(bare, valid=bare).history_
    for valid in (
        (made.X, made.y),
        (made, made.y, qid),
        (made.X, made.y, qid, bm25, 1),
        (),
        (made,),
        [(made.X, made.y, qid, bm25)],
    ):
        with pytest.raises(sf.SurefootError):
            model.fit(made, valid=valid)


def test_names_that_lightgbm_cannot_hold(made, frame, qid, tmp_path: Path) -> None:
    model = sf.Ranker(**SMALL).fit(frame, made.y, qid=qid)
    model.save(tmp_path / "m")
    again = sf.Ranker.load(tmp_path / "m")
    assert again.feature_names_in_ == NAMES
    np.testing.assert_array_equal(again.predict(frame.iloc[:, ORDER]), model.predict(made.X))
    assert model.booster_.feature_name() == ["bm25", "title__length", "url_0_", "e_f"]
    odd = ["", " ", "a b", "a_b", "a:b", "Column_1", "\n", "é", "x" * 300, "\x00"]
    safe = safe_names(odd)
    assert len(set(safe)) == len(odd)
    assert safe[3] == "a_b"


def test_features_that_are_no_numbers(frame) -> None:
    kinds = {
        "dates": frame.assign(bm25=pd.Timestamp("2020-01-01")),
        "lists": pl.DataFrame({"bm25": [[1.0]], "x": [1.0]}),
        "bytes": pa.table({"bm25": [b"x"], "x": [1.0]}),
        "texts": frame.assign(bm25="x"),
    }
    for kind, table in kinds.items():
        with pytest.raises(DataError, match="column 'bm25' of X contains"):
            sf.RankingData(table, np.zeros(len(table)), group=[len(table)])
        assert kind
    for wrong in ([[1.0, 2.0], [3.0]], pa.table([[1.0], [2.0]], names=["a", "a"]), "x", None, 5, {"a": [1]}):
        with pytest.raises(sf.SurefootError):
            sf.RankingData(wrong, [0], group=[1])


def test_two_features_of_one_name(frame) -> None:
    with pytest.raises(ArgumentError, match="two features are named 'bm25'"):
        sf.RankingData(frame[["bm25", "bm25"]], np.zeros(len(frame)), group=[len(frame)])
    with pytest.raises(ArgumentError, match="two features are named 'a'"):
        sf.RankingData([[1.0, 2.0]], [0], group=[1], feature_names=["a", "a"])


def test_the_tie_rule_of_data_without_ids(made, tmp_path: Path) -> None:
    bare = sf.RankingData(made.X, made.y, group=made.lengths, baselines=made.baselines)
    named = sf.RankingData(made.X, made.y, group=made.lengths, doc_ids=[f"d{n}" for n in range(len(made))])
    model = sf.Ranker(**SMALL).fit(bare)
    assert model.tie_rule_ == "row order"
    run = model.to_run(bare)
    assert run.ranking.tie_rule == "row order"
    assert run.renamed("x").ranking.tie_rule == "row order"
    scores = sf.score(bare.qrels(), [run, bare.to_run(bare.baselines["bm25"], "bm25")], "nDCG@5")
    assert scores.tie_rule == "row order"
    assert sf.assess(scores, "bm25").to_dict()["tie_rule"] == "row order"
    assert sf.score(named.qrels(), [model.to_run(named)], "nDCG@5").tie_rule == "document id descending"
    run.write(tmp_path / "x.run")
    assert sf.score(bare.qrels(), [sf.read_run(tmp_path / "x.run")], "nDCG@5").tie_rule == "document id descending"


def test_a_start_is_the_mean_of_baselines_standardised_in_each_query() -> None:
    """Whatever scale and place a baseline's scores have in a query; equal scores say nothing there."""
    one, two = [1.0, 3.0, 100.0, 100.0, 100.0], [10.0, 10.0, -4.0, 2.0, 2.0]
    data = sf.RankingData(np.ones((5, 1)), [0, 1, 0, 1, 0], group=[2, 3], baselines={"one": one, "two": two})
    root = np.sqrt(2)
    expected = np.array([-1, 1, 0, 0, 0]), np.array([0, 0, -root, root / 2, root / 2])
    np.testing.assert_allclose(standardised_baseline(data), np.mean(expected, axis=0), atol=1e-12)
    np.testing.assert_allclose(standardised_baseline(data.with_baselines_only(["one"])), expected[0], atol=1e-12)
