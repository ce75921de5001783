"""Compressed files that were damaged are noticed, whatever wrote them."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import surefoot as sf
from surefoot.data.writing.all_or_nothing import replacing
from surefoot.errors import DataError


@pytest.mark.parametrize("how", ["at once", "in pieces"])
def test_zst_has_a_checksum(tmp_path: Path, how: str) -> None:
    path = tmp_path / "x.zst"
    if how == "at once":
        sf.read_run({"q": {f"d{i}": 1 / (1 + i) for i in range(99)}}).write(path)
        read = sf.read_run
    else:
        sf.demo.letor(queries=5, documents=9, features=120).write(path)
        read = sf.read_letor
    data = path.read_bytes()
    read(path)
    assert data[4] & 4  # the frame's header says that a checksum ends it
    for damaged in (data[:-1], data[:-4] + bytes([data[-4] ^ 1]) + data[-3:], data[: len(data) // 2]):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match="truncated or corrupt"):
            read(path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_told_by_polars_too() -> None:
    with (
        pytest.raises(DataError, match=r"/dev/full: cannot be written .*No space left"),
        replacing("/dev/full") as path,
    ):
        pl.DataFrame({"a": range(100)}).write_parquet(path)
