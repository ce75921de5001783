"""The gate's bet against FORMULAS' figures, against a slow and obvious re-implementation, and against chance."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, hypergeom

from surefoot.risk import batches as room
from surefoot.risk.batches import BatchBet, CountBet, least_by_batches
from surefoot.risk.bounds import least_queries
from surefoot.risk.control_variate import ControlVariate, JudgeMoments, judge_moments

SHARES = [0.01 * 99 ** (k / 19) for k in range(20)]


def slow_capitals(batches, m, delta, known=None):
    """K after each query, and the stakes, by plain loops; the known traffic's rules of being settled are apart."""
    aiming, fixed = 1.0, [1.0] * 20
    seen, sums, squares = 0, 0.0, 0.0
    capitals, stakes = [], []
    for batch in batches:
        n = seen + len(batch)
        for x in batch:
            level = m if known is None else (known * m - sums) / (known - seen)
            i = seen + 1
            f = sum(fixed) / 20
            g = max(0.0, math.log(max((1 / delta - 0.1 * f) / (0.9 * aiming), 1e-300)))
            v = (5 * m * (1 - m) / 2 + squares) / (5 + i - 1)
            if 0 < level < 1:
                stake = min(0.99 / (1 - level), math.sqrt(2 * g / ((n - i + 1) * v)))
                aiming *= 1 + stake * (level - x)
                fixed = [c * (1 + s * (level - x) / (1 - level)) for c, s in zip(fixed, SHARES, strict=True)]
                stakes.append(stake)
            seen, sums = i, sums + x
            squares += (x - (5 * m + sums) / (5 + i)) ** 2
            capitals.append(0.9 * aiming + 0.1 * sum(fixed) / 20)
    return capitals, stakes


def capitals_of(batches, m, delta, known=None):
    """The same of the house's code: the peak after batches that end one query earlier or later is K where it rises."""
    found, bet = [], BatchBet.start(m, delta, known=known)
    for batch in batches:
        total = bet.seen + len(batch)
        for x in batch:
            columns = bet._columns(np.array([x], float), None, None)
            bet, _ = bet._add(columns, total, None, constant=False)
            found.append(float(0.9 * np.exp(bet.log_aiming) + 0.1 * bet.fixed_capital))
    return found


TWO = [[0, 0.5, 0, 0], [0, 0, 0.25]]


def test_the_published_capitals():
    expected = [1.391654, 1.020976, 1.421096, 1.989123, 2.796031, 3.942854, 4.214617]
    assert capitals_of(TWO, 0.3, 0.2) == pytest.approx(expected, abs=5e-7)
    capitals, stakes = slow_capitals(TWO, 0.3, 0.2)
    assert capitals == pytest.approx(expected, abs=5e-7)
    assert stakes == pytest.approx([1.414286] * 7, abs=5e-7)
    first = BatchBet.start(0.3, 0.2).after(TWO[0])
    assert [float(first.p), float(first.after(TWO[1]).p)] == pytest.approx([0.502734, 0.237270], abs=5e-7)


def test_the_published_stakes_of_many_small_losses():
    batches = [[0.15, 0.2] * 20, [0.15, 0.2] * 5]
    assert slow_capitals(batches, 0.3, 0.05)[1][:2] == pytest.approx([1.214217, 1.291023], abs=5e-7)
    assert capitals_of(batches, 0.3, 0.05)[39] == pytest.approx(24.798647, abs=5e-7)
    assert float(BatchBet.start(0.3, 0.05).after(batches[0]).after(batches[1]).p) == pytest.approx(0.024112, abs=5e-7)


def test_the_published_capitals_of_a_known_traffic():
    expected = [1.391654, 1.067310, 1.512349, 2.298464, 3.860387, 7.340616, 7.439912]
    assert capitals_of(TWO, 0.3, 0.2, known=10) == pytest.approx(expected, abs=5e-7)
    assert slow_capitals(TWO, 0.3, 0.2, known=10)[0] == pytest.approx(expected, abs=5e-7)
    bet = BatchBet.start(0.3, 0.2, known=10).after(TWO[0]).after(TWO[1])
    assert float(bet.p) == pytest.approx(0.134410, abs=5e-7)
    four = BatchBet.start(0.5, 0.05, known=4)
    assert float(four.after([0, 0]).p) == pytest.approx(0.180789, abs=5e-7)
    assert float(four.after([0, 0, 0]).p) == 0
    assert float(four.after([0, 0]).after([0]).p) == 0


