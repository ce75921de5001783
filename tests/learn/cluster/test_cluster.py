"""Training on real local Dask clusters of separate processes."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.learn.trainings import StoppedError, stop_at

import surefoot as sf
from surefoot.errors import ArgumentError, DataError
from surefoot.learn.engines.contract import engine_of
from surefoot.learn.lambdas import Lambdas
from surefoot.learn.measured_queries import MeasuredQueries
from surefoot.learn.objectives import Objective

pytestmark = [
    pytest.mark.heavy,  # processes that start, and some that die
    pytest.mark.engines("distributed", "xgboost"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

RISKS = ("u_risk", "saro", "faro", "geo_risk")
SMALL: dict[str, Any] = {"engine": "xgboost", "max_depth": 3, "min_child_weight": 0.01}


def labelled(queries: int, seed: int) -> sf.RankingData:
    made = sf.demo.letor(queries=queries, documents=15, features=6, seed=seed).with_baselines_only([])
    return made.with_baseline("first", made.feature(1)).with_baseline("second", made.feature(2))


TRAIN, VALID = labelled(90, 1), labelled(30, 2)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Four workers in processes of their own; most tests use fewer, by having fewer parts."""
    with running(4) as result:
        yield result


def running(workers: int) -> Any:
    from surefoot.learn.cluster.clusters import cluster

    return cluster(f"local:{workers}")


def collections(data: sf.RankingData, parts: int, cut: int = 0) -> dict[str, Any]:
    """Dask arrays of the data in so many parts, each cut so many rows after a query's first."""
    import dask.array as da

    starts = [int(data.offsets[q[0]]) for q in np.array_split(np.arange(len(data.queries)), parts)]
    ends = [*(start + cut for start in starts[1:]), len(data)]
    chunks = tuple(np.diff([0, *ends]).tolist())
    rows = np.repeat(np.arange(len(data.queries)), data.lengths)
    array = {name: da.from_array(values, chunks=(chunks, *[-1] * (values.ndim - 1))) for name, values in (
        ("X", data.X), ("y", data.y), ("qid", rows), *data.baselines.items(),
    )}  # fmt: skip
    return {
        "X": array["X"], "y": array["y"], "qid": array["qid"],
        "baseline": {name: array[name] for name in data.baselines},
    }  # fmt: skip


def fitted(ranker: sf.Ranker, data: sf.RankingData, parts: int, cut: int = 0, **more: Any) -> sf.Ranker:
    parameters = collections(data, parts, cut)
    return ranker.fit(parameters.pop("X"), parameters.pop("y"), **parameters, **more)


# What every machine computes of the whole, by its own part.


def totals(part: sf.RankingData, objective: Objective, communicator: Any = None, name: str = "") -> list[Any]:
    """The sums that an objective adds up at the scores of a feature: c, Σx and Σx² of s_x; c, S and N; Z."""
    from surefoot.learn.cluster.worker import in_communicator, sum_over_machines

    seen: list[Any] = []

    def collect(sums: Any) -> Any:
        result = sums if communicator is None else sum_over_machines(sums)
        seen.append(np.array(result))
        return result

    def compute() -> None:
        target = MeasuredQueries("nDCG@10", part.y, part.offsets, np.arange(len(part)), threads=1)
        rows = np.stack([target.values(scores) for scores in part.baselines.values()])
        Lambdas(objective, target, rows, reduce=collect).peek(part.X[:, 3].astype(np.float64))

    if communicator is None:
        compute()
    else:
        with in_communicator(communicator, name):
            compute()
    return seen


@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize("name", RISKS)
def test_every_worker_sees_the_figures_of_the_whole(client, workers: int, name: str) -> None:
    from surefoot.learn.cluster.clusters import start_tracker, stop_tracker

    objective = Objective(name, 5)
    alone = totals(TRAIN, objective)
    assert bool(alone) == (name != "u_risk")  # which needs to know of no other query
    tracker, communicator = start_tracker(client, workers)
    addresses = sorted(client.nthreads())[:workers]
    cuts = np.array_split(np.arange(len(TRAIN.queries)), workers)
    futures = [
        client.submit(totals, TRAIN.select(cut), objective, communicator, f"{n}", workers=[worker], pure=False)
        for n, (cut, worker) in enumerate(zip(cuts, addresses, strict=True))
    ]
    for result in client.gather(futures):
        assert len(result) == len(alone)
        for one, total in zip(result, alone, strict=True):
            np.testing.assert_allclose(one, total, rtol=1e-9, atol=1e-9)
    stop_tracker(client, tracker)


