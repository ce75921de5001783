"""`RiskLoss` against a slow loop and against the kernel of trees, and the rules for lists that are odd."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.learn.test_lambdas import measured, slow
from torch.utils._python_dispatch import TorchDispatchMode

from surefoot.errors import ArgumentError
from surefoot.learn.lambdas import Lambdas
from surefoot.learn.measured_queries import MeasuredQueries
from surefoot.learn.objectives import Objective
from surefoot.neural import RiskLoss, loss

pytestmark = pytest.mark.neural

MEASURES = [
    "nDCG(dcg='exp-log2')@5", "nDCG(dcg='exp-log2')", "nDCG@3", "nDCG@10", "AP", "AP(rel=2)@4", "RR", "RR@3", "ERR@5",
    "ERR",
]  # fmt: skip
OBJECTIVES = [
    Objective("gain"), Objective("u_risk", 5), Objective("u_risk", 5, rule="eq9"), Objective("saro", 5),
    Objective("saro", 3, rule="eq9"), Objective("faro", 5), Objective("geo_risk", 5), Objective("geo_risk", 0),
]  # fmt: skip
EACH = pytest.mark.parametrize("objective", OBJECTIVES, ids=lambda each: f"{each.name}-{each.alpha:g}-{each.rule}")


def random_lists(seed: int, queries: int = 6, longest: int = 9):
    """Scores and labels with ties; the first query has nothing relevant, the second one document."""
    rng = np.random.default_rng(seed)
    lengths = [4, 1, *rng.integers(2, longest + 1, queries - 2)]
    lists = [
        (rng.integers(0, 4, n) / 2.0, rng.integers(0, 4, n).astype(float) * (number > 0))
        for number, n in enumerate(lengths)
    ]
    return lists, rng


def padded(lists, rng, spare: int = 3, nothing: float = np.nan):
    """The lists as tensors, padding at random places in them, with anything in it."""
    width = max(len(scores) for scores, _ in lists) + spare
    shape = (len(lists), width)
    scores, labels = np.full(shape, np.inf), np.full(shape, nothing)
    mask = np.zeros(shape, bool)
    for row, (each, grades) in enumerate(lists):
        places = np.sort(rng.choice(width, len(each), replace=False))
        scores[row, places], labels[row, places], mask[row, places] = each, grades, True
    return torch.tensor(scores), torch.tensor(labels), torch.tensor(mask)


def make_loss(objective: Objective, measure: str, **options) -> RiskLoss:
    return RiskLoss(objective.name, objective.alpha, measure, rule=objective.rule, **options)


def gradients(risk_loss: RiskLoss, scores, labels, baseline=None, mask=None):
    """λ: what the loss's gradient is, times the number of lists."""
    leaf = scores.clone().requires_grad_(True)
    risk_loss(leaf, labels, baseline, mask).backward()
    return leaf.grad * len(scores)


def random_baselines(lists, rng, measure, mask):
    """Three baselines in three forms, and M(q) of each."""
    width = mask.shape[1]
    scores = torch.tensor(rng.integers(0, 3, (len(lists), width)).astype(float))
    own = torch.tensor(rng.random(len(lists)) * 0.8)
    own[0] = 0
    M = [[], [], own.tolist()]
    for row, (_, labels) in enumerate(lists):
        order = np.argsort(-scores[row][mask[row]].numpy(), kind="stable")
        M[0].append(measured(measure, labels, order))
        M[1].append(measured(measure, labels, np.arange(len(labels))))
    return [scores, "arrival", own], np.array(M)


def sigmoid(x: float) -> float:
    return 1 / (1 + np.exp(x))


def end_to_end(lists):
    """The lists' offsets, scores and labels, one list after the other."""
    scores, labels = (np.concatenate(each) for each in zip(*lists, strict=True))
    return np.concatenate([[0], np.cumsum([len(each) for each, _ in lists])]), scores, labels


@EACH
@pytest.mark.parametrize("measure", MEASURES)
def test_gradients_equal_a_slow_exact_loop(objective, measure) -> None:
    for seed in range(4):
        lists, rng = random_lists(seed)
        scores, labels, mask = padded(lists, rng)
        given, M = random_baselines(lists, rng, measure, mask)
        several = objective.name == "geo_risk" or seed % 2
        offsets, flat_scores, flat_labels = end_to_end(lists)
        expected, _, values, _ = slow(
            objective,
            measure,
            offsets,
            flat_labels,
            flat_scores,
            M if several else M[:1],
            lambda x: 1 / (1 + np.exp(x)),
        )
        risk_loss = make_loss(objective, measure)
        found = gradients(risk_loss, scores, labels, given if several else given[0], mask)
        assert (found[~mask] == 0).all()
        for row, each in enumerate(np.split(expected, offsets[1:-1])):
            assert np.abs(found[row][mask[row]].numpy() - each).max() < 1e-10
        assert np.abs(risk_loss.values(scores, labels, mask).numpy() - values).max() < 1e-12


