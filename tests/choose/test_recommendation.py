"""Which model a sweep recommends: least risk for 95 % of the gain on validation queries, judged on test queries."""

from __future__ import annotations

import json
from typing import Any

import pytest

import surefoot as sf
from surefoot.choose.choice import select
from surefoot.choose.options import MODEL
from surefoot.choose.recommendation import kept_in_words, model_name, pooled, recommend, recommendation
from surefoot.choose.selection_policy import SelectionPolicy
from surefoot.choose.tables import significance_signs
from surefoot.report.notes import UNEVEN
from surefoot.significance import SIGNIFICANCE


def made_row(
    name: str, gained: float, lost: float, /, *, kind: str = "model", p: float | None = 0.001, **test: float
) -> Any:
    """A candidate of one fold; on test queries as on validation queries where nothing else is said."""
    valid = {"gain": gained, "risk": lost, "queries": 200, "mean": 0.5 + gained, "reward": gained + lost}
    valid |= dict.fromkeys(("wins", "losses", "ties", "loss_over_20"), 1.0)
    tested = valid | test
    return {
        "name": name, "kind": kind, "objective": name.split(maxsplit=1)[0], "alpha": 5.0 if "α" in name else None,
        "valid": valid, "test": tested | {"p_baseline": p}, "folds": {"Fold1": {"valid": valid, "test": tested}},
    }  # fmt: skip


def made_sweep(*rows: Any, queries: int = 200) -> Any:
    data = {"rows": list(rows), "folds": ["Fold1"], "queries": {"test": queries}, "baselines": [{"name": "bm25"}]}
    return data | {"recommendation": recommend(data)}


GAIN = made_row("gain", 0.1, 0.04)


def test_least_risk_of_those_that_keep_the_gain() -> None:
    near, far = made_row("u_risk α=5", 0.096, 0.02), made_row("u_risk α=20", 0.094, 0.01)
    data = made_sweep(GAIN, near, far)
    choice = recommend(data)
    assert (choice["choice"], choice["name"], choice["strategy"]) == ("take", "u_risk α=5", None)
    assert choice["test"]["share_of_gain"] == pytest.approx(0.96)
    assert choice["by_fold"]["chosen"] == {"Fold1": "u_risk α=5"}
    assert recommendation(data).headline == "Take u_risk α = 5: it keeps 96 % of the gain at 50 % of the risk"
    assert recommendation(data).cautions == []


def test_the_choice_is_of_validation_queries_and_the_figures_of_test_queries() -> None:
    data = made_sweep(GAIN, made_row("u_risk α=5", 0.096, 0.02, gain=0.08, risk=0.03))
    assert recommendation(data).headline == "Take u_risk α = 5: it keeps 80 % of the gain at 75 % of the risk"
    worse = made_sweep(GAIN, made_row("u_risk α=5", 0.096, 0.02, gain=0.05, risk=0.03))
    assert recommendation(worse).headline.startswith("Take u_risk α = 5, with caution: it keeps 50 %")


def test_gain_alone() -> None:
    assert recommendation(made_sweep(GAIN, made_row("u_risk α=5", 0.05, 0.01))).headline == (
        "Take gain alone: no other model keeps 95 % of its gain at less risk"
    )


@pytest.mark.parametrize(
    ("rows", "choice", "words"),
    [
        ([made_row("gain", -0.1, 0.2)], "keep", "Keep bm25: no model gains on validation queries"),
        ([made_row("gain", 0.1, 0.2, gain=-0.1)], "keep", "Keep bm25: gain alone is best on validation queries"),
        ([made_row("gain", 0.1, 0.2, gain=0.0)], "keep", "Keep bm25: gain alone is best on validation queries"),
        ([made_row("gain", 0.1, 0.2, p=SIGNIFICANCE)], "unclear", "We cannot tell yet: gain alone gains +0.1000"),
        ([made_row("gain", 0.1, 0.2, p=0.5)], "unclear", "We cannot tell yet: gain alone gains +0.1000, which may"),
        ([made_row("gain", 0.1, 0.2, p=None)], "unclear", "We cannot tell yet: gain alone gains +0.1000, but no test"),
        ([], "keep", "Keep bm25: no model gains"),
        ([made_row("u_risk α=5", 0.01, 0.02)], "take", "Take u_risk α = 5: it gains +0.0100 at a risk of 0.0200"),
        (
            [made_row("gain", -0.1, 0.2), made_row("u_risk α=5", 0.01, 0.02), made_row("saro α=5", 0.02, 0.03)],
            "take", "Take saro α = 5: it gains +0.0200 at 15 % of the risk",
        ),
    ],
)  # fmt: skip
def test_choices(rows: list[Any], choice: str, words: str) -> None:
    data = made_sweep(*rows)
    assert recommend(data)["choice"] == choice
    assert recommendation(data).headline.startswith(words)