@pytest.mark.parametrize("parts", [1, 3])
def test_a_model_of_the_cluster_is_one_of_one_machine(client, parts: int) -> None:
    """History, criterion and predictions speak of all data, whoever held it."""
    parameters = {**SMALL, "n_estimators": 12, "checkpoint_every": 5, "stop_on": "geo_risk@5"}
    ranker = fitted(sf.Ranker("saro", 5, **parameters), TRAIN, parts, valid=VALID)
    alone = sf.Ranker("saro", 5, **parameters).fit(TRAIN, valid=VALID)
    for which, data in (("train", TRAIN), ("valid", VALID)):
        history = ranker.history_[which]
        assert {len(values) for values in history.values()} == {12}
        run = data.to_run(ranker.predict(data), "model")
        values = sf.score(data.qrels(), [run], ranker.measure).values[0]
        bases = [
            sf.score(data.qrels(), [data.to_run(s, n)], ranker.measure).values[0] for n, s in data.baselines.items()
        ]
        base = np.mean(bases, axis=0)
        assert history["effectiveness"][-1] == pytest.approx(values.mean(), abs=1e-9)
        assert history["risk"][-1] == pytest.approx(np.maximum(0, base - values).mean(), abs=1e-9)
        assert history["losses"][-1] == (values < base - 1e-12).sum()
    baselines = [
        sf.score(VALID.qrels(), [VALID.to_run(s, n)], ranker.measure).values[0] for n, s in VALID.baselines.items()
    ]
    model = sf.score(VALID.qrels(), [VALID.to_run(ranker.predict(VALID), "model")], ranker.measure).values[0]
    assert ranker.best_score_ == pytest.approx(sf.geo_risk(np.stack([*baselines, model]), 5)[-1], abs=1e-9)
    assert ranker.random_state_ == alone.random_state_
    assert ranker.baselines_ == alone.baselines_
    assert ranker.tie_rule_ == alone.tie_rule_
    if parts == 1:  # bins come out the same, and so do the trees
        np.testing.assert_allclose(ranker.predict(VALID), alone.predict(VALID), atol=1e-6)
        np.testing.assert_allclose(ranker.score_sample_, alone.score_sample_, atol=1e-6)


def test_early_stopping_is_the_same_decision_everywhere(client) -> None:
    parameters = {**SMALL, "n_estimators": 60, "early_stopping_rounds": 4, "checkpoint_every": 7, "stop_on": "u_risk@5"}
    valid = collections(VALID, 2)
    ranker = fitted(
        sf.Ranker("u_risk", 5, **parameters), TRAIN, 3,
        valid=(valid["X"], valid["y"], valid["qid"], valid["baseline"]),
    )  # fmt: skip
    assert ranker.best_iteration_ < 60
    grown = engine_of("xgboost").count_trees(ranker.booster_)
    assert grown - ranker.best_iteration_ in (4, 0) or grown == 60


def coarse(data: sf.RankingData) -> sf.RankingData:
    """With features of few values, whose bins are the same however many machines sketch them."""
    return data.with_features(np.round(4 * data.X).astype(np.float32), data.feature_names)


