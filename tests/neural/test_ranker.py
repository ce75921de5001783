"""`NeuralRanker`: its face, its rules for odd data, what resumes and what is the same twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.learn.trainings import StoppedError, stop_at

import surefoot as sf
from surefoot.errors import ArgumentError, DataError
from surefoot.neural.loading import load_ranker
from surefoot.neural.network import Network, NetworkShape

pytestmark = pytest.mark.neural

SMALL = {"epochs": 3, "hidden": (8, 4), "device": "cpu", "batch_size": 8}


def ranker(objective: str = "u_risk", alpha: float | None = 5, **options) -> sf.NeuralRanker:
    return sf.NeuralRanker(objective, alpha, **(SMALL | options))


@pytest.fixture(scope="module")
def data() -> sf.RankingData:
    return sf.demo.letor(queries=30, documents=12, features=6, seed=1)


@pytest.fixture(scope="module")
def valid() -> sf.RankingData:
    return sf.demo.letor(queries=20, documents=12, features=6, seed=2)


def test_it_learns(data, valid) -> None:
    model = ranker(epochs=40, learning_rate=0.01, dropout=0.0).fit(data, valid=valid)
    effectiveness = model.history_["train"]["effectiveness"]
    assert len(effectiveness) == len(model.history_["valid"]["risk"]) == 40
    assert max(effectiveness[-5:]) > effectiveness[0] + 0.05
    assert model.best_score_ == pytest.approx(model.score(valid))
    assert model.best_iteration_ == 1 + int(np.argmax(model.history_["valid"]["effectiveness"]))


def test_history_is_what_evaluation_says(data, valid) -> None:
    model = ranker(stop_on="u_risk@5").fit(data, valid=valid)
    runs = [valid.to_run(valid.baselines["bm25"], "bm25"), model.to_run(valid, "model")]
    found = sf.assess(sf.score(valid.qrels(), runs, model.measure), "bm25", [5]).to_dict()["systems"]
    row = next(each for each in found if each["system"] == "model")
    best = model.best_iteration_ - 1
    assert model.history_["valid"]["effectiveness"][best] == pytest.approx(row["mean"])
    assert model.history_["valid"]["risk"][best] == pytest.approx(row["risk"])
    assert model.best_score_ == pytest.approx(row["alpha"]["5"]["u_risk"])


@pytest.mark.parametrize(
    "options", [{}, {"n_models": 3}, {"attention": 1}, {"objective": "geo_risk", "sums": "running"}]
)
def test_the_same_twice_and_from_disk(data, valid, options, tmp_path) -> None:
    first, second = (ranker(**options).fit(data, valid=valid) for _ in range(2))
    scores = first.predict(valid)
    assert (scores == second.predict(valid)).all()
    first.save(tmp_path / "model")
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == ["model.safetensors", "ranker.json"]
    loaded = load_ranker(tmp_path / "model")
    assert (loaded.predict(valid) == scores).all()
    assert loaded.get_params() == json.loads(json.dumps(first.get_params())) | {"hidden": [8, 4]}
    assert loaded.history_ == first.history_


def test_another_seed_is_another_model(data) -> None:
    assert (ranker(random_state=1).fit(data).predict(data) != ranker().fit(data).predict(data)).any()


def test_the_mean_of_models_has_the_first_among_them(data) -> None:
    """Each model starts from a seed of its own, whatever others are beside it."""
    alone, among = Network(NetworkShape(6, (8,))), Network(NetworkShape(6, (8,), models=3))
    alone.set_random(7)
    among.set_random(7)
    assert torch.equal(alone.hidden0_weight[0], among.hidden0_weight[0])
    assert not torch.equal(among.hidden0_weight[0], among.hidden0_weight[1])
    model = ranker(n_models=3).fit(data)
    X = torch.tensor(data.X)
    with torch.no_grad():
        assert np.allclose(model.predict(data.X), model.network_(X).mean(0).numpy(), atol=1e-6)


def test_scikit_learns_arrays(data) -> None:
    qid = np.repeat(np.arange(len(data.queries)), data.lengths)
    model = ranker().fit(data.X, data.y, qid=qid, baseline=data.baselines["bm25"])
    assert model.predict(data.X).shape == (len(data),)
    assert model.score(data.X, data.y, qid=qid) > 0
    sklearn = pytest.importorskip("sklearn.base")
    copy = sklearn.clone(model)
    assert copy.get_params() == model.get_params()
    with pytest.raises(ArgumentError, match="no parameter 'num_leaves'"):
        copy.set_params(num_leaves=3)


@pytest.mark.parametrize(
    ("name", "hint"),
    [("lr", "; did you mean learning_rate? It has objective, alpha"), ("n_estimators", "; did you mean epochs?"),
     ("drop_out", "; did you mean dropout?"), ("num_leaves", ". It has objective, alpha")],
)  # fmt: skip
def test_a_parameter_that_it_does_not_have(name: str, hint: str) -> None:
    for refuse in (sf.NeuralRanker, sf.NeuralRanker().set_params):
        with pytest.raises(ArgumentError) as caught:
            refuse(**{name: 1})
        assert str(caught.value).startswith(f"NeuralRanker has no parameter {name!r}{hint}")


def test_tie_rule_goes_by_document_ids(data) -> None:
    """Where all scores tie, the list is in the order of ids, in training as in evaluation."""
    ids = [f"d{number}" for number in np.random.default_rng(1).permutation(len(data))]
    named = sf.RankingData.from_queries(
        data.X * 0, data.y, data.queries, data.lengths, doc_ids=ids, baselines=data.baselines
    )
    model = ranker().fit(named)
    run = named.to_run(np.zeros(len(named)), "ties")
    expected = sf.score(named.qrels(), [run], model.measure).mean()[0]
    assert model.history_["train"]["effectiveness"][-1] == pytest.approx(expected)


def test_a_missing_feature_counts_as_the_mean(data) -> None:
    X = data.X.copy()
    X[:, 2] = np.nan  # nowhere
    X[::3, 1] = np.nan
    model = ranker().fit(data.with_features(X, None))
    scores = model.predict(X)
    assert np.isfinite(scores).all()
    filled = X.copy()
    logs = np.sign(X[:, 1]) * np.log1p(10 * np.abs(X[:, 1]))
    mean = np.nanmean(logs)
    filled[::3, 1] = np.sign(mean) * np.expm1(abs(mean)) / 10
    assert np.allclose(model.predict(filled), scores, atol=1e-5)
    filled[:, 2] = 77  # of a feature that nobody had, nothing was learned
    assert np.allclose(model.predict(filled), scores, atol=1e-5)


def test_lists_of_one_document(data) -> None:
    single = np.array([0, *data.offsets[1:-1]])
    X, y = np.concatenate([data.X, data.X[single]]), np.concatenate([data.y, data.y[single]])
    lengths = np.concatenate([data.lengths, np.ones(len(single), int)])
    model = ranker("gain", None, attention=1).fit(X, y, group=lengths)
    assert np.isfinite(model.predict(X, group=lengths)).all()


def test_without_alpha_it_is_gain(data) -> None:
    plain = ranker("gain", None).fit(data).predict(data)
    assert np.allclose(ranker("u_risk", 0).fit(data).predict(data), plain, atol=1e-4)


def test_attention_needs_the_lists(data) -> None:
    model = ranker(attention=1).fit(data)
    with pytest.raises(ArgumentError, match="give qid"):
        model.predict(data.X)
    whole = model.predict(data)
    first = slice(data.offsets[0], data.offsets[1])
    assert np.allclose(model.predict(data.X[first], group=[data.lengths[0]]), whole[first], atol=1e-6)


def test_attention_over_more_documents_than_fit(data) -> None:
    with pytest.raises(ArgumentError, match=r"a query has \d+ documents, and attention .* at most 5 "):
        ranker(attention=1, longest=5).fit(data)
    ranker(longest=5).fit(data)  # without attention a list may be as long as it likes
    model = ranker(attention=1).fit(data)
    model.longest = 5
    with pytest.raises(ArgumentError, match="at most 5"):
        model.predict(data)


def test_early_stopping(data, valid) -> None:
    model = ranker(epochs=200, learning_rate=0.02, early_stopping_rounds=5, stop_on="u_risk@5").fit(data, valid=valid)
    epochs = len(model.history_["valid"]["risk"])
    assert epochs < 200
    assert epochs == model.best_iteration_ + 5


@pytest.mark.parametrize("options", [{}, {"objective": "saro", "sums": "running", "n_models": 2}])
def test_a_killed_training_goes_on(data, valid, options, tmp_path) -> None:
    """The same model comes of it, down to the last bit."""
    whole = ranker(epochs=7, **options).fit(data, valid=valid)
    file = tmp_path / "state.json"

    half = ranker(epochs=7, checkpoint=file, checkpoint_every=2, **options)
    with pytest.raises(StoppedError):
        half.fit(data, valid=valid, progress=stop_at(5))
    seen: list[int] = []
    half.fit(data, valid=valid, progress=lambda epoch, _: seen.append(epoch))
    assert seen == [5, 6, 7]
    assert (half.predict(valid) == whole.predict(valid)).all()
    assert half.history_ == whole.history_
    with pytest.raises(DataError, match="of another training"):
        ranker(epochs=7, checkpoint=file, random_state=3, **options).fit(data, valid=valid)
    half.save(tmp_path / "model")
    assert not file.exists()


@pytest.mark.parametrize("place", [0.05, 0.3, 0.5, 0.9])
def test_a_checkpoint_that_changed_is_refused_or_is_data(data, tmp_path, place) -> None:
    file = tmp_path / "state.json"
    model = ranker(checkpoint=file, checkpoint_every=1).fit(data)
    content = bytearray(file.read_bytes())
    content[int(len(content) * place)] ^= 1
    file.write_bytes(bytes(content))
    try:
        model.fit(data)
    except DataError as error:
        assert str(file) in str(error)  # noqa: PT017


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"objective": "regression", "alpha": None}, "has no pairs"),
        ({"alpha": None}, "needs alpha"),
        ({"hidden": ()}, "hidden is"),
        ({"hidden": (0,)}, "hidden"),
        ({"hidden": (6,), "attention": 1}, "multiple of 4"),
        ({"dropout": 1}, "dropout is 1"),
        ({"learning_rate": 0}, "learning_rate is 0"),
        ({"epochs": 0}, "epochs"),
        ({"n_models": 0}, "n_models"),
        ({"device": "toaster"}, "which cannot be used here"),
        ({"device": "cuda:99"}, "which cannot be used here"),
        ({"early_stopping_rounds": 3}, "needs validation data"),
        ({"stop_on": "risk"}, "stop_on is"),
        ({"measure": "P@5"}, "cannot be optimised"),
        ({"history": 1}, "history is 1"),
        ({"checkpoint": ""}, "must name a file"),
        ({"random_state": -1}, "random_state"),
    ],
)
def test_what_cannot_be_is_refused(data, options, words) -> None:
    with pytest.raises(ArgumentError, match=words):
        ranker(**options).fit(data)


def test_data_that_teaches_nothing(data) -> None:
    with pytest.raises(ArgumentError, match="nothing to learn"):
        ranker().fit(data.with_labels(np.full(len(data), 2.0)))
    with pytest.raises(ArgumentError, match="compares with a baseline"):
        ranker().fit(data.with_baselines_only([]))
    with pytest.raises(ArgumentError, match="compares with a baseline"):
        ranker("gain", None, stop_on="u_risk@5").fit(data.with_baselines_only([]))
    with pytest.raises(ArgumentError, match="from 0 to 4"):
        ranker(measure="ERR@5").fit(data.with_labels(data.y + 3))
    with pytest.raises(ArgumentError, match="not learned anything"):
        ranker().predict(data)


def test_a_step_too_far_is_told(data) -> None:
    with pytest.raises(ArgumentError, match="lower learning_rate"):
        ranker(learning_rate=10, weight_decay=10, epochs=50).fit(data)


def test_categories_are_refused() -> None:
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"price": [1.0, 2.0, 3.0], "colour": pd.Categorical(["red", "blue", "red"]), "qid": [1, 1, 1]})
    with pytest.raises(ArgumentError, match="'colour' is a category, and networks take numbers"):
        ranker("gain", None).fit(table, [1, 0, 2])


def test_weights_of_queries_are_refused() -> None:
    data = sf.demo.letor(queries=6, documents=5, features=3, seed=0)
    for train, weights in ((data, np.arange(1, 7)), (data.with_traffic(np.arange(1, 7)), None)):
        with pytest.raises(ArgumentError, match="networks cannot learn from weights of queries yet; use Ranker"):
            sf.NeuralRanker(epochs=1).fit(train, sample_weight=weights)


def test_a_sweep_of_networks_refuses_traffic(tmp_path: Path) -> None:
    data = sf.demo.letor(queries=48, documents=6, features=4)
    counts = {query: number + 1 for number, query in enumerate(data.queries)}
    plan: Any = {"objectives": ["u_risk"], "alphas": [5], "engine": "torch", "traffic": counts}
    with pytest.raises(sf.SurefootError, match="traffic is for trees"):
        sf.sweep(data, tmp_path / "sweep", **plan)
