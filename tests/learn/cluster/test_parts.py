"""Parts of data with every query whole; Dask's own scheduler in this process computes them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from surefoot.data.types.data_parts import stack
from surefoot.errors import ArgumentError, DataError
from surefoot.learn.cluster.parts import parts_from_data, parts_from_files, summarize_part, with_complete_queries

pytestmark = pytest.mark.engines("dask")


def cut(data: sf.RankingData, ends: list[int]) -> list[sf.RankingData | None]:
    """The data cut at rows, whatever query they are of; a part without rows is None."""
    rows = np.repeat(np.array(data.queries), data.lengths)
    return [
        None if start == end else sf.RankingData(data.X[start:end], data.y[start:end], qid=rows[start:end])
        for start, end in zip([0, *ends], [*ends, len(data)], strict=True)
    ]


def complete_parts(parts: list[sf.RankingData | None]) -> list[sf.RankingData]:
    import dask

    delayed = [dask.delayed(part, traverse=False) for part in parts]
    known = [summarize_part(part, True) for part in parts]
    return list(dask.compute(*with_complete_queries(delayed, known, "the data"), scheduler="sync"))


DATA = sf.RankingData(np.arange(40.0).reshape(20, 2), np.arange(20) % 3, group=[3, 9, 1, 5, 2])


@pytest.mark.parametrize(
    "ends", [[3, 12], [1], [4, 6, 8], [4, 4, 11, 12, 13], list(range(1, 20)), [2, 12, 15, 19], [20, 20]]
)
def test_every_query_is_whole_and_nothing_is_lost(ends: list[int]) -> None:
    result = complete_parts(cut(DATA, ends))
    in_communicator = stack(result)
    assert in_communicator.queries == DATA.queries
    assert sum(len(part.queries) for part in result) == len(DATA.queries)  # none in two parts
    np.testing.assert_array_equal(in_communicator.X, DATA.X)
    np.testing.assert_array_equal(in_communicator.y, DATA.y)
    np.testing.assert_array_equal(in_communicator.lengths, DATA.lengths)


def test_parts_that_do_not_fit_together() -> None:
    first, second = DATA.select([0, 1]), DATA.select([2, 0])
    with pytest.raises(ArgumentError, match="two parts that do not follow each other"):
        complete_parts([first, second])
    with pytest.raises(ArgumentError, match="have different features"):
        complete_parts([DATA.select([0]), sf.RankingData(np.ones((2, 3)), [0, 1], qid=["x", "x"])])
    with pytest.raises(ArgumentError, match="have different baselines"):
        complete_parts([DATA.select([0]), DATA.select([1]).with_baseline("b", np.ones(9))])
    with pytest.raises(ArgumentError, match="has no documents"):
        complete_parts([None, None])


def test_parts_of_what_is_here() -> None:
    import dask

    result = dask.compute(*parts_from_data(DATA, 3), scheduler="sync")
    assert stack(result).queries == DATA.queries
    assert len(dask.compute(*parts_from_data(DATA, 99), scheduler="sync")) == len(DATA.queries)


def test_files(tmp_path: Path) -> None:
    import dask

    for number, part in enumerate((DATA.select([0, 1]), DATA.select([2, 3, 4]))):
        part.write(tmp_path / f"part-{number}.parquet")
    result = dask.compute(*parts_from_files(tmp_path, ["b=feature:2"], "training data"), scheduler="sync")
    assert stack(result).queries == DATA.queries
    np.testing.assert_array_equal(stack(result).baselines["b"], DATA.X[:, 1])
    (one,) = dask.compute(*parts_from_files(tmp_path / "part-0.parquet", [], "training data"), scheduler="sync")
    assert len(one.queries) == 2
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="has no Parquet file"):
        parts_from_files(tmp_path / "empty", [], "training data")
    with pytest.raises(DataError, match="must be a Parquet file, or a folder of them"):
        parts_from_files(tmp_path / "train.txt", [], "training data")