@pytest.mark.parametrize("cut", [0, 3])
def test_weights_are_relative_to_the_mean_of_all_machines(client, cut: int, tmp_path: Path) -> None:
    """The first machine's queries are asked once each, the other's up to 40 times: one mean weight, and one model."""
    train, valid = coarse(TRAIN), coarse(VALID)
    weights = np.where(np.arange(90) < 45, 1.0, np.arange(90) % 41)
    left_out = int((weights == 0).sum())
    traffic = {str(number): float(weight) for number, weight in enumerate(weights)}
    rows = np.repeat(weights, train.lengths)
    parameters = {**SMALL, "n_estimators": 8, "stop_on": "t_risk@5", "checkpoint_every": 3, "nthread": 1}
    checked = valid.with_traffic(np.arange(1, 31))
    alone = sf.Ranker("saro", 5, **parameters).fit(train, valid=checked, sample_weight=weights)
    for given in (rows, traffic):
        ranker = fitted(sf.Ranker("saro", 5, **parameters), train, 2, cut, valid=checked, sample_weight=given)
        np.testing.assert_allclose(ranker.predict(valid), alone.predict(valid), atol=1e-5)
        assert ranker.best_score_ == pytest.approx(alone.best_score_, rel=1e-4)
        assert ranker.history_["train"]["risk"] == pytest.approx(alone.history_["train"]["risk"], rel=1e-3)
        assert ranker.traffic_ == pytest.approx(alone.traffic_)
        assert ranker.traffic_ is not None
        assert ranker.traffic_["left_out"] == left_out > 0
    plain = fitted(sf.Ranker("saro", 5, **parameters), train, 2, cut, valid=valid)
    equal = fitted(sf.Ranker("saro", 5, **parameters), train, 2, cut, valid=valid, sample_weight=np.full(len(rows), 3))
    np.testing.assert_array_equal(equal.predict(valid), plain.predict(valid))
    assert equal.traffic_ is None
    state = tmp_path / "state.json"

    kept = {**parameters, "checkpoint": state}
    with pytest.raises(StoppedError):
        fitted(sf.Ranker("saro", 5, **kept), train, 2, cut, sample_weight=rows, progress=stop_at(8))
    with pytest.raises(DataError, match="the training data"):
        fitted(sf.Ranker("saro", 5, **kept), train, 2, cut)
    resumed = fitted(sf.Ranker("saro", 5, **kept), train, 2, cut, sample_weight=rows)
    assert resumed.traffic_ is not None


def test_parts_of_which_no_query_is_asked_are_left_out(client) -> None:
    weights = np.repeat(np.where(np.arange(90) < 30, 0.0, 1.0 + np.arange(90) % 2), TRAIN.lengths)
    ranker = fitted(sf.Ranker("gain", **SMALL, n_estimators=2), TRAIN, 3, sample_weight=weights)
    assert ranker.traffic_ is not None
    assert (ranker.traffic_["queries"], ranker.traffic_["left_out"]) == (60, 30)
    for wrong, message in (
        (weights * 0, "the training data has no query with traffic"),
        (weights[:-1], "sample_weight has"),
        ({"none of them": 3}, "the training data has no query with traffic"),
    ):
        with pytest.raises(sf.SurefootError, match=message):
            fitted(sf.Ranker("gain", **SMALL, n_estimators=2), TRAIN, 3, sample_weight=wrong)


@pytest.mark.parametrize("cut", [1, 4])
def test_a_query_that_goes_on_into_the_next_part_is_mended(client, cut: int) -> None:
    parameters = {**SMALL, "n_estimators": 3, "nthread": 1}
    total, cut_in_two = (fitted(sf.Ranker("faro", 5, **parameters), TRAIN, 3, where) for where in (0, cut))
    np.testing.assert_allclose(cut_in_two.predict(TRAIN), total.predict(TRAIN), atol=1e-6)


