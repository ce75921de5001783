"""The loss for sentence-transformers' trainer: the gradients of `RiskLoss` and of a slow loop, at a model's scores."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from benchmarks.generated_text import load_model, write_model
from tests.neural.slow_lambdas import measured, slow_gradients
from tests.neural.text_rows import columns, random_rows

from surefoot.errors import ArgumentError, DataError
from surefoot.learn.objectives import Objective
from surefoot.measures.notation import Measure
from surefoot.neural import RiskLoss as ListLoss
from surefoot.neural.sentence_transformers import RiskLoss

pytestmark = pytest.mark.neural

OBJECTIVES = [("gain", None), ("u_risk", 5), ("saro", 5), ("faro", 5), ("geo_risk", 5)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("models") / "bert")


@pytest.fixture
def model(folder):
    return load_model(folder).double()


@pytest.fixture
def rows():
    return random_rows(np.random.default_rng(1), 5)


def scores_of(model, row):
    """The model's scores of one list, one document at a time."""
    return torch.cat([model(model.preprocess([(row["query"], text)]))["scores"].reshape(-1) for text in row["docs"]])


def parameter_gradients(model):
    return torch.cat([each.grad.reshape(-1) for each in model.parameters() if each.grad is not None])


def gradients_of(loss, rows):
    loss.model.zero_grad()
    loss(*columns(rows)).backward()
    return parameter_gradients(loss.model)


@pytest.mark.parametrize(("objective", "alpha"), OBJECTIVES)
def test_gradients_are_those_of_the_slow_loop_and_of_the_list_loss(model, rows, objective, alpha) -> None:
    measure = "nDCG@5"
    found = gradients_of(RiskLoss(model, objective, alpha, measure), rows)
    lists = [(scores_of(model, row).detach().numpy(), np.array(row["labels"])) for row in rows]
    width = max(len(row["docs"]) for row in rows)
    live = np.array([measured(Measure.parse(measure), list(labels)) for _, labels in lists])
    expected, _ = slow_gradients(Objective(objective, alpha or 0.0), measure, lists, live)
    model.zero_grad()
    sum((torch.tensor(each) * scores_of(model, row)).sum() for each, row in zip(expected, rows, strict=True)).div(
        len(rows)
    ).backward()
    slow = parameter_gradients(model)
    assert torch.allclose(found, slow, atol=1e-10 * float(slow.abs().max()), rtol=1e-8)
    model.zero_grad()
    mask = torch.tensor([[place < len(row["docs"]) for place in range(width)] for row in rows])
    padded = torch.stack(
        [torch.nn.functional.pad(scores_of(model, row), (0, width - len(row["docs"]))) for row in rows]
    )
    labels = torch.tensor([row["labels"] + [0.0] * (width - len(row["docs"])) for row in rows])
    ListLoss(objective, alpha, measure)(padded, labels, "arrival", mask).backward()
    assert torch.allclose(found, parameter_gradients(model), atol=1e-10 * float(slow.abs().max()), rtol=1e-8)
    assert found.abs().max() > 0


@pytest.mark.parametrize(("objective", "alpha"), [("gain", None), ("geo_risk", 5)])
def test_mini_batches_change_nothing(model, rows, objective, alpha) -> None:
    whole = gradients_of(RiskLoss(model, objective, alpha, mini_batch_size=-1), rows)
    for size in (1, 3, None, 0, 100):
        found = gradients_of(RiskLoss(model, objective, alpha, mini_batch_size=size), rows)
        assert torch.allclose(found, whole, atol=1e-12)


def test_lists_of_a_step_share_their_sums(model, rows) -> None:
    """saro's α of a list depends on the others in the step; u_risk's does not."""
    for objective, depends in (("saro", True), ("u_risk", False)):
        loss = RiskLoss(model, objective, 5)
        together = gradients_of(loss, rows) * len(rows)
        alone = sum(gradients_of(loss, [row]) for row in rows)
        assert torch.allclose(together, alone, atol=1e-10) is not depends


