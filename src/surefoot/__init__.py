"""surefoot: ranking that does not hurt people.

Measure what a ranking risks against what is shipped today, and learn rankings that risk less.
The names below are loaded when first used, so that importing surefoot costs next to nothing. The modules among them,
`sf.risk`, `sf.stability`, `sf.clicks`, `sf.neural` and `sf.demo`, list what is theirs; `surefoot.errors` has errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot.lazy import attach

if TYPE_CHECKING:
    from surefoot import clicks as clicks
    from surefoot import demo as demo
    from surefoot import neural as neural
    from surefoot import risk as risk
    from surefoot import stability as stability
    from surefoot.choose.sweep import sweep as sweep
    from surefoot.choose.tradeoffs import TradeOffs as TradeOffs
    from surefoot.data.letor.files import read_letor as read_letor
    from surefoot.data.types.ranking_data import RankingData as RankingData
    from surefoot.data.types.runs import Qrels as Qrels
    from surefoot.data.types.runs import Run as Run
    from surefoot.data.types.runs import read_qrels as read_qrels
    from surefoot.data.types.runs import read_run as read_run
    from surefoot.data.types.scores import Scores as Scores
    from surefoot.data.types.several_tables import read_runs as read_runs
    from surefoot.decide.agreement.agreement import judge_agreement as judge_agreement
    from surefoot.decide.evidence.draws import Draws as Draws
    from surefoot.decide.evidence.judge_next import judge_next as judge_next
    from surefoot.decide.evidence.sample import Strata as Strata
    from surefoot.decide.gate.decision import Decision as Decision
    from surefoot.decide.gate.gate import gate as gate
    from surefoot.decide.guard.certificate import Certificate as Certificate
    from surefoot.decide.guard.guard import RiskGuard as RiskGuard
    from surefoot.decide.history.history import history as history
    from surefoot.errors import SurefootError as SurefootError
    from surefoot.errors import SurefootWarning as SurefootWarning
    from surefoot.fetching.fetched_run import fetch as fetch
    from surefoot.learn.means import average as average
    from surefoot.learn.ranker import Ranker as Ranker
    from surefoot.measures.notation import Measure as Measure
    from surefoot.measures.score_reading import read_scores as read_scores
    from surefoot.measures.scoring import score as score
    from surefoot.measures.sigma import fit_sigma as fit_sigma
    from surefoot.neural.ranker import NeuralRanker as NeuralRanker
    from surefoot.personal.personal_ranker import PersonalRanker as PersonalRanker
    from surefoot.personal.personalize import personalize as personalize
    from surefoot.personal.study import Personalization as Personalization
    from surefoot.report.assessment import Assessment as Assessment
    from surefoot.report.assessment import assess as assess
    from surefoot.risk.expectation import geo_risk as geo_risk
    from surefoot.risk.expectation import z_risk as z_risk
    from surefoot.risk.inference import t_risk as t_risk
    from surefoot.risk.inference import t_test as t_test
    from surefoot.risk.tradeoff import u_risk as u_risk
    from surefoot.saved import load as load

__version__ = "0.2.0"

_PUBLIC: dict[str, tuple[str, ...]] = {
    "choose.sweep": ("sweep",),
    "choose.tradeoffs": ("TradeOffs",),
    "clicks": (),
    "data.letor.files": ("read_letor",),
    "data.types.ranking_data": ("RankingData",),
    "data.types.several_tables": ("read_runs",),
    "data.types.runs": ("Qrels", "Run", "read_qrels", "read_run"),
    "data.types.scores": ("Scores",),
    "decide.agreement.agreement": ("judge_agreement",),
    "decide.evidence.draws": ("Draws",),
    "decide.evidence.judge_next": ("judge_next",),
    "decide.evidence.sample": ("Strata",),
    "decide.gate.decision": ("Decision",),
    "decide.gate.gate": ("gate",),
    "decide.guard.certificate": ("Certificate",),
    "decide.guard.guard": ("RiskGuard",),
    "decide.history.history": ("history",),
    "demo": (),
    "errors": ("SurefootError", "SurefootWarning"),
    "fetching.fetched_run": ("fetch",),
    "learn.means": ("average",),
    "learn.ranker": ("Ranker",),
    "measures.notation": ("Measure",),
    "measures.score_reading": ("read_scores",),
    "measures.scoring": ("score",),
    "measures.sigma": ("fit_sigma",),
    "neural": (),
    "neural.ranker": ("NeuralRanker",),
    "personal.personal_ranker": ("PersonalRanker",),
    "personal.personalize": ("personalize",),
    "personal.study": ("Personalization",),
    "report.assessment": ("Assessment", "assess"),
    "risk": (),
    "risk.expectation": ("geo_risk", "z_risk"),
    "risk.inference": ("t_risk", "t_test"),
    "risk.tradeoff": ("u_risk",),
    "saved": ("load",),
    "stability": (),
}

__getattr__, _names, __all__ = attach(__name__, _PUBLIC)


def __dir__() -> list[str]:
    return [*_names(), "__version__"]
