"""`sweep`: train every trade-off of a plan on every fold, and compare them with each other and with what is shipped."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from surefoot.choose import options as choices
from surefoot.choose.folds import FoldSource, store_data
from surefoot.choose.learners import learner_of
from surefoot.choose.plan import SweepPlan
from surefoot.choose.presets import preset as known_preset
from surefoot.choose.store import SweepStore, traffic_hash
from surefoot.choose.tradeoffs import TradeOffs, trade_offs
from surefoot.choose.trainings import SweepProgress, run
from surefoot.data.reading.traffic import Traffic, read_traffic
from surefoot.errors import ArgumentError, shortened
from surefoot.learn.baseline_spec import resolve_baseline
from surefoot.learn.engines.contract import merge_parameters
from surefoot.learn.options import ENGINE, MEASURE, NETWORK_ENGINE
from surefoot.learn.training_weights import georisk_refusal

DEFAULTS: dict[str, Any] = {
    "objectives": choices.OBJECTIVES, "alphas": choices.ALPHAS, "seeds": choices.SEEDS, "grid": {},
    "tune": choices.TUNE, "measure": MEASURE, "folds": choices.FOLDS, "split_seed": choices.SPLIT_SEED,
    "held_out": None, "learn_baselines": False, "selective": None, "strategies": "gain", "choose_by": "validation",
    "inner_folds": choices.INNER_FOLDS, "traffic": None,
}  # fmt: skip


def sweep(
    data: Any,
    folder: str | os.PathLike[str],
    *,
    baselines: Sequence[str] = (),
    preset: str | None = None,
    workers: int | None = None,
    threads: int = 1,
    engine: str = ENGINE,
    on_progress: Callable[[SweepProgress], None] | None = None,
    options: Mapping[str, Any] | None = None,
    **overrides: Any,
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
    chooses. `engine` is "lightgbm", "xgboost" or "torch" (networks, whose epochs are n_estimators), `options` are
    Ranker's others.
    A `preset` ("wang2012", "dincer2014", "dincer2016") sets what is not given, parameters one by one.

    `traffic` (a file, a dict {query: count}, a table) says how often each query is asked: then queries count so in
    training and in all figures, and those without traffic are left out.

    Objectives compare with the first baseline; "faro@all" (T*-FARO) and geo_risk with all of them.
    """
    unknown = sorted(overrides.keys() - DEFAULTS)
    if unknown:
        raise ArgumentError(f"sweep has no argument {unknown[0]!r}; it has {', '.join(DEFAULTS)}")
    usual = DEFAULTS | ({} if preset is None else known_preset(preset))
    settings = (
        usual | overrides | {"grid": merge_parameters(learner_of(engine), usual["grid"], overrides.get("grid", {}))}
    )
    for name, known in (("strategies", choices.STRATEGIES), ("choose_by", choices.CHOOSE_BY)):
        if settings[name] not in known:
            raise ArgumentError(f"{name} is {shortened(settings[name])}; it must be one of {', '.join(known)}")
    objectives = [settings["objectives"]] if isinstance(settings["objectives"], str) else settings["objectives"]
    plan = SweepPlan.checked(
        objectives, settings["alphas"], settings["seeds"], settings["grid"], settings["tune"], settings["measure"],
        # The default engine is not named, so that sweeps from before there was another one go on.
        {
            learner_of(engine).threads_parameter: threads, **({} if engine == ENGINE else {"engine": engine}),
            **(options or {}),
        },
        settings["inner_folds"] if settings["choose_by"] == "cross-validation" else 0,
    )  # fmt: skip
    traffic = None if settings["traffic"] is None else read_traffic(settings["traffic"])
    if traffic is not None:
        _check_traffic(plan, traffic, engine)
    learned = bool(settings["learn_baselines"])
    if learned and engine == NETWORK_ENGINE:
        raise ArgumentError("learn_baselines learns trees, but this is a sweep of networks; give it baselines")
    held_out = (choices.HELD_OUT if learned else 0.0) if settings["held_out"] is None else settings["held_out"]
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
        str(path), named, settings["folds"], settings["split_seed"], float(held_out), settings["selective"],
        None if traffic is None else traffic_hash(traffic),
    )  # fmt: skip
    source.files()
    store = SweepStore(folder, plan, source, learned, traffic)
    with store.lock():
        result = trade_offs(store, run(store, workers, on_progress).failures, settings["strategies"])
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
