"""What every result can do from its plain data and three functions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal, TypedDict

import pytest

from surefoot.errors import DataError
from surefoot.report.result import PlainResult, Renderings


class NoteData(TypedDict):
    """A note."""

    schema: Literal["test/note/1"]
    words: list[str]


class Note(PlainResult):
    """A result that fills in its functions."""

    called = "a note"
    schemas = ("test/note/1",)
    shape = NoteData
    renderings = Renderings(
        text=lambda data, width=120: "\n".join(word[:width] for word in data["words"]),
        csv=lambda data: "\n".join(["word", *data["words"]]),
        page=lambda data, provenance=None: f"<p>{len(data['words'])}</p>",
    )


class Checked(Note):
    """A result that checks more, and has a method of its own."""

    @classmethod
    def check_data(cls, data: dict[str, Any]) -> None:
        super().check_data(data)
        if not data["words"]:
            raise DataError("says nothing")

    def to_text(self) -> str:
        return "own"


NOTE = {"schema": "test/note/1", "words": ["<one>", "two"]}


def test_all_renderings(tmp_path: Path) -> None:
    note = Note(NOTE)
    assert str(note) == note.to_text() == "<one>\ntwo"
    assert note.to_text(width=2) == note.to_text(2) == "<o\ntw"
    assert note.to_markdown() == "```text\n<one>\ntwo\n```\n"
    assert note._repr_html_() == "<pre>&lt;one&gt;\ntwo</pre>"
    for kind in ("json", "csv", "markdown", "html"):
        getattr(note, f"write_{kind}")(tmp_path / kind)
        assert (tmp_path / kind).read_text() == getattr(note, f"to_{kind}")()
    assert json.loads(note.to_json()) == NOTE
    assert Note.read(tmp_path / "json").to_dict() == NOTE


def test_a_fence_that_the_text_does_not_close() -> None:
    assert Note({**NOTE, "words": ["```"]}).to_markdown() == "~~~~text\n```\n~~~~\n"


def test_own_methods_are_used_everywhere() -> None:
    note = Checked.from_dict(NOTE)
    assert note.to_markdown() == "```text\nown\n```\n"
    assert (str(note), note._repr_html_()) == ("own", "<pre>own</pre>")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "is not a note; expected JSON with the schema 'test/note/1'"),
        ({"schema": "test/note/2"}, "is not a note"),
        ({**NOTE, "words": [1]}, r"words\[0\] is 1; expected text"),
        ({"schema": "test/note/1"}, "cannot be read as a note"),
        ({**NOTE, "words": []}, "says nothing"),
    ],
)
def test_what_is_not_a_result(tmp_path: Path, data: Any, message: str) -> None:
    path = tmp_path / "note.json"
    path.write_text(json.dumps(data))
    with pytest.raises(DataError, match=message) as refused:
        Checked.read(path)
    assert str(refused.value).startswith(str(path))


def test_a_result_without_functions_says_so() -> None:
    with pytest.raises(NotImplementedError, match="fills in its renderings"):
        PlainResult(NOTE).to_text()
