"""What tests share: where the real data is, and small helpers that make files."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

# One profile for all: no deadlines, since a busy machine is no error, and the same examples on every machine.
settings.register_profile("surefoot", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("surefoot")

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("SUREFOOT_DATA", ROOT.parent / "shared" / "data"))

# Commands that tests start tell nothing of how far they are: a busy machine takes its time.
os.environ["SUREFOOT_PROGRESS_AFTER"] = "3600"
# Pages name the minute in which they are made: two of one test may be made in two.
os.environ["SOURCE_DATE_EPOCH"] = "1800000000"

ENGINES = os.environ.get("SUREFOOT_ENGINES") == "1"  # as `make test-engines` sets it, which installs all libraries


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A test marked `engines("xgboost", …)` needs these libraries; without one it is skipped, or fails if ENGINES."""
    for mark in item.iter_markers("engines"):
        for name in mark.args:
            require(name)


def require(library: str) -> None:
    """Skip a test whose library is missing; where all libraries should be there, fail."""
    if find_spec(library) is None:
        message = f"{library} is not installed; `make test-engines` installs it"
        if ENGINES:
            pytest.fail(message, pytrace=False)
        pytest.skip(message)


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real TREC, LETOR and click data, which is not part of the project."""
    if not DATA.is_dir():
        pytest.skip(f"real data not found at {DATA}; set SUREFOOT_DATA to its folder")
    return DATA
