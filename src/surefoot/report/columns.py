"""The columns of an assessment's tables: one place for their names, headings, formats and order of merit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from surefoot.errors import ArgumentError
from surefoot.risk.assess import alpha_key

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

    def text(self, row: Row) -> str:
        """The figure as a table shows it."""
        value = self.value(row)
        if value is None:
            return ABSENT
        if isinstance(value, int | str) or self.digits is None:
            return str(value)
        return f"{value:.{self.digits}f}".replace("-", "−")


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
        )

    return [column(*parts) for parts in _AT_ALPHA]


def all_columns(alphas: Sequence[float]) -> list[Column]:
    """Every column, in the order of the CSV file."""
    return [SYSTEM, *SUMMARY, *MORE, *(column for alpha in alphas for column in at_alpha(alpha))]


def sort_rows(rows: Sequence[Row], by: str, alphas: Sequence[float]) -> list[Row]:
    """Rows by a column, best first, absent figures last; without @α a risk measure is taken at the largest α."""
    columns = {column.key: column for column in all_columns(alphas)}
    found = columns.get(by) or columns.get(f"{by}@{alpha_key(max(alphas))}")
    if found is None:
        raise ArgumentError(f"cannot sort by {by!r}; the columns are {', '.join(columns)}")
    absent = [row for row in rows if found.value(row) is None]
    present = [row for row in rows if found.value(row) is not None]
    return sorted(present, key=found.value, reverse=found.descending) + absent
