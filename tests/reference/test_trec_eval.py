"""Agreement with trec_eval's printed output, gdeval's, and pytrec_eval, topic by topic."""

from __future__ import annotations

import csv
import gzip
import warnings
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval

import surefoot as sf

MEASURES = {"map": "AP", "Rprec": "Rprec", "recip_rank": "RR", "ndcg": "nDCG", "bpref": "Bpref"}
MEASURES |= {f"P_{k}": f"P@{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)}
MEASURES |= {f"ndcg_cut_{k}": f"nDCG@{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)}
MEASURES |= {f"iprec_at_recall_{i / 10:.2f}": f"IPrec@{i / 10:g}" for i in range(11)}
READ = ["map", "ndcg_cut_10", "P_10", "recip_rank", "Rprec", "bpref"]
RUNS = ("MU03rob01", "NLPR03vb10", "SABIR03BASE", "THUIRr0301", "UIUC03Rd1", "aplrob03a", "humR03dc", "pircRBa1",
        "uic0301", "uwmtCR0")  # fmt: skip


@pytest.fixture(scope="module")
def robust(data) -> Path:
    return data / "trec-robust-2003"


@pytest.fixture(scope="module")
def qrels(robust) -> sf.Qrels:
    return sf.read_qrels(robust / "qrels.txt")


@pytest.mark.parametrize("name", RUNS)
def test_every_topic_agrees_with_trec_eval(robust, qrels, name: str) -> None:
    run = sf.read_run(robust / "runs" / f"{name}.gz")
    assert run.name == name
    ours = dict(zip(MEASURES, sf.score(qrels, run, MEASURES.values()), strict=True))
    compared = 0
    for line in (robust / "trec_eval" / f"{name}.eval").read_text().splitlines():
        measure, topic, printed = line.split()
        if measure == "gm_map":
            assert f"{ours['map'].geometric_mean()[0]:.4f}" == printed
        elif measure in ours and topic == "all":
            # Means that end in a 5 may round either way.
            assert ours[measure].mean()[0] == pytest.approx(float(printed), abs=5.1e-5)
        elif measure in ours:
            scores = ours[measure]
            assert f"{scores.values[0, scores.queries.index(topic)]:.4f}" == printed, (measure, topic)
            compared += 1
    assert compared == len(MEASURES) * 100


@pytest.mark.parametrize("name", ["aplrob03a", "humR03dc", "uic0301"])
def test_recall_and_success_agree_with_pytrec_eval(robust, qrels, name: str) -> None:
    with gzip.open(robust / "runs" / f"{name}.gz", "rt") as file:
        theirs = pytrec_eval.parse_run(file)
    with (robust / "qrels.txt").open() as file:
        evaluator = pytrec_eval.RelevanceEvaluator(
            pytrec_eval.parse_qrel(file), {"recall.5,10,100,1000", "success.1,5,10"}
        )
    expected = evaluator.evaluate(theirs)
    pairs = {f"recall_{k}": f"R@{k}" for k in (5, 10, 100, 1000)} | {f"success_{k}": f"Success@{k}" for k in (1, 5, 10)}
    ours = sf.score(qrels, sf.read_run(robust / "runs" / f"{name}.gz"), pairs.values())
    for measure, scores in zip(pairs, ours, strict=True):
        values = dict(zip(scores.queries, scores.values[0], strict=True))
        for topic, results in expected.items():
            assert values[topic] == pytest.approx(results[measure], abs=1e-9)


@pytest.mark.parametrize("name", ["aplrob03a", "humR03dc", "uic0301"])
def test_iprec_of_either_version_of_trec_eval(robust, qrels, name: str) -> None:
    """The printed output is of trec_eval 10, pytrec_eval and ir_measures are of 9: each has its own rounding."""
    levels = [i / 10 for i in range(11)]
    with gzip.open(robust / "runs" / f"{name}.gz", "rt") as file:
        theirs = pytrec_eval.parse_run(file)
    with (robust / "qrels.txt").open() as file:
        expected = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(file), {"iprec_at_recall"}).evaluate(theirs)
    run = sf.read_run(robust / "runs" / f"{name}.gz")
    nine = sf.score(qrels, run, [f"IPrec(version=9)@{level:g}" for level in levels])
    ten = sf.score(qrels, run, [f"iprec_at_recall_{level:.2f}" for level in levels])
    for level, scores in zip(levels, nine, strict=True):
        by_query = dict(zip(scores.queries, scores.values[0], strict=True))
        for topic, results in expected.items():
            assert by_query[topic] == pytest.approx(results[f"iprec_at_recall_{level:.2f}"], abs=1e-9), (topic, level)
    apart = [np.abs(one.values - other.values).max() for one, other in zip(nine, ten, strict=True)]
    assert max(apart) > 0.4
    assert apart[0] == apart[-1] == 0  # no rounding at 0 and 1


def test_every_topic_agrees_with_gdeval(data) -> None:
    web = data / "trec-web-2012"
    names = {"ndcg@20": "nDCG(dcg='exp-log2')@20", "err@20": "ERR@20"}
    ours = dict(zip(names, sf.score(web / "qrels.adhoc.txt", web / "indriCASP.run", names.values()), strict=True))
    with (web / "indriCASP.gdeval.csv").open() as file:
        for line in csv.DictReader(file):
            for column, scores in ours.items():
                topic = line["topic"]
                value = scores.mean()[0] if topic == "amean" else scores.values[0, scores.queries.index(topic)]
                assert f"{value:.5f}" == line[column], (topic, column)


def test_scoring_the_run_gives_the_published_matrix(data) -> None:
    web = data / "trec-web-2012"
    published = sf.read_scores(web / "err20.csv")
    ours = sf.score(web / "qrels.adhoc.txt", web / "indriCASP.run", "ERR@20")
    values = dict(zip(ours.queries, ours.values[0], strict=True))
    np.testing.assert_allclose([values[q] for q in published.queries], published["indriCASP"], atol=5.1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_random_runs_with_ties_agree_with_pytrec_eval(seed: int) -> None:
    """Coarse scores, negative and missing judgments, short lists: without any file from elsewhere."""
    rng = np.random.default_rng(seed)
    qrels, run = {}, {}
    for q in range(30):
        documents = [f"d{i}" for i in rng.permutation(60)]
        qrels[f"q{q}"] = {d: int(rng.integers(-1, 4)) for d in documents[:40]}
        if q % 7:
            shown = [documents[i] for i in rng.permutation(60)[: rng.integers(1, 50)]]
            run[f"q{q}"] = {d: float(rng.integers(0, 6)) for d in shown}
    names = {
        "map": "AP", "recip_rank": "RR", "P_5": "P@5", "ndcg_cut_10": "nDCG@10", "ndcg": "nDCG", "Rprec": "Rprec",
        "recall_10": "R@10", "success_5": "Success@5", "map_cut_20": "AP@20", "bpref": "Bpref",
    }  # fmt: skip
    measures = {
        "map",
        "recip_rank",
        "P.5",
        "ndcg_cut.10",
        "ndcg",
        "Rprec",
        "recall.10",
        "success.5",
        "map_cut.20",
        "bpref",
    }
    expected = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
    for measure, scores in zip(names, sf.score(qrels, sf.read_run(run, name="x"), names.values()), strict=True):
        for topic, value in zip(scores.queries, scores.values[0], strict=True):
            assert value == pytest.approx(expected.get(topic, {}).get(measure, 0.0), abs=1e-9), (measure, topic)


def test_its_output_read_as_scores_gives_the_same_assessments(robust: Path) -> None:
    """To the digits printed."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the lines for all agree with the means
        read = sf.read_scores(robust / "trec_eval", READ)
    runs = sf.read_runs(robust / "runs")
    computed = sf.score(robust / "qrels.txt", runs, [MEASURES[name] for name in READ])
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
