"""The log generator: the same log again, of any size, and as its parameters say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from surefoot.clicks.generator import (
    AMBIGUOUS,
    FAVOURITES,
    KINDS,
    LISTS,
    REFINDING,
    SESSIONS,
    SHOWN,
    generate_log,
    write_kinds,
    write_log,
)
from surefoot.errors import ArgumentError


@pytest.fixture(scope="module")
def log() -> tuple[pl.DataFrame, pl.DataFrame]:
    parts = list(generate_log(3000, seed=2))
    return pl.concat([part.lists for part in parts]), pl.concat([part.clicks for part in parts])


def test_the_same_seed_gives_the_same_log(tmp_path: Path) -> None:
    for number, seed in enumerate((5, 5, 6)):
        write_log(generate_log(20, seed=seed), tmp_path / str(number))
    same, again, other = ((tmp_path / str(number)).read_bytes() for number in range(3))
    assert same == again != other


def test_it_is_as_its_parameters_say(log: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    lists, _ = log
    share = dict(lists["kind"].value_counts(normalize=True).rows())
    assert share["refinding"] == pytest.approx(REFINDING, abs=0.01)
    assert lists["session"].n_unique() / lists["user"].n_unique() == pytest.approx(SESSIONS, rel=0.02)
    assert len(lists) / lists["session"].n_unique() == pytest.approx(LISTS, rel=0.02)
    assert set(share) == set(KINDS)
    assert 0.6 * AMBIGUOUS < share["ambiguous"] / (1 - REFINDING) < 1.4 * AMBIGUOUS
    assert FAVOURITES.sum() == pytest.approx(1)


def test_users_look_from_top_to_bottom(log: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    lists, clicks = log
    by_position = clicks["position"].value_counts().sort("position")["count"].cast(pl.Int64).to_numpy()
    assert len(by_position) == SHOWN
    assert (np.diff(by_position[:6]) < 0).all()
    joined = clicks.join(lists, on=["session", "list"], suffix="_shown")
    assert (joined["time"] > joined["time_shown"]).all()
    within = clicks.group_by("session", "list", maintain_order=True).agg("position")["position"]
    assert within.list.diff().list.eval(pl.element().drop_nulls() > 0).list.all().all()


def test_who_profits_is_known(log: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    lists, clicks = log
    first = lists.group_by("kind").agg(first=(pl.col("wanted") == 1).mean())
    best = dict(first.rows())
    assert best["plain"] > max(best["ambiguous"], best["refinding"])
    wanted = clicks.join(lists, on=["session", "list"], suffix="_shown").filter(pl.col("kind") == "refinding")
    assert (wanted["position"] == wanted["wanted"]).mean() > 0.6


def test_kinds_go_by_the_lists_names(tmp_path: Path) -> None:
    write_kinds(generate_log(3, seed=1), tmp_path / "kinds.csv")
    kinds = pl.read_csv(tmp_path / "kinds.csv")
    assert kinds.columns == ["list", "kind"]
    assert kinds["list"][0] == "1-1"
    assert kinds["list"].n_unique() == len(kinds)


def test_what_cannot_be() -> None:
    with pytest.raises(ArgumentError, match="at least one user"):
        next(generate_log(0))
    with pytest.raises(ArgumentError, match="a log cannot be written in layout 'csv'"):
        write_log(generate_log(1), "x", "csv")
    for layout in ("table", "yandex2014"):
        with pytest.raises(ArgumentError, match=r"x\.parquet: a log is written as text"):
            write_log(generate_log(1), "x.parquet", layout)
