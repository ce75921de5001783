"""What becomes of judged queries on which nothing can be lost."""

from enum import StrEnum


class Unanswered(StrEnum):
    """In a plain sample they are left out, or count as a part of traffic."""

    leave_out = "leave-out"
    traffic = "traffic"
