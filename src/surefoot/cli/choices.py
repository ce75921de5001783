"""What may be given where something is missing: a line for each choice."""

from __future__ import annotations

from collections.abc import Sequence

from surefoot.errors import visible

_MOST = 20  # names that are listed
_WIDEST = 40  # letters of a name that the others are lined up with

CHOOSE_CONDITIONS = """give conditions, one or several, or a policy:
  --risk 0.02         the average loss, over all queries, is at most 0.02
  --share-hurt 0.05   at most 5 % of queries lose over 20 %
  --gain 0            the average gain is above 0
  --u-risk 5:0        U_Risk at α = 5 is above 0
  --policy FILE       these in a file; surefoot gate --init writes one to start from"""


def choose_baseline(systems: Sequence[str], virtual: bool = True) -> str:
    """What to say where no baseline is named, which may be a mean of systems where `virtual`.

    >>> print(choose_baseline(["bold", "today"]))
    name what is shipped today with --baseline:
      --baseline bold
      --baseline today   (its name sounds like it)
      --baseline mean    (or median, or max: of all systems, query by query)
    """
    from surefoot.risk.baselines import likely_baselines

    likely = likely_baselines(systems)
    first = [*likely, *(name for name in systems if name not in likely)] if len(systems) > _MOST else [*systems]
    names = [*first[:_MOST], *(["mean"] if virtual else [])]
    remarks = dict.fromkeys(likely, "(its name sounds like it)")
    remarks |= {"mean": "(or median, or max: of all systems, query by query)"}
    wide = max((len(visible(name)) for name in names if len(name) <= _WIDEST), default=0)
    lines = [f"  --baseline {visible(name):<{wide}}   {remarks.get(name, '')}".rstrip() for name in names]
    if len(systems) > _MOST:
        lines.insert(_MOST, f"  … and {len(systems) - _MOST:,} more")
    return "\n".join(["name what is shipped today with --baseline:", *lines])
