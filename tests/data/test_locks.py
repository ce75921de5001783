"""Locks: one at a time with a file, and nobody waits for ever."""

from __future__ import annotations

from pathlib import Path

import pytest

from surefoot.data.writing import locks
from surefoot.errors import DataError


def test_one_at_a_time_with_a_file(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(locks, "_SECONDS_TO_WAIT", 0.1)
    path = tmp_path / "ledger.json"
    with locks.lock_file(path, "ledger"):
        with pytest.raises(DataError, match="another program is writing this ledger"), locks.lock_file(path, "ledger"):
            pytest.fail("two are with the file")
        with locks.lock_file(tmp_path / "other.json", "ledger"):
            pass
    with locks.lock_file(path, "ledger"):  # and it is free again
        assert not path.exists()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with (
        pytest.raises(DataError, match="cannot be used for a ledger"),
        locks.lock_file(tmp_path / "no" / "l.json", "ledger"),
    ):
        pytest.fail("there is nothing to lock")
