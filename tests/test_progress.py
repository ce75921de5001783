"""Progress: whoever looks on is told, and the work is the same without."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

import surefoot as sf
from surefoot.progress import busy, show_with, steps


class Log:
    def __init__(self) -> None:
        self.seen: list[tuple[str, int | None, int]] = []

    def __call__(self, items: Iterable[Any], total: int | None, doing: str) -> Iterator[Any]:
        done = 0
        for item in items:
            yield item
            done += 1
        self.seen.append((doing, total, done))


def test_steps_are_counted_while_someone_looks_on() -> None:
    log = Log()
    with show_with(log):
        assert list(steps(range(3), "Counting")) == [0, 1, 2]
        with busy("Thinking"):
            pass
    assert list(steps(range(3), "Counting")) == [0, 1, 2]
    assert log.seen == [("Counting", 3, 3), ("Thinking", None, 1)]


def test_an_error_within_ends_the_showing() -> None:
    log = Log()
    with pytest.raises(ZeroDivisionError), show_with(log), busy("Dividing"):
        raise ZeroDivisionError
    assert list(steps(range(2), "After")) == [0, 1]
    assert log.seen == []


def test_scores_bootstrap_studies_and_page_tell_how_far_they_are() -> None:
    made = sf.demo.runs(queries=20, depth=10)
    scores = sf.score(made.qrels, made.runs[:2], "nDCG@10")
    log = Log()
    with show_with(log):
        sf.score(made.qrels, made.runs[:2], "nDCG@10")
        sf.assess(scores, "today", bootstrap=10).to_html()
        sf.stability.noise(made.qrels, made.runs[:2], repeats=2)
        sf.stability.subsets([scores], subsets=10)
    seen = [doing for doing, _, _ in log.seen]
    assert set(seen) == {"Scoring runs", "Systems", "Writing the page", "Adding noise", "Runs", "Drawing subsets"}
