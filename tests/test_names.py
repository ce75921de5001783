"""The package's own names."""

from __future__ import annotations

import surefoot


def test_only_public_names_are_listed() -> None:
    assert [name for name in dir(surefoot) if name not in surefoot.__all__] == ["__version__"]
