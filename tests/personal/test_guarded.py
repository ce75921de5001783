"""A personal ranker in a guard: calibrated on later days, with one list of each user."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.clicks.logs import generated

import surefoot as sf
from surefoot.data.types.data_parts import DrawnLists
from surefoot.errors import ArgumentError, DataError
from surefoot.personal.lists import LaterLists, later_lists

SMALL = {
    "grid": {"betas": (0.1,), "alphas": (1.0,), "lowest": (1.0,)},
    "ranker": {"n_estimators": 10, "min_data_in_leaf": 20},
}  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("guarded")
    result = sf.personalize(generated(folder, 150, "ubi", queries=40), folder / "study", split="time", **SMALL)
    result.save(folder / "model", method="Standard gain")
    return folder


def test_the_unit_is_the_user(home: Path) -> None:
    lists = later_lists(home / "study")
    table = sf.clicks.FeatureTable.read(home / "study").scan().select("impression", "user", "time").unique().collect()
    of = {impression: (user, time) for impression, user, time in table.rows()}
    users = [of[query][0] for query in lists.later.data.queries]
    assert len(set(users)) == len(users) > 10
    assert lists.later.left_out > 0
    assert min(of[query][1] for query in lists.later.data.queries) > max(of[query][1] for query in lists.valid.queries)
    again, other = later_lists(home / "study"), later_lists(home / "study", seed=1)
    assert again.later.data.queries == lists.later.data.queries
    assert other.later.data.queries != lists.later.data.queries
    with sf.PersonalRanker.load(home / "model") as ranker:
        check_guard(ranker, lists)


def check_guard(ranker: sf.PersonalRanker, lists: LaterLists) -> None:
    guard = sf.RiskGuard(ranker, risk=0.3).fit_scorer(lists.valid)
    with pytest.raises(ArgumentError, match="lists of one user are not independent"):
        guard.calibrate(lists.later.data)
    with pytest.raises(ArgumentError, match="whether a user comes again"):
        guard.update(lists.later)
    guard.calibrate(lists.later)
    certificate = guard.certificate_.to_dict()
    drawn = len(lists.later.data.queries)
    assert certificate["unit"] == {"name": "user", "drawn": drawn, "left_out": lists.later.left_out, "seed": 0}
    assert certificate["measure"] == "AP"
    assert certificate["baseline"] == "shown order"
    assert any("one list of each was drawn (seed 0)" in one for one in certificate["assumptions"])
    assert "other lists left out" in str(guard.certificate_)
    shown = ranker.list_data(None, "3", ["11", "12", "11"], 10**12 * 2)
    assert guard.to_run(shown).to_dict().keys() == {"3"}


def test_all_days_are_no_later_days(home: Path, tmp_path: Path) -> None:
    for split in ("user", "session"):
        sf.personalize(home / "ubi.log", tmp_path / split, split=split, **SMALL)
        with pytest.raises(ArgumentError, match="make the study with --split time"):
            later_lists(tmp_path / split)
    with pytest.raises(DataError, match="another sample of lists"):
        later_lists(home / "study", sample=50)


def test_every_list_of_a_user_is_as_likely_to_be_drawn() -> None:
    data = sf.RankingData(np.zeros((6, 1)), np.zeros(6), qid=np.repeat(["a", "b", "c"], 2))
    owners = pl.Series(["u", "u", "v"])
    drawn = [DrawnLists.one_per("user", data, owners, seed).data.queries for seed in range(400)]
    assert all("c" in queries and len(queries) == 2 for queries in drawn)
    assert 140 < sum("a" in queries for queries in drawn) < 260
    with pytest.raises(ArgumentError, match="every list must have a user"):
        DrawnLists.one_per("user", data, owners.head(2), 0)
