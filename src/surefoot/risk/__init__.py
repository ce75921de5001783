"""Risk measures: pure functions of score matrices. The public ones are loaded when they are first used.

`tradeoff.py` (reward, risk, U), `inference.py` (T, adjusted and robust), `outcomes.py` (what tests say together),
`expectation.py` (Z, Geo), `churn.py` (how far rankings moved), `betting.py` and `bounds.py` (what n queries prove of a
mean). `assessment_figures.py` gathers an assessment as plain data, `assessment_parts.py` what else it has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot.lazy import attach

if TYPE_CHECKING:
    from surefoot.risk.churn import compare_rankings as compare_rankings
    from surefoot.risk.expectation import deviations as deviations
    from surefoot.risk.expectation import expected as expected
    from surefoot.risk.expectation import g_squared as g_squared
    from surefoot.risk.expectation import geo_risk as geo_risk
    from surefoot.risk.expectation import z_risk as z_risk
    from surefoot.risk.inference import query_scores as query_scores
    from surefoot.risk.inference import t_risk as t_risk
    from surefoot.risk.inference import t_test as t_test
    from surefoot.risk.outcomes import holm as holm
    from surefoot.risk.tradeoff import u_risk as u_risk
    from surefoot.risk.tradeoff import worst_mean as worst_mean

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "churn": ("compare_rankings",),
        "expectation": ("deviations", "expected", "g_squared", "geo_risk", "z_risk"),
        "inference": ("query_scores", "t_risk", "t_test"),
        "outcomes": ("holm",),
        "tradeoff": ("u_risk", "worst_mean"),
    },
)
