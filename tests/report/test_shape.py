"""Results that were read have the types they were written with, or are refused with the place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import surefoot as sf
from surefoot.errors import DataError
from surefoot.report.kinds import check_shape
from surefoot.risk.assessment_data import AssessmentData

SCORES = {"today": {"q1": 0.5, "q2": 0.25, "q3": 0.0}, "new": {"q1": 1.0, "q2": 0.0, "q3": 0.5}}


def written() -> dict[str, Any]:
    return json.loads(sf.assess(SCORES, baseline="today").to_json(per_query=True))


def test_what_is_written_has_its_shape() -> None:
    check_shape(written(), AssessmentData)
    assert sf.Assessment.from_dict(written()).to_dict(per_query=True) == written()


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("queries", "many", "queries is 'many'; expected a whole number"),
        ("queries", True, "queries is True"),
        ("worst_share", float("inf"), "worst_share is inf"),
        ("worst_share", 10**400, "worst_share is 1000"),
        ("alphas", 5, "alphas is 5; expected a list"),
        ("alphas", [0, None], r"alphas\[1\] is None; expected a number"),
        ("missing", [], r"missing is \[\]; expected an object"),
        ("systems", [{"system": 3}], "."),
        ("measure", 3, "."),
    ],
)
def test_what_has_another_shape(tmp_path: Path, key: str, value: Any, said: str) -> None:
    data = written() | {key: value}
    with pytest.raises((DataError, TypeError, ValueError, KeyError), match=said):
        sf.Assessment.from_dict(data)
    (tmp_path / "a.json").write_text(json.dumps(data))
    with pytest.raises(DataError, match=r"a\.json"):
        sf.Assessment.read(tmp_path / "a.json")