def test_no_sign_where_p_is_the_significance() -> None:
    assert significance_signs({"p_baseline": SIGNIFICANCE, "p_gain": SIGNIFICANCE}) == ""
    assert significance_signs({"p_baseline": 0.0499, "p_gain": SIGNIFICANCE}) == "*"
    assert significance_signs({"p_baseline": None, "p_gain": 0.0499}) == "†"


def test_few_queries_and_better_strategies_are_said() -> None:
    blend = made_row("gain blended w=0.5", 0.099, 0.01, kind="blended")
    data = made_sweep(GAIN, made_row("u_risk α=5", 0.096, 0.02), blend, queries=60)
    assert recommendation(data).headline.startswith("Take u_risk α = 5, with caution: ")
    few, strategy = recommendation(data).cautions
    assert "fewer than 100 queries" in few
    assert "gain blended w=0.5 needs no further training and keeps 99 % of the gain at 25 % of the risk" in strategy


def test_a_sweep_holds_it(result: sf.TradeOffs) -> None:
    data = json.loads(result.to_json())
    choice = data["recommendation"]
    assert choice == recommend(data)
    gain = next(row for row in data["rows"] if row["name"] == "gain")
    fit = [
        row for row in data["rows"]
        if row["kind"] == "model" and row["valid"]["gain"] >= 0.95 * gain["valid"]["gain"]
    ]  # fmt: skip
    assert gain["valid"]["gain"] > 0
    assert choice["name"] == min(fit, key=lambda row: row["valid"]["risk"])["name"]
    assert result.to_text().startswith(recommendation(data).headline[:60])
    assert recommendation(data).headline in result.to_markdown().replace("\\", "")


def test_fold_by_fold_it_is_what_select_takes_of_single_models(result: sf.TradeOffs) -> None:
    folds = result.to_dict()["recommendation"]["by_fold"]
    chosen = select(result, SelectionPolicy("keep_gain", 0.95), (MODEL,))
    assert folds["chosen"] == {fold: row["name"] for fold, row in chosen.chosen.items()}
    assert folds["test"]["gain"] == pytest.approx(pooled(chosen.chosen)["gain"])
    assert folds["test"]["risk"] == pytest.approx(pooled(chosen.chosen)["risk"])


def test_words() -> None:
    assert kept_in_words({"gain": 0.1, "risk": 0.0, "share_of_gain": 1.05, "share_of_risk": None}) == (
        "has 105 % of the gain at a risk of 0.0000"
    )
    assert model_name("saro@all α=0.5, num_leaves=4") == "saro@all α = 0.5, num_leaves=4"


def test_uneven_traffic_is_said_as_evaluate_says_it() -> None:
    weights = {"queries": 400, "effective_queries": 80.0, "equal": False}
    chosen = made_row("u_risk α=5", 0.096, 0.02) | {"alpha": 5.0}
    data = made_sweep(GAIN, chosen, queries=400) | {"traffic": weights}
    (uneven,) = recommendation(data).cautions
    assert "these 400 queries tell only as much as 80.0 queries" in uneven
    assert uneven.endswith(UNEVEN.text)
    (both,) = recommendation(data | {"traffic": weights | {"effective_queries": 30.0}}).cautions
    assert "With fewer than 50 queries" in both
    assert both.endswith(UNEVEN.text)
    assert not recommendation(data | {"traffic": weights | {"effective_queries": 300.0}}).cautions
    assert not recommendation(data | {"traffic": weights | {"equal": True}}).cautions
