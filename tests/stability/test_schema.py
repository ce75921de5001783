"""The JSON schema of studies: made from the types, and all that each kind of study holds is in it."""

from __future__ import annotations

import json

import pytest
from tests.report.schemas import check_data

import surefoot as sf
from surefoot.errors import DataError
from surefoot.report.kinds import KINDS
from surefoot.stability.study import Study


def test_studies_hold_nothing_that_is_not_in_it(studies: list[Study]) -> None:
    assert tuple(study.schema for study in studies) == KINDS["study"].schemas
    for study in studies:
        check_data(study.to_dict(), "study")


def test_edges_hold_to_it() -> None:
    scores = sf.Scores([[0.5, 0.5], [0.5, 0.5]], ["a", "b"], ["q", "r"])
    dates = {"q": "2026-11-15"}
    for study in (
        sf.stability.subsets(scores, subsets=1),
        sf.stability.time(scores, dates, size=1, subsets=1, period="month"),
        sf.stability.measures(scores, replicates=2, most=0),
    ):
        check_data(study.to_dict(), "study")


def test_another_type_is_refused_by_its_place(studies: list[Study]) -> None:
    data = json.loads(studies[1].to_json())
    data["subsets"] = 2.5
    with pytest.raises(DataError, match=r"subsets is 2\.5; expected a whole number"):
        Study.from_dict(data)
