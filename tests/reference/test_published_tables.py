"""Every printed digit of the papers' tables that public data can give (FORMULAS, sections 2 and 3)."""

from __future__ import annotations

import numpy as np
import pytest

import surefoot as sf

# Table 3 of Dinçer et al. (SIGIR 2016).
TABLE_3 = np.array(
    [
        [0.0500, 0.1500, 0.3000, 0.4500, 0.5500],
        [0.4000, 0.3500, 0.3000, 0.2500, 0.2000],
        [0.3000, 0.3000, 0.3000, 0.3000, 0.3000],
        [0.2500, 0.2500, 0.2500, 0.2500, 0.2500],
        [0.4000, 0.1500, 0.4000, 0.1500, 0.4000],
        [0.2000, 0.4500, 0.2000, 0.4500, 0.2000],
        [0.2542, 0.2629, 0.2802, 0.2975, 0.3061],
        [0.2918, 0.2994, 0.3147, 0.3301, 0.3378],
    ]
)

# Z at α = 0, 1, 5, 10, then Geo likewise.
TABLE_5 = {
    "z": [
        [-0.049, -0.727, -3.442, -6.835],
        [0.026, -0.312, -1.668, -3.362],
        [0.006, -0.069, -0.368, -0.742],
        [0.005, -0.063, -0.336, -0.677],
        [0.006, -0.541, -2.727, -5.460],
        [0.005, -0.539, -2.718, -5.442],
        [-0.001, -0.008, -0.036, -0.072],
        [0.001, -0.010, -0.052, -0.106],
    ],
    "geo": [
        [0.386, 0.364, 0.271, 0.160],
        [0.388, 0.378, 0.333, 0.274],
        [0.387, 0.385, 0.376, 0.364],
        [0.354, 0.352, 0.344, 0.334],
        [0.387, 0.370, 0.296, 0.203],
        [0.387, 0.370, 0.297, 0.204],
        [0.374, 0.374, 0.373, 0.372],
        [0.397, 0.396, 0.395, 0.393],
    ],
}

# Table 4: system, per-query z and Z_Risk at α = 0 of each system against s1 alone, and of s1 against it.
TABLE_4 = [
    (1, [0.3689, 0.2000, 0.0000, -0.1690, -0.2858], 0.1141, [-0.3689, -0.2000, 0.0000, 0.1690, 0.2858], -0.1141),
    (2, [0.2988, 0.1581, 0.0000, -0.1225, -0.1917], 0.1427, [-0.2988, -0.1581, 0.0000, 0.1225, 0.1917], -0.1427),
    (3, [0.3077, 0.1599, 0.0000, -0.1209, -0.1884], 0.1583, [-0.2809, -0.1460, 0.0000, 0.1103, 0.1720], -0.1445),
    (4, [0.3689, 0.0000, 0.0845, -0.2739, -0.1088], 0.0708, [-0.3689, 0.0000, -0.0845, 0.2739, 0.1088], -0.0708),
    (5, [0.2121, 0.2739, -0.1000, 0.0000, -0.2858], 0.1002, [-0.2121, -0.2739, 0.1000, 0.0000, 0.2858], -0.1002),
    (6, [0.2799, 0.1422, 0.0000, -0.1057, -0.1669], 0.1496, [-0.2705, -0.1374, 0.0000, 0.1021, 0.1613], -0.1446),
    (7, [0.2792, 0.1445, -0.0001, -0.1097, -0.1732], 0.1408, [-0.2860, -0.1480, 0.0001, 0.1123, 0.1774], -0.1442),
]


def test_table_5_of_dincer_2016() -> None:
    alphas = [0, 1, 5, 10]
    z = np.column_stack([sf.z_risk(TABLE_3, alpha) for alpha in alphas])
    geo = np.column_stack([sf.geo_risk(TABLE_3, alpha) for alpha in alphas])
    np.testing.assert_array_equal(z.round(3), TABLE_5["z"])
    np.testing.assert_array_equal(geo.round(3), TABLE_5["geo"])


@pytest.mark.parametrize(("system", "z", "total", "z_of_s1", "total_of_s1"), TABLE_4)
def test_table_4_of_dincer_2016(
    system: int, z: list[float], total: float, z_of_s1: list[float], total_of_s1: float
) -> None:
    pair = TABLE_3[[system, 0]]
    np.testing.assert_array_equal(sf.risk.deviations(pair).round(4), [z, z_of_s1])
    np.testing.assert_array_equal(sf.z_risk(pair).round(4), [total, total_of_s1])


def test_g_squared_of_two_systems_with_equal_totals_is_eq_8() -> None:
    s, b = TABLE_3[1], TABLE_3[0]
    assert sf.risk.g_squared([s, b]).value == pytest.approx(np.sum((s - b) ** 2 / (s + b)), abs=1e-12)
    assert sf.risk.g_squared(TABLE_3).df == 7 * 4