def test_a_query_over_three_parts(client) -> None:
    """One whole part is in the middle of a query."""
    import dask.array as da

    long = sf.RankingData(
        TRAIN.X,
        TRAIN.y,
        group=[20, 60, *[20] * ((len(TRAIN) - 80) // 20), *([len(TRAIN) % 20] if len(TRAIN) % 20 else [])],
    )
    chunks = ((30, 20, 40, len(long) - 90),)
    rows = np.repeat(np.arange(len(long.queries)), long.lengths)
    X = da.from_array(long.X, chunks=(*chunks, -1))
    ranker = sf.Ranker(n_estimators=2, **SMALL).fit(
        X, da.from_array(long.y, chunks=chunks), qid=da.from_array(rows, chunks=chunks)
    )
    assert ranker.history_["train"]["effectiveness"][-1] == pytest.approx(ranker.score(long), abs=1e-9)


def test_a_query_in_two_parts_that_do_not_follow_each_other(client) -> None:
    parameters = collections(TRAIN, 3)
    rows = np.repeat(np.arange(len(TRAIN.queries)), TRAIN.lengths)
    rows[rows == rows[-1]] = 0
    with pytest.raises(ArgumentError, match="two parts that do not follow each other"):
        sf.Ranker(n_estimators=2, **SMALL).fit(parameters["X"], parameters["y"], qid=rows)


def test_frames_parts_without_rows_and_a_worker_with_one_query(client) -> None:
    import dask.dataframe as dd
    import pandas as pd

    rows = np.repeat([f"q{n}" for n in range(len(TRAIN.queries))], TRAIN.lengths)
    table = pd.DataFrame(TRAIN.X, columns=list("abcdef")).assign(qid=rows, label=TRAIN.y)
    first = int(TRAIN.offsets[1])
    frame = dd.concat([
        dd.from_pandas(part, npartitions=1, sort=False) for part in (table[:first], table[:0], table[first:])
    ])  # fmt: skip
    ranker = sf.Ranker(n_estimators=4, **SMALL).fit(frame.drop(columns="label"), frame["label"])
    assert ranker.feature_names_in_ == list("abcdef")
    assert ranker.score(TRAIN) == pytest.approx(ranker.history_["train"]["effectiveness"][-1], abs=1e-9)


def test_a_checkpoint_goes_on_with_other_workers(client, tmp_path: Path) -> None:
    parameters = {**SMALL, "n_estimators": 12, "checkpoint_every": 4, "checkpoint": tmp_path / "state.json"}

    from surefoot.learn.cluster import fit

    collect = fit.Checkpoint.write

    def write_and_stop(self: Any, *what: Any) -> None:
        collect(self, *what)
        raise StoppedError

    ranker = sf.Ranker("geo_risk", 5, **parameters)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fit.Checkpoint, "write", write_and_stop)
        with pytest.raises(StoppedError):
            fitted(ranker, TRAIN, 2, valid=VALID)
    resumed = fitted(ranker, TRAIN, 2, valid=VALID)
    undisturbed = fitted(sf.Ranker("geo_risk", 5, **(parameters | {"checkpoint": None})), TRAIN, 2, valid=VALID)
    np.testing.assert_allclose(resumed.predict(VALID), undisturbed.predict(VALID), atol=1e-5)
    assert len(resumed.history_["train"]["risk"]) == 12
    resumed.save(tmp_path / "model")
    assert not (tmp_path / "state.json").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"engine": "lightgbm", "max_depth": 3, "min_child_weight": 0.01}, "engine 'lightgbm' learns on one machine"),
        (SMALL | {"min_child_weight": 1e9}, "no tree can be grown"),
        (SMALL | {"num_leaves": 3}, "is a parameter of LightGBM"),
        (SMALL | {"early_stopping_rounds": 3}, "needs validation data"),
    ],
)
def test_what_is_wrong_is_said_as_on_one_machine(client, change: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        fitted(sf.Ranker("u_risk", 5, n_estimators=2, **change), TRAIN, 3)


def test_wrong_data_is_said_with_its_part(client) -> None:
    y = TRAIN.y.copy()
    y[-1] = np.nan
    parameters = collections(TRAIN, 3)
    with pytest.raises(ArgumentError, match=r"part 3 of the training data: .*label"):
        sf.Ranker(n_estimators=2, **SMALL).fit(parameters["X"], y, qid=parameters["qid"])
    with pytest.raises(ArgumentError, match="y has 9 rows"):
        sf.Ranker(n_estimators=2, **SMALL).fit(parameters["X"], y[:9], qid=parameters["qid"])
    with pytest.raises(ArgumentError, match="has no queries"):
        sf.Ranker(n_estimators=2, **SMALL).fit(parameters["X"], y)
    with pytest.raises(ArgumentError, match="give qid"):
        sf.Ranker(n_estimators=2, **SMALL).fit(parameters["X"], y, group=TRAIN.lengths)
    flat = np.zeros(len(TRAIN))
    with pytest.raises(ArgumentError, match="nothing to learn"):
        sf.Ranker(n_estimators=2, **SMALL).fit(parameters["X"], flat, qid=parameters["qid"])


def test_workers_are_not_missed_while_the_client_refreshes_what_it_knows(client) -> None:
    import dask
    from distributed import Client

    from surefoot.learn.cluster.rounds import Machines

    with (
        dask.config.set({"distributed.client.scheduler-info-interval": "1ms"}),
        Client(client.scheduler.address, set_as_default=False) as other,
    ):
        machines = Machines(other, [], [])
        assert {len(machines._present_workers()) for _ in range(300)} == {len(client.nthreads())}


def test_a_worker_with_another_version(client) -> None:
    def pretend(version: str) -> str:
        import surefoot

        before, surefoot.__version__ = surefoot.__version__, version
        return before

    worker = sorted(client.nthreads())[0]
    before = client.run(pretend, "0.0.1", workers=[worker])[worker]
    try:
        with pytest.raises(ArgumentError, match=rf"worker {worker} has surefoot 0\.0\.1 \(here .*same versions"):
            fitted(sf.Ranker(n_estimators=2, **SMALL), TRAIN, 2)
    finally:
        client.run(pretend, before, workers=[worker])


def test_no_cluster() -> None:
    import distributed

    from surefoot.learn.cluster.clusters import cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("surefoot.learn.cluster.clusters._REACHED_WITHIN", 1)
        with (
            pytest.raises(ArgumentError, match=r"no Dask scheduler answers at 127\.0\.0\.1:9"),
            cluster("127.0.0.1:9"),
        ):
            pass
    for text in ("", "local:0", "nowhere", "tcp://"):
        with pytest.raises(ArgumentError, match="--dask"), cluster(text):
            pass
    patch = pytest.MonkeyPatch()
    patch.setattr(distributed, "default_client", lambda: (_ for _ in ()).throw(ValueError("no client")))
    try:
        with pytest.raises(ArgumentError, match="start one"):
            fitted(sf.Ranker(n_estimators=2, **SMALL), TRAIN, 2)
    finally:
        patch.undo()


def test_workers_that_wait_for_ever_are_restarted() -> None:
    """As XGBoost may, for one that was killed: parts are read by workers that are started anew."""
    from surefoot.learn.cluster.parts import parts_from_data
    from surefoot.learn.cluster.rounds import Machines

    with running(2) as client:
        before = client.run(os.getpid)
        stuck = [client.submit(time.sleep, 3600, workers=[one], pure=False) for one in before]
        machines = Machines(client, parts_from_data(TRAIN, 2), parts_from_data(VALID, 2))
        client.cancel(stuck, force=True)
        with pytest.warns(sf.SurefootWarning, match="restarted"):
            machines._restart(sorted(before))
        machines.place()
        assert len(machines.assigned) == 2
        assert not set(before.values()) & set(client.run(os.getpid).values())


def test_a_worker_that_is_killed(tmp_path: Path) -> None:
    """With SIGKILL, while trees are grown: the run goes on from the last round, says so, and has all of its trees."""
    with running(3) as client:
        processes = client.run(os.getpid)
        victim = sorted(processes)[1]
        killed: list[float] = []

        def progress(trees: int, _: Any) -> None:
            if trees >= 25 and not killed:
                killed.append(time.monotonic())
                threading.Thread(target=os.kill, args=(processes[victim], signal.SIGKILL)).start()

        large = labelled(600, 3)
        ranker = sf.Ranker("saro", 5, n_estimators=400, checkpoint_every=20, **SMALL)
        with pytest.warns(sf.SurefootWarning, match=r"stopped|lost their connection") as warned:
            fitted(ranker, large, 6, valid=VALID, progress=progress)
        assert killed
        assert any("training continues from there" in str(one.message) for one in warned)
        assert ranker.best_iteration_ == 400
        assert len(ranker.history_["train"]["risk"]) == len(ranker.history_["valid"]["risk"]) == 400
        values = ranker.history_["train"]["effectiveness"]
        assert values[-1] == pytest.approx(ranker.score(large), abs=1e-6)
        ranker.save(tmp_path / "model")
        np.testing.assert_array_equal(sf.Ranker.load(tmp_path / "model").predict(VALID), ranker.predict(VALID))
