"""What is written is whole, one program at a time writes, and damage is noticed."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import surefoot as sf
from surefoot.data.writing import all_or_nothing
from surefoot.data.writing.all_or_nothing import replacing
from surefoot.data.writing.resumable import ResumableFolder, content_key
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


def opened(path: Path) -> ResumableFolder:
    return ResumableFolder(path, "work.json", "sweep", beside=["data"])


def test_work_goes_on(tmp_path: Path) -> None:
    folder = opened(tmp_path / "new")
    with folder.lock():
        (folder.path / "data").mkdir()
        assert folder.resume() is None
        folder.write_settings({"α": [1]})
        (folder.path / "points" / ".x.0f.part").mkdir(parents=True)
        (folder.path / ".work.json.0f.part").write_text("{")
        with pytest.raises(DataError, match="another sweep is working there"), opened(folder.path).lock():
            pass
    assert opened(folder.path).resume() == {"α": [1]}
    assert not list(folder.path.rglob(".*.part"))
    assert (folder.path / "points").is_dir()


@pytest.mark.parametrize(("name", "text"), [("other.txt", ""), ("work.json", "null"), ("work.json", "[1]")])
def test_other_files_are_refused(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match="choose a new folder"):
        opened(tmp_path).resume()


def test_a_key_is_of_the_content() -> None:
    assert content_key([1, {"a": 2, "b": 3}]) == content_key((1, {"b": 3, "a": 2})) != content_key([1, {"a": 2}])
    assert len(content_key([])) == 20
