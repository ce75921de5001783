"""A folder's name is a name: neither a pattern of names nor a column with one value."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.clicks.logs import GRADES, YANDEX14, features, generated, made
from tests.clicks.test_served import facts_of, found, state_of

from surefoot.clicks.feature_pipeline import FeatureTable
from surefoot.clicks.layouts.layout import ReadingSettings

NAMES = ["day=3", "user=7", "session=x", "query=a", "line=3", "number=3", "shard=1", "log[1]", "a*b", "a?b", "{a}"]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> FeatureTable:
    folder = tmp_path_factory.mktemp("plain")
    return made(generated(folder, 5), folder / "study", YANDEX14, GRADES, shards=2)


@pytest.mark.parametrize("name", NAMES)
def test_a_log_and_its_study(name: str, expected: FeatureTable, tmp_path: Path) -> None:
    for folder in ("aXb", name):  # what a*b and a?b would be, too
        (tmp_path / folder).mkdir()
    generated(tmp_path / "aXb", 3, seed=2)
    found = made(generated(tmp_path / name, 5), tmp_path / name / "study", YANDEX14, GRADES, shards=2)
    assert found.counts == expected.counts
    assert features(found).equals(features(expected))


@pytest.mark.parametrize("layout", ["ubi", "metarank"])
def test_other_layouts(layout: str, tmp_path: Path) -> None:
    tables = []
    for folder in (tmp_path / "plain", tmp_path / "user=7" / "line=[1]"):
        folder.mkdir(parents=True)
        tables.append(made(generated(folder, 5, layout), folder / "study", ReadingSettings(layout), GRADES))
    assert tables[0].counts == tables[1].counts
    assert features(tables[0]).equals(features(tables[1]))


def test_windows(tmp_path: Path) -> None:
    folder = tmp_path / "shard=1" / "user=[7]"
    folder.mkdir(parents=True)
    log = generated(folder, 5)
    fast, slow = (made(log, folder / str(way), YANDEX14, GRADES, shards=2, windows=way) for way in (False, True))
    assert fast.counts == slow.counts
    assert features(fast).equals(features(slow))


@pytest.mark.parametrize("name", ["session=b", "query=y", "[1]"])
def test_the_state_that_is_served(name: str, tmp_path: Path) -> None:
    shown = {"session": "a", "time": 3, "query": "x", "documents": ["1", "2"], "user": "u", "day": 1,
             "domains": ["e", "e"], "terms": ["p"]}  # fmt: skip
    events = [shown, {"session": "a", "time": 5, "document": "2", "user": "u", "day": 1}]
    again = shown | {"time": 20, "day": 2, "session": "b"}
    answers = []
    for folder in (tmp_path / "plain", tmp_path / name):
        folder.mkdir()
        state = state_of(events, folder, facts_of("time"))
        answers.append(found(state, again))
        state.close()
    np.testing.assert_array_equal(*answers)
