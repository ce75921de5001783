"""Names: public ones, one class or type alias for each name, and mutants that still name what is there."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from tests.mutants.run import Mutant, read_mutants

import surefoot

ROOT = Path(__file__).parents[1]
SOURCE = Path(surefoot.__file__).parent


def test_only_public_names_are_listed() -> None:
    assert [name for name in dir(surefoot) if name not in surefoot.__all__] == ["__version__"]


def defined_types(tree: ast.Module) -> Iterator[str]:
    """The names of a file's classes and of its module's type aliases, without a leading underscore."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield node.name.lstrip("_")
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias":
            yield ast.unparse(node.target).lstrip("_")
        elif isinstance(node, ast.Assign) and not ast.unparse(node.value).startswith("TypeVar("):
            names = [ast.unparse(target).lstrip("_") for target in node.targets]
            yield from (name for name in names if re.fullmatch(r"[A-Z]\w*[a-z]\w*", name))


def test_no_two_types_have_one_name() -> None:
    files = defaultdict(set)
    for file in sorted(SOURCE.rglob("*.py")):
        for name in defined_types(ast.parse(file.read_text(encoding="utf-8"))):
            files[name].add(str(file.relative_to(SOURCE)))
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
        for module, names in surefoot._PUBLIC.items()
        for name in names or [module]
    }
    assert seen == resolved


def test_45_names_are_listed_and_all_resolve() -> None:
    assert sorted(surefoot.__all__) == surefoot.__all__
    assert len(surefoot.__all__) == 45
    assert all(hasattr(surefoot, name) for name in surefoot.__all__)
