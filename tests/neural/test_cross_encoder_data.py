"""Datasets, runs and figures of cross-encoders: order kept, nothing lost, and what is wrong refused with its row."""

from __future__ import annotations

import json
import logging

import numpy as np
import pytest
import torch
from benchmarks.generated_text import WORDS, load_model, write_model
from tests.neural.text_rows import random_rows

import surefoot as sf
from surefoot.data.types.runs import read_qrels, read_run
from surefoot.errors import ArgumentError, DataError
from surefoot.neural import RiskLoss, rerank, to_dataset
from surefoot.neural.cross_encoder.first_documents import _distinct
from surefoot.neural.sentence_transformers import RiskEvaluator

pytestmark = pytest.mark.neural


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("models") / "bert")


@pytest.fixture
def model(folder):
    return load_model(folder)


@pytest.fixture(scope="module")
def parts():
    """Judgments, a run of lists of 6 to 14, and texts; q0's relevant document is not in the run."""
    rng = np.random.default_rng(3)
    documents = {f"d{number}": " ".join(rng.choice(WORDS, 6)) for number in range(60)}
    queries = {f"q{number}": " ".join(rng.choice(WORDS, 3)) for number in range(8)}
    run, qrels = {}, {}
    for query in queries:
        found = rng.choice(60, rng.integers(6, 15), replace=False)
        run[query] = {f"d{number}": float(10 - place) for place, number in enumerate(found)}
        qrels[query] = {f"d{number}": int(rng.integers(-1, 3)) for number in found[:5]}
        qrels[query][f"d{found[2]}"] = 2
    qrels["q0"] = {next(each for each in documents if each not in run["q0"]): 1}
    return qrels, run, queries, documents


def test_a_dataset_keeps_the_order_labels_and_ids(parts) -> None:
    qrels, run, queries, documents = parts
    data = to_dataset(*parts, depth=5, skip_unusable=True)
    assert data.column_names == ["query", "docs", "labels", "query_id", "doc_ids"]
    assert data["query_id"] == [f"q{number}" for number in range(1, 8)]
    for row in data:
        query = row["query_id"]
        ids = sorted(run[query], key=run[query].__getitem__, reverse=True)[:5]
        assert row["doc_ids"] == ids
        assert row["docs"] == [documents[each] for each in ids]
        assert row["labels"] == [max(qrels[query].get(each, 0), 0) for each in ids]
        assert row["query"] == queries[query]


def test_files_of_texts_with_titles(parts, tmp_path) -> None:
    qrels, run, queries, _ = parts
    (tmp_path / "queries.tsv").write_text("".join(f"{each}\t{text}\n" for each, text in queries.items()))
    lines = [
        json.dumps({"_id": f"d{number}", "title": f"f{number % 6}", "text": f"f1 b{number % 3}"})
        for number in range(60)
    ]
    (tmp_path / "corpus.jsonl").write_text("\n".join(lines) + "\n")
    data = to_dataset(qrels, run, tmp_path / "queries.tsv", tmp_path / "corpus.jsonl", skip_unusable=True)
    number = int(data[0]["doc_ids"][0][1:])
    assert data[0]["docs"][0] == f"f{number % 6} f1 b{number % 3}"


@pytest.mark.parametrize(
    ("change", "options", "words"),
    [
        ({}, {}, "row 1, query 'q0': none of the .* documents is relevant .*1 of 8 queries.*skip_unusable=True"),
        ({"run": {"q1": {"d1": 1.0}}}, {}, "query 'q0': the run has no document for it"),
        ({"qrels": {"q1": {"d1": 1}}, "run": {"q1": {"d1": 1.0}}}, {}, "row 1, query 'q1': there is one document"),
        ({"qrels": {"q1": {"d1": 99}}, "run": {"q1": ["d1", "d2"]}}, {}, "row 1, query 'q1': a label is 99"),
        ({"queries": {"q1": "f1"}}, {}, "row 1, query 'q0': the query has no text"),
        ({"queries": {"a": "f1"}}, {}, "has no text.*do both use the same query ids"),
        ({"documents": {"d1": "f1"}}, {}, "row 1, query 'q0': document 'd.*' at rank 1 has no text"),
        ({"run": {"x": {"d1": 1.0}}}, {}, "has no judged query"),
        ({}, {"depth": 0}, "depth is 0"),
        ({"qrels": {"q1": {"d1": 0}}, "run": {"q1": ["d1", "d2"]}}, {"skip_unusable": True}, "nothing to learn from"),
    ],
)
def test_bad_data_is_refused_with_its_row(parts, change, options, words) -> None:
    given = {**dict(zip(("qrels", "run", "queries", "documents"), parts, strict=True)), **change}
    with pytest.raises((DataError, ArgumentError), match=words):
        to_dataset(**given, **options)


