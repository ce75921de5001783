"""Locks: one at a time with a file, and nobody waits for ever."""

from __future__ import annotations

from pathlib import Path

import pytest

from surefoot.data.writing import locks
from surefoot.errors import DataError


def test_one_at_a_time_with_a_file(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(locks, "_SECONDS_TO_WAIT", 0.1)
    path = tmp_path / "record.json"
    with locks.lock_file(path, "record"):
        with pytest.raises(DataError, match="another program is writing this record"), locks.lock_file(path, "record"):
            pytest.fail("two are with the file")
        with locks.lock_file(tmp_path / "other.json", "record"):
            pass
    with locks.lock_file(path, "record"):  # and it is free again
        assert not path.exists()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with (
        pytest.raises(DataError, match="cannot be used for a record"),
        locks.lock_file(tmp_path / "no" / "l.json", "record"),
    ):
        pytest.fail("there is nothing to lock")
