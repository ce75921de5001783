"""surefoot: ranking that does not hurt people.

Measure what a ranking risks against what is shipped today, and learn rankings that risk less.
The names below are loaded when first used, so that importing surefoot costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surefoot.choose.sweep import read_sweep, sweep, swept_models
    from surefoot.choose.tradeoffs import TradeOffs
    from surefoot.clicks.feature_pipeline import FeatureTable
    from surefoot.clicks.generator import generate_log
    from surefoot.clicks.labels import lowest_click_plus_one, preference_gains
    from surefoot.clicks.writers import write_log
    from surefoot.data.letor.files import read_letor, write_letor
    from surefoot.data.reading.dates import read_dates
    from surefoot.data.reading.segments import read_segments
    from surefoot.data.reading.texts import read_texts
    from surefoot.data.synthetic import synthetic_runs
    from surefoot.data.synthetic_letor import synthetic_letor
    from surefoot.data.tools.judgments import write_judgments
    from surefoot.data.types.preferences import PreferencePairs, read_preferences
    from surefoot.data.types.ranking_data import RankingData
    from surefoot.data.types.runs import Qrels, Run, read_qrels, read_run, read_runs
    from surefoot.data.types.scores import Scores, read_scores
    from surefoot.data.types.streamed_scores import StreamedScores
    from surefoot.decide.control.certificate import Certificate
    from surefoot.decide.control.controller import RiskController
    from surefoot.decide.evidence.draws import Draws, judge_next, read_draws
    from surefoot.decide.gate.decision import Decision
    from surefoot.decide.gate.gate import gate
    from surefoot.errors import (
        ArgumentError,
        DataError,
        MeasureError,
        MissingExtraError,
        SurefootError,
        SurefootWarning,
    )
    from surefoot.learn.ranker import Ranker
    from surefoot.measures.near_ties import percentiles
    from surefoot.measures.notation import Measure
    from surefoot.measures.scoring import score
    from surefoot.measures.sigma import SigmaFit, fit_sigma, synthetic_preferences
    from surefoot.measures.worst_case import worst_case_loss
    from surefoot.personal.personalize import personalize
    from surefoot.personal.study import Personalization
    from surefoot.report.assessment import Assessment, assess
    from surefoot.risk.churn import compare_rankings
    from surefoot.risk.expectation import deviations, expected, g_squared, geo_risk, z_risk
    from surefoot.risk.inference import query_scores, t_risk, t_test
    from surefoot.risk.multiplicity import holm
    from surefoot.risk.tradeoff import u_risk, worst_mean
    from surefoot.studies.functions import compare_functions
    from surefoot.studies.noise import noise_study
    from surefoot.studies.picks import subset_study, time_study

__version__ = "0.2.0"

_HOME = {
    "surefoot.choose.sweep": ("read_sweep", "sweep", "swept_models"),
    "surefoot.choose.tradeoffs": ("TradeOffs",),
    "surefoot.clicks.generator": ("generate_log",),
    "surefoot.clicks.labels": ("lowest_click_plus_one", "preference_gains"),
    "surefoot.clicks.feature_pipeline": ("FeatureTable",),
    "surefoot.clicks.writers": ("write_log",),
    "surefoot.data.reading.dates": ("read_dates",),
    "surefoot.data.letor.files": ("read_letor", "write_letor"),
    "surefoot.data.types.ranking_data": ("RankingData",),
    "surefoot.data.types.preferences": ("PreferencePairs", "read_preferences"),
    "surefoot.data.types.scores": ("Scores", "read_scores"),
    "surefoot.data.reading.segments": ("read_segments",),
    "surefoot.data.types.streamed_scores": ("StreamedScores",),
    "surefoot.data.synthetic": ("synthetic_runs",),
    "surefoot.data.reading.texts": ("read_texts",),
    "surefoot.data.tools.judgments": ("write_judgments",),
    "surefoot.data.synthetic_letor": ("synthetic_letor",),
    "surefoot.data.types.runs": ("Qrels", "Run", "read_qrels", "read_run", "read_runs"),
    "surefoot.decide.control.certificate": ("Certificate",),
    "surefoot.decide.control.controller": ("RiskController",),
    "surefoot.decide.gate.decision": ("Decision",),
    "surefoot.decide.evidence.draws": ("Draws", "judge_next", "read_draws"),
    "surefoot.decide.gate.gate": ("gate",),
    "surefoot.errors": (
        "ArgumentError",
        "DataError",
        "MeasureError",
        "MissingExtraError",
        "SurefootError",
        "SurefootWarning",
    ),
    "surefoot.learn.ranker": ("Ranker",),
    "surefoot.measures.near_ties": ("percentiles",),
    "surefoot.measures.notation": ("Measure",),
    "surefoot.measures.scoring": ("score",),
    "surefoot.measures.sigma": ("SigmaFit", "fit_sigma", "synthetic_preferences"),
    "surefoot.measures.worst_case": ("worst_case_loss",),
    "surefoot.personal.personalize": ("personalize",),
    "surefoot.personal.study": ("Personalization",),
    "surefoot.report.assessment": ("Assessment", "assess"),
    "surefoot.risk.churn": ("compare_rankings",),
    "surefoot.risk.expectation": ("deviations", "expected", "g_squared", "geo_risk", "z_risk"),
    "surefoot.risk.inference": ("query_scores", "t_risk", "t_test"),
    "surefoot.risk.multiplicity": ("holm",),
    "surefoot.risk.tradeoff": ("u_risk", "worst_mean"),
    "surefoot.studies.functions": ("compare_functions",),
    "surefoot.studies.noise": ("noise_study",),
    "surefoot.studies.picks": ("subset_study", "time_study"),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "ArgumentError", "Assessment", "Certificate", "DataError", "Decision", "Draws", "FeatureTable", "Measure",
    "MeasureError", "MissingExtraError", "Personalization", "PreferencePairs", "Qrels", "Ranker", "RankingData",
    "RiskController", "Run", "Scores", "SigmaFit", "StreamedScores", "SurefootError", "SurefootWarning", "TradeOffs",
    "assess", "compare_functions", "compare_rankings", "deviations", "expected", "fit_sigma", "g_squared", "gate",
    "generate_log", "geo_risk", "holm", "judge_next", "lowest_click_plus_one", "noise_study", "percentiles",
    "personalize", "preference_gains", "query_scores", "read_dates", "read_draws", "read_letor", "read_preferences",
    "read_qrels", "read_run", "read_runs", "read_scores", "read_segments", "read_sweep", "read_texts", "score",
    "subset_study", "sweep", "swept_models", "synthetic_letor", "synthetic_preferences", "synthetic_runs", "t_risk",
    "t_test", "time_study", "u_risk", "worst_case_loss", "worst_mean", "write_judgments", "write_letor", "write_log",
    "z_risk",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'surefoot' has no attribute {name!r}")
    value = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
