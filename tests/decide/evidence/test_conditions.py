"""The registry of conditions: what each says, and that one more needs nothing but its entry."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

import surefoot as sf
from surefoot.decide.evidence.conditions import CONDITIONS, LOSSES, ConditionKind, ConditionRule, condition_named
from surefoot.decide.gate.release_policy import ReleasePolicy
from surefoot.errors import ArgumentError, DataError
from surefoot.risk.tradeoff import count_losing_over_20, u_risk

unit = st.floats(0, 1, allow_subnormal=False)
pairs = st.integers(1, 30).flatmap(lambda n: st.tuples(*[nps.arrays(float, n, elements=unit)] * 2))


@given(pairs)
def test_figures_are_those_of_assessments(pair: tuple[np.ndarray, np.ndarray]) -> None:
    model, baseline = pair
    figure = {name: one.values(model, baseline, 3.0).mean() for name, one in CONDITIONS.items()}
    assert figure["risk"] == pytest.approx(np.maximum(0, baseline - model).mean())
    assert figure["share_hurt"] * len(model) == pytest.approx(count_losing_over_20(model - baseline, baseline))
    assert figure["gain"] == pytest.approx((model - baseline).mean(), abs=1e-15)
    assert figure["u_risk"] == pytest.approx(u_risk(model, baseline, 3.0))


@given(pairs, st.floats(0.1, 1), st.floats(0.1, 1), st.sampled_from([0.0, 0.5, 5.0]))
def test_every_figure_is_a_mean_from_0_to_1(
    pair: tuple[np.ndarray, np.ndarray], weight: float, could_lose_mean: float, alpha: float
) -> None:
    model, baseline = (weight * one for one in pair)  # no difference is above the weight
    for condition in CONDITIONS.values():
        own = 1.0 if condition.to_prove is None else weight
        x, offset, scale = condition.bounded_mean(model, baseline, alpha, own, could_lose_mean)
        assert x.min() >= -1e-12
        assert x.max() <= 1 + 1e-12
        figure = could_lose_mean / own * condition.values(model, baseline, alpha).mean()
        assert offset + scale * x.mean() == pytest.approx(figure, abs=1e-9)
        low, high = condition.limits(alpha)
        assert low - 1e-12 <= condition.values(model, baseline, alpha).mean() <= high + 1e-12


def test_what_controllers_can_keep_to() -> None:
    assert LOSSES == ("risk", "share_hurt")
    assert all(CONDITIONS[name].at_most for name in LOSSES)


def test_unknown_conditions_are_refused() -> None:
    with pytest.raises(
        DataError, match="has an unknown condition 'regret'; it must be one of: risk, share_hurt, gain, u_risk"
    ):
        condition_named("regret")


LOST_FIRST = ConditionKind(
    name="lost_first",
    title="lost first",
    words="the share of queries that lose all they had",
    direction="at most",
    values=lambda candidate, baseline, alpha: ((candidate == 0) & (baseline > 0)).astype(np.float64),
    example=0.01,
    zero_or_one="always",
)
WEIGHED_LOSS = ConditionKind(
    name="weighed_loss",
    title="W",
    words="the weighed loss",
    direction="at most",
    values=lambda candidate, baseline, alpha: (1 + alpha) * np.maximum(baseline - candidate, 0),
    width=lambda alpha: 1 + alpha,
    example=0.1,
    example_alpha=2,
    to_prove="risk",
)


@pytest.fixture
def more(monkeypatch: pytest.MonkeyPatch) -> None:
    for condition in (LOST_FIRST, WEIGHED_LOSS):
        monkeypatch.setitem(CONDITIONS, condition.name, condition)


@pytest.mark.usefixtures("more")
def test_one_more_condition_is_one_more_entry() -> None:
    today, new = np.full(400, 0.5), np.full(400, 0.5)
    new[:2] = 0.0
    scores = sf.Scores([today, new], ["today", "new"], [f"q{i}" for i in range(400)], "nDCG@10")
    policy = {"lost_first": 0.03, "weighed_loss": {"alpha": 2, "at_most": 0.1}, "gain": -0.2}
    decision = sf.gate(scores, baseline="today", policy=policy)
    assert decision.decision == "ship"
    by_name = {one["name"]: one for one in decision.conditions}
    assert list(by_name) == ["gain", "lost_first", "weighed_loss"]
    assert by_name["lost_first"]["method"] == "binomial"
    assert by_name["lost_first"]["observed"] == pytest.approx(2 / 400)
    assert by_name["weighed_loss"]["observed"] == pytest.approx(3 * 0.5 * 2 / 400)
    text = decision.to_text(width=1000)
    assert "lost first ≤ 3 % holds: the share of queries that lose all they had is at most" in text
    assert "W(2) ≤ 0.1 holds: the weighed loss is at most" in text
    again = sf.Decision.from_dict(json.loads(decision.to_json()))
    for shown in (again.to_markdown(), again.to_html(), again.to_junit(), again.to_csv()):
        assert "lost" in shown
    assert ConditionRule("weighed_loss", 0.1, 2.0).words == "W(2) ≤ 0.1"


@pytest.mark.usefixtures("more")
def test_one_more_condition_is_checked_like_others() -> None:
    for policy, message in (
        ({"lost_first": 0}, r"lost_first is 0; it must be above 0 and below 1 \(no number of queries"),
        ({"weighed_loss": 0.1}, r"weighed_loss is 0\.1; write \{alpha = 2, at_most = 0\.1\}"),
        (
            {"weighed_loss": {"alpha": 2, "at_most": 3}},
            r"weighed_loss.at_most is 3; with alpha = 2 it must be above 0 and below 3",
        ),
        ({"lost_fist": 0.1}, "did you mean lost_first"),
        ({}, r"weighed_loss = \{alpha = 2, at_most = 0\.1\}, delta = 0\.05"),
    ):
        with pytest.raises(ArgumentError, match=message):
            ReleasePolicy.read(policy)


@pytest.mark.usefixtures("more")
def test_draws_decide_what_says_so() -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(20)}
    today = sf.read_run({query: ["a", "b"] for query in qrels}, "today")
    new = sf.read_run({query: ["b", "a"] if query < "q15" else ["a", "b"] for query in qrels}, "new")
    draws = sf.judge_next({"today": today, "new": new}, baseline="today", measure="RR@10", n=30, seed=0)
    scores = sf.score(qrels, [today, new], "RR@10")
    policy = {"weighed_loss": {"alpha": 1, "at_most": 0.9}}
    decision = sf.gate(scores, baseline="today", policy=policy, sample=draws)
    loss = np.maximum(scores["today"] - scores["new"], 0).mean()
    assert decision.conditions[0]["observed"] == pytest.approx(2 * loss)
    with pytest.raises(ArgumentError, match="lost_first cannot be decided with drawn queries"):
        sf.gate(scores, baseline="today", policy={"lost_first": 0.1}, sample=draws)