def test_the_published_counts():
    first = CountBet.start(0.1, 0.05).after([1] + 39 * [0])
    assert float(first.capital) == pytest.approx(1.37313, abs=5e-6)
    assert float(np.exp(first.log_fixed)) == pytest.approx(1.94941, abs=5e-6)
    assert float(first.p) == pytest.approx(0.0894152, abs=5e-8)
    assert min(1.0, 0.05 * float(first.capital)) == pytest.approx(0.0686566, abs=5e-8)
    assert first._tails(30, np.array(0.0), 0.9 * 0.05 * first.capital)[1] == pytest.approx(0.0423912, abs=5e-8)
    assert float(first.after(30 * [0]).p) == pytest.approx(0.0343021, abs=5e-8)
    assert float(CountBet.start(0.1, 0.05).after(30 * [0]).p) == pytest.approx(0.047101, abs=5e-7)
    tenth = np.zeros(40)
    tenth[9] = 1
    known = CountBet.start(0.1, 0.05, known=100)
    assert known._tails(40, np.array(1.0), np.array(0.045))[0] == pytest.approx(0.0385158, abs=5e-8)
    assert float(known.after(tenth).p) == pytest.approx(0.0427953, abs=5e-8)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_any_batches_as_by_plain_loops(data):
    m = data.draw(st.floats(0.02, 0.98))
    delta = data.draw(st.sampled_from([0.0015, 0.05, 0.2]))
    sizes = data.draw(st.lists(st.integers(1, 12), min_size=1, max_size=4))
    unit = st.one_of(st.just(0.0), st.just(1.0), st.floats(0, 1))
    batches = [data.draw(st.lists(unit, min_size=size, max_size=size)) for size in sizes]
    known = data.draw(st.none() | st.integers(sum(sizes), 3 * sum(sizes)))
    capitals, _ = slow_capitals(batches, m, delta, known)
    bet = BatchBet.start([[m, 0.5]], delta, known=known)
    for batch in batches:
        bet = bet.after(np.array(batch)[None, None])
    p = float(bet.p[0, 0])
    if known is None:
        assert p == pytest.approx(min(1, 1 / max(capitals)), rel=1e-9)
        return
    x = [value for batch in batches for value in batch]
    apart = [(known * m - sum(x[:i]), known - i) for i in range(len(x) + 1)]
    if any(rest < -known * 1e-9 for rest, _ in apart):
        assert p == 1
    elif any(rest > left + known * 1e-9 for rest, left in apart):
        assert p == 0
    else:
        assert p == pytest.approx(min(1, 1 / max(capitals)), rel=1e-6)


def test_a_tail_between_nine_tenths_of_delta_and_delta_costs_nothing() -> None:
    assert 0.045 < 0.92**36 < 0.05  # that none of 36 queries is hurt: not small enough to refute, so not paid for
    bet = CountBet.start(0.08, 0.05).after([1] + 35 * [0])
    assert float(bet.capital) == pytest.approx(float(np.exp(bet.log_fixed)))


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_any_counts_as_by_plain_loops(data):
    m, delta = data.draw(st.floats(0.02, 0.9)), data.draw(st.sampled_from([0.0015, 0.05, 0.2]))
    sizes = data.draw(st.lists(st.integers(1, 15), min_size=1, max_size=4))
    batches = [data.draw(st.lists(st.integers(0, 1), min_size=size, max_size=size)) for size in sizes]
    known = data.draw(st.none() | st.integers(sum(sizes), 3 * sum(sizes)))
    bet = CountBet.start(m, delta, known=known)
    for batch in batches:
        bet = bet.after(batch)
    least = math.ceil(known * m - 1e-9) if known else None
    capital, seen, hurt, p = 1.0, 0, 0, 1.0
    for batch in batches:
        n, s = len(batch), sum(batch)
        law = binom(n, m) if known is None else hypergeom(known - seen, min(max(least - hurt, 0), known - seen), n)
        share = min(1.0, delta * capital)
        under = [law.cdf(k) for k in range(n + 1) if law.cdf(k) <= 0.9 * share]
        before, after = (
            sum_of_fixed(batches, end, m if known is None else least / known, known) for end in (seen, seen + n)
        )
        capital *= (1 - (under[-1] if under else 0)) if share == 0 else (1 - (under[-1] if under else 0) / share)
        capital *= after / before
        seen, hurt = seen + n, hurt + s
        p = min(p, delta * law.cdf(s) / (0.9 * share), 1 / capital if capital else math.inf)
    if known is not None and (least - hurt <= 0 or least - hurt > known - seen):
        p = 1.0 if least - hurt <= 0 else 0.0
    assert float(bet.p) == pytest.approx(p, rel=1e-6, abs=1e-12)


