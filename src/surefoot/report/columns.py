"""The columns of an assessment's tables: one place for their names, headings, formats and order of merit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from surefoot.errors import ArgumentError, shortened
from surefoot.risk.assess import Json, alpha_key

ABSENT = "–"
Row = dict[str, Any]


@dataclass(frozen=True)
class Column:
    """A figure of each system: `key` names it for --sort and CSV, `heading` and `latex` head it in tables."""

    key: str
    heading: str
    latex: str
    value: Callable[[Row], Any]
    digits: int | None = 4
    descending: bool = True
    rank: Callable[[Row], int | None] | None = None
    least: float | None = None

    def text(self, row: Row) -> str:
        """The figure as a table shows it."""
        value = self.value(row)
        if value is None:
            return ABSENT
        if isinstance(value, int | str) or self.digits is None:
            return str(value)
        if self.least is not None and value < self.least / 2:
            return "<" + f"{self.least:g}".lstrip("0")
        return fixed(value, self.digits)


def fixed(value: float, digits: int) -> str:
    """A number with so many digits and a true minus sign, which nothing that rounds to 0 has.

    >>> fixed(-0.0001, 3), fixed(-1.5, 3), fixed(2e30, 3)
    ('0.000', '−1.500', '2e+30')
    """
    text = f"{value:.{digits}f}" if abs(value) < 1e9 else f"{value:g}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def _plain(key: str, heading: str, latex: str, digits: int | None = 4, descending: bool = True) -> Column:
    return Column(key, heading, latex, lambda row: row[key], digits, descending)


SYSTEM = Column("system", "system", "System", lambda row: row["system"], digits=None, descending=False)
SUMMARY = (
    Column("mean", "mean", "Mean", lambda row: row["mean"], rank=lambda row: row["rank"]),
    _plain("gain", "gain", "Gain", digits=3),
    _plain("reward", "reward", "Reward", digits=3),
    _plain("risk", "risk", "Risk", digits=3, descending=False),
    _plain("wins", "won", "Wins", digits=1),
    _plain("losses", "lost", "Losses", digits=1, descending=False),
    _plain("ties", "tied", "Ties", digits=1),
    _plain("loss_over_20", ">20%", r"Loss $>20\%$", digits=1, descending=False),
    _plain("worst_mean", "worst", "Worst", digits=3),
)
MORE = (
    _plain("reward_over_risk", "reward/risk", "Reward/Risk", digits=2),
    _plain("wins_over_losses", "W/L", "W/L", digits=2),
    _plain("geometric_mean", "geo. mean", "Geo. mean"),
    _plain("risk_over_reward", "risk/reward", "Risk/Reward", digits=2, descending=False),
    _plain("losses_over_wins", "L/W", "L/W", digits=2, descending=False),
)
_AT_ALPHA = (
    ("u_risk", "U_Risk", "$U_{Risk}$", 4),
    ("t_risk", "T_Risk", "$T_{Risk}$", 3),
    ("p_value", "p", "$p$", 4),
    ("p_holm", "p Holm", "$p_{Holm}$", 4),
    ("z_risk", "Z_Risk", "$Z_{Risk}$", 3),
    ("geo_risk", "GeoRisk", "GeoRisk", 4),
)


def at_alpha(alpha: float) -> list[Column]:
    """The columns that depend on α."""
    key = alpha_key(alpha)

    def column(name: str, heading: str, latex: str, digits: int) -> Column:
        ranked = name in ("u_risk", "t_risk", "z_risk", "geo_risk")
        return Column(
            f"{name}@{key}",
            heading,
            latex,
            lambda row: row["alpha"][key][name],
            digits,
            descending=not name.startswith("p_"),
            rank=(lambda row: row["alpha"][key]["rank"][name]) if ranked else None,
            least=0.0001 if name.startswith("p_") else None,
        )

    return [column(*parts) for parts in _AT_ALPHA]


def intervals_at(data: Json, alpha: float) -> list[Column]:
    """The ends of the confidence intervals at α; none without a bootstrap."""
    key = alpha_key(alpha)

    def column(name: str, heading: str, latex: str, digits: int, end: int) -> Column:
        word = ("low", "high")[end]

        def value(row: Row) -> float | None:
            interval = row["alpha"][key][f"{name}_interval"]
            return None if interval is None else float(interval[end])

        return Column(f"{name}_{word}@{key}", f"{heading} {word}", f"{latex} {word}", value, digits)

    measured = [parts for parts in _AT_ALPHA if parts[0] in ("u_risk", "z_risk", "geo_risk")]
    return [column(*parts, end) for parts in measured for end in (0, 1)] if data["bootstrap"] else []


def churn_columns(data: Json) -> list[Column]:
    """How far rankings moved; none without runs and a baseline's run to compare with."""

    def column(key: str, heading: str, digits: int) -> Column:
        return Column(key, heading, heading, lambda row: row["churn"][key], digits)

    if not all("churn" in row for row in data["systems"]):
        return []
    return [
        column("share_reranked", "re-ranked", 3),
        column("mean_tau", "mean τ", 3),
        column("mean_tau_reranked", "of re-ranked", 3),
        column("gain_per_reranked", "gain/re-ranked", 4),
    ]


def all_columns(data: Json) -> list[Column]:
    """Every column of an assessment, in the order of the CSV file."""
    at = (column for alpha in data["alphas"] for column in at_alpha(alpha) + intervals_at(data, alpha))
    return [SYSTEM, *SUMMARY, *MORE, *churn_columns(data), *at]


def sort_rows(data: Json, by: str) -> list[Row]:
    """Systems by a column, best first, absent figures last; without @α a risk measure is taken at the largest α."""
    rows = data["systems"]
    columns = {column.key: column for column in all_columns(data)}
    found = columns.get(by) or columns.get(f"{by}@{alpha_key(max(data['alphas']))}")
    if found is None:
        raise ArgumentError(f"cannot sort by {shortened(by)}; the columns are {', '.join(columns)}")
    absent = [row for row in rows if found.value(row) is None]
    present = [row for row in rows if found.value(row) is not None]
    return sorted(present, key=found.value, reverse=found.descending) + absent
