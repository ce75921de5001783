"""What a notebook shows of studies; one of the runs has a hostile name."""

from __future__ import annotations

import pytest
from tests.report.notebooks import checked, told

from surefoot.stability.study import Study
from surefoot.stability.text import findings, title


@pytest.mark.parametrize("number", range(4))
def test_a_study_in_a_notebook(studies: list[Study], number: int) -> None:
    study = studies[number]
    words, root = told(study._repr_html_()), checked(study._repr_html_())
    data = study.to_dict()
    for sentence in (title(data), *findings(data)):
        assert sentence.replace("\u202e", "�") in words
    assert len(root.find(".//tbody")) >= 2
    assert "<script" not in study._repr_html_()
