"""What early stopping and history go by, against the risk measures themselves."""

from __future__ import annotations

import numpy as np
import pytest

import surefoot as sf
from surefoot.learn.criteria import Criterion, history_figures

BASELINES = np.array([[0.1, 0.6, 0.5, 0.2], [0.3, 0.2, 0.9, 0.4]])
MODEL = np.array([0.5, 0.3, 0.8, 0.1])  # δ against the mean: 0.3, −0.1, 0.1, −0.2


def test_each_criterion_is_the_models_at_its_alpha() -> None:
    mean = BASELINES.mean(axis=0)
    assert Criterion.parse("effectiveness")(MODEL, BASELINES) == pytest.approx(0.425)
    assert Criterion.parse("u_risk@5")(MODEL, BASELINES) == pytest.approx((0.4 - 6 * 0.3) / 4)
    assert Criterion.parse("t_risk@5")(MODEL, BASELINES) == pytest.approx(sf.t_risk(MODEL, mean, 5))
    population = sf.geo_risk(np.vstack([BASELINES, MODEL]), 5)
    assert len(set(population.round(6))) == 3  # no row stands for another
    assert Criterion.parse("geo_risk@5")(MODEL, BASELINES) == pytest.approx(population[2])


@pytest.mark.parametrize("name", ["u_risk", "t_risk", "geo_risk"])
def test_alpha_matters(name: str) -> None:
    low, high = (Criterion.parse(f"{name}@{alpha}")(MODEL, BASELINES) for alpha in (0, 5))
    assert high < low


def test_a_model_equal_to_its_baseline_has_no_t() -> None:
    assert Criterion.parse("t_risk@5")(BASELINES[0], BASELINES[:1]) == 0.0


def test_figures_are_against_the_mean_of_the_baselines() -> None:
    assert history_figures(MODEL, BASELINES) == pytest.approx(
        {"effectiveness": 0.425, "reward": 0.1, "risk": 0.075, "wins": 2, "losses": 2}
    )
    assert history_figures(MODEL, None) == {"effectiveness": pytest.approx(0.425)}
