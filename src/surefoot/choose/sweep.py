"""`sweep`: train every trade-off of a plan on every fold, and compare them with each other and with what is shipped."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from surefoot.choose import options as choices
from surefoot.choose.folds import FoldSource, store_data
from surefoot.choose.plan import SweepPlan, learner_of
from surefoot.choose.store import SweepStore, traffic_hash
from surefoot.choose.tradeoffs import TradeOffs, trade_offs
from surefoot.choose.trainings import SweepProgress, run
from surefoot.data.reading.traffic import Traffic, read_traffic
from surefoot.errors import ArgumentError, did_you_mean, name_list, shortened
from surefoot.learn.baseline_spec import resolve_baseline
from surefoot.learn.engines.contract import merge_parameters
from surefoot.learn.options import ENGINE, MEASURE, NETWORK_ENGINE
from surefoot.learn.training_weights import georisk_refusal

# What a preset may set; the rest of `sweep` has its defaults in the signature.
_USUAL: dict[str, Any] = {
    "objectives": choices.OBJECTIVES, "alphas": choices.ALPHAS, "grid": {}, "tune": choices.TUNE, "held_out": None,
    "learn_baselines": False,
}  # fmt: skip
# The papers' own studies, so that whoever has their data types one line.
_STUDIES: dict[str, dict[str, Any]] = {
    # Wang et al. (SIGIR 2012), §5.2: the grid is searched at α = 0 on each fold, and what it finds reused for α > 0.
    "wang2012": {
        "objectives": ("u_risk",),
        "alphas": (1, 5, 10, 20),
        "grid": {
            "min_data_in_leaf": (500, 1000, 1500),
            "num_leaves": (10, 25, 50),
            "n_estimators": (50, 100, 200, 400, 800),
            "learning_rate": (0.025, 0.05, 0.075),
        },
        "tune": "gain",
    },
    # Dinçer et al. (SIGIR 2014), §6.1.
    "dincer2014": {
        "objectives": ("u_risk", "saro", "faro"),
        "alphas": (1, 5, 10, 20),
        "grid": {
            "min_data_in_leaf": (500, 1000),
            "num_leaves": (50,),
            "n_estimators": (800,),
            "learning_rate": (0.075,),
        },
        "tune": "gain",
    },
    # Dinçer et al. (SIGIR 2016), §6.1: 2,000 queries held out, on which four baselines are learned.
    "dincer2016": {
        "objectives": ("u_risk@all", "saro@all", "faro@all", "geo_risk"),
        "alphas": (1, 5),
        "grid": {
            "min_data_in_leaf": (1500,),
            "num_leaves": (50,),
            "n_estimators": (500,),
            "learning_rate": (0.1,),
        },
        "tune": "none",
        "learn_baselines": True,
        "held_out": 2000,
    },
}


def sweep(
    data: Any,
    folder: str | os.PathLike[str],
    *,
    baselines: Sequence[str] = (),
    objectives: Sequence[str] | str | None = None,
    alphas: Sequence[float] | None = None,
    seeds: Sequence[int] = choices.SEEDS,
    grid: Mapping[str, Any] | None = None,
    tune: str | None = None,
    measure: str = MEASURE,
    folds: int = choices.FOLDS,
    split_seed: int = choices.SPLIT_SEED,
    traffic: Any = None,
    preset: str | None = None,
    engine: str = ENGINE,
    workers: int | None = None,
    threads: int = 1,
    rule: str | None = None,
    early_stopping_rounds: int | None = None,
    stop_on: str | None = None,
    learn_baselines: bool | None = None,
    held_out: float | None = None,
    selective: str | None = None,
    strategies: str = "gain",
    choose_by: str = "validation",
    inner_folds: int = choices.INNER_FOLDS,
    on_progress: Callable[[SweepProgress], None] | None = None,
) -> TradeOffs:
    """Train objectives × α × parameters × seeds on every fold, and compare them on validation and test data.

    `data` is a folder of Fold*/train.txt, vali.txt and test.txt, one LETOR file, RankingData, or a list of such
    (train, valid, test); a file or RankingData is cut by query into `folds` parts. `folder` keeps every finished
    training: the same call goes on where a killed one was. `baselines` are texts such as "bm25=feature:25"; the first
    is what is shipped, RankingData's own come before. `grid` has lists of engine parameters and of n_estimators,
    `tune` says how they are chosen. With `learn_baselines`, four more are learned on `held_out` queries.
    `selective` names an aggregate such as "mean:25" that all models get as a feature. `strategies` says what blends
    and the like are made of: "gain" (the gain-only model) or "all". With `choose_by="cross-validation"` every setting
    is also trained without each of `inner_folds` parts of a fold's training queries, by which `surefoot select` then
    chooses. `engine` is "lightgbm", "xgboost" or "torch" (networks, whose epochs are n_estimators); `rule`,
    `early_stopping_rounds` and `stop_on` are Ranker's.
    A `preset` ("wang2012", "dincer2014", "dincer2016") sets what is not given, parameters one by one. Without one,
    `objectives` are u_risk, `alphas` 1, 5, 10 and 20, and `tune` is "gain".

    `traffic` (a file, a dict {query: count}, a table) says how often each query is asked: then queries count so in
    training and in all figures, and those without traffic are left out.

    Objectives compare with the first baseline; "faro@all" (T*-FARO) and geo_risk with all of them.
    """
    given = {
        "objectives": objectives, "alphas": alphas, "tune": tune, "held_out": held_out,
        "learn_baselines": learn_baselines,
    }  # fmt: skip
    usual = _USUAL | ({} if preset is None else preset_settings(preset))
    settings = usual | {name: value for name, value in given.items() if value is not None}
    settings["grid"] = merge_parameters(learner_of(engine), usual["grid"], grid or {})
    options = {"rule": rule, "early_stopping_rounds": early_stopping_rounds, "stop_on": stop_on}
    for name, word, known in (
        ("strategies", strategies, choices.STRATEGIES), ("choose_by", choose_by, choices.CHOOSE_BY)
    ):  # fmt: skip
        if word not in known:
            raise ArgumentError(f"{name} is {shortened(word)}; it must be one of {', '.join(known)}")
    requested = [settings["objectives"]] if isinstance(settings["objectives"], str) else settings["objectives"]
    plan = SweepPlan.checked(
        requested, settings["alphas"], seeds, settings["grid"], settings["tune"], measure,
        # The default engine is not named, so that sweeps from before there was another one go on.
        {
            learner_of(engine).threads_parameter: threads, **({} if engine == ENGINE else {"engine": engine}),
            **{name: value for name, value in options.items() if value is not None},
        },
        inner_folds if choose_by == "cross-validation" else 0,
    )  # fmt: skip
    counts = None if traffic is None else read_traffic(traffic)
    if counts is not None:
        _check_traffic(plan, counts, engine)
    learned = bool(settings["learn_baselines"])
    if learned and engine == NETWORK_ENGINE:
        raise ArgumentError("learn_baselines learns trees, but this is a sweep of networks; give it baselines")
    apart = (choices.HELD_OUT if learned else 0.0) if settings["held_out"] is None else settings["held_out"]
    on_disk = isinstance(data, str | os.PathLike)
    if not isinstance(folder, str | os.PathLike):
        raise ArgumentError(f"folder is {shortened(folder)}; it must name the folder for the sweep")
    if not learned and settings["held_out"]:
        raise ArgumentError("held_out queries are for learning baselines; set learn_baselines too")
    if on_disk and not learned and not baselines:
        raise ArgumentError(
            "there is no baseline to compare with; name one, such as bm25=feature:25, or set learn_baselines"
        )
    path = Path(data).resolve() if on_disk else store_data(data, Path(folder), needed=not (learned or baselines))
    named = tuple(map(resolve_baseline, baselines))
    source = FoldSource(
        str(path), named, folds, split_seed, float(apart), selective,
        None if counts is None else traffic_hash(counts),
    )  # fmt: skip
    source.files()
    store = SweepStore(folder, plan, source, learned, counts)
    with store.lock():
        result = trade_offs(store, run(store, workers, on_progress).failures, strategies)
        result.write(store.folder / choices.RESULT_FILE)
    return result


def _check_traffic(plan: SweepPlan, traffic: Traffic, engine: str) -> None:
    """Refuse what does not go with queries that count differently."""
    if engine == NETWORK_ENGINE:
        raise ArgumentError("traffic is for trees, but this is a sweep of networks; leave out the traffic")
    if len({count for count in traffic.values() if count}) == 1:
        return
    stop_on = str(plan.options.get("stop_on", ""))
    for what in (*plan.objectives, *([f"stop_on={stop_on!r}"] if stop_on.startswith("geo_risk") else [])):
        if "geo_risk" in what:
            raise georisk_refusal(f"objective {what!r}" if what in plan.objectives else what)


def preset_settings(name: str) -> dict[str, Any]:
    """A preset's arguments of `sweep`."""
    if name not in _STUDIES:
        raise ArgumentError(
            f"there is no preset {shortened(name)}{did_you_mean(name, _STUDIES)}; the presets are: "
            f"{name_list([*_STUDIES])}"
        )
    return _STUDIES[name]