def test_the_activation_prompt_and_further_columns(model, rows) -> None:
    plain = gradients_of(RiskLoss(model, "u_risk", 5), rows)
    assert not torch.allclose(gradients_of(RiskLoss(model, "u_risk", 5, activation_fn=torch.nn.Tanh()), rows), plain)
    inputs, labels = columns(rows)
    loss = RiskLoss(model, "u_risk", 5)
    model.zero_grad()
    loss([*inputs, ["q"] * 5], labels, prompt=None, task=None).backward()
    assert torch.equal(parameter_gradients(model), plain)
    model.zero_grad()
    loss(inputs, labels, prompt="f1 f2 ").backward()
    assert not torch.allclose(parameter_gradients(model), plain)


def test_what_the_card_says(model) -> None:
    loss = RiskLoss(model, "u_risk", 5, mini_batch_size=8)
    assert loss.get_config_dict() == {
        "objective": "u_risk", "alpha": 5, "measure": "nDCG(dcg='exp-log2')@10", "rule": "exact", "sigma": 1.0,
        "normalize": False, "sums": "batch", "activation_fn": "torch.nn.modules.linear.Identity", "mini_batch_size": 8,
    }  # fmt: skip
    assert "Wang" in loss.citation


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"labels": [1.0, 0.0]}, "there are 3 documents and 2 labels"),
        ({"labels": [0.0, 0.0, 0.0]}, "none of the 3 documents is relevant under nDCG"),
        ({"labels": [1.0], "docs": ["f1"]}, "there is one document"),
        ({"labels": [], "docs": []}, "there is no document"),
        ({"labels": [1.0, -1.0, 0.0]}, "a label is -1; under nDCG.* labels go from 0 to 31"),
        ({"labels": [1.0, 99.0, 0.0]}, "a label is 99"),
        ({"labels": [1.0, float("nan"), 0.0]}, "a label is nan"),
        ({"docs": ["f1", "", "f3"]}, "document 2 has no text"),
        ({"docs": ["f1", None, "f3"]}, "document 2 has no text, found None"),
        ({"docs": "f1 f2 f3"}, "the documents are 'f1 f2 f3'"),
        ({"query": " "}, "the query has no text"),
        ({"query": None}, "the query has no text, found None"),
    ],
)
def test_bad_rows_are_refused_with_their_number(model, rows, change, words) -> None:
    good = {"query": "f1 f2", "docs": ["f1", "f2", "f3"], "labels": [1.0, 0.0, 0.0]}
    rows = [*rows[:2], {**good, **change}, rows[3]]
    with pytest.raises(DataError, match=f"^row 3 of the 4 in this step, query .*: {words}"):
        RiskLoss(model, "u_risk", 5)(*columns(rows))


def test_what_cannot_be_is_refused(model, folder, tmp_path) -> None:
    rows = random_rows(np.random.default_rng(1), 2)
    inputs, labels = columns(rows)
    with pytest.raises(ArgumentError, match="needs alpha"):
        RiskLoss(model, "u_risk")
    with pytest.raises(ArgumentError, match="must be a CrossEncoder"):
        RiskLoss(torch.nn.Linear(2, 1), "gain")
    with pytest.raises(ArgumentError, match="the model has 3 outputs"):
        RiskLoss(load_model(write_model(tmp_path / "three", labels=3)), "gain")
    with pytest.raises(ArgumentError, match="mini_batch_size"):
        RiskLoss(model, "gain", mini_batch_size=1.5)
    with pytest.raises(ArgumentError, match="1 column"):
        RiskLoss(model, "gain")(inputs[:1], labels)
    loss = RiskLoss(model, "gain")
    loss.model = torch.nn.DataParallel(model)
    with pytest.raises(ArgumentError, match="start one process per card with torchrun"):
        loss(inputs, labels)
    with pytest.raises(ArgumentError, match="list of labels"):
        RiskLoss(model, "gain")(inputs, torch.tensor([1.0, 0.0]))
