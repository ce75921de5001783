"""The charts that show many systems at once: curves over α, profiles over queries, the risk–reward plane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.arrays import Floats
from surefoot.errors import ArgumentError
from surefoot.report.canvas import (
    BAND_COLOUR,
    COLUMN_WIDTH,
    HELPED_COLOUR,
    HURT_COLOUR,
    MUTED_COLOUR,
    SERIES_COLOURS,
    SERIES_DASHES,
    SERIES_MARKERS,
    TEXT_COLOUR,
    add_legend,
    add_title,
    label_points,
    new_figure,
    new_panels,
    plain,
    style,
    write_instead_of_chart,
)  # fmt: skip
from surefoot.report.columns import candidates
from surefoot.report.numbers import measure_title
from surefoot.risk.assessment_data import AssessmentData
from surefoot.risk.baselines import VIRTUAL_BASELINES, differences, population_rows, vectors_of_baselines
from surefoot.risk.expectation import deviations, expected, geo_risk_of_means
from surefoot.risk.inference import critical_value, weighted_test
from surefoot.risk.outcomes import LAST_SEARCHED_ALPHA
from surefoot.risk.tradeoff import check_alpha, weigh_losses

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from surefoot.report.assessment import Assessment

_MOST_NAMED_SYSTEMS = 8  # systems that line charts tell apart by default
_CURVE_POINTS = 61  # points of a curve over α


def leading_data(assessment: Assessment) -> AssessmentData:
    """The plain data by the leading measure, which the charts show."""
    return assessment.by_measure()[0]


def baselines(assessment: Assessment) -> dict[str, Floats]:
    """The score vectors that the assessment compares with, by name."""
    return vectors_of_baselines(assessment.scores, leading_data(assessment)["baseline"], _population(assessment))


def all_differences(assessment: Assessment) -> Floats:
    """Every system's differences to the baseline, if there is one only."""
    against = baselines(assessment)
    if len(against) > 1:
        raise ArgumentError(
            f"this chart compares with one baseline, and the assessment has {len(against)}; assess against one of them"
        )
    return next(iter(differences(assessment.scores, against).values()))


def versus(assessment: Assessment) -> str:
    """The baseline as a chart's title names it."""
    names = list(baselines(assessment))
    if len(names) > 1:
        return f"{len(names)} baselines"
    return f"the per-query {names[0]}" if names[0] in VIRTUAL_BASELINES else plain(names[0], 22)


def by_traffic(assessment: Assessment, before: str = " ") -> str:
    """What the title of a chart adds where its figures are weighted."""
    return "" if assessment.scores._relative_weights is None else f"{before}by traffic"


@style()
def t_risk_curves(
    assessment: Assessment, *, systems: Sequence[str] | None = None, most: float = 15, width: float = COLUMN_WIDTH
) -> Figure:
    """T_Risk as losses weigh more, beside what chance allows (Dinçer et al., SIGIR 2014, Fig. 1)."""
    scores, difference = assessment.scores, all_differences(assessment)
    alphas = _alphas(most)
    scale, weights = scores._largest(), scores._relative_weights
    curves = np.array(
        [
            [np.nan if (t := weighted_test(row, a, scale, weights).t) is None else t for row in difference]
            for a in alphas
        ]
    ).T
    # The baseline has no T_Risk against itself, so it is not among the curves.
    named_systems = highlighted(assessment, systems)
    if systems is None:
        named_systems = [row["system"] for row in candidates(leading_data(assessment))[: _MOST_NAMED_SYSTEMS - 1]]
    figure = new_figure(width, 0.85 * width)
    axes = figure.subplots()
    entries: list[tuple[Any, str]] = []
    critical = critical_value(len(scores.queries)) or 0.0
    if critical:
        band = axes.axhspan(-critical, critical, color=BAND_COLOUR, linewidth=0, zorder=0)
        entries.append((band, f"|T| < {critical:.2f}"))
        axes.axhline(0, color=TEXT_COLOUR, linewidth=0.5, zorder=1)
    entries = _draw_curves(axes, assessment, alphas, curves, named_systems) + entries
    axes.set_ylabel(r"$T_\mathrm{Risk}$")
    _finish(axes, alphas)
    add_title(figure, axes, f"{plain(scores.measure)}{by_traffic(assessment)} against {versus(assessment)}")
    if np.isfinite(curves).any():
        in_view = curves[[scores._row(system) for system in named_systems]]
        _keep_in_view(axes, np.append(in_view, [-critical, critical]))
    else:
        write_instead_of_chart(axes, "no system has a standard error")
    add_legend(figure, entries or [(axes.plot([], [])[0], "nothing to compare")])
    return figure


