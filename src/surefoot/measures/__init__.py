"""Effectiveness per query."""

from enum import StrEnum


class MissingTreatment(StrEnum):
    """What becomes of a judged query that a run lacks: it counts 0, is left out for all systems, or is an error."""

    zero = "zero"
    drop = "drop"
    error = "error"
