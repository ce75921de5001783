"""What may be given where something is missing: a line for each choice."""

from __future__ import annotations

from collections.abc import Sequence

from surefoot.errors import visible

_MOST = 20  # names that are listed
_WIDEST = 40  # letters of a name that the others are lined up with

CHOOSE_CONDITIONS = """give at least one condition, or a policy file:
  --risk 0.02         the average loss over all queries is at most 0.02
  --share-hurt 0.05   at most 5 % of queries lose over 20 %
  --gain 0            the average gain is above 0
  --u-risk 5:0        U_Risk at α = 5 is above 0
  --policy FILE       a file with these conditions; surefoot check --new-policy F writes a template"""


def choose_baseline(systems: Sequence[str], virtual: bool = True) -> str:
    """What to say where no baseline is named, which may be a mean of systems where `virtual`.

    >>> print(choose_baseline(["bold", "today"]))
    say which system is live today, with --baseline:
      --baseline bold
      --baseline today   (probably, by its name)
      --baseline mean    (the mean of all systems for each query; median and max also work)
    """
    from surefoot.risk.baselines import likely_baselines

    likely = likely_baselines(systems)
    first = [*likely, *(name for name in systems if name not in likely)] if len(systems) > _MOST else [*systems]
    names = [*first[:_MOST], *(["mean"] if virtual else [])]
    remarks = dict.fromkeys(likely, "(probably, by its name)")
    remarks |= {"mean": "(the mean of all systems for each query; median and max also work)"}
    wide = max((len(visible(name)) for name in names if len(name) <= _WIDEST), default=0)
    lines = [f"  --baseline {visible(name):<{wide}}   {remarks.get(name, '')}".rstrip() for name in names]
    if len(systems) > _MOST:
        lines.insert(_MOST, f"  … and {len(systems) - _MOST:,} more")
    return "\n".join(["say which system is live today, with --baseline:", *lines])
