"""Noise on scores: re-ranking is what sorting again would give, seeds hold, and bad input is told."""

from __future__ import annotations

import json

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import ArgumentError, DataError
from surefoot.measures.matching import match
from surefoot.measures.near_ties import percentiles
from surefoot.stability.noise_study import rerank


@pytest.fixture(scope="module")
def made():
    return sf.demo.runs(queries=40, depth=20)


def test_reranking_is_what_reading_the_noisy_run_gives(made) -> None:
    run = made.runs[1]
    noisy = run.ranking.scores + np.random.default_rng(0).normal(size=len(run))
    frame = run.to_frame().with_columns(score=noisy)
    again = sf.read_run(frame, name="again")
    hits = rerank(match(run, made.qrels), noisy)
    assert hits.run.documents().to_list() == again.documents().to_list()
    for measure in ("nDCG@5", "ERR@10", "AP", "SoftNDCG@5", "rNDCG@5"):
        expected = sf.score(made.qrels, again, measure).values[0]
        np.testing.assert_allclose(sf.Measure.parse(measure)(hits), expected, atol=1e-13)


def test_no_noise_is_the_measure_itself_and_seeds_hold(made) -> None:
    study = sf.stability.noise(made.qrels, made.runs[:2], sizes=[0, 0.1], repeats=4, seed=7)
    data = study.to_dict()
    assert json.loads(study.to_json()) == data
    for system, run in zip(data["systems"], made.runs[:2], strict=True):
        for measure, spread in system["measures"].items():
            assert spread["mean"][0] == pytest.approx(sf.score(made.qrels, run, measure).mean()[0])
            assert spread["deviation"][0] == pytest.approx(0, abs=1e-12)
            assert spread["low"][1] <= spread["mean"][1] <= spread["high"][1]
    assert sf.stability.noise(made.qrels, made.runs[:2], sizes=[0, 0.1], repeats=4, seed=7).to_dict() == data
    assert sf.stability.noise(made.qrels, made.runs[:2], sizes=[0, 0.1], repeats=4, seed=8).to_dict() != data


def test_the_spread_over_seeds(made) -> None:
    data = sf.stability.noise(made.qrels, made.runs[0], ["nDCG@5", "AP"], sizes=[0.1, 0.2], repeats=2).to_dict()
    total = {}
    for measure, spread in data["systems"][0]["measures"].items():
        low, high = np.array(spread["low"]), np.array(spread["high"])
        assert (low < high).all()
        np.testing.assert_allclose(spread["mean"], (low + high) / 2)
        np.testing.assert_allclose(spread["deviation"], (high - low) / np.sqrt(2))  # of two values, divided by 2 − 1
        total[measure] = np.sqrt(np.square(high - low).mean())
        assert spread["deviation_over_first"] == pytest.approx(total[measure] / total["nDCG@5"])


def test_one_query_traced(made) -> None:
    data = sf.stability.noise(made.qrels, made.runs[0], sizes=[0.2], repeats=1, query="q07").to_dict()
    trace = data["trace"]
    assert (trace["query"], trace["sizes"][0], trace["sizes"][-1]) == ("q07", 0.0, 0.2)
    for measure, values in trace["values"].items():
        scores = sf.score(made.qrels, made.runs[0], measure)
        assert values[0] == pytest.approx(scores.values[0, scores.queries.index("q07")])
    # What Fig. 1 shows: nDCG jumps, SoftNDCG does not.
    assert trace["largest_jump"]["SoftNDCG@5"] < trace["largest_jump"]["nDCG@5"]
    assert (
        "Query q07 of today, with the same noise increased in"
        in sf.stability.noise(made.qrels, made.runs[0], sizes=[0.2], repeats=1, query="q07").to_text()
    )


def test_bad_arguments(made) -> None:
    run = made.runs[0]
    for sizes in ([], [0], [-1, 1], [float("nan")], [0, True], ["x"]):
        with pytest.raises(ArgumentError, match="the sizes of noise are"):
            sf.stability.noise(made.qrels, run, sizes=sizes)
    with pytest.raises(ArgumentError, match="no judged query is named 'q99'"):
        sf.stability.noise(made.qrels, run, query="q99")
    with pytest.raises(ArgumentError, match="repeats is 0"):
        sf.stability.noise(made.qrels, run, repeats=0)
    with pytest.raises(ArgumentError, match="normalize is 'x'"):
        sf.stability.noise(made.qrels, run, normalize="x")
    with pytest.raises(ArgumentError, match="no measure was given"):
        sf.stability.noise(made.qrels, run, [])
    with pytest.raises(DataError, match="no query in common"):
        sf.stability.noise(made.qrels, {"x": {"d": 1.0}})
    with pytest.raises(ArgumentError, match="has no results for query 'q2'"):
        sf.stability.noise({"q1": {"d": 1}, "q2": {"d": 1}}, {"q1": {"d": 1.0}}, query="q2")


def test_the_query_to_trace_is_found_on_one_scale() -> None:
    # Noise is added to percentiles, so what it moves is seen against the percentiles without it, not the raw scores.
    made = sf.demo.runs(queries=8, depth=10)
    hits, base = match(made.runs[0], made.qrels), percentiles(made.runs[0].ranking.scores)
    plain = sf.Measure.parse("SoftNDCG(normalize='none')@5")
    for seed in range(3):
        noise = 0.05 * np.random.default_rng([seed, 0]).standard_normal(len(base))
        moved = np.abs(plain(rerank(hits, base + noise)) - plain(rerank(hits, base)))
        study = sf.stability.noise(made.qrels, made.runs[0], ["SoftNDCG@5"], sizes=[0.05], repeats=1, seed=seed)
        assert study.to_dict()["trace"]["query"] == made.qrels.queries[int(moved.argmax())]
