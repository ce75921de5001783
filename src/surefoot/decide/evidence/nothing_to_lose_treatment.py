"""What becomes of judged queries on which nothing can be lost, answered or not; users say it with `unanswered`."""

from enum import StrEnum


class NothingToLoseTreatment(StrEnum):
    """In a plain sample they are left out, or count as a part of traffic."""

    leave_out = "leave-out"
    counted = "count"
