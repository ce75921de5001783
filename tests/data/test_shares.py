"""Draws that go by names: what one seed draws says nothing of what another draws."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from surefoot.data.hashes import share_of
from surefoot.data.types.data_parts import DrawnLists
from surefoot.data.types.ranking_data import RankingData
from surefoot.personal import lists
from surefoot.personal.options import SHARES

NAMES, SEEDS = 20_000, range(10)
FORMS: dict[str, Callable[[int], str]] = {
    "numbers": str,
    "padded": lambda number: f"user-{number:08d}",
    "hexadecimal": lambda number: hashlib.md5(str(number).encode()).hexdigest(),
    "long, with letters of other scripts": lambda number: (
        f"Benutzerin Nummer {number} – ユーザー/{number * 7919 % 100_003}"
    ),
}


def names(form: str) -> list[str]:
    return [FORMS[form](number) for number in range(NAMES)]


@pytest.mark.parametrize("form", FORMS)
def test_shares_of_two_seeds_or_two_draws_are_not_related(form: str) -> None:
    shares = np.array([[share_of(name, seed, "split") for name in names(form)] for seed in SEEDS])
    other = [share_of(name, 0, "sample") for name in names(form)]
    related = np.corrcoef([*shares, other]) - np.eye(len(SEEDS) + 1)
    assert np.abs(related).max() < 0.03
    assert shares.min() >= 0
    assert shares.max() < 1
    # Each of 20 equal parts of [0, 1) has its 1,000 names, within five standard deviations.
    counts = np.array([np.bincount((20 * row).astype(int), minlength=20) for row in shares])
    assert np.abs(counts - NAMES / 20).max() < 5 * np.sqrt(NAMES / 20)


@pytest.mark.parametrize("form", FORMS)
def test_parts_of_two_seeds_overlap_as_by_chance(form: str) -> None:
    rows = pl.DataFrame({"user": names(form)})
    table = SimpleNamespace(clock=None)
    parts = [lists._split(rows, table, "user", seed).to_numpy() for seed in SEEDS]  # type: ignore[arg-type]
    for number, share in enumerate(SHARES):
        for one, other in combinations(parts, 2):
            both = float(np.mean((one == number) & (other == number)))
            assert both == pytest.approx(share**2, abs=5 * np.sqrt(share**2 * (1 - share**2) / NAMES))


def test_a_sample_is_split_as_all_lists_are() -> None:
    """Lists whose sessions have their own names: the least shares of a sample are not those of the first part."""
    rows = pl.DataFrame({"impression": names("padded"), "session": names("padded")})
    sample = lists._sample(rows, 2_000, 3)
    part = lists._split(sample, SimpleNamespace(clock=None), "session", 3).to_numpy()  # type: ignore[arg-type]
    shares = np.bincount(part, minlength=3) / len(sample)
    assert shares == pytest.approx(list(SHARES), abs=5 * np.sqrt(0.25 / 2_000))


def test_the_list_that_is_drawn_of_each_user_goes_by_names_alone() -> None:
    count, each = 2_000, 5
    queries = [f"list{number}" for number in range(count * each)]
    owners = [f"u{number % count}" for number in range(count * each)]
    data = RankingData.from_queries(
        np.zeros((len(queries), 1), np.float32), np.zeros(len(queries)), queries, np.ones(len(queries), int)
    )
    drawn = [set(DrawnLists.one_per("user", data, pl.Series(owners), seed).data.queries) for seed in SEEDS]
    for one, other in combinations(drawn, 2):
        assert len(one & other) / count == pytest.approx(1 / each, abs=5 * np.sqrt(0.16 / count))
    # Without half of the users, the others keep their lists.
    kept = [row for row, owner in enumerate(owners) if int(owner[1:]) % 2]
    fewer = DrawnLists.one_per("user", data.select(np.array(kept[::1])), pl.Series([owners[row] for row in kept]), 0)
    of_half = {query for query in drawn[0] if int(query[4:]) % count % 2}
    assert set(fewer.data.queries) == of_half
