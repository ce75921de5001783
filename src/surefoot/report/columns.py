"""The columns of an assessment's tables: one place for their names, headings, formats and order of merit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from surefoot.errors import ArgumentError, did_you_mean, shortened
from surefoot.report.numbers import fixed
from surefoot.risk.assessment_data import AssessmentData, Json, SegmentColumn, SystemData
from surefoot.risk.churn import RANKED_FIGURES
from surefoot.risk.tradeoff import alpha_key
from surefoot.significance import CONFIDENCE_PERCENT

ABSENT = "–"
INTERVAL_WORDS = f"{CONFIDENCE_PERCENT} interval"
LEAST_P = 0.0001  # the least p that is written; one that would round to 0 is said to be below it


class SegmentRow(SystemData):
    """A system on the queries of a segment, by whose name it goes."""

    queries: int


@dataclass(frozen=True)
class FigureColumn:
    """A figure of each system: `key` names it for --sort and CSV, `heading` and `latex` head it in tables."""

    key: str
    heading: str
    latex: str
    value: Callable[[SystemData], Any]
    digits: int | None = 4
    descending: bool = True
    rank: Callable[[SystemData], int | None] | None = None
    probability: bool = False
    drop_order: int = 0  # where there is little room the highest goes first, those of one number together; 0 never goes
    tone: Callable[[SystemData], float | None] | None = None  # its sign: good or bad news, in colour on a terminal
    counts: bool = False  # queries, so a whole number unless it is a mean over baselines
    signed: bool = False  # a plus sign is worth showing, where there is room
    meaning: str = ""  # what it is, in words

    @property
    def name(self) -> str:
        """The key without the α that the figure is at."""
        return self.key.partition("@")[0]

    def explain(self, data: AssessmentData, *, by_traffic: bool) -> str:
        """What it is in this assessment, in words; the page can count each query once beside traffic."""
        parts, second = ("traffic", " or that of the test by traffic, if larger") if by_traffic else ("queries", "")
        return self.meaning.format(worst=100 * data["worst_share"], parts=parts, second=second)

    def text(self, row: SystemData) -> str:
        """The figure as a table shows it."""
        value = self.value(row)
        if value is None:
            return ABSENT
        if isinstance(value, int | str) or self.digits is None:
            return str(value)
        if self.probability and rounds_to_0(value):
            return "<" + f"{LEAST_P:g}".lstrip("0")
        return fixed(value, self.digits)


def rounds_to_0(p: float) -> bool:
    """Whether a p-value is too small to be written."""
    return p < LEAST_P / 2


def p_words(p: float) -> str:
    """A p-value in a sentence, of two digits, in tune with the tables.

    >>> p_words(0.01234), p_words(0.00006), p_words(0.00004)
    ('p = 0.012', 'p = 0.0001', 'p < 0.0001')
    """
    return f"p < {LEAST_P:g}" if rounds_to_0(p) else f"p = {max(p, LEAST_P):.2g}"


def chance_words(p: float | None) -> str:
    """What is said of a gain that is not significant."""
    return "but no test says whether this is chance" if p is None else f"which may be chance ({p_words(p)})"


def _figure(figures: Mapping[str, object], key: str) -> Any:
    """A figure by a name that is not known beforehand."""
    return figures[key]


def _plain(key: str, heading: str, latex: str, digits: int | None = 4, **more: Any) -> FigureColumn:
    return FigureColumn(key, heading, latex, lambda row: _figure(row, key), digits, **more)


SYSTEM_COLUMN = _plain(
    "system", "system", "System", None, descending=False, meaning="The system; choose one to see its queries below"
)
SUMMARY_COLUMNS = (
    _plain("mean", "mean", "Mean", rank=lambda row: row["rank"], meaning="Mean effectiveness over all queries"),
    _plain(
        "gain", "gain", "Gain", 3, drop_order=4, tone=lambda row: row["gain"], signed=True,
        meaning="Reward minus risk: the mean difference from the baseline",
    ),
    # The sum of gain and risk.
    _plain("reward", "reward", "Reward", 3, drop_order=7, meaning="Mean improvement, over all queries"),
    _plain("risk", "risk", "Risk", 3, descending=False, drop_order=1, meaning="Mean loss, over all queries"),
    _plain("wins", "won", "Wins", 1, drop_order=6, counts=True, meaning="Queries better than the baseline"),
    _plain(
        "losses", "lost", "Losses", 1, descending=False, drop_order=2, counts=True,
        meaning="Queries worse than the baseline",
    ),
    _plain("ties", "tied", "Ties", 1, drop_order=8, counts=True, meaning="Queries as good as the baseline"),
    _plain(
        "loss_over_20", ">20%", r"Loss $>20\%$", 1, descending=False, drop_order=3, counts=True,
        meaning="Queries that lose more than 20 % of the baseline's score",
    ),
    _plain(
        "worst_mean", "worst", "Worst", 3, drop_order=5, signed=True,
        meaning="Mean difference of the worst {worst:g} % of {parts}",
    ),
)  # fmt: skip


def _share(key: str, heading: str, latex: str, meaning: str) -> FigureColumn:
    return FigureColumn(
        f"traffic_{key}", heading, latex, lambda row: _figure(row["traffic_shares"], key), 3,
        descending=False, drop_order=9, meaning=meaning,
    )  # fmt: skip


_TRAFFIC = {  # after which column of the summary each share of traffic stands
    "losses": _share("losses", "lost tr.", "Lost traffic", "Share of the traffic that is worse than the baseline"),
    "loss_over_20": _share(
        "loss_over_20", ">20% tr.", r"Traffic $>20\%$", "Share of the traffic that loses more than 20 %"
    ),
}


def summary_columns(data: AssessmentData) -> list[FigureColumn]:
    """The columns of the summary; with traffic also the shares of it that lose."""
    if not all("traffic_shares" in row for row in data["systems"]):
        return list(SUMMARY_COLUMNS)
    return [
        column for one in SUMMARY_COLUMNS for column in ([one, _TRAFFIC[one.key]] if one.key in _TRAFFIC else [one])
    ]


MORE_COLUMNS = (
    _plain("reward_over_risk", "reward/risk", "Reward/Risk", digits=2),
    _plain("wins_over_losses", "W/L", "W/L", digits=2),
    _plain("geometric_mean", "geo. mean", "Geo. mean"),
    _plain("risk_over_reward", "risk/reward", "Risk/Reward", digits=2, descending=False),
    _plain("losses_over_wins", "L/W", "L/W", digits=2, descending=False),
)
_AT_ALPHA: dict[str, tuple[str, str, int, int, str]] = {
    # key: heading, LaTeX, digits, `drop_order` (no outcome goes by the plain p), and what it is
    "u_risk": ("U_Risk", "$U_{Risk}$", 4, 0, "Reward minus 1 + α times risk"),
    "t_risk": ("T_Risk", "$T_{Risk}$", 3, 1, "U_Risk over its standard error; ▲ better, ▼ worse by more than chance"),
    "p_value": (
        "p plain", "$p_{plain}$", 4, 8,
        "Two-sided p-value of T_Risk (Student's t), as in the paper. Above α = 0, it often takes chance for a gain",
    ),
    "p_skewness": ("p skewness", "$p_{skewness}$", 4, 7, "The p-value corrected for skewed losses (Hall)"),
    "p_robust": (
        "p robust", "$p_{robust}$", 4, 6,
        "p skewness after one more query as bad as the worst, or as good as the best if the system is worse",
    ),
    "p_holm": (
        "p", "$p$", 4, 2,
        "How often chance alone gives such a difference: p robust{second}, corrected for the number of systems (Holm)",
    ),
    "z_risk": ("Z_Risk", "$Z_{Risk}$", 3, 5, "Weighted differences from the scores that are expected from all systems"),
    "geo_risk": ("GeoRisk", "GeoRisk", 4, 3, "Effectiveness and robustness in one number"),
}  # fmt: skip
_ORDINARY: tuple[tuple[str, str, str, str, str, int, str], ...] = (
    # key, test, figure, heading, LaTeX, digits, what it is
    ("t", "t", "statistic", "t", "$t$", 3, "The paired t statistic"),
    ("p_t", "t", "p_value", "p t", "$p_t$", 4, "p of the paired t-test"),
    ("p_t_holm", "t", "p_holm", "t", "$p_t$", 4, "p of the paired t-test, corrected by Holm"),
    ("w_plus", "wilcoxon", "statistic", "W+", "$W_+$", 1, "Wilcoxon's sum of ranks of queries that gain"),
    ("p_wilcoxon", "wilcoxon", "p_value", "p W", "$p_W$", 4, "p of Wilcoxon's signed-rank test"),
    ("p_wilcoxon_holm", "wilcoxon", "p_holm", "Wilcoxon", "$p_W$", 4, "p of Wilcoxon's test, corrected by Holm"),
    ("p_randomisation", "randomisation", "p_value", "p R", "$p_R$", 4, "p of the randomisation test"),
    ("p_randomisation_holm", "randomisation", "p_holm", "randomisation", "$p_R$", 4,
     "p of the randomisation test, corrected by Holm"),
    ("q_hsd", "hsd", "statistic", "q", "$q$", 3, "The statistic of the HSD"),
    ("p_hsd", "hsd", "p_value", "HSD", "$p_{HSD}$", 4, "p of the HSD, of all pairs of systems at once"),
)  # fmt: skip
_SHOWN_TESTS = ("p_t_holm", "p_wilcoxon_holm", "p_randomisation_holm", "p_hsd")
_TONES: dict[str | None, float] = {"better": 1.0, "worse": -1.0}


def at_alpha(alpha: float) -> list[FigureColumn]:
    """The columns that depend on α, the interval of U_Risk beside it."""
    key = alpha_key(alpha)

    def column(name: str, heading: str, latex: str, digits: int, drop_order: int, meaning: str) -> FigureColumn:
        return FigureColumn(
            f"{name}@{key}",
            heading,
            latex,
            lambda row: _figure(row["alpha"][key], name),
            digits,
            descending=not name.startswith("p_"),
            rank=(lambda row: _figure(row["alpha"][key]["rank"], name)) if name in RANKED_FIGURES else None,
            probability=name.startswith("p_"),
            drop_order=drop_order,
            tone=(lambda row: _TONES.get(row["alpha"][key]["outcome"])) if name == "t_risk" else None,
            signed=name in ("u_risk", "t_risk", "z_risk"),
            meaning=meaning,
        )

    first, *rest = (column(name, *parts) for name, parts in _AT_ALPHA.items())
    return [first, *_ends(alpha, "u_risk_interval", "u_risk", "U", "$U$", 4, drop_order=4), *rest]


def ranked_at(alpha: float) -> list[FigureColumn]:
    """The columns at α that systems are ranked by, as the papers' tables have them."""
    return [column for column in at_alpha(alpha) if column.rank]