@style()
def geo_risk_curves(
    assessment: Assessment,
    *,
    systems: Sequence[str] | None = None,
    most: float = LAST_SEARCHED_ALPHA,
    width: float = COLUMN_WIDTH,
) -> Figure:
    """GeoRisk as losses weigh more: robust systems stay level (Dinçer et al., SIGIR 2016, Figs. 2 and 3)."""
    scores, rows = assessment.scores, _population(assessment)
    if scores._relative_weights is not None:
        raise ArgumentError("GeoRisk is not defined for queries that are weighted by traffic")
    alphas = _alphas(most)
    z = deviations(scores.values[rows])
    curves = np.full((len(scores.systems), len(alphas)), np.nan)
    mean = scores.values[rows].mean(axis=1)
    for i, alpha in enumerate(alphas):
        curves[rows, i] = geo_risk_of_means(mean, weigh_losses(z, alpha).mean(axis=1))
    figure = new_figure(width, 0.85 * width)
    axes = figure.subplots()
    entries = _draw_curves(axes, assessment, alphas, curves, highlighted(assessment, systems))
    axes.set_ylabel("GeoRisk")
    axes.set_ylim(bottom=0)
    _finish(axes, alphas)
    add_title(figure, axes, f"{plain(scores.measure)}, population of {len(rows):,} system{'s' * (len(rows) > 1)}")
    add_legend(figure, entries)
    return figure


