"""Generated LETOR data: its shape, its baseline, and queries that mislead."""

from __future__ import annotations

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import ArgumentError


def test_it_has_the_shape_of_mslr() -> None:
    data = sf.demo.letor(queries=400)
    assert data.n_features == 136
    assert 110 < data.lengths.mean() < 130
    assert data.lengths.std() > 30
    shares = np.bincount(data.y.astype(int)) / len(data)
    assert shares == pytest.approx([0.52, 0.32, 0.13, 0.02, 0.01], abs=0.02)
    assert np.isfinite(data.X).all()
    assert np.array_equal(data.baselines["bm25"], data.feature(110))
    zeros = (data.X == 0).mean(axis=0)
    flags = [k for k in range(136) if set(np.unique(data.X[:, k])) <= {0.0, 1.0}]
    assert (zeros > 0.4).sum() > 30  # counts and flags
    assert len(flags) > 10
    assert (zeros < 0.01).sum() > 50


def test_the_same_for_the_same_seed() -> None:
    one, two, other = (sf.demo.letor(queries=300, documents=10, features=20, seed=s) for s in (3, 3, 4))
    assert one.X.tobytes() == two.X.tobytes()
    assert one.y.tobytes() == two.y.tobytes()
    assert one.X.shape != other.X.shape or one.X.tobytes() != other.X.tobytes()


def test_bm25_is_fair_and_the_features_better_except_where_they_mislead() -> None:
    """A plain sum of standardised features: good on average, ruinous on some queries."""
    data = sf.demo.letor(queries=300, seed=1)
    rng = np.random.default_rng(0)
    relevance = np.corrcoef(data.X.T, data.y)[-1, :-1]
    informative = np.abs(relevance) > 0.1
    standard = (data.X - data.X.mean(axis=0)) / (data.X.std(axis=0) + 1e-9)
    model = standard @ np.where(informative, relevance, 0)
    runs = [
        data.to_run(scores, name)
        for name, scores in (("model", model), ("bm25", data.baselines["bm25"]), ("random", rng.random(len(data))))
    ]
    scores = sf.score(data.qrels(), runs, "nDCG(dcg='exp-log2')@10")
    best, bm25, chance = scores.mean()
    assert chance + 0.06 < bm25 < best - 0.1
    losses = (scores["model"] < scores["bm25"] - 0.1).mean()
    assert 0.04 < losses < 0.25
    unharmed = sf.demo.letor(queries=300, seed=1, misleading=0)
    assert np.corrcoef(unharmed.feature(2), unharmed.y)[0, 1] > np.corrcoef(data.feature(2), data.y)[0, 1]


@pytest.mark.parametrize("size", [(1, 1, 1), (2, 3, 1), (3, 5, 2), (2, 4, 109), (2, 4, 110)])
def test_small_sizes(size: tuple[int, int, int]) -> None:
    data = sf.demo.letor(queries=size[0], documents=size[1], features=size[2])
    assert len(data.queries) == size[0]
    assert data.X.shape == (len(data), size[2])
    assert np.array_equal(data.baselines["bm25"], data.feature(110 if size[2] == 110 else 1))


@pytest.mark.parametrize(
    "wrong",
    [{"queries": 0}, {"documents": 0}, {"features": 0}, {"queries": 2.5}, {"seed": -1}, {"misleading": 1.5}],
)
def test_arguments_that_cannot_be(wrong: dict[str, float]) -> None:
    with pytest.raises(ArgumentError, match=next(iter(wrong))):
        sf.demo.letor(**wrong)
