"""Kinds of results: what is written is in the schema of its kind; what was read has its types, or is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, get_args

import jsonschema
import pytest
from tests.report.schemas import check_data

import surefoot as sf
from surefoot.decide.evidence.conditions import CONDITIONS, LOSSES
from surefoot.decide.evidence.evidence_data import ConditionName, LossName
from surefoot.errors import DataError
from surefoot.report.kinds import KINDS, check_shape
from surefoot.risk.assessment_data import AssessmentData


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


SCORES = {"today": {"q1": 0.5, "q2": 0.25, "q3": 0.0}, "new": {"q1": 1.0, "q2": 0.0, "q3": 0.5}}


def written() -> dict[str, Any]:
    return json.loads(sf.assess(SCORES, baseline="today").to_json(per_query=True))


def test_what_is_written_has_its_shape() -> None:
    check_shape(written(), AssessmentData)
    assert sf.Assessment.from_dict(written()).to_dict(per_query=True) == written()


def test_a_bound_that_must_be_exceeded_is_not_met() -> None:
    for bound, met, beyond in (("exclusiveMinimum", 0.1, 0.0), ("minimum", 0.0, -0.1), ("maximum", 0.0, 0.1)):
        check_shape(met, Annotated[float, (bound, 0)])
        with pytest.raises(DataError):
            check_shape(beyond, Annotated[float, (bound, 0)])


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