def intervals_at(data: AssessmentData, alpha: float) -> list[FigureColumn]:
    """The ends of the bootstrap's intervals at α; none without a bootstrap."""
    if not data["bootstrap"]:
        return []
    return [
        *_ends(alpha, "u_risk_bootstrap", "u_risk_bootstrap", *_AT_ALPHA["u_risk"][:3]),
        *_ends(alpha, "z_risk_interval", "z_risk", *_AT_ALPHA["z_risk"][:3], drop_order=2),
        *_ends(alpha, "geo_risk_interval", "geo_risk", *_AT_ALPHA["geo_risk"][:3], drop_order=1),
    ]


def _ends(
    alpha: float, source: str, name: str, heading: str, latex: str, digits: int, drop_order: int = 0
) -> list[FigureColumn]:
    """Two columns for the interval under the key `source`."""
    key = alpha_key(alpha)

    def column(end: int, word: str) -> FigureColumn:
        def value(row: SystemData) -> float | None:
            interval = _figure(row["alpha"][key], source)
            return None if interval is None else float(interval[end])

        return FigureColumn(
            f"{name}_{word}@{key}", f"{heading} {word}", f"{latex} {word}", value, digits, drop_order=drop_order
        )

    return [column(0, "low"), column(1, "high")]


def segment_columns(alpha: float) -> list[FigureColumn]:
    """What a table of segments shows: the summary, and the outcome at α."""
    summary = [column for column in SUMMARY_COLUMNS if column.key not in ("reward", "ties", "worst_mean")]
    at = [column for column in at_alpha(alpha) if column.name in ("u_risk", "t_risk", "p_holm")]
    queries = _plain("queries", "queries", "Queries", counts=True, meaning="Number of queries")
    return [queries, *(replace(column, rank=None) for column in [*summary, *at])]


