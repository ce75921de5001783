"""What is expected of two models, of which each query gets one by chance."""

from __future__ import annotations

from surefoot.risk.assessment_data import Json

_RATIOS = {
    "reward_over_risk": ("reward", "risk"),
    "risk_over_reward": ("risk", "reward"),
    "wins_over_losses": ("wins", "losses"),
    "losses_over_wins": ("losses", "wins"),
}
_OF_ONE_RANKING = ("share_reranked", "bins")  # what two rankings by chance do not have
_UNKNOWN = ("worst_mean", "geo_risk")  # what is not the mean of both


def mixed_figures(one: Json, other: Json, chance: float) -> Json:
    """The figures of a mixture: means of both models' own, weighted by the chance of the first.

    >>> mixed_figures({"risk": 0.1, "queries": 4}, {"risk": 0.3, "queries": 4}, 0.5)
    {'risk': 0.2, 'queries': 4}
    """
    mixed: Json = {}
    for key, value in one.items():
        if key in (*_OF_ONE_RANKING, *_RATIOS):
            continue
        if key in ("queries", "weight"):
            mixed[key] = value
        elif key in _UNKNOWN:
            mixed[key] = dict.fromkeys(value) if isinstance(value, dict) else None
        elif isinstance(value, dict):
            mixed[key] = mixed_figures(value, other[key], chance)
        else:
            mixed[key] = chance * value + (1 - chance) * other[key]
    for key, (above, below) in _RATIOS.items():
        if key in one:
            mixed[key] = mixed[above] / mixed[below] if mixed[below] else None
    return mixed
