"""A folder that work goes on in: other files and other programs are kept out, and what is unfinished is removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from surefoot.data.writing.resumable import ResumableFolder, content_key
from surefoot.errors import DataError


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
