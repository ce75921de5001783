"""The papers' charts of an assessment, for a paper's column: each function gives a matplotlib Figure.

`write_charts` writes all that apply. They need the extra `plots`; `save_chart` writes one as `write_charts` does.
"""

from __future__ import annotations

import logging
import math
import os
import textwrap
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from surefoot.arrays import Floats, Ints
from surefoot.data.writing.all_or_nothing import ensure_folder
from surefoot.errors import ArgumentError
from surefoot.progress import steps
from surefoot.report.canvas import (
    BAND_COLOUR,
    COLUMN_WIDTH,
    HELPED_COLOUR,
    HURT_COLOUR,
    SAME_COLOUR,
    TEXT_COLOUR,
    add_legend,
    add_title,
    check_formats,
    new_figure,
    new_panels,
    plain,
    renderer,
    save_chart,
    save_charts,
    style,
    write_instead_of_chart,
)  # fmt: skip
from surefoot.report.options import CHART_FORMATS, PANEL_ALPHAS
from surefoot.report.population_charts import (
    all_differences,
    by_traffic,
    geo_risk_curves,
    leading_data,
    performance_profiles,
    risk_reward_plane,
    t_risk_curves,
    versus,
)  # fmt: skip
from surefoot.report.words import leader
from surefoot.risk.inference import QueryScores, weighted_t_values
from surefoot.risk.tradeoff import check_alpha

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.figure import Figure

    from surefoot.report.assessment import Assessment

__all__ = [
    "CHARTS", "geo_risk_curves", "helped_hurt_histogram", "kendall_bins", "performance_profiles", "query_differences",
    "query_differences_by_alpha", "risk_reward_plane", "save_chart", "t_risk_curves", "write_charts",
]  # fmt: skip

_LOG = logging.getLogger("surefoot")


@style()
def helped_hurt_histogram(assessment: Assessment, system: str | None = None, *, width: float = COLUMN_WIDTH) -> Figure:
    """How many queries a system helps and hurts, and by how much (Wang et al., SIGIR 2012, Fig. 1)."""
    from matplotlib.ticker import MaxNLocator

    name, difference = _differences(assessment, system)
    step = _bin_width(float(np.abs(difference).max()))
    losses, gains = difference[difference < 0], difference[difference > 0]
    ties = len(difference) - len(losses) - len(gains)
    figure = new_figure(width, 0.62 * width)
    axes = figure.subplots()
    handles = []
    for values, side, colour, hatch in ((losses, -1, HURT_COLOUR, "////"), (gains, 1, HELPED_COLOUR, "")):
        # A small tolerance keeps 0.3, which floats hold as 0.29999…, in the bin that starts there.
        counts = np.bincount(np.floor(np.abs(values) / step + 1e-9).astype(int), minlength=1)
        centres = side * step * (np.arange(len(counts)) + 0.5)
        handles.append(
            axes.bar(centres, counts, step * 0.92, color=colour, hatch=hatch, edgecolor="white", linewidth=0)
        )
    tallest = max(1, *(int(bar.get_height()) for group in handles for bar in group))
    handles.insert(1, axes.bar([0], [ties], step * 0.3, color=SAME_COLOUR, edgecolor="white", linewidth=0.5, zorder=3))
    if ties > 2 * tallest:  # the many queries that nothing happened to must not flatten the others
        axes.set_ylim(0, 1.3 * tallest)
        axes.annotate(
            f"{ties:,} unchanged ↑",
            (0, 1.27 * tallest),
            xytext=(4, 0),
            textcoords="offset points",
            va="top",
            fontsize=6.5,
        )
    else:
        axes.set_ylim(0, 1.06 * max(tallest, ties))
    reach = step * max(2, math.ceil(float(np.abs(difference).max()) / step + 1e-9))
    axes.set_xlim(-reach * 1.04, reach * 1.04)
    axes.axvline(0, color=TEXT_COLOUR, linewidth=0.6, zorder=2)
    axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.set_xlabel(f"difference in {plain(assessment.scores.measure)}", parse_math=False)
    axes.set_ylabel("queries")
    _title(figure, axes, assessment, name)
    words = [f"hurt: {len(losses):,}", f"unchanged: {ties:,}", f"helped: {len(gains):,}"]
    entries = list(zip(handles, words, strict=True))
    add_legend(figure, entries if ties else entries[::2])
    return figure


