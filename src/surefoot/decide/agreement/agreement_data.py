"""The agreement of judges as plain data: the types of its JSON."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from surefoot.risk.assessment_data import Count, NotNegative

SCHEMA: Literal["surefoot/agreement/1"] = "surefoot/agreement/1"
NOTHING_NEEDED = "the systems differ so little that the risk must be below the level"


class GradeBiasData(TypedDict):
    """Documents to which people gave one grade."""

    grade: float
    documents: Count
    bias: Annotated[float, "The mean of the automatic grade minus people's."]


class SystemBiasData(TypedDict):
    """One system on the queries that both judged."""

    system: str
    people: Annotated[float, "The mean of the measure by people's judgments."]
    automatic: Annotated[float, "The same by the automatic ones."]
    bias: Annotated[float, "The second minus the first."]


class FavourData(TypedDict):
    """Whether the judge prefers one of two systems: a paired t-test of A − H, candidate against baseline."""

    mean: Annotated[float, "How much more the judge gives the candidate than the baseline, beyond what people do."]
    t: float | None
    p_value: float | None
    system: Annotated[str | None, "Which one it favours, where p is below 0.05."]


class SavingsData(TypedDict):
    """About how many draws people must judge so that 80 % of gates prove a risk below a level."""

    level: NotNegative
    delta: float
    alone: Annotated[int | None, "Without the judge; null where the most that is tried would not do."]
    with_judge: Annotated[int | None, "With it."]
    reason: Annotated[str | None, "Why there are no numbers, where there are none."]


class SystemsComparisonData(TypedDict):
    """Candidate against baseline, by people and by the judge."""

    baseline: str
    candidate: str
    risk: Annotated[dict[str, float], "The mean loss, by `people` and by `automatic` judgments."]
    gain: Annotated[dict[str, float], "The mean difference, likewise."]
    loss_correlation: Annotated[float | None, "Of losses by query, by people and by the judge."]
    difference_correlation: Annotated[float | None, "Of differences by query."]
    favours: FavourData
    savings: SavingsData


class AgreementData(TypedDict):
    """How far an automatic judge agrees with people."""

    schema: Literal["surefoot/agreement/1"]
    people: str
    automatic: str
    judges: Annotated[list[str], "All judges of both, of whom Krippendorff's α is."]
    documents: Annotated[Count, "Judged by both."]
    queries: Annotated[Count, "Of these documents."]
    only_people: Annotated[Count, "Documents that the automatic judge did not judge."]
    only_automatic: Annotated[Count, "Documents that people did not judge."]
    identical: Annotated[bool, "All grades of the documents that both judged are the same."]
    agreement: Annotated[float, "The share of documents with the same grade."]
    bias: Annotated[float, "The mean of the automatic grade minus people's."]
    outside_scale: Annotated[Count, "Automatic grades below the least or above the greatest that people gave."]
    kappa: Annotated[float | None, "Cohen's; null where both gave one grade to all."]
    kappa_linear: float | None
    kappa_quadratic: float | None
    alpha_nominal: Annotated[float | None, "Krippendorff's, of all judges."]
    alpha_interval: float | None
    grades: list[float]
    confusion: Annotated[list[list[int]] | None, "People's grade by row, the judge's by column; null of many grades."]
    by_grade: list[GradeBiasData]
    measure: str | None
    systems: list[SystemBiasData]
    comparison: SystemsComparisonData | None