@EACH
@pytest.mark.parametrize("measure", MEASURES)
def test_gradients_equal_the_kernels(objective, measure) -> None:
    for seed in range(4):
        lists, rng = random_lists(seed, queries=12, longest=40)
        scores, labels, mask = padded(lists, rng)
        given, M = random_baselines(lists, rng, measure, mask)
        offsets, flat_scores, flat_labels = end_to_end(lists)
        queries = MeasuredQueries(measure, flat_labels, offsets, np.arange(offsets[-1]))
        kernel, _ = Lambdas(objective, queries, M)(flat_scores)
        found = gradients(make_loss(objective, measure), scores.float(), labels, given, mask)
        for row in range(len(lists)):
            expected = kernel[offsets[row] : offsets[row + 1]]
            assert np.abs(found[row][mask[row]].numpy() - expected).max() <= 1e-4 * np.abs(expected).max() + 1e-9


@EACH
@pytest.mark.parametrize("measure", ["nDCG", "AP", "RR@3", "ERR"])
def test_blocks_of_pairs_change_nothing(objective, measure, monkeypatch) -> None:
    lists, rng = random_lists(1, queries=5, longest=30)
    scores, labels, mask = padded(lists, rng)
    whole = gradients(make_loss(objective, measure), scores, labels, "arrival", mask)
    monkeypatch.setattr(loss, "_MOST_PAIRS_AT_ONCE", 1)
    assert torch.allclose(gradients(make_loss(objective, measure), scores, labels, "arrival", mask), whole, atol=1e-14)