@style()
def query_differences(
    assessment: Assessment, system: str | None = None, *, alpha: float = 0.0, width: float = COLUMN_WIDTH
) -> Figure:
    """Each query's difference, sorted, those with |T_J| beyond critical marked (Dinçer et al., SIGIR 2014)."""
    name, difference = _differences(assessment, system)
    order = np.argsort(difference, kind="stable")
    scores = assessment.scores
    tested = weighted_t_values(difference, check_alpha(alpha), scores._largest(), scores._relative_weights)
    figure = new_figure(width, 0.66 * width)
    axes = figure.subplots()
    _bars(axes, difference[order], difference[order])
    entries = _signs(difference)
    if tested is not None:
        t_j = tested.t_j[order]
        queries = [scores.queries[i] for i in order]
        significance_markers = _mark_significant(figure, axes, difference[order], tested, order)
        entries += [(mark, f"significantly {word}: {count:,}") for mark, word, count in significance_markers]
    axes.set_xlabel("queries, sorted by difference")
    axes.set_ylabel("difference")
    more = f", {plain(scores.measure)}{by_traffic(assessment)}, α\u00a0=\u00a0{alpha:g}"
    _title(figure, axes, assessment, name, more)
    add_legend(figure, entries)
    if tested is not None:
        low = [queries[i] for i in np.argsort(t_j, kind="stable") if t_j[i] < -tested.critical]
        high = [queries[i] for i in np.argsort(-t_j, kind="stable") if t_j[i] > tested.critical]
        _name_queries(figure, axes, difference[order], low, high)
    return figure


@style()
def query_differences_by_alpha(
    assessment: Assessment,
    system: str | None = None,
    *,
    alphas: Sequence[float] = PANEL_ALPHAS,
    width: float = COLUMN_WIDTH,
) -> Figure:
    """T_J of each query at several α, beside what chance allows (Dinçer et al., SIGIR 2014, Fig. 2)."""
    name, difference = _differences(assessment, system)
    scores, checked = assessment.scores, [check_alpha(alpha) for alpha in alphas]
    if not checked:
        raise ArgumentError("no alpha was given; give at least one, such as 0")
    order = np.argsort(difference, kind="stable")
    figure, panels, _ = new_panels(len(checked), width, 0.3, 0.36)
    for axes, alpha in zip(panels, checked, strict=True):
        tested = weighted_t_values(difference, alpha, scores._largest(), scores._relative_weights)
        _panel(figure, axes, difference[order], tested, order, alpha)
    figure.supxlabel("queries, sorted by difference", fontsize=8)
    figure.supylabel(r"$T_{J}$", fontsize=8)
    title = f"{plain(name)} against {versus(assessment)}{by_traffic(assessment, ', ')}"
    figure.suptitle(title, fontsize=7, x=0.01, ha="left", parse_math=False)
    return figure