def sum_of_fixed(batches, end, m, known):
    """F after so many queries."""
    x, fixed, sums = [value for batch in batches for value in batch][:end], [1.0] * 20, 0.0
    for i, value in enumerate(x):
        level = m if known is None else (known * m - sums) / (known - i)
        sums += value
        if 0 < level < 1:
            fixed = [c * (1 + s * (level - value) / (1 - level)) for c, s in zip(fixed, SHARES, strict=True)]
    return sum(fixed) / 20


def test_levels_and_samples_side_by_side_are_those_alone():
    rng = np.random.default_rng(3)
    x, m = rng.uniform(0, 0.4, (3, 1, 70)), np.array([[0.1, 0.3], [0.2, 0.25], [0.15, 0.9]])
    deltas = np.array([[0.05], [0.025], [0.1]])
    bet = BatchBet.start(m, deltas).after(x[..., :40]).after(x[..., 40:])
    for row in range(3):
        for column in range(2):
            alone = BatchBet.start(m[row, column], deltas[row, 0]).after(x[row, 0, :40]).after(x[row, 0, 40:])
            assert float(bet.p[row, column]) == pytest.approx(float(alone.p), rel=1e-12)


def test_trivial_levels():
    for start in (BatchBet.start, CountBet.start):
        for known in (None, 20):
            bet = start([-0.1, 0, 1, 1.5], 0.05, known=known).after(np.tile([0.0, 1, 0], 3))
            assert bet.p.tolist() == [1, 1, 0, 0]


def test_a_constant_judge_adds_nothing():
    rng = np.random.default_rng(5)
    h, judge = rng.uniform(0, 0.3, 50), JudgeMoments(0.2, 0.0, 0.2, 0.2)
    alone = BatchBet.start([0.1, 0.3], 0.05).after(h)
    variate = ControlVariate(np.array([0.1, 0.3]), judge)
    assert BatchBet.start([0.1, 0.3], 0.05).after(h, variate, np.full(50, 0.2)).p.tolist() == alone.p.tolist()


def test_a_judge_by_plain_loops():
    rng = np.random.default_rng(8)
    everywhere = rng.beta(0.3, 3, 400)
    rows = rng.integers(0, 400, 60)
    h, a = np.clip(everywhere[rows] + rng.normal(0, 0.05, 60), 0, 1), everywhere[rows]
    moments, m, delta = judge_moments(everywhere, np.ones(400)), 0.12, 0.05
    together, squares = 10 * moments.variance, 20 * moments.variance
    aiming, fixed, sums, spread, capitals = 1.0, [1.0] * 20, 0.0, 0.0, []
    for i, (people, automatic) in enumerate(zip(h, a, strict=True), start=1):
        n = 40 if i <= 40 else 60
        weight, apart = min(max(together / squares, 0), 1.5), automatic - moments.mean
        y, room_above = people - weight * apart, 1 - m + weight * (moments.mean - moments.least)
        g = max(0.0, math.log(max((1 / delta - 0.1 * sum(fixed) / 20) / (0.9 * aiming), 1e-300)))
        v = (5 * m * (1 - m) / 2 + spread) / (5 + i - 1)
        aiming *= 1 + min(0.99 / room_above, math.sqrt(2 * g / ((n - i + 1) * v))) * (m - y)
        fixed = [c * (1 + s * (m - y) / room_above) for c, s in zip(fixed, SHARES, strict=True)]
        sums += y
        spread += (y - (5 * m + sums) / (5 + i)) ** 2
        together, squares = together + (people - m) * apart, squares + apart**2
        capitals.append(0.9 * aiming + 0.1 * sum(fixed) / 20)
    variate = ControlVariate(np.array(m), moments)
    bet = BatchBet.start(m, delta).after(h[:40], variate, a[:40]).after(h[40:], variate, a[40:])
    assert float(bet.p) == pytest.approx(1 / max(capitals), rel=1e-9)


