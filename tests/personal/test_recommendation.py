"""Which re-ranker a study recommends: chosen on validation lists, judged on test lists, said in one sentence."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.personal.small import small_study

from surefoot.personal.options import METHOD_LINES, METHOD_TITLES
from surefoot.personal.recommendation import recommend, recommendation, share_in_words
from surefoot.personal.study import Personalization
from surefoot.personal.tables import cells, distinct_rows
from surefoot.significance import SIGNIFICANCE


def made_row(name: str, area: float | None, gain: float = 0.02, p: float | None = 0.001, test: float = 0.02) -> Any:
    figures = {"risk": 0.01, "share_reranked": 0.2542, "share_of_gain": 0.9, "share_of_risk": 0.5}
    return {
        "name": name, "label": name.capitalize(), "parameters": "β = 0.4",
        "valid": {"area": area, "gain": gain}, "test": {"gain": test, "p": p, **figures},
    }  # fmt: skip


def made_study(*rows: Any, lists: int = 500) -> Any:
    models = {row["name"]: f"models/{row['name']}" for row in rows}
    data = {"chosen": list(rows), "models": models, "lists": {"test": lists}}
    return data | {"recommendation": recommend(data)}


def test_the_largest_area_on_validation_lists_is_served() -> None:
    data = made_study(made_row("small", 0.1), made_row("large", 0.3), made_row("unknown", None))
    choice = recommend(data)
    assert (choice["choice"], choice["name"], choice["model"]) == ("take", "large", "models/large")
    assert recommendation(data).headline == "Take large, β = 0.4: 90 % of the gain, a quarter of the lists moved"
    assert recommendation(data | {"lists": {"test": 30}}).headline.startswith("Take large, β = 0.4, with caution: 90 %")


def test_what_is_made_without_a_model_is_not_served() -> None:
    data = made_study(made_row("small", 0.1), made_row("large", 0.3))
    del data["models"]["large"]
    assert recommend(data)["name"] == "small"


@pytest.mark.parametrize(
    ("row", "choice", "words"),
    [
        (made_row("a", 0.1, gain=-0.1), "keep", "Keep the shown order: no model gains on validation lists"),
        (made_row("a", 0.1, test=-0.1), "keep", "Keep the shown order: a, β = 0.4 is best on validation lists"),
        (made_row("a", 0.1, test=0.0), "keep", "Keep the shown order: a, β = 0.4 is best on validation lists"),
        (made_row("a", 0.1, p=SIGNIFICANCE), "unclear", "We cannot tell yet: a, β = 0.4 gains +2.000"),
        (made_row("a", 0.1, p=0.2), "unclear", "We cannot tell yet: a, β = 0.4 gains +2.000, which may be chance"),
        (made_row("a", 0.1, p=None), "unclear", "We cannot tell yet: a, β = 0.4 gains +2.000, but no test says"),
    ],
)  # fmt: skip
def test_no_model_is_served_without_a_gain_that_is_more_than_chance(row: Any, choice: str, words: str) -> None:
    data = made_study(row)
    assert recommend(data)["choice"] == choice
    assert recommendation(data).headline.startswith(words)


def test_no_star_where_p_is_the_significance() -> None:
    figures = dict.fromkeys(
        ("mean", "gain", "gain_per_reranked", "share_reranked", "share_of_risk", "share_of_gain", "tau"), 0.5
    )
    stars = [
        cells({"label": "a", "parameters": "", "test": figures | {"tau_reranked": None, "p": p}})[3].endswith("*")
        for p in (None, 0.0499, SIGNIFICANCE)
    ]
    assert stars == [False, True, False]


def test_a_study_holds_it() -> None:
    data = json.loads(small_study().to_json())
    assert data["recommendation"] == recommend(data)
    assert small_study().to_text(200).startswith(recommendation(data).headline)
    assert recommendation(data).headline in Personalization.from_dict(data).to_markdown().replace("\\", "")


def test_each_model_has_one_row_and_each_method_a_line() -> None:
    data = small_study().to_dict()
    rows = distinct_rows(data["chosen"])
    assert [row["name"] for row, _ in rows] == list(dict.fromkeys(row["name"] for row in data["chosen"]))
    assert sum(1 + len(also) for _, also in rows) == len(data["chosen"])
    assert {*METHOD_TITLES, *(row["method"] for row, _ in rows)} <= set(METHOD_LINES)
    text = small_study().to_text(400)
    for row, also in rows:
        assert all(f"“{label}” is {row['label']}" in text for label in also)


@pytest.mark.parametrize(("share", "words"), [(0.25, "a quarter"), (0.34, "a third"), (0.3, "30 %"), (0.999, "all")])
def test_shares_in_words(share: float, words: str) -> None:
    assert share_in_words(share) == words