@style()
def performance_profiles(
    assessment: Assessment, *, systems: Sequence[str] | None = None, width: float = COLUMN_WIDTH
) -> Figure:
    """Systems' scores over queries beside what the population leads one to expect (Dinçer et al., SIGIR 2016, Fig. 1).

    Queries run from the hardest to the easiest for the population; the line is e_ij, a bar what a score differs by.
    With traffic nothing is expected of a query, as e_ij is not defined for weighted queries: only scores are shown.
    """
    scores, rows = assessment.scores, _population(assessment)
    named_systems = highlighted(assessment, systems)
    if systems is None:  # panels need no colours of their own, so there may be as many without a baseline's
        named_systems += [system for system in _by_mean(assessment) if system not in named_systems][
            : _MOST_NAMED_SYSTEMS - len(named_systems)
        ]
    order = np.argsort(scores.values[rows].mean(axis=0), kind="stable")
    weighted = scores._relative_weights is not None
    e = None if weighted or scores.values[rows].min() < 0 else expected(scores.values[rows])
    figure, panels, columns = new_panels(len(named_systems), width, 0.45, 0.27)
    lines = -(-len(panels) // columns)
    for axes, system in zip(panels, named_systems, strict=True):
        row = scores._row(system)
        line = None if e is None or row not in rows else e[rows.index(row)][order]
        _profile(axes, scores.values[row][order], line)
        axes.set_title(plain(system, 20), loc="left", parse_math=False)
    lowest = min(0.0, float(scores.values.min()))
    panels[0].set_ylim(bottom=lowest, auto=None)  # shared by all, once all have drawn
    for number, axes in enumerate(panels):
        if number >= len(panels) - columns:  # the last of its column, though its row may not be the last
            axes.tick_params(labelbottom=True)
        if number // columns == lines - 1:
            axes.set_xlabel("queries, hardest first", fontsize=7)
    figure.supylabel(plain(scores.measure, 26 if lines > 1 else 16), fontsize=8, parse_math=False)
    add_legend(figure, _profile_entries(weighted))
    return figure


@style()
def risk_reward_plane(
    assessment: Assessment,
    *,
    alpha: float | None = None,
    systems: Sequence[str] | None = None,
    width: float = COLUMN_WIDTH,
) -> Figure:
    """Every system's risk and reward, with lines of equal U_Risk at α (Wang et al., SIGIR 2012, Eqs. 1, 2 and 4).

    α is the largest assessed unless given.
    """
    data = leading_data(assessment)
    weight = check_alpha(max(data["alphas"]) if alpha is None else alpha)
    rows = {row["system"]: row for row in data["systems"]}
    named_systems = highlighted(assessment, systems)
    x, y = (np.array([row[key] for row in rows.values()]) for key in ("risk", "reward"))
    figure = new_figure(width, 0.92 * width)
    axes = figure.subplots()
    right, top = (1.12 * float(values.max()) or 0.1 for values in (x, y))
    axes.set_xlim(-0.03 * right, right)
    axes.set_ylim(-0.03 * top, top)
    line = _equal_u_risk(axes, weight, right, top)
    baseline_systems = {name for name, row in rows.items() if row["is_baseline"]}
    rest = [name for name in _by_mean(assessment) if name not in named_systems]
    groups: list[tuple[list[str], str, dict[str, Any]]] = [
        (
            [name for name in named_systems if name not in baseline_systems],
            "best by mean" if systems is None else "chosen",
            {"marker": "o", "s": 15, "color": HELPED_COLOUR, "zorder": 4},
        ),
        (
            [name for name in named_systems if name in baseline_systems],
            "baseline",
            {"marker": "D", "s": 18, "color": TEXT_COLOUR, "zorder": 4},
        ),
        (rest, "others", {"s": 9, "facecolor": "white", "edgecolor": "#7A7A7A", "linewidth": 0.7, "zorder": 3}),
    ]
    entries: list[tuple[Any, str]] = []
    for group, label, marker in groups:
        if group:
            points = np.array([[rows[name]["risk"], rows[name]["reward"]] for name in group])
            entries.append((axes.scatter(points[:, 0], points[:, 1], clip_on=False, **marker), label))
    entries.append((line, f"equal U, α = {weight:g}"))
    axes.set_xlabel("risk")
    axes.set_ylabel("reward")
    title = f"{plain(measure_title(data['measure']))}{by_traffic(assessment)} against {versus(assessment)}"
    add_title(figure, axes, title, pad=12)
    add_legend(figure, entries)
    order = [*named_systems, *rest[:80]]
    label_points(
        figure,
        axes,
        [(rows[s]["risk"], rows[s]["reward"]) for s in order],
        [plain(s, 16) for s in order],
        len(named_systems),
    )
    return figure


def highlighted(assessment: Assessment, systems: Sequence[str] | None = None) -> list[str]:
    """The systems to tell apart: the ones asked for, or the baseline and the best by mean."""
    if systems is not None:
        chosen = list(dict.fromkeys([systems] if isinstance(systems, str) else systems))
        if not chosen:
            raise ArgumentError("no system was given to show; name at least one")
        for system in chosen:
            assessment.scores._row(system)
        return chosen
    ordered, against = _by_mean(assessment), baselines(assessment)
    first = [system for system in ordered if system in against][: _MOST_NAMED_SYSTEMS - 1]
    # A virtual baseline is no system, so the others may not outnumber the palette.
    return first + [system for system in ordered if system not in first][: _MOST_NAMED_SYSTEMS - max(1, len(first))]


def _by_mean(assessment: Assessment) -> list[str]:
    return [str(row["system"]) for row in assessment.rows()]


def _population(assessment: Assessment) -> list[int]:
    return population_rows(assessment.scores, leading_data(assessment)["population"])


def _alphas(most: float) -> Floats:
    if not check_alpha(most):
        raise ArgumentError("most is 0; a curve needs a largest α above 0")
    return np.linspace(0, most, _CURVE_POINTS)


def _draw_curves(
    axes: Axes, assessment: Assessment, alphas: Floats, curves: Floats, named_systems: list[str]
) -> list[tuple[Any, str]]:
    """The shown systems' curves with a legend entry each, the others' in grey."""
    from matplotlib.collections import LineCollection

    entries: list[tuple[Any, str]] = []
    others = [
        i for i, s in enumerate(assessment.scores.systems) if s not in named_systems and np.isfinite(curves[i]).any()
    ]
    muted = LineCollection([np.column_stack([alphas, curves[i]]) for i in others], colors=MUTED_COLOUR, linewidths=0.5)
    if others:
        axes.add_collection(muted)
    against, number = baselines(assessment), 0
    for system in named_systems:
        line_style: dict[str, Any] = {"color": TEXT_COLOUR, "linestyle": "-", "marker": None, "linewidth": 1.5}
        if system not in against:
            at = number % len(SERIES_COLOURS)
            # Past the palette's end the same colours return with hollow markers.
            face = SERIES_COLOURS[at] if number < len(SERIES_COLOURS) else "white"
            line_style = {
                "color": SERIES_COLOURS[at], "linestyle": SERIES_DASHES[at], "marker": SERIES_MARKERS[at],
                "markerfacecolor": face, "markevery": (3 + 2 * number % 10, 15), "markeredgewidth": 0.6,
            }  # fmt: skip
            number += 1
        values = curves[assessment.scores._row(system)]
        (line,) = axes.plot(alphas, values, **line_style)
        undefined = "" if np.isfinite(values).any() else " (undefined)"
        entries.append((line, plain(system) + undefined + " (baseline)" * (system in against and not undefined)))
    if others:
        entries.append((muted, f"{len(others):,} other{'s' * (len(others) > 1)}"))
    return entries


def _keep_in_view(axes: Axes, curves: Floats) -> None:
    """Let the other systems' curves run out of the frame where they would press the shown ones flat."""
    low, high = axes.get_ylim()
    least, most = float(np.nanmin(curves)), float(np.nanmax(curves))
    if high - low > 2 * (most - least):
        margin = 0.05 * (most - least)
        axes.set_ylim(least - margin, most + margin)


def _finish(axes: Axes, alphas: Floats) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.autoscale_view()
    axes.set_xlim(alphas[0], alphas[-1])
    axes.xaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 5, 10]))
    axes.set_xlabel("α")


