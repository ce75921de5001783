"""`surefoot serve`: what cannot be served is said; tests/personal/test_service.py has what is."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("options", "token", "message"),
    [
        (["--host", "0.0.0.0"], "", "--host '0.0.0.0' lets other machines in, which needs a token"),
        (["--port", "1", "--host", "no.such.host.invalid"], "x", "cannot listen on host 'no.such.host.invalid'"),
        ([], "a b", "SUREFOOT_TOKEN has characters"),
        ([], "", "is not a folder; give the one that `personalize --save` wrote"),
    ],
)
def test_what_cannot_be_served(
    surefoot: Any, tmp_path: Path, monkeypatch: Any, options: list[str], token: str, message: str
) -> None:
    monkeypatch.setenv("SUREFOOT_TOKEN", token)
    code, out, err = surefoot("serve", tmp_path / "none", "--port", "0", *options)
    assert (code, out) == (2, "")
    assert message in err


def test_a_missing_extra_is_named(surefoot: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    code, _, err = surefoot("serve", tmp_path)
    assert code == 2
    assert 'pip install "surefoot[serve]"' in err
