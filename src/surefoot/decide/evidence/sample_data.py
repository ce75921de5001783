"""How judged queries stand for traffic, as plain data: of decisions and of certificates."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from surefoot.decide.evidence.conditions import ToProve
from surefoot.decide.evidence.strata import StratumData
from surefoot.decide.evidence.traffic import DrawnTraffic
from surefoot.risk.assessment_data import Count, NotNegative


class SampleData(TypedDict):
    """A plain random sample, draws by what queries could lose, or a sample of each stratum."""

    kind: Literal["plain", "draws", "strata"]
    to_prove: NotRequired[Annotated[ToProve, "What the queries were drawn for."]]
    draws: NotRequired[Annotated[Count, "A query that was drawn twice counts twice."]]
    people_queries: NotRequired[Annotated[Count, "Queries that people judged for these draws, each once."]]
    could_lose_mean: NotRequired[Annotated[NotNegative, "What a query could lose, on average over all."]]
    drawn_from: NotRequired[Annotated[Count, "Queries that were drawn from, each once."]]
    by_traffic: NotRequired[Annotated[DrawnTraffic, "Where queries were drawn by how often they are asked, too."]]
    unjudged_documents: NotRequired[
        Annotated[Count | None, "Documents that a list shows for a drawn query of this batch, and nobody judged."]
    ]
    strata: NotRequired[list[StratumData]]