@style()
def kendall_bins(assessment: Assessment, system: str | None = None, *, width: float = COLUMN_WIDTH) -> Figure:
    """How far a system moves rankings, and what it gains and risks by that (Wang et al., SIGIR 2012, Fig. 5)."""
    from matplotlib.ticker import MaxNLocator

    name, _ = _differences(assessment, system)
    churn = leading_data(assessment)["systems"][assessment.scores._row(name)].get("churn")
    if churn is None:
        raise ArgumentError(
            "Kendall distances need rankings: assess scores that come from runs, against a baseline that is one of them"
        )
    bins = churn["bins"]
    left = np.array([bin_["distance"][0] for bin_ in bins])
    size = bins[0]["distance"][1] - bins[0]["distance"][0]
    figure = new_figure(width, 0.85 * width)
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=[1, 1.25])
    counts = [bin_["queries"] for bin_ in bins]
    bars = top.bar(left, counts, size * 0.92, align="edge", color=SAME_COLOUR)
    top.bar_label(bars, [f"{count:,}" if count else "" for count in counts], fontsize=6.5, padding=1)
    top.set_ylabel("queries")
    top.margins(y=0.16)
    top.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    reward = bottom.bar(left, [bin_["reward"] for bin_ in bins], size * 0.92, align="edge", color=HELPED_COLOUR)
    risk = bottom.bar(
        left, [-bin_["risk"] for bin_ in bins], size * 0.92, align="edge", color=HURT_COLOUR, hatch="////",
        edgecolor="white", linewidth=0,
    )  # fmt: skip
    bottom.axhline(0, color=TEXT_COLOUR, linewidth=0.6)
    bottom.set_ylabel("reward and −risk")
    bottom.set_xlim(-0.02, 1.0)
    bottom.set_xticks(np.linspace(0, 1, 6))
    left_out = f" ({churn['left_out']:,} queries left out)" if churn["left_out"] else ""
    bottom.set_xlabel(f"Kendall distance{left_out}")
    depth = f", to depth {churn['depth']}" if churn["depth"] else ""
    _title(figure, top, assessment, name, f"{depth}{by_traffic(assessment, ', ')}")
    figure.align_ylabels([top, bottom])
    add_legend(figure, [(bars, "queries"), (reward, "reward"), (risk, "risk")])
    return figure


CHARTS: dict[str, Callable[[Assessment, str | None], Figure]] = {
    "helped-hurt": helped_hurt_histogram,
    "query-differences": query_differences,
    "query-differences-by-alpha": query_differences_by_alpha,
    "t-risk": lambda assessment, _: t_risk_curves(assessment),
    "geo-risk": lambda assessment, _: geo_risk_curves(assessment),
    "profiles": lambda assessment, _: performance_profiles(assessment),
    "risk-reward": lambda assessment, _: risk_reward_plane(assessment),
    "kendall-bins": kendall_bins,
}


def write_charts(
    assessment: Assessment,
    folder: str | os.PathLike[str],
    formats: Iterable[str] = CHART_FORMATS,
    system: str | None = None,
    *,
    note: Callable[[str], None] = _LOG.warning,
) -> list[Path]:
    """Write every chart that applies, each in every format, all or nothing; gives the files.

    `system` is the one that charts of a single system show, by default the best by mean that is not the baseline.
    `note` is told of each chart that does not apply, and why; by default it goes to the log.
    """
    endings = check_formats([formats] if isinstance(formats, str) else list(formats))
    if system is not None:
        assessment.scores._row(system)  # an unknown one is a mistake, not a chart that does not apply
    drawn = {}
    for name, chart in steps(list(CHARTS.items()), "Drawing charts"):
        try:
            drawn[name] = chart(assessment, system)
        except ArgumentError as error:
            note(f"the chart {name} is left out: {error}")
    target = Path(folder)
    files = {target / f"{name}.{ending}": figure for name, figure in drawn.items() for ending in endings}
    with ensure_folder(target):
        save_charts(files)
    return list(files)


def _differences(assessment: Assessment, system: str | None) -> tuple[str, Floats]:
    """The system to show, and its differences to the baseline."""
    difference = all_differences(assessment)
    system = leader(leading_data(assessment))["system"] if system is None else system
    return system, difference[assessment.scores._row(system)]


def _bin_width(reach: float) -> float:
    """A round width that puts at most twelve bins between 0 and `reach`."""
    if reach <= 0:
        return 0.1
    power = 10.0 ** math.floor(math.log10(reach / 12))
    return next(step * power for step in (1, 2, 2.5, 5, 10, 20) if step * power * 12 >= reach)


def _title(figure: Figure, axes: Axes, assessment: Assessment, system: str, more: str = "") -> None:
    add_title(figure, axes, f"{plain(system, 22)} against {versus(assessment)}{more}")


