"""SECURITY.md promises nothing without a test: each sentence names those that hold it, and they exist."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROMISES, NOT_PROMISED = (
    (ROOT / "SECURITY.md").read_text(encoding="utf-8").partition("## What surefoot promises")[2]
    .partition("\n## ")[0].split("What is not promised:")
)  # fmt: skip
NAMED = re.compile(r"`(tests/[\w/]+\.py(?:::\w+)*)`")


def sentences(text: str) -> list[str]:
    """The list's items, which are a sentence and its tests each."""
    return [" ".join(item.split()) for item in re.findall(r"^- (.*?)(?=\n- |\n\n|\Z)", text, re.MULTILINE | re.DOTALL)]


@cache
def found_in(file: str) -> set[str]:
    """The tests of a file, those of its classes by both names."""
    found: set[str] = set()
    for node in ast.parse((ROOT / file).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            found.update(f"{node.name}::{each.name}" for each in node.body if isinstance(each, ast.FunctionDef))
        elif isinstance(node, ast.FunctionDef):
            found.add(node.name)
    return {name for name in found if name.split("::")[-1].startswith("test_")}


def wrong_with(sentence: str) -> str | None:
    """What keeps an item from being one promise with tests that there are."""
    promise, _, tests = sentence.partition(" [")
    if not promise.endswith(".") or ". " in promise:
        return "not one sentence"
    if not re.fullmatch(rf"{NAMED.pattern}(, {NAMED.pattern})*\]", tests):
        return "no tests in brackets after it"
    for name in NAMED.findall(tests):
        file, _, test = name.partition("::")
        if not (ROOT / file).is_file() or test not in found_in(file):
            return f"there is no {name}"
    return None


@pytest.mark.parametrize("sentence", sentences(PROMISES))
def test_a_promise_names_tests_that_there_are(sentence: str) -> None:
    assert wrong_with(sentence) is None


def test_every_line_of_the_promises_is_a_heading_or_a_promise() -> None:
    assert len(sentences(PROMISES)) > 20
    apart = re.sub(r"^- .*?(?=\n- |\n\n|\Z)", "", PROMISES, flags=re.MULTILINE | re.DOTALL)
    introduction, *headings = [part.strip() for part in apart.split("\n\n") if part.strip()]
    assert introduction.startswith("Each sentence is followed by the tests")
    assert all(heading.endswith(":") for heading in headings), headings
    assert not NAMED.search(NOT_PROMISED)


@pytest.mark.parametrize(
    ("sentence", "wrong"),
    [
        ("It is safe.", "no tests in brackets after it"),
        ("It is safe. It is fast. [`tests/test_lazy.py::test_x`]", "not one sentence"),
        ("It is safe. [`tests/test_none.py::test_x`]", "there is no tests/test_none.py::test_x"),
        ("It is safe. [`tests/test_names.py::test_that_is_not_there`]", "there is no tests/test_names.py"),
        ("It is safe. [`tests/test_names.py`]", "there is no tests/test_names.py"),
        ("It is safe. [`tests/test_names.py::test_x`] Really.", "no tests in brackets after it"),
    ],
)
def test_a_promise_without_its_test_is_noticed(sentence: str, wrong: str) -> None:
    assert wrong in str(wrong_with(sentence))
