"""Locks: one at a time with a file, and nobody waits for ever."""

from __future__ import annotations

from pathlib import Path

import pytest

from surefoot.data.writing import all_or_nothing
from surefoot.errors import DataError


def test_one_at_a_time_with_a_file(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(all_or_nothing, "_SECONDS_TO_WAIT", 0.1)
    path = tmp_path / "record.json"
    with all_or_nothing.lock_file(path, "record"):
        with (
            pytest.raises(DataError, match="another program is writing this record"),
            all_or_nothing.lock_file(path, "record"),
        ):
            pytest.fail("two are with the file")
        with all_or_nothing.lock_file(tmp_path / "other.json", "record"):
            pass
    with all_or_nothing.lock_file(path, "record"):  # and it is free again
        assert not path.exists()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with (
        pytest.raises(DataError, match="cannot be used for a record"),
        all_or_nothing.lock_file(tmp_path / "no" / "l.json", "record"),
    ):
        pytest.fail("there is nothing to lock")
