"""RankingData: what it takes, what it refuses, and the way over to evaluation."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import surefoot as sf
from surefoot.data.types.labels_and_scores import check_labels
from surefoot.data.types.ranking import DuplicateDocumentError, _by_score, index, rank
from surefoot.errors import ArgumentError, DataError

X = [[1.0, 0.5], [2.0, 0.0], [0.0, 1.0], [3.0, 2.0]]
Y = [1, 0, 2, 0]
QID = ["b", "b", "a", "a"]


def make(**changed) -> sf.RankingData:
    return sf.RankingData(**({"X": X, "y": Y, "qid": QID} | changed))


def test_every_kind_of_matrix() -> None:
    columns = {"bm25": [row[0] for row in X], "length": [row[1] for row in X]}
    frames = [pd.DataFrame(columns), pl.DataFrame(columns), pl.LazyFrame(columns), pa.table(columns)]
    for matrix in (X, np.array(X), np.asfortranarray(X), scipy.sparse.csr_matrix(X), *frames):
        data = make(X=matrix)
        assert data.X.tolist() == X
        assert data.X.dtype == np.float32
        assert data.X.flags.c_contiguous
        assert data.feature_names == (("bm25", "length") if any(matrix is frame for frame in frames) else None)
    own = np.array(X, dtype=np.float32)
    assert make(X=own).X is own
    missing = pd.DataFrame({"a": pd.array([1, None, 3, 4], dtype="Int64"), "b": [True, False, True, False]})
    assert np.isnan(make(X=missing).X[1, 0])
    assert np.isnan(make(X=pl.DataFrame({"a": [1, None, 3, 4]})).X[1, 0])


def test_every_kind_of_query() -> None:
    for qid in (QID, np.array(QID), pl.Series(QID), pd.Series(QID), np.array(QID, dtype=object)):
        data = make(qid=qid)
        assert data.queries == ("b", "a")
        assert data.offsets.tolist() == [0, 2, 4]
        assert data.offsets.dtype == np.int64
        assert data.lengths.tolist() == [2, 2]
    for numbers in ([7, 7, 7, 3], np.array([7, 7, 7, 3], dtype=np.uint8), pd.Series([7.0, 7.0, 7.0, 3.0])):
        assert make(qid=numbers).queries == ("7", "3")
    assert make(qid=None, group=[1, 3]).queries == ("1", "2")
    assert make(qid=None, group=[1, 3]).offsets.tolist() == [0, 1, 4]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"qid": ["a", "a", "b", "a"]}, "row 4: query 'a' comes again after other queries.*first at row 1"),
        ({"qid": ["a", None, "b", "b"]}, "row 2: qid is missing"),
        ({"qid": [1.0, np.nan, 2.0, 2.0]}, "row 2: qid is missing"),
        ({"qid": pd.array(["a", pd.NA, "b", "b"], dtype="string")}, "row 2: qid is missing"),
        ({"y": [1, 0, -1, 0]}, "row 3: the label is -1; labels must be 0"),
        ({"y": [1, 0, np.nan, 0]}, "row 3: the label is nan; every label must be a finite number"),
        ({"y": [1, 0, 1, np.inf]}, "row 4: the label is inf"),
        ({"y": ["one", "two", "three", "four"]}, "row 1: y .the labels. is 'one', not a number"),
        ({"X": [[1.0], [2.0], [np.inf], [0.0]]}, "row 3: feature 1 is infinite, or more than float32 holds"),
        ({"X": [[1.0], [2.0], [0.0], [1e39]]}, "row 4: feature 1 is infinite, or more than float32 holds"),
        ({"X": [["a"], ["b"], ["c"], ["d"]]}, "features must be numbers"),
        (
            {"X": pd.DataFrame({"n": [1.0] * 4, "s": list("abcd")})},
            "column 's' of X contains .*; features must be numbers",
        ),
        ({"X": pl.DataFrame({"n": [1.0] * 4, "s": list("abcd")})}, "column 's' of X contains String"),
        ({"X": np.empty((0, 3)), "y": [], "qid": []}, "at least one document"),
        ({"X": np.empty((4, 0))}, "at least one document and one feature"),
        ({"doc_ids": ["d", "e", "d", "d"]}, "row 4: document 'd' appears twice in query 'a'.*first at row 3"),
        ({"doc_ids": ["d", None, "d", "e"]}, "row 2: doc_ids is missing"),
        ({"baselines": {"bm25": [1, 2, np.nan, 4]}}, "row 3: baseline 'bm25' is nan; every document needs a finite"),
    ],
)
def test_data_that_cannot_be(changed: dict[str, object], message: str) -> None:
    with pytest.raises(DataError, match=message):
        make(**changed)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"y": [1, 0]}, r"y \(the labels\) has 2 values, but X has 4 rows"),
        ({"y": [[1, 0], [0, 1]]}, r"y \(the labels\) has shape \(2, 2\)"),
        ({"qid": ["a"]}, "qid has 1 values, but X has 4 rows"),
        ({"qid": [["a", "b"]]}, r"qid has shape \(1, 2\)"),
        ({"doc_ids": ["a"]}, "doc_ids has 1 values"),
        ({"baselines": {"bm25": [1]}}, "baseline 'bm25' has 1 values"),
        ({"qid": None}, "give either qid"),
        ({"group": [4]}, "give either qid"),
        ({"qid": None, "group": [1, 2]}, "group adds up to 3 rows, but X has 4"),
        ({"qid": None, "group": [4, 0]}, "whole numbers of at least 1"),
        ({"qid": None, "group": [2.5, 1.5]}, "whole numbers of at least 1"),
        ({"X": [1.0, 2.0]}, "give a matrix"),
        ({"feature_names": ["one"]}, "there are 1 feature names, but X has 2 columns"),
    ],
)
def test_arguments_that_do_not_fit(changed: dict[str, object], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        make(**changed)


def test_nan_is_a_missing_feature() -> None:
    assert np.isnan(make(X=[[np.nan], [1], [2], [3]]).X[0, 0])


def test_labels_of_exponential_gains() -> None:
    check_labels(np.array([0.0, 31.0]), exponential=True)
    check_labels(np.array([0.5, 1e6]), exponential=False)
    with pytest.raises(DataError, match=r"row 2: the label is 32; exponential gains .* overflow above 31"):
        check_labels(np.array([0.0, 32.0]), exponential=True)
    with pytest.raises(DataError, match=r"row 1: the label is 0.5; exponential gains .* need whole labels"):
        check_labels(np.array([0.5, 2.0]), exponential=True)


def test_features_by_number() -> None:
    data = make()
    assert data.n_features == 2
    assert data.feature(2).tolist() == [0.5, 0, 1, 2]
    for number in (0, 3, -1):
        with pytest.raises(ArgumentError, match=f"no feature {number}; the data has features 1 to 2"):
            data.feature(number)


def test_select_keeps_everything() -> None:
    data = make(doc_ids=list("wxyz"), baselines={"b": [4, 3, 2, 1]}, feature_names=["f", "g"])
    chosen = data.select([1, 0])
    assert chosen.queries == ("a", "b")
    assert chosen.offsets.tolist() == [0, 2, 4]
    assert chosen.X.tolist() == [X[2], X[3], X[0], X[1]]
    assert chosen.y.tolist() == [2, 0, 1, 0]
    assert chosen.baselines["b"].tolist() == [2, 1, 4, 3]
    assert chosen.doc_ids is not None
    assert chosen.doc_ids.to_list() == list("yzwx")
    assert chosen.feature_names == ("f", "g")
    assert data.select([False, True]).queries == ("a",)
    for wrong in ([], [2], [-1], [0, 0], [True], [[0]], [0.5]):
        with pytest.raises(ArgumentError):
            data.select(wrong)


def test_a_baseline_is_added_to_a_copy() -> None:
    data = make()
    more = data.with_baseline("bm25", data.feature(1))
    assert more.baselines["bm25"].tolist() == [1, 2, 0, 3]
    assert more.X is data.X
    assert data.baselines == {}
    assert repr(more) == "<RankingData: 2 queries, 4 documents, 2 features, baselines bm25>"
    with pytest.raises(DataError, match="baseline 'x' is inf"):
        data.with_baseline("x", [1, 2, 3, np.inf])


def test_ties_go_by_row_without_ids_and_by_id_with_them() -> None:
    plain, named = make(), make(doc_ids=list("wxyz"))
    assert plain.ranking([1, 1, 1, 1]).order is None
    assert plain.ranking([1, 1, 1, 1]).tie_rule == "row order"
    ranking = named.ranking([1, 1, 1, 1])
    assert ranking.order is not None
    assert ranking.order.tolist() == [1, 0, 3, 2]
    assert ranking.tie_rule == "document id descending"
    with pytest.raises(DataError, match="row 2: scores is nan"):
        plain.ranking([0, np.nan, 0, 0])


def test_made_names_keep_the_order_of_rows_in_runs() -> None:
    rng = np.random.default_rng(0)
    lengths = [1, 9, 10, 11, 100, 101]
    data = sf.RankingData(rng.random((232, 1)), rng.integers(0, 3, 232), group=lengths)
    scores = rng.integers(0, 3, 232) * 1.0
    run, ranking = data.to_run(scores, "coarse"), data.ranking(scores)
    assert run.documents().to_list() == data.documents.gather(ranking.order).to_list()
    assert np.array_equal(run.ranking.codes, ranking.codes)
    assert data.documents[:3].to_list() == ["1-1", "2-9", "2-8"]
    assert data.select([4]).documents.to_list() == data.documents[31:131].to_list()


def test_over_to_evaluation() -> None:
    data = make(doc_ids=list("wxyz"))
    assert data.qrels().to_dict() == {"b": {"w": 1, "x": 0}, "a": {"y": 2, "z": 0}}
    run = data.to_run([1.0, 2.0, 3.0, 0.0], "mine")
    assert run.name == "mine"
    assert sf.score(data.qrels(), [run], "RR").values.tolist() == [[0.5, 1.0]]


# A few bits apart at the low or the high end, so that many codes agree in all but the bits the index borrows.
near = st.integers(0, 63) | st.integers(0, 63).map(lambda low: (1 << 63) + low) | st.integers(0, 2**64 - 1)


@given(st.lists(near, min_size=1, max_size=200, unique=True))
def test_index_is_argsort(given_codes: list[int]) -> None:
    codes = np.array(given_codes, dtype=np.uint64)
    ordered, rows = index(codes)
    assert np.array_equal(ordered, np.sort(codes))
    assert np.array_equal(rows, np.argsort(codes))


@given(st.lists(near, min_size=1, max_size=50, unique=True), st.data())
def test_index_names_the_first_row_that_repeats(given_codes: list[int], data: st.DataObject) -> None:
    codes = data.draw(st.permutations(given_codes + data.draw(st.lists(st.sampled_from(given_codes), min_size=1))))
    seen: dict[int, int] = {}
    with pytest.raises(DuplicateDocumentError) as caught:
        index(np.array(codes, dtype=np.uint64))
    for row, code in enumerate(codes):
        if code in seen:
            assert caught.value.rows == (seen[code], row)
            break
        seen[code] = row


@given(
    hnp.arrays(np.int64, st.integers(1, 60), elements=st.integers(0, 4)),
    st.sampled_from([1.0, 0.25, 1e6, 2.0**40]),
    st.booleans(),
    st.data(),
)
def test_rank_is_a_stable_sort(
    query: npt.NDArray[np.int64], unit: float, as_integers: bool, data: st.DataObject
) -> None:
    values = st.integers(-3, 3) if as_integers else st.floats(-1, 1)
    scores = unit * data.draw(hnp.arrays(np.float64, len(query), elements=values))
    codes = np.arange(len(query), dtype=np.uint64)[::-1] * np.uint64(2**50)
    starts = np.flatnonzero(np.diff(query, prepend=-1))
    ranking = rank(starts, query[starts].astype(np.uint64), lambda: index(codes), scores)
    first = {number: place for place, number in enumerate(dict.fromkeys(query.tolist()))}
    order = sorted(range(len(query)), key=lambda row: (first[query[row]], -scores[row], row))
    assert ranking.rows(np.arange(len(query))).tolist() == order
    assert ranking.scores.tolist() == scores[order].tolist()
    assert ranking.codes_at(np.arange(len(query))).tolist() == codes[order].tolist()
    assert ranking.find(codes[order]).tolist() == list(range(len(query)))
    assert ranking.find(np.array([1], dtype=np.uint64)).tolist() == [-1]
    assert ranking.query_at(np.arange(len(query))).tolist() == ranking.query_of_position().tolist()
    assert ranking.rank_at(np.arange(len(query))).tolist() == ranking.ranks().tolist()


def test_sort_without_bits_to_spare() -> None:
    query = np.array([2**60, 2**60, 2**61, 1])  # as many as 2^61 queries leave no bits for rows
    assert _by_score(query, np.array([0.25, 0.5, 0.5, 0.25])).tolist() == [3, 1, 0, 2]
