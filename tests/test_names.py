"""Names: public ones, one class for each name, and mutants that still name what is there."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest
from tests.mutants.run import Mutant, read_mutants

import surefoot

ROOT = Path(__file__).parents[1]
SOURCE = Path(surefoot.__file__).parent


def test_only_public_names_are_listed() -> None:
    assert [name for name in dir(surefoot) if name not in surefoot.__all__] == ["__version__"]


def test_no_two_classes_have_one_name() -> None:
    files = defaultdict(set)
    for file in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                files[node.name].add(str(file.relative_to(SOURCE)))
    assert {name: places for name, places in files.items() if len(places) > 1} == {}


@cache
def names_in_tests() -> set[str]:
    """What tests are called, and the classes that hold them; a test may be inherited from another file."""
    files = (ROOT / "tests").rglob("*.py")
    return {name for file in files for name in re.findall(r"(?:def|class) (\w+)", file.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("mutant", read_mutants(), ids=lambda mutant: mutant.name)
def test_mutants_fit_the_source(mutant: Mutant) -> None:
    text = (SOURCE / mutant.file).read_text(encoding="utf-8")
    assert text.count(mutant.old) == 1, f"{mutant.file} must hold this once: {mutant.old}"
    assert mutant.new != mutant.old
    assert mutant.tests
    for test in mutant.tests:
        file, *names = test.split("::")
        assert (ROOT / file).is_file(), file
        assert {name.partition("[")[0] for name in names} <= names_in_tests(), test


def test_type_checkers_see_the_names_that_there_are() -> None:
    tree = ast.parse((SOURCE / "__init__.py").read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {
        (node.module, alias.name) for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    resolved = {
        (f"surefoot.{module}" if names else "surefoot", name)
        for module, names in surefoot._EVERY.items()
        for name in names or [module]
    }
    assert seen == resolved


def test_about_45_names_are_listed_and_all_resolve() -> None:
    assert len(surefoot.__all__) <= 50
    unlisted = {name for names in surefoot._UNLISTED.values() for name in names}
    assert not unlisted & set(surefoot.__all__)
    assert all(hasattr(surefoot, name) for name in [*surefoot.__all__, *unlisted])