@pytest.fixture(scope="module")
def web2012(data):
    return sf.read_scores(data / "trec-web-2012" / "err20.csv", measure="ERR@20")


# Dinçer 2014, Table 2 and Dinçer 2016, Table 6: mean, then U, T and T* at α = 0 and 5.
PUBLISHED = {
    "sys44": (0.3406, 0.146, 2.822, 4.833, -0.130, -0.798, 2.767),
    "sys38": (0.3067, 0.112, 2.332, None, -0.100, -0.673, None),
    "sys18": (0.2901, 0.095, 2.130, None, -0.189, -1.112, None),
    "sys46": (0.2203, 0.026, 0.561, 0.917, -0.388, -2.046, -2.987),
    "sys10": (0.2149, 0.020, 0.487, 0.569, -0.329, -1.994, -3.238),
    "sys29": (0.1735, -0.021, -0.498, -0.968, -0.509, -2.518, -4.195),
}


@pytest.mark.parametrize("system", PUBLISHED)
def test_u_t_and_t_star_of_trec_2012(web2012, system: str) -> None:
    mean, *figures = PUBLISHED[system]
    against_indri = _row(sf.assess(web2012, baseline="indriCASP", alphas=[0, 5]), system)
    against_mean = _row(sf.assess(web2012, baseline="mean", alphas=[0, 5]), system)
    assert round(against_indri["mean"], 4) == mean
    for key, (u, t, t_star) in zip(("0", "5"), (figures[:3], figures[3:]), strict=True):
        at = against_indri["alpha"][key]
        assert round(at["u_risk"], 3) == u
        assert round(at["t_risk"], 3) == t
        if t_star is not None:
            assert against_mean["alpha"][key]["t_risk"] == pytest.approx(t_star, abs=0.005)


def test_four_decimals_of_two_more_runs(web2012) -> None:
    for system, u, t in (("sys24", 0.1185, 2.2440), ("sys22", 0.1102, 2.3034)):
        assert round(sf.u_risk(web2012[system], web2012["indriCASP"]), 4) == u
        assert round(sf.t_risk(web2012[system], web2012["indriCASP"]), 4) == t


def test_p_values_of_dincer_2016(web2012) -> None:
    assert sf.t_test(web2012["sys38"], web2012["indriCASP"]).p == pytest.approx(0.0239, abs=0.0001)
    # "QUTparaBline" against "srchvrs12c00": 0.7003.
    assert sf.t_test(web2012["sys18"], web2012["sys38"]).p == pytest.approx(0.7003, abs=0.0001)


def test_both_standard_errors_agree_over_all_runs(web2012) -> None:
    # Dinçer 2014, Table 1: a root mean square error of 0.000.
    for alpha in (0, 1, 5, 10, 15):
        tests = [sf.t_test(row, web2012["indriCASP"], alpha) for row in web2012.values[:-1]]
        parted = [test.se - test.se_jackknife for test in tests if test.se is not None]
        assert np.sqrt(np.mean(np.square(parted))) < 1e-12
        assert all(test.trusted for test in tests)


@pytest.mark.parametrize(("system", "topics"), [("sys24", ["166", "175"]), ("sys19", ["166", "172", "175", "191"])])
def test_topics_named_by_dincer_2014(web2012, system: str, topics: list[str]) -> None:
    scores = sf.risk.query_scores(web2012[system], web2012["indriCASP"], alpha=0)
    assert [web2012.queries[i] for i in np.flatnonzero(scores.t_j < -scores.critical)] == topics


NINE = ["sys44", "sys38", "sys6", "sys18", "sys46", "sys10", "indriCASP", "sys29", "sys14"]


@pytest.mark.parametrize(
    ("alpha", "tolerance", "printed"),
    [
        (0, 0.00025, [0.4158, 0.3887, None, 0.3809, 0.3314, 0.3284, 0.3111, 0.2942, 0.2942]),
        (5, 0.0012, [0.308, 0.265, None, 0.279, 0.246, 0.234, 0.207, 0.196, 0.216]),
        (20, 0.0012, [0.053, 0.024, None, 0.044, 0.044, 0.030, 0.014, 0.014, 0.035]),
    ],
)
def test_geo_risk_of_the_nine_runs(web2012, alpha: float, tolerance: float, printed: list[float | None]) -> None:
    assessment = sf.assess(web2012, baseline="indriCASP", alphas=[alpha], population=NINE).to_dict()
    assert assessment["population"] == NINE
    geo_risk = {row["system"]: row["alpha"][f"{alpha:g}"]["geo_risk"] for row in assessment["systems"]}
    for system, value in zip(NINE, printed, strict=True):
        if value is not None:
            assert geo_risk[system] == pytest.approx(value, abs=tolerance)
    assert geo_risk["sys1"] is None


def _row(assessment: sf.Assessment, system: str) -> dict:
    return next(row for row in assessment.to_dict()["systems"] if row["system"] == system)
