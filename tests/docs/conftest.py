"""The scripts that build the site, which import each other by their file names."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch):
    """A script of docs/hooks by its name."""
    monkeypatch.syspath_prepend(ROOT / "docs" / "hooks")

    def load(name: str) -> ModuleType:
        return import_module(name)

    return load
