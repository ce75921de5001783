"""Betting with an automatic judge: the formulas by slow loops, judges that say nothing, and claims that hold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.risk.slow_bets import slow_anytime, slow_weight

from surefoot.errors import ArgumentError
from surefoot.risk.batches import p_of_batch
from surefoot.risk.betting import anytime_capital, start_anytime
from surefoot.risk.control_variate import ControlVariate, JudgeMoments, anytime_with_judge, judge_moments

DELTAS = [0.05, 0.01, 0.2]


@st.composite
def drawn_values(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, JudgeMoments, np.ndarray]:
    """Values of people and of a judge for a small traffic, chances of drawing, and draws."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    size = draw(st.integers(2, 30))
    people = rng.random(size) * (rng.random(size) < draw(st.floats(0.1, 1)))
    judge = draw(st.sampled_from([people, 1 - people, rng.random(size), np.round(rng.random(size)), 0.3 * people]))
    chances = rng.random(size) * (rng.random(size) < 0.8)
    chances[0] += 0.1
    drawn = rng.choice(size, draw(st.integers(1, 20)), p=chances / chances.sum())
    return people[drawn], judge[drawn], judge_moments(judge, chances), judge


def slow_gate(h: np.ndarray, a: np.ndarray, judge: JudgeMoments, m: float, delta: float, *, stop: bool) -> float:
    """The greatest K of the gate's bet; `stop` has the formula of the other side as it is written."""
    aiming, fixed, best = 1.0, [1.0] * 20, 1.0
    ys: list[float] = []
    mus: list[float] = []
    for i in range(len(h)):
        weight = slow_weight(h[:i], a[:i], judge, m)
        y = h[i] - weight * (a[i] - judge.mean)
        apart, room = (y - m, m + weight * (judge.most - judge.mean)) if stop else (
            m - y, 1 - m + weight * (judge.mean - judge.least)
        )  # fmt: skip
        v = (5 * m * (1 - m) / 2 + sum((own - mu) ** 2 for own, mu in zip(ys, mus, strict=True))) / (5 + i)
        left = max(0.0, math.log(max((1 / delta - 0.1 * sum(fixed) / 20) / (0.9 * aiming), 1e-300)))
        aiming *= 1 + min(0.99 / room, math.sqrt(2 * left / ((len(h) - i) * v))) * apart
        fixed = [c * (1 + 0.01 * 99 ** (k / 19) * apart / room) for k, c in enumerate(fixed)]
        best = max(best, 0.9 * aiming + 0.1 * sum(fixed) / 20)
        ys.append(y)
        mus.append((5 * m + sum(ys)) / (6 + i))
    return best


@given(drawn_values(), st.floats(0.01, 0.99), st.sampled_from(DELTAS))
def test_the_gates_bet_is_the_formula(values: tuple, m: float, delta: float) -> None:
    h, a, judge, _ = values
    ship, stop = (slow_gate(h, a, judge, m, delta, stop=side) for side in (False, True))
    assert float(p_of_batch(h, m, delta, a, judge)) == pytest.approx(1 / ship, rel=1e-7)
    assert float(p_of_batch(1 - h, 1 - m, delta, 1 - a, judge.mirrored)) == pytest.approx(1 / stop, rel=1e-7)


@given(drawn_values(), st.floats(0.01, 0.99), st.sampled_from(DELTAS), st.integers(1, 60))
def test_the_anytime_form_is_the_formula(values: tuple, m: float, delta: float, budget: int) -> None:
    h, a, judge, _ = values
    capitals = slow_anytime(h, a, judge, m, delta, budget)
    state = anytime_with_judge(h, a, judge, m, delta, budget)
    assert float(state.p) == pytest.approx(min(1, 1 / max(1, *capitals)), rel=1e-7)


@given(drawn_values(), st.floats(0, 1), st.floats(-0.2, 1.2), st.sampled_from(DELTAS))
def test_a_judge_that_always_says_the_same_changes_nothing(
    values: tuple, constant: float, m: float, delta: float
) -> None:
    h, a, _, everything = values
    same, judge = np.full(len(a), constant), judge_moments(np.full(len(everything), constant), np.ones(len(everything)))
    assert judge == JudgeMoments(constant, 0.0, constant, constant)
    assert float(p_of_batch(h, m, delta, same, judge)) == float(p_of_batch(h, m, delta))
    anytime = anytime_with_judge(h, same, judge, m, delta, 50)
    assert float(anytime.p) == float(anytime_capital(h, start_anytime(m, delta, 50)).p)