def candidates(data: AssessmentData) -> list[SystemData]:
    """The systems that are not a baseline, the best by mean first."""
    return [row for row in sort_rows(data, "mean") if not row["is_baseline"]]


def segment_rows(data: AssessmentData, most: int = 3) -> Iterator[tuple[SegmentColumn, str, list[SegmentRow]]]:
    """For each column of segments and each of the first systems, a row per segment, named by it."""
    systems = [row["system"] for row in candidates(data)[:most]]
    for column in data["segments"]:
        for system in systems:
            yield column, system, [
                {**entry, "system": part["segment"], "queries": part["queries"]}
                for part in column["segments"]
                for entry in part["systems"]
                if entry["system"] == system
            ]  # fmt: skip


def page_columns(data: AssessmentData) -> Json:
    """The columns of the page's tables, which fill them in themselves for the α that is shown."""
    systems = [SYSTEM_COLUMN, *summary_columns(data), *(column for column in at_alpha(0) if column.meaning)]
    segments = segment_columns(0)
    return {
        "systems": [_page_column(column, data) for column in systems],
        "segments": [_page_column(column, data) for column in segments],
    }


def _page_column(column: FigureColumn, data: AssessmentData) -> Json:
    return {
        "key": column.name,
        "at": "@" in column.key,
        "heading": column.heading,
        "digits": column.digits,
        "rising": not column.descending,
        "probability": column.probability,
        "counts": column.counts,
        "signed": column.signed,
        "meaning": column.explain(data, by_traffic=False),
        "meaning_by_traffic": column.explain(data, by_traffic=True),
        "shown": column.name != "p_value",
    }


