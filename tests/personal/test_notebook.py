"""What a notebook shows of a personalization."""

from __future__ import annotations

import copy

from tests.personal.small import small_study
from tests.report.notebooks import HOSTILE, SHOWN, checked, told

import surefoot as sf


def test_a_personalization_in_a_notebook() -> None:
    study = small_study()
    assert len(checked(study._repr_html_()).find(".//tbody")) == len({row["name"] for row in study.chosen})
    assert f"Models trained {len(study.rows)}" in told(study._repr_html_())
    data = copy.deepcopy(study.to_dict())
    data["chosen"][0]["label"] = data["measure"] = HOSTILE
    assert told(sf.Personalization(data)._repr_html_()).count(SHOWN) >= 3
