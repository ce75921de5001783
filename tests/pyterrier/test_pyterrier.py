"""PyTerrier's frames and dicts, with PyTerrier and without; a ranker in its pipelines. Nothing here starts Java."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest

import surefoot as sf
from surefoot import pyterrier
from surefoot.errors import ArgumentError, DataError

TOPICS = pd.DataFrame({"qid": ["1", "2", "3"], "query": ["cats", "dogs", "birds"]})
QRELS = pd.DataFrame(
    {"qid": ["1", "1", "2", "2", "3"], "docno": ["d1", "d2", "d1", "d3", "d2"], "label": [2, 0, 1, 0, 1]}
)


def results(seed: int) -> pd.DataFrame:
    """A frame of results as PyTerrier's retrievers give them, with features."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        [(query, text, f"d{i}") for query, text in TOPICS.itertuples(index=False) for i in range(1, 6)],
        columns=["qid", "query", "docno"],
    )
    frame["score"] = rng.random(len(frame)).round(2)
    frame["rank"] = frame.groupby("qid")["score"].rank(ascending=False, method="first").astype(int) - 1
    frame["features"] = [rng.random(3) for _ in range(len(frame))]
    return frame


@pytest.fixture(scope="module")
def ranker() -> sf.Ranker:
    rng = np.random.default_rng(0)
    X = rng.random((400, 3))
    y = (X[:, 0] > 0.7).astype(int) + (X[:, 1] > 0.8)
    return sf.Ranker(objective="gain", n_estimators=5, num_leaves=7).fit(X, y, qid=np.repeat(np.arange(40), 10))


def test_frames_of_results_and_judgments_are_runs_and_judgments() -> None:
    run = sf.read_run(results(1), name="BM25")
    assert (run.name, len(run)) == ("BM25", 15)
    assert sf.score(QRELS, {"BM25": results(1), "new": results(2)}, "nDCG@10").systems == ("BM25", "new")


def experiment() -> pd.DataFrame:
    rows = [
        (name, query, measure, value)
        for name, values in {"BM25": [0.5, 0.25, 1.0], "new": [0.75, 0.25, 0.5]}.items()
        for query, value in zip("123", values, strict=True)
        for measure in ("map", "ndcg_cut_10")
    ]
    return pd.DataFrame(rows, columns=["name", "qid", "measure", "value"])


def test_what_an_experiment_returns_goes_into_assess() -> None:
    both = pyterrier.scores(experiment())
    assert [(one.measure, one.systems) for one in both] == [("AP", ("BM25", "new")), ("nDCG@10", ("BM25", "new"))]
    assert sf.assess(both, baseline="BM25").to_dict() == sf.assess(experiment(), baseline="BM25").to_dict()
    assert [one.measure for one in pyterrier.scores(experiment(), ["nDCG@10"])] == ["nDCG@10"]
    averages = pd.DataFrame({"name": ["BM25"], "map": [0.5]})
    assert [one.measure for one in pyterrier.scores((averages, experiment()))] == ["AP", "nDCG@10"]
    nested = {0: {"1": {"map": 0.5}, "2": {"map": 0.25}}, 1: {"1": {"map": 0.75}, "2": {"map": 0.5}}}
    assert pyterrier.scores(nested)[0].systems == ("0", "1")


def test_means_and_holes_are_refused_in_words() -> None:
    averages = pd.DataFrame({"name": ["BM25"], "map": [0.5]})
    with pytest.raises(DataError, match=r"expected what pt\.Experiment\(…, perquery=True\) returns.*found name, map"):
        pyterrier.scores(averages)
    with pytest.raises(DataError, match=r"the first column is 'name', .*perquery=True"):
        sf.assess(averages, baseline="BM25")
    frame = experiment()
    frame.loc[3, "value"] = np.nan
    with pytest.raises(DataError, match="row 4: the value of query '2' is NaN"):
        pyterrier.scores(frame)
    short = experiment().drop(index=[2, 3])
    with pytest.raises(DataError, match="system 'BM25' has no value for 1 of 3 queries; the first is '2'"):
        pyterrier.scores(short)
    assert [one.dropped for one in pyterrier.scores(short, ["AP"], missing="drop")] == [1]


def check_output(frame: pd.DataFrame, before: pd.DataFrame, scores: np.ndarray) -> None:
    assert frame["docno"].tolist() == before["docno"].tolist()
    assert frame["query"].tolist() == before["query"].tolist()
    np.testing.assert_array_equal(frame["score"], scores)
    for _, query in frame.groupby("qid"):
        best_first = sorted(zip(query["score"], query["docno"], query["rank"], strict=True), reverse=True)
        assert [rank for *_, rank in best_first] == list(range(len(query)))
    ours = sf.read_run(frame)
    for query, own in frame.sort_values("rank").groupby("qid"):
        assert list(ours.to_dict()[query]) == own["docno"].tolist()  # the ranks are those of evaluation


def test_a_ranker_is_a_transformer(ranker: sf.Ranker) -> None:
    before = results(3)
    kept = before.copy(deep=True)
    transformer = pyterrier.transformer(ranker)
    expected = ranker.predict(np.stack(before["features"]))
    check_output(transformer.transform(before), before, expected)
    check_output(transformer(before), before, expected)
    pd.testing.assert_frame_equal(before, kept)
    shuffled = before.sample(frac=1, random_state=2)
    check_output(transformer(shuffled), shuffled, ranker.predict(np.stack(shuffled["features"])))
    empty = transformer(before.iloc[:0])
    assert (len(empty), {"score", "rank"} <= set(empty.columns)) == (0, True)