def test_a_run_is_reranked_down_to_the_depth(model, parts) -> None:
    _, run, queries, documents = parts
    new = rerank(model, run, queries, documents, depth=5, batch_size=4, name="new").to_dict()
    for query, scored in run.items():
        before = sorted(scored, key=scored.__getitem__, reverse=True)
        after = sorted(new[query], key=new[query].__getitem__, reverse=True)
        assert after[5:] == before[5:]
        assert set(after[:5]) == set(before[:5])
        logits = model.predict(
            [(queries[query], documents[each]) for each in after[:5]], activation_fn=torch.nn.Identity()
        )
        assert np.allclose([new[query][each] for each in after[:5]], logits, atol=1e-5)
        assert (np.diff(logits) <= 1e-6).all()


def test_the_same_again_and_one_query_at_a_time(model, parts) -> None:
    _, run, queries, documents = parts
    whole = rerank(model, run, queries, documents, depth=4).to_dict()
    assert rerank(model, run, queries, documents, depth=4).to_dict() == whole
    for query in run:
        alone = rerank(model, {query: run[query]}, queries, documents, depth=4).to_dict()[query]
        assert alone.keys() == whole[query].keys()
        assert np.allclose(list(alone.values()), list(whole[query].values()), atol=1e-5)


def test_equal_scores_stay_in_the_order_of_arrival() -> None:
    scores = np.array([1.0, 2.0, 1.0, 2.0, 1.0, 3.0])
    found = _distinct(scores)
    assert np.argsort(-found).tolist() == np.argsort(-scores, kind="stable").tolist()
    assert len(set(found)) == 6
    assert np.allclose(found, scores, atol=1e-14)
    rng = np.random.default_rng(1)
    for _ in range(200):
        scores = rng.integers(-2, 3, rng.integers(0, 9)) * rng.choice([0.0, 1.0, 1e-300, 1e300])
        assert np.argsort(-_distinct(scores)).tolist() == np.argsort(-scores, kind="stable").tolist()


class Stopping:
    """A model whose scoring is interrupted after some calls."""

    def __init__(self, model, calls: int) -> None:
        self.model, self.calls, self.done = model, calls, 0

    def __getattr__(self, name):
        return getattr(self.model, name)

    def predict(self, *arguments, **options):
        self.done += 1
        if self.done > self.calls:
            raise KeyboardInterrupt
        return self.model.predict(*arguments, **options)


def test_a_reranking_that_was_stopped_goes_on(model, parts, tmp_path, monkeypatch) -> None:
    from surefoot.neural.cross_encoder import reranking

    monkeypatch.setattr(reranking, "_BATCHES_PER_PART", 4)
    _, run, queries, documents = parts
    options = {"depth": 5, "batch_size": 2}
    whole = rerank(model, run, queries, documents, **options).to_dict()
    state = tmp_path / "state.jsonl"
    with pytest.raises(KeyboardInterrupt):
        rerank(Stopping(model, 2), run, queries, documents, checkpoint=state, **options)
    lines = state.read_text().splitlines()
    assert len(lines) == 3
    state.write_text("\n".join([*lines[:-1], lines[-1][:40]]))  # the last line was written in part
    counting = Stopping(model, 100)
    found = rerank(counting, run, queries, documents, checkpoint=state, **options).to_dict()
    assert found == whole
    assert counting.done == 3  # of four parts, of which one was known
    again = Stopping(model, 0)
    assert rerank(again, run, queries, documents, checkpoint=state, **options).to_dict() == whole
    with torch.no_grad():
        next(iter(model.parameters())).add_(1)
    with pytest.raises(DataError, match="line 1: is the checkpoint of another model"):
        rerank(model, run, queries, documents, checkpoint=state, **options)
    other = tmp_path / "other.txt"
    other.write_text("mine\n")
    with pytest.raises(DataError, match="is not a checkpoint of a re-ranking"):
        rerank(model, run, queries, documents, checkpoint=other, **options)
    assert other.read_text() == "mine\n"


def test_a_model_with_scores_that_are_no_numbers_is_refused(model, parts) -> None:
    with torch.no_grad():
        for each in model.parameters():
            each.fill_(torch.nan)
    with pytest.raises(DataError, match="is nan; the model cannot be used"):
        rerank(model, *parts[1:])


