"""Words on what figures rest on: who judged, and what an automatic judge filled in."""

from __future__ import annotations

from surefoot.errors import name_list
from surefoot.report.numbers import fixed, percent, signed
from surefoot.risk.assessment_data import AssessmentData, SystemHolesData

_MOST = 8  # systems that are named


def judgment_cautions(data: AssessmentData) -> list[str]:
    """What a reader must know of judgments that no person made, and of judges who differ."""
    lines = []
    judgments, automatic = data.get("judgments"), data.get("automatic")
    if judgments is not None and automatic is None:
        judges = f" ({name_list(judgments['judges'], 4, str)})" if judgments["judges"] else ""
        if judgments["made_by"] == "machine":
            lines.append(
                f"A machine made all judgments{judges}. They can favour a system. No release should rest on them alone."
            )
        elif judgments["made_by"] == "people and machine":
            lines.append(f"People and machines made the judgments{judges}.")
        if judgments["differ"]:
            share = percent(judgments["differ"] / judgments["rated_by_several"])
            lines.append(f"Judges differ on {share} of {judgments['rated_by_several']:,} documents that several rated.")
    if automatic is not None:
        lines.append(
            f"The automatic judge {automatic['judge']} filled holes, documents that people did not judge. With and "
            f"without: {name_list([_one(one) for one in automatic['systems']], _MOST, str)}."
        )
        if automatic["favours"]:
            names = name_list(automatic["favours"], _MOST, str)
            lines.append(
                f"Filling raises {names} by more than the baseline (p < 0.05 for each alone): the judge may favour "
                f"{'it' if len(automatic['favours']) == 1 else 'them'}, or people judged less of "
                f"{'its' if len(automatic['favours']) == 1 else 'their'} results."
            )
    return lines


def _one(one: SystemHolesData) -> str:
    change = signed(one["mean_with"] - one["mean_without"], 4)
    return (
        f"{one['system']} {fixed(one['mean_with'], 4)} with, {fixed(one['mean_without'], 4)} without ({change}; "
        f"{one['judged']:,} of {one['holes']:,} holes filled)"
    )