@pytest.mark.parametrize("m", [0.004, 0.02, 0.05, 0.1, 0.6])
@pytest.mark.parametrize("delta", [0.0015, 0.04, 0.05])
def test_the_least_numbers_are_least(m, delta):
    for least, start in (
        (least_by_batches(m, delta), BatchBet.start),
        (least_queries(m, 0.9 * delta, "binomial"), CountBet.start),
    ):
        assert float(start(m, delta).after(np.zeros(least)).p) <= delta
        assert float(start(m, delta).after(np.zeros(least - 1)).p) > delta


def test_one_stake_for_many_queries_tells_about_the_same(monkeypatch):
    rng = np.random.default_rng(2)
    x = rng.binomial(1, 0.02, 3000) * 0.5
    fine = BatchBet.start([0.0115, 0.013, 0.02], 0.05).after(x[:1000]).after(x[1000:])
    monkeypatch.setattr(room, "MANY_QUERIES", 500)
    coarse = BatchBet.start([0.0115, 0.013, 0.02], 0.05).after(x[:1000]).after(x[1000:])
    assert coarse.seen == fine.seen
    assert ((coarse.p <= 0.05) == (fine.p <= 0.05)).all()
    monkeypatch.setattr(room, "_CELLS", 20 * 3 * 7)  # parts of blocks
    assert BatchBet.start([0.0115, 0.013, 0.02], 0.05).after(x[:1000]).after(x[1000:]).p == pytest.approx(coarse.p)


@pytest.mark.parametrize("batch", [(300,), (60, 90, 150), (20, 20, 40, 80, 140)])
def test_at_the_border_at_most_delta_is_ever_refuted(batch):
    rng = np.random.default_rng(17)
    for losses in (
        rng.binomial(1, 0.04, (3000, 300)) * 0.5,
        rng.uniform(0, 0.25, (3000, 300)) * rng.binomial(1, 0.16, (3000, 300)),
    ):
        bets = [BatchBet.start(0.02, 0.05, (3000,)), BatchBet.start(0.98, 0.05, (3000,))]
        for part in np.split(losses, np.cumsum(batch)[:-1], axis=1):
            bets = [bets[0].after(part), bets[1].after(1 - part)]
        for bet in bets:
            assert (bet.p <= 0.05).mean() <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 3000)
    hurt = rng.binomial(1, 0.05, (3000, 300))
    count = CountBet.start(0.05, 0.05, (3000,))
    for part in np.split(hurt, np.cumsum(batch)[:-1], axis=1):
        count = count.after(part)
    assert (count.p <= 0.05).mean() <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 3000)


def test_a_known_traffic_at_the_border():
    rng = np.random.default_rng(23)
    losses = np.zeros(1000)
    losses[:40] = 0.5
    runs = rng.permuted(np.tile(losses, (2000, 1)), axis=1)[:, :400]
    for x, m in ((runs, 0.02), (1 - runs, 0.98)):
        bet = BatchBet.start(m, 0.05, (2000,), known=1000).after(x[:, :150]).after(x[:, 150:])
        assert (bet.p <= 0.05).mean() <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 2000)
    hurt = (runs > 0).astype(float)
    count = CountBet.start(0.04, 0.05, (2000,), known=1000).after(hurt[:, :150]).after(hurt[:, 150:])
    assert (count.p <= 0.05).mean() <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 2000)
