"""The studies on real data: two features of MQ2008 as functions, BM25 of the whole document and of the title."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import surefoot as sf


@pytest.fixture(scope="module")
def functions(data: Path):
    qrels: dict[str, dict[str, int]] = {}
    runs: dict[str, dict[str, dict[str, float]]] = {"whole": {}, "title": {}}
    for line in (data / "mq2008" / "Fold1" / "test.txt").read_text().splitlines():
        numbers, _, comment = line.partition("#docid = ")
        grade, query, *features = numbers.split()
        query, document = query.removeprefix("qid:"), comment.split()[0]
        qrels.setdefault(query, {})[document] = int(grade)
        for name, number in (("whole", 25), ("title", 23)):
            runs[name].setdefault(query, {})[document] = float(features[number - 1].split(":")[1])
    return qrels, runs


def test_soft_ndcg_spreads_less_and_jumps_less_under_noise(functions) -> None:
    qrels, runs = functions
    study = sf.stability.noise(qrels, runs, sizes=[0, 0.05, 0.1, 0.2]).to_dict()
    for system in study["systems"]:
        assert system["measures"]["SoftNDCG@5"]["deviation_over_first"] < 0.8
        assert system["measures"]["rNDCG@5"]["deviation_over_first"] < 1.0
    jump = study["trace"]["largest_jump"]
    assert jump["SoftNDCG@5"] < 0.2 * jump["nDCG@5"]


def test_all_measures_pick_the_better_function_when_queries_are_many(functions) -> None:
    qrels, runs = functions
    scores = sf.score(qrels, runs, ["nDCG@5", "rNDCG@5", "SoftNDCG@5"])
    results = sf.stability.subsets(scores, sizes=[10, 50, 100]).to_dict()["results"]
    for result in results.values():
        assert np.all(np.diff(result["rate"]) > -0.02)
        assert result["rate"][-1] > 0.8
