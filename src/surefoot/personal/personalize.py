"""From a click log to re-rankers: features, training, choice. Finished stages are stored and not done twice."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from surefoot.arguments import finite_number
from surefoot.clicks.feature_pipeline import FeatureTable, feature_table
from surefoot.clicks.impressions import Satisfaction
from surefoot.clicks.layouts.layout import ReadingSettings
from surefoot.clicks.layouts.reading import find_layout, guess_layout
from surefoot.clicks.options import GRADE_DWELLS, MEMORY, SATISFIED
from surefoot.data.reading.query_tables import read_segments
from surefoot.data.writing.all_or_nothing import ensure_folder
from surefoot.errors import ArgumentError, shortened
from surefoot.learn.engines.contract import engine_of, merge_parameters
from surefoot.personal.lists import check_known
from surefoot.personal.options import GRIDS, LABEL_MEASURES, RESULT, SAMPLE, SPLITS
from surefoot.personal.study import Personalization, check_study, study

_UNITS = {"s": 1.0, "ms": 0.001, "us": 1e-6, "min": 60.0}


def personalize(
    log: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    layout: str | None = None,
    unit: str | float | None = None,
    clock: str = "session",
    actions: Sequence[str] = ("click",),
    labels: str | None = None,
    dwell: Sequence[float] | None = None,
    last: bool = True,
    split: str | None = None,
    sample: int | None = SAMPLE,
    preset: str = "quick",
    grid: dict[str, Any] | None = None,
    ranker: dict[str, Any] | None = None,
    horizons: bool = False,
    segments: Any = None,
    backend: str = "duckdb",
    memory: str = MEMORY,
    threads: int | None = None,
    seed: int = 0,
    force: bool = False,
) -> Personalization:
    """Learn re-rankers from a click log, choose among them, and say what each gains and how often it re-ranks.

    Parameters
    ----------
    log : path
        A file, or a folder of files, of one of the layouts that docs/personalize.md lists.
    folder : path
        Where features, models and the result are kept; the same call goes on where it was.
    layout : str, optional
        The name of the log's layout; by default it is recognised by the first line.
    unit : "s", "ms" or seconds
        What a unit of the log's time lasts, where the layout does not say (yandex2012).
    clock : {"session", "log"}
        Whether times count from each session's start or are one clock for all (yandex2012).
    actions : list of str
        Which events count as clicks, in the layouts that name their events.
    labels : {"satisfied", "grades", "last"}
        Clicks as labels (judged by AP), grades by dwell (nDCG@10), or the last satisfied click alone (RR).
    dwell : seconds
        What satisfies: one threshold, or one for each grade. A session's last click satisfies too, unless `last` is
        false.
    split : {"user", "session", "time"}
        How lists are split into those to train, choose and judge with.
    sample : int, optional
        Lists to train, choose and judge with.
    preset, grid, ranker
        "quick" or "bennett2015"; other values to try, as a dict of `betas` (β of preferences), `alphas` (α of risk)
        and `lowest` (β of "lowest click plus one", tried on lists down to one below the lowest click); other
        parameters of `Ranker`.
    horizons : bool
        Also train the standard model with the session's features alone, and with the user's long-term ones alone.
    segments : file, dict or table, optional
        Kinds of lists, by their names, to look at one by one.
    backend : {"duckdb", "spark"}
        Where features are computed.
    memory : str
        What DuckDB may use, such as "2GB"; the rest goes to disk.
    threads : int, optional
        Of DuckDB and of the learner; as many as cores by default.
    seed : int
        Of the split, of the sample and of training: the same seed gives the same study.
    force : bool
        Begin anew in a folder that holds features of another log or of other options.
    """
    check_known("is no preset", preset, GRIDS)
    if split is not None:
        check_known("is no split by", split, SPLITS)
    layout = layout or guess_layout(log)
    labels = labels or find_layout(layout).default_labels
    if threads is not None:
        ranker = merge_parameters(engine_of(), ranker or {}, {engine_of().threads_parameter: threads})
    reading: dict[str, Any] = {
        "layout": layout, "unit": unit, "clock": clock, "actions": actions, "labels": labels, "dwell": dwell,
        "last": last, "backend": backend, "memory": memory, "threads": threads, "force": force,
    }  # fmt: skip
    if labels in LABEL_MEASURES:  # others are refused with the features
        check_study(LABEL_MEASURES[labels], preset, grid, ranker, seed)
    kinds = None if segments is None else read_segments(segments)
    result = study(
        features(log, folder, **reading), labels=labels, split=split, sample=sample, preset=preset, grid=grid,
        ranker=ranker, segments=kinds, horizons=horizons, seed=seed,
    )  # fmt: skip
    result.write(Path(folder) / RESULT)
    return result


def features(
    log: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    layout: str | None = None,
    unit: str | float | None = None,
    clock: str = "session",
    actions: Sequence[str] = ("click",),
    labels: str | None = None,
    dwell: Sequence[float] | None = None,
    last: bool = True,
    backend: str = "duckdb",
    memory: str = MEMORY,
    threads: int | None = None,
    force: bool = False,
) -> FeatureTable:
    """The table of features alone; see `personalize` for the arguments."""
    known = layout or guess_layout(log)
    kind = labels or find_layout(known).default_labels
    check_known("are no labels", kind, LABEL_MEASURES)
    if clock not in ("session", "log"):
        raise ArgumentError(
            f"clock is {shortened(clock)}; it must be 'session', or 'log' if all sessions share one clock"
        )
    thresholds = tuple(
        float(finite_number(seconds) or -1) for seconds in dwell or (GRADE_DWELLS if kind == "grades" else SATISFIED)
    )
    if min(thresholds) <= 0 or list(thresholds) != sorted(set(thresholds)):
        raise ArgumentError(f"dwell is {shortened(dwell)}; thresholds must be seconds above 0, in rising order")
    if kind != "grades" and len(thresholds) > 1:
        raise ArgumentError(
            f"labels {kind!r} need exactly one dwell threshold, but you gave {len(thresholds)}; give one, or use "
            "labels 'grades'"
        )
    reading = ReadingSettings(known, _seconds(unit), clock, tuple(actions))
    with ensure_folder(folder) as target:
        satisfaction = Satisfaction(thresholds, last)
        return feature_table(
            log, target, reading, satisfaction, backend=backend, memory=memory, threads=threads, force=force
        )


def _seconds(unit: str | float | None) -> float | None:
    """What a unit of time lasts, in seconds.

    >>> _seconds("ms"), _seconds(0.5), _seconds(None)
    (0.001, 0.5, None)
    """
    if unit is None:
        return None
    if isinstance(unit, str) and unit in _UNITS:
        return _UNITS[unit]
    try:
        seconds = float(unit)
    except (TypeError, ValueError):
        seconds = -1.0
    if not 0 < seconds < float("inf"):
        raise ArgumentError(f"unit is {shortened(unit)}; give s, ms, us, min or a number of seconds")
    return seconds
