"""The JSON schema: made from the types, and all that assessments hold is in it."""

from __future__ import annotations

from typing import Any, get_args

import jsonschema
import pytest
from tests.report.schemas import check_data

import surefoot as sf
from surefoot.decide.evidence.conditions import CONDITIONS, LOSSES
from surefoot.decide.evidence.evidence_data import ConditionName, LossName
from surefoot.report.kinds import KINDS


@pytest.fixture(scope="module")
def assessments() -> list[Any]:
    made = sf.demo.runs(queries=30)
    both = sf.score(made.qrels, made.runs[:4], ["nDCG@10", "AP"])
    kinds = {"kind": {query: "even" if i % 2 else "odd" for i, query in enumerate(both[0].queries[3:])}}
    names = both[0].systems
    negative = sf.Scores([[-0.5, 0.5], [0.2, 0.2]], ["a", "b"], ["q", "r"])
    return [
        sf.assess(both, names[0], bootstrap=20, segments=kinds),
        sf.assess(both[0], list(names[:2])),
        sf.assess(both[0], "mean", population=names[:2]),
        sf.assess(negative, "a"),
        sf.assess(sf.Scores([[0.5]], ["a"], ["q"]), "a"),
    ]


@pytest.mark.parametrize("per_query", [False, True])
def test_assessments_hold_nothing_that_is_not_in_it(assessments: list[Any], per_query: bool) -> None:
    for assessment in assessments:
        check_data(assessment.to_dict(per_query=per_query), "assessment")


def test_the_conditions_names_are_those_that_there_are() -> None:
    names = [dict([bound])["enum"] for name in (ConditionName, LossName) for bound in get_args(name)[1:]]
    assert names == [list(CONDITIONS), list(LOSSES)]


def test_what_is_no_assessment(assessments: list[Any]) -> None:
    data = assessments[1].to_dict()
    for key in data:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(
                {name: value for name, value in data.items() if name != key}, KINDS["assessment"].json_schema()
            )
    for wrong in ({**data, "queries": 0}, {**data, "alphas": []}, {**data, "systems": [{}]}, {**data, "schema": "x"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, KINDS["assessment"].json_schema())
