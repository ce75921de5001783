"""What tests share: where the real data is, and small helpers that make files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# One profile for all: no deadlines, since a busy machine is no error, and the same examples on every machine.
settings.register_profile("surefoot", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("surefoot")

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("SUREFOOT_DATA", ROOT.parent / "shared" / "data"))


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real TREC, LETOR and click data, which is not part of the project."""
    if not DATA.is_dir():
        pytest.skip(f"real data not found at {DATA}; set SUREFOOT_DATA to its folder")
    return DATA