def test_features_in_columns_and_ties(ranker: sf.Ranker) -> None:
    before = results(4).assign(a=0.5, b=0.25, c=0.75)
    frame = pyterrier.transformer(ranker, features=["a", "b", "c"])(before)
    assert frame["score"].nunique() == 1
    assert frame[frame.qid == "1"].sort_values("rank")["docno"].tolist() == ["d5", "d4", "d3", "d2", "d1"]


def test_a_ranker_that_starts_from_its_baseline() -> None:
    rng = np.random.default_rng(0)
    X, y, base = rng.random((200, 3)), rng.integers(0, 3, 200), rng.random(200)
    ranker = sf.Ranker(objective="u_risk", alpha=1, init="baseline", n_estimators=3, num_leaves=5)
    ranker.fit(X, y, qid=np.repeat(np.arange(20), 10), baseline=base)
    before = results(5)
    frame = pyterrier.transformer(ranker, baseline="score")(before)
    expected = ranker.predict(
        np.stack(before["features"]), qid=before["qid"].to_numpy(), baseline=before["score"].to_numpy()
    )
    np.testing.assert_allclose(frame["score"], expected)
    with pytest.raises(sf.SurefootError, match="baseline"):
        pyterrier.transformer(ranker)(before)


def test_what_is_refused(ranker: sf.Ranker) -> None:
    with pytest.raises(ArgumentError, match="the ranker is 5; give one that was fitted"):
        pyterrier.transformer(5)
    transformer = pyterrier.transformer(ranker)
    with pytest.raises(DataError, match="the frame has no column 'features'; found qid, query, docno, score, rank"):
        transformer.transform(results(1).drop(columns="features"))
    with pytest.raises(DataError, match="expected a pandas frame of results, found a dict"):
        transformer.transform({"qid": ["1"]})
    frame = results(1)
    frame.at[2, "features"] = np.ones(2)
    with pytest.raises(DataError, match="document 'd3' of query '1' has 2 features, but 'd1' has 3"):
        transformer.transform(frame)
    with pytest.raises(sf.SurefootError, match="features"):
        transformer.transform(results(1).assign(features=[np.ones(7)] * 15))


def test_without_pyterrier() -> None:
    code = """
import sys
sys.modules["pyterrier"] = None
import pandas as pd, surefoot as sf
from surefoot import pyterrier
class Fixed:
    def predict(self, X, qid): return X[:, 0]
frame = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "features": [[0.1], [0.9]]})
transformer = pyterrier.transformer(Fixed())
assert transformer(frame)["rank"].tolist() == [1, 0], transformer(frame)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.engines("pyterrier")
@pytest.mark.filterwarnings("ignore")
def test_with_pyterrier(ranker: sf.Ranker) -> None:
    import pyterrier as pt

    first, again = results(6), pyterrier.transformer(ranker)
    assert isinstance(again, pt.Transformer)
    bm25 = pt.Transformer.from_df(first)
    pipeline = bm25 >> again
    check_output(pipeline(TOPICS), first, ranker.predict(np.stack(first["features"])))
    assert {"score", "rank"} <= set(pt.inspect.transformer_outputs(again, list(first.columns)))
    assert pt.inspect.transformer_inputs(again) == [["qid", "docno", "features"]]
    metrics: list[Any] = ["map", "ndcg_cut_10", "recip_rank"]
    arguments = ([bm25, pipeline], TOPICS, QRELS, metrics)
    found = pt.Experiment(*arguments, names=["BM25", "new"], perquery=True)
    ours = sf.score(QRELS, {"BM25": first, "new": pipeline(TOPICS)}, metrics)
    for source in (found, pt.Experiment(*arguments, names=["BM25", "new"], perquery="both")):
        for theirs, own in zip(pyterrier.scores(source, metrics), ours, strict=True):
            assert (theirs.measure, theirs.systems) == (own.measure, own.systems)
            columns = [theirs.queries.index(query) for query in own.queries]
            np.testing.assert_allclose(theirs.values[:, columns], own.values, atol=1e-9)
    assert sf.assess(found, baseline="BM25").measures == tuple(
        dict.fromkeys(one.measure for one in pyterrier.scores(found))
    )
    plain = pt.Experiment(*arguments, names=["BM25", "new"], perquery=True, dataframe=False)
    assert len(pyterrier.scores(plain)) == 3
    pt.Experiment(*arguments, names=["BM25", "new"])
    assert not pt.java.started()
    with pytest.raises(DataError, match="perquery=True"):
        pyterrier.scores(pt.Experiment(*arguments, names=["BM25", "new"]))


def test_missing_is_heeded_without_measures() -> None:
    rows = {
        "name": ["a", "a", "b"], "qid": ["1", "2", "1"], "measure": ["map"] * 3, "value": [0.5, 0.25, 0.75],
    }  # fmt: skip
    (dropped,) = pyterrier.scores(rows, missing="drop")
    assert dropped.queries == ("1",)
    with pytest.raises(sf.SurefootError, match="missing is 'bogus'"):
        pyterrier.scores(rows, missing="bogus")
