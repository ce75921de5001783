"""surefoot: ranking that does not hurt people.

Measure what a ranking risks against what is shipped today, and learn rankings that risk less.
The names below are loaded when first used, so that importing surefoot costs next to nothing. `__all__` has those that
most people need; those in `_UNLISTED` resolve here too. `sf.risk`, `sf.clicks` and `sf.stability` list what is theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot.lazy import attach

if TYPE_CHECKING:
    from surefoot import clicks as clicks
    from surefoot import neural as neural
    from surefoot import pyterrier as pyterrier
    from surefoot import risk as risk
    from surefoot import stability as stability
    from surefoot.choose.sweep import read_sweep as read_sweep
    from surefoot.choose.sweep import sweep as sweep
    from surefoot.choose.sweep import swept_models as swept_models
    from surefoot.choose.tradeoffs import TradeOffs as TradeOffs
    from surefoot.clicks.feature_pipeline import FeatureTable as FeatureTable
    from surefoot.clicks.generator import generate_log as generate_log
    from surefoot.clicks.labels import lowest_click_plus_one as lowest_click_plus_one
    from surefoot.clicks.labels import preference_gains as preference_gains
    from surefoot.clicks.writers import write_log as write_log
    from surefoot.data.letor.files import read_letor as read_letor
    from surefoot.data.letor.files import write_letor as write_letor
    from surefoot.data.reading.dates import read_dates as read_dates
    from surefoot.data.reading.segments import read_segments as read_segments
    from surefoot.data.reading.texts import read_texts as read_texts
    from surefoot.data.synthetic_letor import synthetic_letor as synthetic_letor
    from surefoot.data.synthetic_runs import synthetic_runs as synthetic_runs
    from surefoot.data.tools.judge_ratings import read_judges as read_judges
    from surefoot.data.tools.judgments import write_judgments as write_judgments
    from surefoot.data.types.preferences import PreferencePairs as PreferencePairs
    from surefoot.data.types.preferences import read_preferences as read_preferences
    from surefoot.data.types.ranking_data import RankingData as RankingData
    from surefoot.data.types.run_files import read_runs as read_runs
    from surefoot.data.types.runs import Qrels as Qrels
    from surefoot.data.types.runs import Run as Run
    from surefoot.data.types.runs import read_qrels as read_qrels
    from surefoot.data.types.runs import read_run as read_run
    from surefoot.data.types.scores import Scores as Scores
    from surefoot.data.types.streamed_scores import StreamedScores as StreamedScores
    from surefoot.decide.agreement.agreement import Agreement as Agreement
    from surefoot.decide.agreement.agreement import agreement as agreement
    from surefoot.decide.evidence.draws import Draws as Draws
    from surefoot.decide.evidence.draws import read_draws as read_draws
    from surefoot.decide.evidence.judge_next import judge_next as judge_next
    from surefoot.decide.gate.decision import Decision as Decision
    from surefoot.decide.gate.gate import gate as gate
    from surefoot.decide.guard.certificate import Certificate as Certificate
    from surefoot.decide.guard.guard import RiskGuard as RiskGuard
    from surefoot.decide.history.history import ReleaseHistory as ReleaseHistory
    from surefoot.decide.history.history import history as history
    from surefoot.errors import ArgumentError as ArgumentError
    from surefoot.errors import DataError as DataError
    from surefoot.errors import MeasureError as MeasureError
    from surefoot.errors import MissingExtraError as MissingExtraError
    from surefoot.errors import SurefootError as SurefootError
    from surefoot.errors import SurefootWarning as SurefootWarning
    from surefoot.fetching.fetched_run import fetch as fetch
    from surefoot.learn.means import average as average
    from surefoot.learn.ranker import Ranker as Ranker
    from surefoot.measures.near_ties import percentiles as percentiles
    from surefoot.measures.notation import Measure as Measure
    from surefoot.measures.score_reading import read_scores as read_scores
    from surefoot.measures.scoring import score as score
    from surefoot.measures.sigma import SigmaFit as SigmaFit
    from surefoot.measures.sigma import fit_sigma as fit_sigma
    from surefoot.measures.sigma import synthetic_preferences as synthetic_preferences
    from surefoot.measures.worst_case import worst_case_loss as worst_case_loss
    from surefoot.neural.ranker import NeuralRanker as NeuralRanker
    from surefoot.personal.later_lists import later_lists as later_lists
    from surefoot.personal.personal_ranker import PersonalRanker as PersonalRanker
    from surefoot.personal.personalize import personalize as personalize
    from surefoot.personal.study import Personalization as Personalization
    from surefoot.report.assessment import Assessment as Assessment
    from surefoot.report.assessment import assess as assess
    from surefoot.risk.churn import compare_rankings as compare_rankings
    from surefoot.risk.expectation import deviations as deviations
    from surefoot.risk.expectation import expected as expected
    from surefoot.risk.expectation import g_squared as g_squared
    from surefoot.risk.expectation import geo_risk as geo_risk
    from surefoot.risk.expectation import z_risk as z_risk
    from surefoot.risk.inference import query_scores as query_scores
    from surefoot.risk.inference import t_risk as t_risk
    from surefoot.risk.inference import t_test as t_test
    from surefoot.risk.multiplicity import holm as holm
    from surefoot.risk.tradeoff import u_risk as u_risk
    from surefoot.risk.tradeoff import worst_mean as worst_mean

__version__ = "0.2.0"

_LISTED: dict[str, tuple[str, ...]] = {
    "choose.sweep": ("read_sweep", "sweep"),
    "choose.tradeoffs": ("TradeOffs",),
    "clicks": (),
    "data.letor.files": ("read_letor", "write_letor"),
    "data.reading.segments": ("read_segments",),
    "data.reading.texts": ("read_texts",),
    "data.synthetic_runs": ("synthetic_runs",),
    "data.synthetic_letor": ("synthetic_letor",),
    "data.tools.judgments": ("write_judgments",),
    "data.types.ranking_data": ("RankingData",),
    "data.types.run_files": ("read_runs",),
    "data.types.runs": ("Qrels", "Run", "read_qrels", "read_run"),
    "data.types.scores": ("Scores",),
    "decide.agreement.agreement": ("agreement",),
    "decide.guard.certificate": ("Certificate",),
    "decide.guard.guard": ("RiskGuard",),
    "decide.evidence.draws": ("Draws", "read_draws"),
    "decide.evidence.judge_next": ("judge_next",),
    "decide.gate.decision": ("Decision",),
    "decide.gate.gate": ("gate",),
    "errors": ("ArgumentError", "DataError", "MeasureError", "MissingExtraError", "SurefootError", "SurefootWarning"),
    "learn.means": ("average",),
    "learn.ranker": ("Ranker",),
    "measures.notation": ("Measure",),
    "measures.score_reading": ("read_scores",),
    "measures.scoring": ("score",),
    "measures.sigma": ("fit_sigma",),
    "neural": (),
    "neural.ranker": ("NeuralRanker",),
    "personal.personalize": ("personalize",),
    "personal.study": ("Personalization",),
    "report.assessment": ("Assessment", "assess"),
    "risk": (),
    "risk.expectation": ("geo_risk", "z_risk"),
    "risk.inference": ("t_risk", "t_test"),
    "risk.tradeoff": ("u_risk",),
    "stability": (),
}
_UNLISTED = {
    "choose.sweep": ("swept_models",),
    "clicks.feature_pipeline": ("FeatureTable",),
    "clicks.generator": ("generate_log",),
    "clicks.labels": ("lowest_click_plus_one", "preference_gains"),
    "clicks.writers": ("write_log",),
    "data.reading.dates": ("read_dates",),
    "data.tools.judge_ratings": ("read_judges",),
    "data.types.preferences": ("PreferencePairs", "read_preferences"),
    "decide.agreement.agreement": ("Agreement",),
    "decide.history.history": ("ReleaseHistory", "history"),
    "data.types.streamed_scores": ("StreamedScores",),
    "fetching.fetched_run": ("fetch",),
    "measures.near_ties": ("percentiles",),
    "measures.sigma": ("SigmaFit", "synthetic_preferences"),
    "measures.worst_case": ("worst_case_loss",),
    "personal.later_lists": ("later_lists",),
    "personal.personal_ranker": ("PersonalRanker",),
    "pyterrier": (),
    "risk.churn": ("compare_rankings",),
    "risk.expectation": ("deviations", "expected", "g_squared"),
    "risk.inference": ("query_scores",),
    "risk.multiplicity": ("holm",),
    "risk.tradeoff": ("worst_mean",),
}
_EVERY = {module: _LISTED.get(module, ()) + _UNLISTED.get(module, ()) for module in (*_LISTED, *_UNLISTED)}

__getattr__ = attach(__name__, _EVERY)[0]
__all__ = attach(__name__, _LISTED)[2]  # noqa: PLE0605, a list


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