@given(drawn_values(), st.floats(0.01, 0.99))
def test_all_draws_at_once_teach_what_one_by_one_do(values: tuple, m: float) -> None:
    h, a, judge, _ = values
    found = float(ControlVariate(m, judge).learn(h, a))
    assert found == pytest.approx(slow_weight(h, a, judge, m))
    variate = ControlVariate(m, judge)
    assert len([*variate.columns(zip(h, a, strict=True))]) == len(h)
    assert float(variate.weight) == pytest.approx(found)


@given(drawn_values(), st.floats(0.01, 0.99))
def test_no_factor_is_ever_below_zero(values: tuple, m: float) -> None:
    """The worst that could be drawn is people's 1 where the judge says its least."""
    h, a, judge, _ = values
    variate = ControlVariate(m, judge)
    for column in variate.columns(zip(h, a, strict=True)):
        assert float(column.room) > 0
        weight = (float(column.room) - (1 - m)) / (judge.mean - judge.least) if judge.mean > judge.least else 0.0
        assert 0 <= weight <= 1.5 + 1e-9
        worst = 1 - weight * (judge.least - judge.mean)
        assert 1 + (m - worst) / float(column.room) >= -1e-9


def test_all_leading_axes_at_once() -> None:
    rng = np.random.default_rng(0)
    h, a, m = rng.random((3, 4, 50)), rng.random((3, 4, 50)), rng.uniform(0.2, 0.8, (3, 4))
    mean = rng.uniform(0.3, 0.6, (3, 4))
    judge = JudgeMoments(mean, rng.uniform(0, 0.1, (3, 4)) * (mean > 0.4), np.zeros((3, 4)), np.ones((3, 4)))
    together, anytime = p_of_batch(h, m, 0.05, a, judge), anytime_with_judge(h, a, judge, m, 0.05, 40).p
    for at in np.ndindex(3, 4):
        own = JudgeMoments(*(float(part[at]) for part in judge))
        assert together[at] == pytest.approx(float(p_of_batch(h[at], m[at], 0.05, a[at], own)))
        assert anytime[at] == pytest.approx(float(anytime_with_judge(h[at], a[at], own, m[at], 0.05, 40).p))


def test_levels_at_the_ends_are_known_beforehand() -> None:
    judge = JudgeMoments(0.5, 0.1, 0.0, 1.0)
    assert p_of_batch(np.ones(5), [-0.1, 0, 1, 1.5], 0.05, np.ones(5), judge).tolist() == [1, 1, 0, 0]
    assert anytime_with_judge(np.ones(5), np.ones(5), judge, [0, 1], 0.05, 10).p.tolist() == [1, 0]


@pytest.mark.parametrize("wrong", [1.001, -0.001, np.nan])
def test_values_beyond_the_unit_are_refused(wrong: float) -> None:
    with pytest.raises(ArgumentError, match="from 0 to 1"):
        p_of_batch([0.5], 0.5, 0.05, [wrong], JudgeMoments(0.5, 0.1, 0, 1))
    with pytest.raises(ArgumentError, match="from 0 to 1"):
        judge_moments([0.5, wrong], [1, 1])


def test_what_cannot_be_drawn_does_not_count() -> None:
    assert judge_moments([0.2, 0.4, 0.9], [1, 1, 0]) == judge_moments([0.2, 0.4], [1, 1])


def test_false_claims_are_as_rare_as_promised_whatever_the_judge() -> None:
    rng = np.random.default_rng(3)
    traffic, runs, n = 2000, 4000, 50
    weights = rng.uniform(0.1, 1, traffic)
    people = np.where(rng.random(traffic) < 0.25, rng.random(traffic), 0)
    judges = {
        "good": np.clip(people + rng.normal(0, 0.1, traffic), 0, 1), "independent": rng.random(traffic),
        "contrary": 1 - people, "rare": (rng.random(traffic) < 0.003) * 1.0,
        "half": people * (rng.random(traffic) < 0.5),
    }  # fmt: skip
    chance = weights / weights.sum()
    truth = float(chance @ people)
    most = 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)
    for a in judges.values():
        judge, drawn = judge_moments(a, weights), rng.choice(traffic, (runs, n), p=chance)
        h, own = people[drawn], a[drawn]
        assert (p_of_batch(h, truth, 0.05, own, judge) <= 0.05).mean() <= most
        assert (p_of_batch(1 - h, 1 - truth, 0.05, 1 - own, judge.mirrored) <= 0.05).mean() <= most
        assert (anytime_with_judge(h, own, judge, truth, 0.05, n).p <= 0.05).mean() <= most
