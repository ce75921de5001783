"""Folds from folders, from one file, from memory; aggregates of queries; what cannot be used."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from surefoot.choose.folds import FoldSource, store_data
from surefoot.errors import ArgumentError, DataError
from surefoot.learn.combination import Aggregate


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    for number in (1, 2, 10):
        (tmp_path / f"Fold{number}").mkdir()
        for place, part in enumerate(("train", "vali", "test")):
            sf.demo.letor(queries=12, documents=5, features=4, seed=3 * number + place).write(
                tmp_path / f"Fold{number}" / f"{part}.txt"
            )
    return tmp_path


def test_folders_in_the_order_of_their_numbers(folders: Path) -> None:
    source = FoldSource(str(folders), ("first=feature:1",))
    assert source.names() == ["Fold1", "Fold2", "Fold10"]
    assert len(source.files()) == 9
    fold = source.load("Fold2")
    assert [len(data.queries) for data in fold.sets] == [12, 12, 12]
    np.testing.assert_array_equal(fold.test.baselines["first"], fold.test.feature(1))


def test_a_missing_file_is_named(folders: Path) -> None:
    (folders / "Fold2" / "vali.txt").unlink()
    with pytest.raises(DataError, match=r"Fold2: has no vali\.txt"):
        FoldSource(str(folders)).files()
    with pytest.raises(DataError, match="no folders Fold1"):
        FoldSource(str(folders / "Fold1")).files()
    with pytest.raises(DataError, match="No such file"):
        FoldSource(str(folders / "absent.txt")).files()


@pytest.mark.parametrize(("part", "called"), [("train", "train"), ("vali", "valid"), ("test", "test")])
def test_a_fold_without_relevant_documents(folders: Path, part: str, called: str) -> None:
    file = folders / "Fold1" / f"{part}.txt"
    data = sf.read_letor(file)
    sf.RankingData(data.X, np.zeros(len(data)), group=data.lengths).write(file)
    with pytest.raises(DataError, match=f"Fold1 has no relevant document in its {called} set"):
        FoldSource(str(folders)).load("Fold1")


def test_one_file_is_cut_by_query(tmp_path: Path) -> None:
    complete = sf.demo.letor(queries=50, documents=4, features=3, seed=1)
    complete.write(tmp_path / "all.txt")
    source = FoldSource(str(tmp_path / "all.txt"))
    folds = [source.load(name) for name in source.names()]
    assert [fold.name for fold in folds] == ["Fold1", "Fold2", "Fold3", "Fold4", "Fold5"]
    for fold in folds:
        train, valid, test = (set(data.queries) for data in fold.sets)
        assert (len(train), len(valid), len(test)) == (30, 10, 10)
        assert train | valid | test == set(complete.queries)
    assert sorted(query for fold in folds for query in fold.test.queries) == sorted(complete.queries)
    assert sorted(query for fold in folds for query in fold.valid.queries) == sorted(complete.queries)
    again = FoldSource(str(tmp_path / "all.txt"), seed=1).load("Fold1")
    assert again.test.queries != folds[0].test.queries


def test_held_out_queries_are_in_no_fold(tmp_path: Path, folders: Path) -> None:
    complete = sf.demo.letor(queries=50, documents=4, features=3, seed=1)
    complete.write(tmp_path / "all.txt")
    source = FoldSource(str(tmp_path / "all.txt"), held_out=10)
    names = {query for name in source.names() for query in source.load(name).held_out.queries}  # type: ignore[union-attr]
    assert len(names) == 10
    assert not names & {query for name in source.names() for data in source.load(name).sets for query in data.queries}
    fold = FoldSource(str(folders), held_out=0.25).load("Fold1")
    assert fold.held_out is not None
    assert (len(fold.held_out.queries), len(fold.train.queries)) == (3, 9)
    assert not set(fold.held_out.queries) & set(fold.train.queries)
    for wrong in (49.0, 50.0, 0.01):
        with pytest.raises(ArgumentError, match=r"held_out would take|cannot be split"):
            FoldSource(str(tmp_path / "all.txt"), held_out=wrong).load("Fold1")


def test_impossible_sources() -> None:
    with pytest.raises(ArgumentError, match="folds is 2"):
        FoldSource("x", folds=2)
    with pytest.raises(ArgumentError, match="split_seed is -1"):
        FoldSource("x", seed=-1)
    with pytest.raises(ArgumentError, match="held_out"):
        FoldSource("x", held_out=float("nan"))
    with pytest.raises(ArgumentError, match="such as max:25"):
        FoldSource("x", selective="most:1")


def test_data_in_memory_comes_back(tmp_path: Path) -> None:
    made = sf.demo.letor(queries=9, documents=4, features=3, seed=1).with_baselines_only([])
    data = made.with_baseline("a/b =\u202e", made.feature(1)).with_baseline("two", -made.feature(2))
    path = store_data(data, tmp_path, needed=True)
    assert store_data(data, tmp_path, needed=True) == path
    fold = FoldSource(str(path), folds=3).load("Fold1")
    assert list(fold.train.baselines) == ["a/b =\u202e", "two"]
    rows = {query: i for i, query in enumerate(data.queries)}
    picked = data.select([rows[query] for query in fold.test.queries])
    np.testing.assert_array_equal(fold.test.X, picked.X)
    np.testing.assert_array_equal(fold.test.baselines["two"], picked.baselines["two"])
    lists = store_data([(data, data, data), (data, data, data)], tmp_path, needed=True)
    with pytest.raises(DataError, match="in its train data and in its valid data"):
        FoldSource(str(lists)).load("Fold1")
    assert FoldSource(str(lists)).names() == ["Fold1", "Fold2"]
    for wrong in ([(data, data)], [], [(1, 2, 3)], [(data, data, data), (data,)]):
        with pytest.raises(ArgumentError, match="must be a path, RankingData, or a list"):
            store_data(wrong, tmp_path, needed=True)
    with pytest.raises(ArgumentError, match="no baseline to compare with"):
        store_data(made, tmp_path, needed=True)


@pytest.mark.parametrize("kind", ["max", "min", "mean", "entropy"])
def test_aggregates_against_a_loop(kind: str) -> None:
    data = sf.demo.letor(queries=9, documents=5, features=3, seed=2)
    data = data.with_features(np.abs(data.X), None)
    expected = []
    for start, end in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        values = data.X[start:end, 1].astype(float).tolist()
        shares = [value / sum(values) for value in values]
        expected.append(
            {
                "max": max(values),
                "min": min(values),
                "mean": sum(values) / len(values),
                "entropy": -sum(share * math.log(share) for share in shares if share),
            }[kind]
        )
    aggregate = Aggregate.parse(f"{kind}:2")
    np.testing.assert_allclose(aggregate(data), expected, rtol=1e-6)
    added = aggregate.add_to(data)
    assert added.n_features == 4
    np.testing.assert_allclose(added.X[:, 3], np.repeat(expected, data.lengths), rtol=1e-5)


def test_aggregates_without_a_value() -> None:
    zero = sf.RankingData([[0.0], [0.0], [-1.0]], [1, 0, 1], qid=["a", "a", "b"])
    with pytest.raises(ArgumentError, match="at least 0; found -1"):
        Aggregate.parse("entropy:1")(zero)
    same = sf.RankingData([[0.0], [0.0], [1.0]], [1, 0, 1], qid=["a", "a", "b"])
    np.testing.assert_allclose(Aggregate.parse("entropy:1")(same), [math.log(2), 0])
    missing = sf.RankingData([[np.nan], [1.0]], [1, 0], qid=["a", "a"])
    with pytest.raises(ArgumentError, match="missing values"):
        Aggregate.parse("max:1")(missing)
    with pytest.raises(ArgumentError, match="there is no feature 7"):
        Aggregate.parse("max:7")(same)


def test_features_and_baselines_go_by_name(tmp_path: Path) -> None:
    made = sf.demo.letor(queries=12, documents=5, features=3, seed=1).with_baselines_only([])
    train = sf.RankingData(made.X + 1, made.y, group=made.lengths, feature_names=["a", "b", "c"])
    train = train.with_baseline("one", made.feature(1)).with_baseline("two", made.feature(2))
    named = sf.RankingData(made.X, made.y, group=made.lengths, feature_names=["a", "b", "c"])
    first = named.with_baseline("one", made.feature(1)).with_baseline("two", made.feature(2))
    turned = first.with_baselines_only(["two", "one"]).with_features(
        np.ascontiguousarray(made.X[:, ::-1]), ["c", "b", "a"]
    )
    shifted = turned.with_features(turned.X + 2, ["c", "b", "a"])
    fold = FoldSource(str(store_data([(train, shifted, turned)], tmp_path, needed=True))).load("Fold1")
    np.testing.assert_array_equal(fold.test.X, made.X)
    assert list(fold.test.baselines) == ["one", "two"]
    np.testing.assert_array_equal(fold.test.baselines["one"], made.feature(1))
    other = first.with_baselines_only(["one"])
    with pytest.raises(ArgumentError, match="test data of Fold1 has the baselines"):
        FoldSource(str(store_data([(train, shifted, other)], tmp_path, needed=True))).load("Fold1")


def test_files_of_baselines_are_files_of_the_data(folders: Path, tmp_path: Path) -> None:
    run = tmp_path / "x.run"
    run.write_text("1 Q0 d1 1 0.5 x\n")
    assert run in FoldSource(str(folders), (f"x={run}",)).files()
    with pytest.raises(DataError, match="absent"):
        FoldSource(str(folders), ("x=absent.run",)).files()
    with pytest.raises(ArgumentError, match="two baselines are called 'feature1'"):
        FoldSource(str(folders), ("feature:1", "feature:1")).load("Fold1")
