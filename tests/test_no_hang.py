"""Nothing that a file may hold makes a reader hang: time grows with what there is to read, and no faster."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import surefoot as sf
from surefoot.arguments import decimal
from surefoot.data.reading.texts import read_texts
from surefoot.decide.evidence.sample import read_shares
from surefoot.decide.gate.release_policy import ReleasePolicy
from surefoot.errors import MeasureError

LONG = 40_000
SECONDS = 10  # each takes a fraction of one; what hangs takes minutes

TEXTS: dict[str, tuple[str, str, Callable[[Path], Any], str]] = {
    "digits in scores": ("s.csv", f"query,a\nq,{'1' * LONG}x\n", sf.read_scores, "line 2"),
    "digits in a run": ("r.run", f"q Q0 d 1 {'1' * LONG}x t\n", sf.read_run, "line 1"),
    "digits in LETOR": ("l.txt", f"1 qid:1 1:{'1' * LONG}x\n", sf.read_letor, "line 1"),
    "digits in weights": ("w.csv", f"stratum,share\na,{'1' * LONG}x\n", read_shares, "'a'"),
    "a name twice": (
        "r.json", '{\n"q": {' + ", ".join(f'"d{i}": 1' for i in range(LONG)) + ',\n"d7": 2}}', sf.read_run,
        "line 3: is not JSON (\"'d7' appears twice in one object\")",
    ),
    "a name twice in a list": ("r.json", '[{"a": [1, {"b": 2}],\n"a": "}"}]', sf.read_run, "line 2: is not JSON"),
    "topics that never end": ("t", "<top " * LONG, read_texts, "no topic was found"),
    "spaces before a number": ("t", f"<top><num>{' ' * LONG}<title>a", read_texts, "line 1: the topic has no number"),
    "spaces after a number": ("t", f"<top><num> Number{' ' * LONG}x</top>", read_texts, "line 1: the topic has no"),
    "a policy of many parts": ("p.toml", f"{'a.' * LONG}a = 1", ReleasePolicy.read, f"has a line with {LONG:,} dots"),
    "a policy of many digits": ("p.toml", f"risk = {'1' * 5000}", ReleasePolicy.read, "is not TOML"),
    "a policy of many brackets": ("p.toml", f"risk = {'[' * 5000}", ReleasePolicy.read, "is not TOML"),
}  # fmt: skip


@pytest.mark.parametrize("what", TEXTS)
def test_readers_end(what: str, tmp_path: Path) -> None:
    name, text, read, message = TEXTS[what]
    (tmp_path / name).write_text(text)
    began = time.process_time()
    with pytest.raises(sf.SurefootError) as caught:
        read(tmp_path / name)
    assert time.process_time() - began < SECONDS
    assert message in str(caught.value)


@pytest.mark.parametrize("text", ["1" * LONG + "x", "." + "1" * LONG + "x", "1e" + "1" * LONG + "x", "+" * LONG])
def test_numbers_end(text: str) -> None:
    began = time.process_time()
    with pytest.raises(ValueError, match="not a number"):
        decimal(text)
    assert time.process_time() - began < SECONDS


def test_numbers_are_read_as_before() -> None:
    for text in ("1", "-1.", "+.5", "1.5e-3", "nan", "-Inf", "infinity", "007"):
        assert decimal(text) == pytest.approx(float(text), nan_ok=True)
    for text in ("", ".", "e5", "1e", "1.5.2", "1_000", "٣", "0x10", "--1"):
        with pytest.raises(ValueError, match="not a number"):
            decimal(text)


def test_measures_end() -> None:
    began = time.process_time()
    for text in (f"nDCG{' ' * LONG}!", f"IPrec@{'0' * LONG}x", f"P_{'1' * LONG}"):
        with pytest.raises(MeasureError):
            sf.Measure.parse(text)
    assert time.process_time() - began < SECONDS
