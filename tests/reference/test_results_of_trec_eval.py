"""trec_eval's own output for ten real runs gives what the runs and judgments give, to the digits printed."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import surefoot as sf

MEASURES = {
    "map": "AP",
    "ndcg_cut_10": "nDCG@10",
    "P_10": "P@10",
    "recip_rank": "RR",
    "Rprec": "Rprec",
    "bpref": "Bpref",
}


@pytest.fixture(scope="module")
def robust(data) -> Path:
    return data / "trec-robust-2003"


def test_scores_and_assessments(robust: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the lines for all agree with the means
        read = sf.read_scores(robust / "trec_eval", list(MEASURES))
    runs = sf.read_runs(robust / "runs")
    computed = sf.score(robust / "qrels.txt", runs, list(MEASURES.values()))
    for theirs, ours in zip(read, computed, strict=True):
        assert (theirs.measure, set(theirs.systems)) == (ours.measure, set(ours.systems))
        columns = [theirs.queries.index(query) for query in ours.queries]
        for system in ours.systems:
            np.testing.assert_allclose(theirs[system][columns], ours[system], rtol=0, atol=5.001e-5)
    theirs, ours = (
        {row["system"]: row for row in sf.assess(scores, "aplrob03a", [5]).to_dict()["systems"]}
        for scores in (read[0], computed[0])
    )
    for system, row in ours.items():
        for figure in ("mean", "gain", "reward", "risk"):
            assert theirs[system][figure] == pytest.approx(row[figure], abs=1.1e-4)
        assert theirs[system]["alpha"]["5"]["u_risk"] == pytest.approx(row["alpha"]["5"]["u_risk"], abs=7e-4)
