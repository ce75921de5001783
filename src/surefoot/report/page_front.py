"""The front of an assessment's page: what was found, and the figures of the one that is shown first.

The page's script draws it again whenever something else is chosen; `words.js` has the same sentences.
"""

from __future__ import annotations

from surefoot.report.columns import LEAST_P
from surefoot.report.family import Chip, ChipKind, Front, Tile
from surefoot.report.few_queries import too_few
from surefoot.report.numbers import fixed, signed
from surefoot.report.traffic_words import traffic_weights
from surefoot.report.words import default_alpha, headline
from surefoot.risk.assessment_data import AssessmentData, SystemData
from surefoot.risk.tradeoff import alpha_key


def page_front(data: AssessmentData, system: str, alpha: float) -> Front:
    """What the page says first, at α or, where that was not assessed, at the α that is looked at first."""
    if alpha_key(alpha) not in map(alpha_key, data["alphas"]):
        alpha = default_alpha(data["alphas"])
    sentence, word = headline(data, alpha)
    caution = too_few(data, alpha)
    kind: ChipKind = {"Better": "ship", "Worse": "keep", "None better": "keep"}.get(word, "neutral")  # type: ignore[assignment]
    row = next(row for row in data["systems"] if row["system"] == system)
    return Front(
        sentence,
        Chip(word, "wait" if caution and kind == "ship" else kind),
        caution,
        _tiles(row, alpha, bool(traffic_weights(data))),
    )


def _tiles(row: SystemData, alpha: float, weighted: bool) -> list[Tile]:
    test = row["alpha"][alpha_key(alpha)]
    interval, p = test["u_risk_interval"], test["p_holm"]
    ends = "no interval" if interval is None else f"95 %: {' to '.join(signed(end, 3) for end in interval)}"
    chance = "no test" if p is None else f"p < {LEAST_P}" if p < LEAST_P / 2 else f"p = {p:.4f}"
    return [
        Tile("Gain", signed(row["gain"], 4), "mean change" if weighted else "mean change per query", key="gain"),
        Tile("Helped", f"{row['wins']:,}", "queries", key="helped"),
        Tile("Hurt", f"{row['losses']:,}", "queries", key="hurt"),
        Tile("Hurt badly", f"{row['loss_over_20']:,}", "lose more than 20 %", key="badly"),
        Tile("U_Risk", signed(test["u_risk"], 4), ends, key="u"),
        Tile("T_Risk", "–" if test["t_risk"] is None else fixed(test["t_risk"], 2), chance, key="t"),
    ]