def churn_columns(data: AssessmentData) -> list[FigureColumn]:
    """How far rankings moved; none without runs and a baseline's run to compare with."""

    def column(key: str, heading: str, digits: int, drop_order: int) -> FigureColumn:
        return FigureColumn(
            key, heading, heading, lambda row: _figure(row["churn"], key), digits, drop_order=drop_order
        )

    if not all("churn" in row for row in data["systems"]):
        return []
    return [
        column("share_reranked", "re-ranked", 3, 0),
        column("mean_tau", "mean τ", 3, 1),
        column("mean_tau_reranked", "of re-ranked", 3, 3),
        column("gain_per_reranked", "gain/re-ranked", 4, 2),
    ]


def ordinary_columns(data: AssessmentData, shown: bool = False) -> list[FigureColumn]:
    """The columns of the tests, or only those that tables show; none where no tests were made."""
    if "tests" not in data:
        return []

    def value(test: str, figure: str) -> Callable[[SystemData], Any]:
        def get(row: SystemData) -> Any:
            tests: Any = row.get("tests")
            return None if tests is None or tests[test] is None else tests[test].get(figure)

        return get

    return [
        FigureColumn(
            key, heading, latex, value(test, figure), digits,
            descending=not key.startswith("p_"), probability=key.startswith("p_"), drop_order=1, meaning=meaning,
        )
        for key, test, figure, heading, latex, digits, meaning in _ORDINARY
        if not shown or key in _SHOWN_TESTS
    ]  # fmt: skip


def all_columns(data: AssessmentData) -> list[FigureColumn]:
    """Every column of an assessment, in the order of the CSV file."""
    columns = [
        SYSTEM_COLUMN, *summary_columns(data), *MORE_COLUMNS, *churn_columns(data), *ordinary_columns(data),
    ]  # fmt: skip
    for alpha in data["alphas"]:
        columns += [*at_alpha(alpha), *_more_at(data, alpha), *intervals_at(data, alpha)]
    return columns


def _more_at(data: AssessmentData, alpha: float) -> list[FigureColumn]:
    key = alpha_key(alpha)

    def column(name: str, heading: str, latex: str, **more: Any) -> FigureColumn:
        return FigureColumn(f"{name}@{key}", heading, latex, lambda row: _figure(row["alpha"][key], name), **more)

    found = [
        column("t_skewness", "T skewness", "$T_{skewness}$", digits=3),
        column("t_robust", "T robust", "$T_{robust}$", digits=3),
    ]
    if all("p_traffic" in row["alpha"][key] for row in data["systems"]):
        found.append(column("t_traffic", "T traffic", "$T_{traffic}$", digits=3))
        found.append(column("p_traffic", "p traffic", "$p_{traffic}$", descending=False, probability=True))
    return found


def sort_rows(data: AssessmentData, by: str, systems: Sequence[str] | None = None) -> list[SystemData]:
    """Systems by a column, best first, absent figures last; without @α a risk measure is taken at the largest α.

    `systems` are those that are shown; ranks and p stay those among all.
    """
    names = [row["system"] for row in data["systems"]]
    for name in systems or ():
        if name not in names:
            raise ArgumentError(f"there is no system {shortened(name)}{did_you_mean(name, names) or '.'}")
    rows = [row for row in data["systems"] if systems is None or row["system"] in systems]
    columns = {column.key: column for column in all_columns(data)}
    column = columns.get(by) or columns.get(f"{by}@{alpha_key(max(data['alphas']))}")
    if column is None:
        hint = did_you_mean(by, columns) or "; choose a column, such as mean, risk or losses."
        raise ArgumentError(f"cannot sort by {shortened(by)}{hint} The columns are: {', '.join(columns)}")
    absent = [row for row in rows if column.value(row) is None]
    present = [row for row in rows if column.value(row) is not None]
    return sorted(present, key=column.value, reverse=column.descending) + absent
