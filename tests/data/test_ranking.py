"""The one ranking type: sorting, the index of codes, and finding documents of one ranking in another."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from surefoot.data.types.ranking import DuplicateDocumentError, _by_score, index, rank

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
