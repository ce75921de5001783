"""What every result can do from its plain data and three functions."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any, Literal, TypedDict, get_type_hints

import pytest
from rich.text import Text

from surefoot.choose.tradeoffs import TradeOffs
from surefoot.decide.agreement.agreement import JudgeAgreement
from surefoot.decide.gate.decision import Decision
from surefoot.decide.guard.certificate import Certificate
from surefoot.decide.history.history import ReleaseHistory
from surefoot.errors import ArgumentError, DataError
from surefoot.personal.study import Personalization
from surefoot.report.assessment import Assessment
from surefoot.report.kinds import KINDS, ResultKind
from surefoot.report.result import PlainResult, Renderings
from surefoot.stability.study import Study


class NoteData(TypedDict):
    """A note."""

    schema: Literal["test/note/1"]
    words: list[str]


class NoteKind(ResultKind):
    """A kind that is not in the table."""

    def shapes(self) -> list[Any]:
        return [NoteData]


class Note(PlainResult):
    """A result that fills in its functions."""

    _kind = NoteKind("a note", ("test/note/1",), "", ())
    _renderings = Renderings(
        tables=lambda data: [Text(word) for word in data["words"]],
        csv=lambda data: "\n".join(["word", *data["words"]]),
        page=lambda data, provenance=None: f"<p>{len(data['words'])}</p>",
    )


class Checked(Note):
    """A result that checks more, and has a method of its own."""

    @classmethod
    def _check_data(cls, data: dict[str, Any]) -> None:
        super()._check_data(data)
        if not data["words"]:
            raise DataError("says nothing")

    def to_text(self) -> str:
        return "own"


NOTE = {"schema": "test/note/1", "words": ["<one>", "two"]}


def test_all_renderings(tmp_path: Path) -> None:
    note = Note(NOTE)
    assert str(note) == note.to_text() == "<one>\ntwo"
    assert note.to_text(width=2) == note.to_text(2) == "<o\nne\n>\ntw\no"
    assert note.to_markdown() == "```text\n<one>\ntwo\n```\n"
    assert note._repr_html_() == "<pre>&lt;one&gt;\ntwo</pre>"
    for ending, kind in (("json", "json"), ("CSV", "csv"), ("md", "markdown"), ("html", "html")):
        note.write(tmp_path / f"note.{ending}")
        assert (tmp_path / f"note.{ending}").read_text() == getattr(note, f"to_{kind}")()
    assert json.loads(note.to_json()) == NOTE
    assert Note.read(tmp_path / "note.json").to_dict() == NOTE
    for name in ("note", "note.txt", "note.tex", "note.xml", "note.html.gz"):
        with pytest.raises(ArgumentError, match=r"how a note is to be written; use the ending \.html, "):
            note.write(tmp_path / name)
        assert not (tmp_path / name).exists()


def test_the_keys_are_attributes() -> None:
    note = Note(NOTE)
    assert (note.words, note.schema) == (NOTE["words"], "test/note/1")
    assert {"words", "to_html", "write"} <= set(dir(note))
    with pytest.raises(AttributeError, match="a note has no 'wrods'; did you mean words"):
        note.wrods  # noqa: B018
    assert pickle.loads(pickle.dumps(note)).words == copy.copy(note).words == NOTE["words"]


RESULTS = {
    Assessment: "assessment", Decision: "decision", Certificate: "certificate", TradeOffs: "tradeoffs",
    Personalization: "personalization", ReleaseHistory: "history", JudgeAgreement: "agreement", Study: "study",
}  # fmt: skip


def test_every_kind_has_its_result() -> None:
    assert {name: result._kind for result, name in RESULTS.items()} == KINDS


@pytest.mark.parametrize("result", RESULTS, ids=lambda one: one.__name__)
def test_no_method_hides_a_key(result: type[PlainResult]) -> None:
    hidden = {key for shape in result._kind.shapes() for key in get_type_hints(shape) if hasattr(result, key)}
    assert hidden <= {"per_query", "measures"}  # these methods have what the keys have


@pytest.mark.parametrize("result", RESULTS, ids=lambda one: one.__name__)
def test_completion_shows_no_internals(result: type[PlainResult]) -> None:
    shown = {name for name in vars(PlainResult) | vars(result) if not name.startswith("_")}
    known = {
        "read", "from_dict", "write", "measures", "scores", "by_measure", "rows", "per_query", "in_words", "charts",
        "save", "folder", "keys", "items", "values", "get", "select", "models",
    }  # fmt: skip
    assert {name for name in shown if not name.startswith("to_")} <= known


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