def _bars(axes: Axes, heights: Floats, differences: Floats) -> None:
    """One area a sign: thousands of queries stay a small file, and a few are still bars."""
    edges = np.arange(len(heights) + 1) + 0.5
    for colour, chosen in (
        (HURT_COLOUR, differences < 0),
        (HELPED_COLOUR, differences > 0),
        (SAME_COLOUR, differences == 0),
    ):
        bars = np.flatnonzero(chosen)
        if len(bars):  # sorted by difference, so that each sign is in one piece
            piece = slice(bars[0], bars[-1] + 1)
            axes.stairs(heights[piece], edges[bars[0] : bars[-1] + 2], fill=True, color=colour, linewidth=0)
    axes.axhline(0, color=TEXT_COLOUR, linewidth=0.6)
    axes.set_xlim(0.5 - 0.02 * len(heights), len(heights) * 1.02 + 0.5)


def _signs(differences: Floats) -> list[tuple[object, str]]:
    from matplotlib.patches import Patch

    counts = {"hurt": int((differences < 0).sum()), "helped": int((differences > 0).sum())}
    return [
        (Patch(color=colour), f"{name}: {counts[name]:,}")
        for name, colour in (("hurt", HURT_COLOUR), ("helped", HELPED_COLOUR))
    ]


def _mark_significant(
    figure: Figure, axes: Axes, heights: Floats, tested: QueryScores, order: Ints
) -> list[tuple[PathCollection, str, int]]:
    """Mark the queries that T_J sets apart at the ends of their bars; gives each mark, what it says and how many."""
    from matplotlib.transforms import offset_copy

    significance_markers = []
    for side, marker, colour, word in ((-1, "v", HURT_COLOUR, "low"), (1, "^", HELPED_COLOUR, "high")):
        bars = np.flatnonzero(side * tested.t_j[order] > tested.critical)
        ends = side * np.maximum(side * heights[bars], 0)
        # Markers stand a little beyond the bar's end, on the side that T_J points to.
        beyond = offset_copy(axes.transData, figure, y=side * 3.2, units="points")
        mark = axes.scatter(
            bars + 1, ends, s=8 if len(heights) <= 100 else 4, marker=marker, facecolor=colour, edgecolor=TEXT_COLOUR,
            linewidth=0.4, zorder=4, transform=beyond,
        )  # fmt: skip
        significance_markers.append((mark, word, len(bars)))
    axes.margins(y=0.12)
    return significance_markers


def _name_queries(figure: Figure, axes: Axes, heights: Floats, low: list[str], high: list[str]) -> None:
    """List the marked queries, most extreme first, in the corners that the bars leave empty, if they do."""
    figure.draw_without_rendering()
    for names, x, y, across, up in ((low, 0.02, 0.98, "left", "top"), (high, 0.98, 0.03, "right", "bottom")):
        if not names:
            continue
        listed = ", ".join(plain(name, 12) for name in names[:6]) + (f" + {len(names) - 6:,}" * (len(names) > 6))
        text = axes.text(
            x, y, textwrap.fill(listed, 22), transform=axes.transAxes, ha=across, va=up, fontsize=6, parse_math=False,
            color=HURT_COLOUR if names is low else HELPED_COLOUR, multialignment=across,
        )  # fmt: skip
        box = text.get_window_extent(renderer(figure)).transformed(axes.transData.inverted())
        under = heights[max(0, int(box.x0) - 1) : max(0, math.ceil(box.x1))]
        if ((np.minimum(under, 0) < box.y1) & (np.maximum(under, 0) > box.y0)).any():
            text.remove()


def _panel(
    figure: Figure, axes: Axes, differences: Floats, tested: QueryScores | None, order: Ints, alpha: float
) -> None:
    """One α of the small multiples."""
    if tested is None:
        axes.set_title(f"α = {alpha:g}", loc="left")
        write_instead_of_chart(axes, "no deviation")
        return
    axes.axhspan(-tested.critical, tested.critical, color=BAND_COLOUR, linewidth=0, zorder=0)
    _bars(axes, tested.t_j[order], differences)
    (_, _, low), (_, _, high) = _mark_significant(figure, axes, tested.t_j[order], tested, order)
    axes.set_title(f"α = {alpha:g}: {low:,} low, {high:,} high", loc="left")