class Largest(TorchDispatchMode):
    """The number of elements of the largest tensor that is made."""

    elements = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        for each in made if isinstance(made, tuple | list) else [made]:
            if isinstance(each, torch.Tensor):
                self.elements = max(self.elements, each.untyped_storage().nbytes() // each.element_size())
        return made


@pytest.mark.parametrize(("measure", "most"), [("nDCG@10", 10 * 3000), ("AP@10", 10 * 3000), ("nDCG", 1 << 16)])
def test_memory_does_not_grow_with_the_square_of_a_list(measure, most, monkeypatch) -> None:
    monkeypatch.setattr(loss, "_MOST_PAIRS_AT_ONCE", 1 << 16)
    scores, labels = torch.randn(1, 3000), torch.randint(0, 3, (1, 3000)).float()
    with Largest() as seen:
        gradients(RiskLoss("u_risk", 5, measure), scores, labels, "arrival")
    assert seen.elements <= most


@EACH
def test_odd_lists_have_gradients_of_zero(objective) -> None:
    risk_loss = make_loss(objective, "nDCG@10")
    no_document = torch.zeros(2, 5, dtype=torch.bool)
    for labels, mask in (
        (torch.zeros(2, 5), None),
        (torch.full((2, 5), 3.0), None),
        (torch.rand(2, 5), no_document),
        (torch.rand(2, 1), None),
        (torch.rand(2, 0), None),
        (torch.rand(0, 5), None),
    ):
        found = gradients(risk_loss, torch.randn(labels.shape), labels, "arrival", mask)
        assert found.shape == labels.shape
        assert (found == 0).all()


def test_a_list_without_documents_counts_for_nothing() -> None:
    risk_loss = RiskLoss("saro", 5, "nDCG@10")
    lists, rng = random_lists(3)
    scores, labels, mask = padded(lists, rng)
    alone = gradients(risk_loss, scores, labels, "arrival", mask)
    more = [torch.cat([each, torch.zeros_like(each[:2])]) for each in (scores, labels, mask)]
    both = gradients(risk_loss, more[0], more[1], "arrival", more[2])
    assert torch.allclose(both[: len(scores)] * len(scores) / len(both), alone)


@pytest.mark.parametrize("name", ["u_risk", "saro", "faro"])
def test_without_alpha_all_is_gain(name) -> None:
    lists, rng = random_lists(2)
    scores, labels, mask = padded(lists, rng)
    plain = gradients(RiskLoss("gain", measure="ERR@5"), scores, labels, None, mask)
    assert torch.allclose(gradients(RiskLoss(name, 0, "ERR@5"), scores, labels, "arrival", mask), plain, atol=1e-15)


@EACH
def test_several_models_are_as_each_alone(objective) -> None:
    lists, rng = random_lists(5)
    scores, labels, mask = padded(lists, rng)
    models = torch.stack([scores, torch.randn_like(scores), torch.randn_like(scores)])
    risk_loss = make_loss(objective, "nDCG@5")
    leaf = models.clone().requires_grad_(True)
    risk_loss(leaf, labels, "arrival", mask).backward()
    for number, each in enumerate(models):
        alone = gradients(risk_loss, each, labels, "arrival", mask) / len(scores)
        assert torch.allclose(leaf.grad[number], alone, atol=1e-14)
        assert torch.equal(risk_loss.values(models, labels, mask)[number], risk_loss.values(each, labels, mask))


@EACH
def test_half_the_bits_under_autocast(objective) -> None:
    lists, rng = random_lists(6)
    scores, labels, mask = padded(lists, rng)
    risk_loss = make_loss(objective, "nDCG@5")
    rounded = torch.where(mask, scores, 0).bfloat16()
    leaf = rounded.clone().requires_grad_(True)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        value = risk_loss(leaf, labels, "arrival", mask)
    assert value.dtype == torch.float32
    value.backward()
    expected = gradients(risk_loss, rounded.float(), labels, "arrival", mask) / len(scores)
    assert leaf.grad.dtype == torch.bfloat16
    assert torch.allclose(leaf.grad.float(), expected, rtol=0.01, atol=1e-6)


@pytest.mark.parametrize(
    ("objective", "measure"),
    [
        *((each, "nDCG(dcg='exp-log2')@5") for each in OBJECTIVES),
        *((OBJECTIVES[1], each) for each in ("AP", "RR@3", "ERR")),
    ],
)
def test_it_compiles_as_one_graph(objective, measure) -> None:
    lists, rng = random_lists(7)
    scores, labels, mask = padded(lists, rng)
    risk_loss = make_loss(objective, measure)
    compiled = torch.compile(risk_loss, fullgraph=True, backend="aot_eager")
    baseline = torch.rand(len(lists), dtype=torch.float64)
    assert torch.allclose(
        gradients(compiled, scores, labels, baseline, mask), gradients(risk_loss, scores, labels, baseline, mask)
    )
    torch.compiler.reset()


def test_the_same_twice() -> None:
    generator = torch.Generator().manual_seed(1)
    scores = torch.randn(64, 100, generator=generator)
    labels = torch.randint(0, 4, (64, 100), generator=generator).float()
    risk_loss = RiskLoss("geo_risk", 5)
    found = [gradients(risk_loss, scores, labels, "arrival") for _ in range(3)]
    assert torch.equal(found[0], found[1])
    assert torch.equal(found[0], found[2])


def test_lambdas_of_a_list_can_be_normalised() -> None:
    lists, rng = random_lists(8)
    scores, labels, mask = padded(lists, rng)
    plain = gradients(RiskLoss("u_risk", 5), scores, labels, "arrival", mask)
    total = plain.abs().sum(-1, keepdim=True)
    expected = torch.where(total > 0, plain / total * torch.log2(1 + total), 0)
    found = gradients(RiskLoss("u_risk", 5, normalize=True), scores, labels, "arrival", mask)
    assert torch.allclose(found, expected, atol=1e-15)


@pytest.mark.parametrize("name", ["saro", "faro", "geo_risk"])
def test_sums_of_the_last_epoch(name) -> None:
    """After an epoch in batches whose scores do not change, a batch's gradients are those in all of the data."""
    lists, rng = random_lists(9, queries=8)
    scores, labels, mask = padded(lists, rng)
    baseline = torch.rand(8, dtype=torch.float64)
    whole = gradients(RiskLoss(name, 5, "nDCG@5"), scores, labels, baseline, mask)
    risk_loss = RiskLoss(name, 5, "nDCG@5", sums="running")
    parts = [slice(0, 3), slice(3, 8)]
    for _ in range(3 if name == "geo_risk" else 1):  # Z needs S and N of the epoch before
        for part in parts:
            risk_loss(scores[part], labels[part], baseline[part], mask[part])
        risk_loss.next_epoch()
    for part in parts:
        found = gradients(risk_loss, scores[part], labels[part], baseline[part], mask[part])
        assert torch.allclose(found, whole[part], atol=1e-12)
    assert torch.allclose(
        gradients(risk_loss.eval(), scores[:3], labels[:3], baseline[:3], mask[:3]), whole[:3], atol=1e-12
    )


def test_a_first_batch_has_its_own_sums() -> None:
    lists, rng = random_lists(9, queries=8)
    scores, labels, mask = padded(lists, rng)
    plain = gradients(RiskLoss("saro", 5), scores, labels, "arrival", mask)
    assert torch.equal(gradients(RiskLoss("saro", 5, sums="running"), scores, labels, "arrival", mask), plain)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: RiskLoss("u_risk"), "needs alpha"),
        (lambda: RiskLoss("risk", 5), "must be one of gain, u_risk"),
        (lambda: RiskLoss("regression"), "has no pairs"),
        (lambda: RiskLoss("gain", measure="P@5"), "cannot be optimised"),
        (lambda: RiskLoss("gain", sums="all"), "'batch' or 'running'"),
        (lambda: RiskLoss("gain", sigma=0), "sigma is 0"),
        (lambda: RiskLoss("u_risk", -1), "alpha"),
        (lambda: RiskLoss("u_risk", 5)(torch.rand(2, 3), torch.rand(2, 3)), "compares with a baseline"),
        (lambda: RiskLoss("u_risk", 5)(torch.rand(2, 3), torch.rand(2, 3), "bm25"), "'arrival', or a tensor"),
        (lambda: RiskLoss("u_risk", 5)(torch.rand(2, 3), torch.rand(2, 3), torch.rand(3)), r"M\(q\) of lists"),
        (lambda: RiskLoss()(torch.rand(2, 3), torch.rand(2, 4)), r"\(lists, documents\)"),
        (lambda: RiskLoss()(torch.rand(2, 3), torch.rand(2, 3), mask=torch.ones(2, 3)), "torch.bool"),
        (lambda: RiskLoss()(torch.rand(2, 3), torch.full((2, 3), torch.nan)), "a label is nan"),
        (lambda: RiskLoss()(torch.rand(2, 3), torch.full((2, 3), -1.0)), "a label is -1"),
        (lambda: RiskLoss(measure="ERR@5")(torch.rand(2, 3), torch.full((2, 3), 5.0)), "from 0 to 4"),
        (lambda: RiskLoss()(torch.rand(2, 3), torch.full((2, 3), 40.0)), "from 0 to 31"),
        (lambda: RiskLoss()(torch.rand(2, 3), np.zeros((2, 3))), "labels: found a ndarray; give a tensor"),
        (lambda: RiskLoss()(torch.full((2, 3), torch.nan), torch.rand(2, 3)), "a score is nan"),
        (lambda: RiskLoss("u_risk", 5)(torch.rand(2, 3), torch.rand(2, 3), [[1.0]]), "a baseline is a list"),
        (
            lambda: RiskLoss("u_risk", 5)(torch.rand(2, 3), torch.rand(2, 3), torch.full((2, 3), torch.nan)),
            "a score of the baseline is nan",
        ),
        (
            lambda: RiskLoss("u_risk", 5)(torch.rand(2, 3), torch.rand(2, 3), torch.tensor([0.5, 7.0])),
            r"M\(q\) of the baseline is 7",
        ),
    ],
)
def test_what_cannot_be_is_refused(make, words) -> None:
    with pytest.raises(ArgumentError, match=words):
        make()