def _profile(axes: Axes, values: Floats, line: Floats | None) -> None:
    """One system's panel: a bar from what is expected to what it scores."""
    from matplotlib.ticker import MaxNLocator

    x = np.arange(1, len(values) + 1)
    many = len(values) > 1000  # then an image inside the file is smaller than as many lines
    if line is None:
        axes.plot(x, values, linestyle="", marker=".", markersize=2, color=TEXT_COLOUR, rasterized=many)
    else:
        thick = max(0.3, min(1.6, 70 / len(values)))
        for chosen, colour in ((values < line, HURT_COLOUR), (values >= line, HELPED_COLOUR)):
            axes.vlines(x[chosen], line[chosen], values[chosen], colors=colour, linewidth=thick, rasterized=many)
        line_style: dict[str, Any] = {"drawstyle": "steps-mid"} if len(values) < 100 else {}
        axes.plot(x, line, color=TEXT_COLOUR, linewidth=0.8, marker="_" if len(values) == 1 else "", **line_style)
    axes.set_xlim(0.5, len(values) + 0.5)
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True, min_n_ticks=1))


def _profile_entries(weighted: bool) -> list[tuple[Any, str]]:
    from matplotlib.lines import Line2D

    if weighted:
        dot = Line2D([], [], color=TEXT_COLOUR, linestyle="", marker=".", markersize=2)
        return [(dot, "score (by traffic, no score is expected)")]
    looks = ((TEXT_COLOUR, 0.8, "expected"), (HELPED_COLOUR, 2, "above"), (HURT_COLOUR, 2, "below"))
    return [(Line2D([], [], color=colour, linewidth=thick), name) for colour, thick, name in looks]


def _equal_u_risk(axes: Axes, alpha: float, right: float, top: float) -> Line2D:
    """Lines reward = U + (1 + α)·risk at round U, each named where it leaves the axes; gives one for the legend."""
    from matplotlib.lines import Line2D
    from matplotlib.ticker import MaxNLocator

    slope = 1 + alpha
    levels = MaxNLocator(7, steps=[1, 2, 5, 10]).tick_values(-slope * right, top)
    for level in levels:
        if not -slope * right < level < top:
            continue
        start, end = max(0.0, -level / slope), min(right, (top - level) / slope)
        zero = abs(level) < 1e-12
        axes.plot(
            [start, end], [level + slope * start, level + slope * end], color="#6B6B6B" if zero else MUTED_COLOUR,
            linewidth=0.9 if zero else 0.6, linestyle="-" if zero else (0, (4, 2)), zorder=1,
        )  # fmt: skip
        over = (top - level) / slope <= right
        label_position = (end, top) if over else (right, level + slope * right)
        axes.annotate(
            "U = 0" if zero else f"{level:g}".replace("-", "−"), label_position, xytext=(0, 2) if over else (2, 0),
            textcoords="offset points", ha="center" if over else "left", va="bottom" if over else "center",
            fontsize=6, color="#6B6B6B",
        )  # fmt: skip
    return Line2D([], [], color=MUTED_COLOUR, linewidth=0.6, linestyle=(0, (4, 2)))
