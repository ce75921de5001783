"""A saved guard with anything else in it, and a hash that fits: it is refused, or serves; it never breaks."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.decide.guard.guarded import calibrated, fitted, parts

import surefoot as sf
from surefoot.data.hashes import seal

STRANGE = (None, -1, "x", [], {}, True, 1e300, 0.5, [None])


def places(data: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in plain data; of long lists the first two entries."""
    inside = data.items() if isinstance(data, dict) else enumerate(data[:2]) if isinstance(data, list) else ()
    for key, value in inside:
        yield (*place, key)
        yield from places(value, (*place, key))


def changed(data: Any, place: tuple[Any, ...], value: Any) -> Any:
    found = copy.deepcopy(data)
    inner = found
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    if place[0] == "certificate" and isinstance(found["certificate"], dict):
        found["certificate"] = seal(found["certificate"])
    return seal(found)


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["regression", "isotonic", "opening"])
def test_nothing_in_a_file_breaks_a_guard(tmp_path: Path, kind: str) -> None:
    made = {
        "regression": calibrated,
        "isotonic": lambda: fitted(scorer="predicted_gain:isotonic").calibrate(parts()["judged"]),
        "opening": lambda: fitted(scorer="feature:12").update(parts()["judged"]),
    }
    made[kind]().save(tmp_path)
    file = tmp_path / "guard.json"
    data, few = json.loads(file.read_text()), parts()["traffic"].select(np.arange(5))
    served = 0
    for place in places(data):
        for value in STRANGE:
            file.write_text(json.dumps(changed(data, place, value)))
            try:
                found = sf.RiskGuard.load(tmp_path)
                found.to_run(few)
                str(found.certificate_)
                served += 1
            except sf.SurefootError:
                pass
    assert served
