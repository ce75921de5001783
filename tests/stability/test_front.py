"""What is concluded from a study: only what its data says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.stability.front import front, headline
from surefoot.stability.study import Study


def subsets(rates: list[float], sizes: list[int], queries: int = 200, **more: Any) -> dict[str, Any]:
    picks = {"means": [0.5, 0.4], "winner": "f1", "rate": rates, "variance": [rate * (1 - rate) for rate in rates]}
    return {
        "schema": "surefoot/stability-subsets/1", "measures": ["nDCG@5"], "systems": ["f1", "f2"], "queries": queries,
        "sizes": sizes, "subsets": 1000, "seed": 0, "results": {"nDCG@5": picks}, **more,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("rates", "words"),
    [
        (
            [0.8, 0.96, 0.99, 1.0],
            "With 50 queries or more, you can trust that f1 is better than f2: nDCG@5 chooses it in at least 95 %",
        ),
        (
            [0.96, 0.94, 0.99, 1.0],
            "With 100 queries or more, you can trust that f1 is better than f2",
        ),  # a size below it is not sure
        ([0.6, 0.7, 0.949, 1.0], "Do not choose between f1 and f2 on 100 queries: nDCG@5 chooses f1 in only 94 %"),
        ([0.99, 0.99, 0.99, 1.0], "With 10 queries or more"),
    ],
)
def test_subsets_say_from_how_many_queries_on(rates: list[float], words: str) -> None:
    data = subsets(rates, [10, 50, 100, 200])
    assert words in headline(data)
    assert front(data).chip.kind == ("ship" if words.startswith("With") else "wait")
    assert headline(data) in " ".join(Study(data).to_text(200).split())


def test_sizes_above_half_of_the_queries_say_nothing() -> None:
    assert headline(subsets([1.0, 1.0], [150, 200])).startswith("Use smaller subsets")


def test_measures_that_disagree_come_before_all() -> None:
    data = subsets([1.0], [50])
    data["measures"].append("AP")
    data["results"]["AP"] = data["results"]["nDCG@5"] | {"winner": "f2"}
    assert headline(data) == "Choose the measure first: nDCG@5 chooses f1, AP chooses f2."
    tie = subsets([1.0], [50])
    tie["results"]["nDCG@5"]["means"] = [0.4, 0.4]
    assert headline(tie) == "Nothing to choose: f1 and f2 have the same mean nDCG@5."


def test_time_goes_by_the_periods() -> None:
    ids = [f"q{i}" for i in range(60)]
    dates = {query: f"2026-11-0{1 + at % 3}" for at, query in enumerate(ids)}
    best = np.full(60, 0.5)
    always = sf.Scores([best, best - 0.1], ["f1", "f2"], ids, "nDCG@5")
    study = sf.stability.time(always, dates, size=10, subsets=20)
    assert headline(study.to_dict()).startswith("In every day, you can trust that f1 is better than f2: nDCG@5 ")
    other = np.where(np.arange(60) % 3 == 0, best + 0.05, best - 0.1)  # the first day it is better
    study = sf.stability.time(sf.Scores([best, other], ["f1", "f2"], ids, "nDCG@5"), dates, size=10, subsets=20)
    assert headline(study.to_dict()) == (
        "Do not choose between f1 and f2 by one day: nDCG@5 prefers f1 in 2 of 3 days."
    )


def noise(share: float, mean: float) -> dict[str, Any]:
    def spread(level: float, over: float | None) -> dict[str, Any]:
        return {"mean": [level, level], "deviation": [0.0, 0.01], "deviation_over_first": over}

    system = {"system": "f1", "measures": {"nDCG@5": spread(0.5, 1.0), "SoftNDCG(sigma=0.2)@5": spread(mean, share)}}
    return {
        "schema": "surefoot/stability-noise/1", "measures": ["nDCG@5", "SoftNDCG(sigma=0.2)@5"], "queries": 9,
        "sizes": [0.0, 0.1], "repeats": 10, "systems": [system],
    }  # fmt: skip


def test_a_measure_with_small_values_is_not_called_steadier() -> None:
    assert headline(noise(0.6, 0.4)) == (
        "Prefer SoftNDCG(sigma=0.2)@5 if scores change a little: with the same noise, it varies 40 % less than nDCG@5."
    )
    assert front(noise(0.6, 0.4)).caution is not None
    assert headline(noise(0.6, 0.1)).startswith("Keep nDCG@5:")  # 0.6 · 0.5 is more beside 0.1 than 1 beside 0.5
    assert headline(noise(1.2, 0.5)).startswith("Keep nDCG@5:")


def test_the_best_function_is_sure_or_not() -> None:
    rng = np.random.default_rng(0)
    base = rng.uniform(0.2, 0.6, 80)
    ids = [f"q{i}" for i in range(80)]
    sure = sf.Scores([base + 0.2, base, base - 0.1], ["f1", "f2", "f3"], ids, "nDCG@5")
    assert headline(sf.stability.measures(sure, replicates=50).to_dict()) == (
        "Choose f1: it is the best by nDCG@5, in at least 100 % of resamples."
    )
    close = sf.Scores([base, base[::-1] - 0.001], ["f1", "f2"], ids, "nDCG@5")
    words = headline(sf.stability.measures(close, replicates=50).to_dict())
    assert words.startswith("Do not call f1 the best yet: by nDCG@5 it is best in only ")
    assert words.endswith("; f2 is next.")


def test_each_front_has_four_to_six_tiles(studies) -> None:
    for study in studies:
        shown = front(study.to_dict())
        assert 4 <= len(shown.tiles) <= 6
        assert study.to_html().count("<h1") == 1