PROGRAM = """
import json, sys
import torch
from surefoot.neural import RiskLoss
from surefoot.neural.sums import all_reduce

rank, file, objective = int(sys.argv[1]), sys.argv[2], sys.argv[3]
torch.set_num_threads(1)
torch.distributed.init_process_group("gloo", init_method="file://" + file, rank=rank, world_size=2)
generator = torch.Generator().manual_seed(1)
scores, labels = torch.rand(7, 9, generator=generator).double(), torch.randint(0, 3, (7, 9), generator=generator)
part = slice(0, 2) if rank == 0 else slice(2, 7)
leaf = scores[part].clone().requires_grad_(True)
RiskLoss(objective, 5, "nDCG@5", reduce=all_reduce)(leaf, labels[part].double(), "arrival").backward()
print(json.dumps(leaf.grad.tolist()))
torch.distributed.barrier()
"""


@pytest.mark.parametrize("objective", ["saro", "geo_risk"])
def test_two_processes_that_train_one_model_are_as_one(objective, tmp_path: Path) -> None:
    file = tmp_path / "meeting"
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(rank), str(file), objective], stdout=subprocess.PIPE, text=True
        )
        for rank in range(2)
    ]
    parts = [torch.tensor(json.loads(each.communicate(timeout=240)[0]), dtype=torch.float64) for each in running]
    generator = torch.Generator().manual_seed(1)
    scores, labels = torch.rand(7, 9, generator=generator).double(), torch.randint(0, 3, (7, 9), generator=generator)
    leaf = scores.clone().requires_grad_(True)
    RiskLoss(objective, 5, "nDCG@5")(leaf, labels.double(), "arrival").backward()
    assert torch.allclose(torch.cat(parts) / 2, leaf.grad, atol=1e-14)  # frameworks take the mean over processes
