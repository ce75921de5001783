"""Small labelled data."""

from __future__ import annotations

import pytest

import surefoot as sf


@pytest.fixture(scope="package")
def train() -> sf.RankingData:
    return sf.demo.letor(queries=30, documents=15, features=6, seed=1)


@pytest.fixture(scope="package")
def valid() -> sf.RankingData:
    return sf.demo.letor(queries=15, documents=15, features=6, seed=2)
