"""What tests of the gate share: the command line, as its own tests run it, and fewer queries to try."""

import pytest
from tests.cli.conftest import surefoot

__all__ = ["surefoot"]


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searching for the number of queries still needed takes a second; most tests do not look at it."""
    monkeypatch.setattr("surefoot.decide.gate.sample_size.MOST_QUERIES_TRIED", 300)