def test_models_by_folder(folder, parts, tmp_path) -> None:
    assert rerank(folder, *parts[1:], depth=2).name == "bert"
    with pytest.raises(DataError, match=r"has no config\.json"):
        rerank(tmp_path, *parts[1:])
    with pytest.raises(DataError, match="cannot be loaded as a cross-encoder"):
        rerank("no-such/model-at-all", *parts[1:])


def test_the_evaluators_figures_are_those_of_an_assessment(model, parts) -> None:
    qrels, run, queries, documents = parts
    evaluator = RiskEvaluator.from_run(*parts, depth=5, measure="nDCG@10", alpha=5)
    found = evaluator(model)
    new = rerank(model, run, queries, documents, depth=5, name="new")
    live = read_run(run, "live")
    scores = sf.score(read_qrels(qrels), [live, new], "nDCG@10")
    row = next(each for each in sf.assess(scores, "live", [5]).to_dict()["systems"] if each["system"] == "new")
    for figure in ("mean", "reward", "risk", "wins", "losses"):
        assert found[figure] == pytest.approx(row[figure], abs=1e-12)
    assert found["losses_over_20"] == row["loss_over_20"]
    assert found["u_risk@5"] == pytest.approx(row["alpha"]["5"]["u_risk"], abs=1e-12)
    differences = scores.values[1] - scores.values[0]
    worst = [scores.queries[number] for number in np.argsort(differences)[:5] if differences[number] < 0]
    assert [each["query_id"] for each in evaluator.queries_hurt_most] == worst


def test_rows_are_evaluated_as_the_loss_measures_them(model) -> None:
    rows = random_rows(np.random.default_rng(5), 12)
    evaluator = RiskEvaluator(rows, measure="nDCG@5", name="dev")
    assert evaluator.primary_metric == "dev_u_risk@5"
    loss = RiskLoss(measure="nDCG@5")
    expected = []
    for row in rows:
        pairs = [(row["query"], each) for each in row["docs"]]
        scores = torch.tensor(model.predict(pairs, activation_fn=torch.nn.Identity()))
        expected.append(float(loss.values(scores[None], torch.tensor(row["labels"])[None])))
    assert np.allclose(evaluator.scores(model).values[1], expected)
    figures = evaluator(model)
    assert figures["dev_mean"] == pytest.approx(np.mean(expected))
    assert evaluator.primary_metric in figures


def test_it_logs_and_appends_as_the_librarys_own_evaluators_do(model, tmp_path, caplog) -> None:
    rows = random_rows(np.random.default_rng(6), 10)
    evaluator = RiskEvaluator(rows, select_by="t_risk@1", name="dev")
    with caplog.at_level(logging.INFO, logger="surefoot.neural.cross_encoder.evaluator"):
        evaluator(model, str(tmp_path / "eval"), epoch=1.0, steps=20)
        evaluator(model, str(tmp_path / "eval"), epoch=2.0, steps=40)
    assert "on the dev queries in epoch 1.0 after 20 steps" in caplog.text
    assert caplog.text.count("hurt most: ") == 2 * len(evaluator.queries_hurt_most) > 0
    lines = (tmp_path / "eval" / "RiskEvaluator_dev_results.csv").read_text().splitlines()
    assert lines[0] == "epoch,steps,mean,live_mean,reward,risk,u_risk@5,wins,losses,losses_over_20,t_risk@1,hurt_most"
    assert [line.split(",")[:2] for line in lines[1:]] == [["1.0", "20"], ["2.0", "40"]]
    assert evaluator.get_config_dict()["select_by"] == "t_risk@1"


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "no rows"),
        ([{"query": "f1", "docs": ["f1", "f2"]}], "row 1: labels is missing"),
        ([{"query": "f1", "docs": ["f1", "f2"], "labels": [1]}], "row 1, query .*: there are 2 documents and 1 labels"),
        ([{"query": "f1", "docs": ["f1", "f2"], "labels": [1, 0], "doc_ids": ["a", "a"]}], "row 1: doc_ids must name"),
        ([{"query": "f1", "docs": ["f1", "f2"], "labels": [1, 0], "query_id": "a"}] * 2, "row 2: .* appears twice"),
    ],
)  # fmt: skip
def test_bad_rows_of_an_evaluation_are_refused(rows, words) -> None:
    with pytest.raises((DataError, ArgumentError), match=words):
        RiskEvaluator(rows)
