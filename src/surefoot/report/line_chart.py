"""A line chart as SVG text, drawn here so that its page needs no script; every name in it is escaped."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from surefoot.errors import visible

_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 14, 30, 42  # margins


@dataclass(frozen=True)
class _ChartSize:
    """How large a chart is drawn, and the class by which `family.css` shows it where it fits."""

    shown: str
    width: int
    height: int

    @property
    def right(self) -> int:
        """Where lines end."""
        return self.width - _RIGHT

    @property
    def bottom(self) -> int:
        """Where the x axis is."""
        return self.height - _BOTTOM


_SIZES = (_ChartSize("wide", 560, 300), _ChartSize("narrow", 300, 260))  # the narrow one has letters to read on a phone


@dataclass(frozen=True)
class ChartLine:
    """One line: its name, a value for each x, and a band around it where there is one."""

    name: str
    values: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None


@dataclass(frozen=True)
class AxisMark:
    """A straight line across the chart at one value, with its label: a level, or a choice."""

    value: float
    label: str


def line_chart(
    x: Sequence[float],
    lines: Sequence[ChartLine],
    *,
    label: str,
    x_label: str,
    y_label: str,
    x_names: Sequence[str] | None = None,
    logarithmic: bool = False,
    from_zero: bool = False,
    dots: bool = True,
    y_marks: Sequence[AxisMark] = (),
    x_marks: Sequence[AxisMark] = (),
) -> Markup:
    """The chart with its axes, wide and narrow, and a legend under it.

    `x_names` name the places on the x axis instead of numbers. `y_marks` are marked across the chart at values of y,
    `x_marks` from top to bottom at values of x within the axis.
    """
    at = [math.log(value) for value in x] if logarithmic else list(x)
    every = [value for line in lines for part in (line.values, line.low or (), line.high or ()) for value in part]
    every += [mark.value for mark in y_marks]
    low, high = min(every), max(every)
    low = min(low, 0.0) if from_zero else low
    size = max(abs(low), abs(high))
    if high - low <= max(1e-9 * size, 1e-290):  # all are one, or rounding parts them
        low, high = (low - size / 2, high + size / 2) if size > 1e-280 else (low - 0.5, high + 0.5)
    ticks = _ticks(low, high)
    low, high = min(low, ticks[0]), max(high, ticks[-1])
    left, span = min(at), (max(at) - min(at)) or 1.0
    # Where there are many points, round numbers are easier to read than the points' own.
    many = len(x) > 20 and not logarithmic and x_names is None
    marked = [tick for tick in _ticks(x[0], x[-1]) if x[0] <= tick <= x[-1]] if many else x

    def drawing(size: _ChartSize) -> Markup:
        def to_x(value: float) -> float:
            return _LEFT + (value - left) / span * (size.right - _LEFT)

        def to_y(value: float) -> float:
            return size.bottom - (value - low) / (high - low) * (size.bottom - _TOP)

        marks = [to_x(value) for value in (marked if many else at)]
        parts = [_axes(size, marked, marks, ticks, to_y, x_names, x_label, y_label)]
        drawn: list[tuple[float, float]] = []  # every point, which labels keep clear of
        for number, line in enumerate(lines):
            points = [(to_x(a), to_y(value)) for a, value in zip(at, line.values, strict=True)]
            drawn += points
            parts += _line(line, number, points, [to_x(a) for a in at], to_y, dots)
        parts += [_y_mark(size, mark, to_y(mark.value), drawn) for mark in y_marks]
        drawn += [(to_x(a), to_y(mark.value)) for mark in y_marks for a in at]
        parts += [
            _x_mark(size, mark, to_x(math.log(mark.value) if logarithmic else mark.value), drawn) for mark in x_marks
        ]
        return Markup('<svg class="{}" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
            size.shown, size.width, size.height, visible(label), Markup("").join(parts)
        )

    legend = Markup("").join(
        Markup('<li><span class="mark s{}"></span><bdi>{}</bdi></li>').format(number % 6, visible(line.name))
        for number, line in enumerate(lines)
    )
    return Markup("").join(map(drawing, _SIZES)) + Markup('<ul class="legend">{}</ul>').format(legend)


def _line(
    line: ChartLine,
    number: int,
    points: Sequence[tuple[float, float]],
    x: Sequence[float],
    to_y: Callable[[float], float],
    dots: bool,
) -> list[Markup]:
    """A line, the band around it, and a dot at each point."""
    parts = []
    if line.low is not None and line.high is not None:
        upper = list(zip(x, map(to_y, line.high), strict=True))
        lower = list(zip(x, map(to_y, line.low), strict=True))
        parts.append(Markup('<path class="band s{}" d="{}Z"/>').format(number % 6, _path(upper + lower[::-1])))
    parts.append(Markup('<path class="line s{}" d="{}"/>').format(number % 6, _path(points)))
    if dots:
        parts += [
            Markup('<circle class="dot s{}" cx="{:.1f}" cy="{:.1f}" r="3"><title>{}</title></circle>').format(
                number % 6, *point, f"{visible(line.name)}: {_number(value)}"
            )
            for point, value in zip(points, line.values, strict=True)
        ]
    return parts


def _y_mark(size: _ChartSize, mark: AxisMark, y: float, drawn: Sequence[tuple[float, float]]) -> Markup:
    """A level, with its label above the line where there is room, at the end that is farther from what is drawn."""
    label = visible(mark.label)
    reach, right = 7.5 * len(label), size.right
    text_y = y - 5 if y - 5 > _TOP + 8 else y + 15

    def room(low: float, high: float) -> float:
        return min((abs(other - text_y) for x, other in drawn if low <= x <= high), default=math.inf)

    at_left = room(_LEFT, _LEFT + reach) >= room(right - reach, right)
    return Markup(
        '<line class="limit" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>'
        '<text class="now" x="{}" y="{:.1f}" text-anchor="{}">{}</text>'
    ).format(
        _LEFT, right, y, y, _LEFT + 5 if at_left else right - 5, text_y, "start" if at_left else "end", label
    )  # fmt: skip


def _x_mark(size: _ChartSize, mark: AxisMark, x: float, drawn: Sequence[tuple[float, float]]) -> Markup:
    """A place on the x axis, with its label at the top, or at the bottom where that is nearer to what is drawn."""
    label = visible(mark.label)
    to_left = x > (_LEFT + size.right) / 2  # the label is on the side that has room
    reach = 7.5 * len(label)
    near = [y for at, y in drawn if (x - reach <= at <= x if to_left else x <= at <= x + reach)]
    ends = (_TOP + 6, size.bottom - 6)
    text_y = max(ends, key=lambda end: min((abs(y - end) for y in near), default=math.inf))
    return Markup(
        '<line class="limit" x1="{:.1f}" x2="{:.1f}" y1="{}" y2="{}"/>'
        '<text class="now" x="{:.1f}" y="{}" text-anchor="{}">{}</text>'
    ).format(
        x, x, _TOP, size.bottom, x + (-5 if to_left else 5), text_y, "end" if to_left else "start", label
    )  # fmt: skip


def _axes(
    size: _ChartSize,
    x: Sequence[float],
    label_x: Sequence[float],
    ticks: Sequence[float],
    to_y: Callable[[float], float],
    x_names: Sequence[str] | None,
    x_label: str,
    y_label: str,
) -> Markup:
    parts = []
    for tick in ticks:
        y = to_y(tick)
        parts.append(
            Markup(
                '<line class="grid" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>'
                '<text x="{}" y="{:.1f}" text-anchor="end">{}</text>'
            ).format(_LEFT, size.right, y, y, _LEFT - 7, y + 4, _number(tick))
        )
    names = [_number(value) for value in x] if x_names is None else [visible(name) for name in x_names]
    last = -math.inf
    for tick_x, name in zip(label_x, names, strict=True):
        beyond = tick_x + 4 * len(name) > size.width  # the last one ends where the chart does
        centre = size.width - 4 * len(name) if beyond else tick_x
        if centre - last < 8 * len(name) + 6:  # names that would touch are left out
            continue
        last = centre
        at, anchor = (size.width, "end") if beyond else (tick_x, "middle")
        parts.append(
            Markup('<text x="{:.1f}" y="{}" text-anchor="{}">{}</text>').format(at, size.bottom + 17, anchor, name)
        )
    parts.append(Markup('<text x="4" y="12">{}</text>').format(visible(y_label)))
    parts.append(
        Markup('<text x="{}" y="{}" text-anchor="end">{}</text>').format(size.right, size.height - 6, visible(x_label))
    )
    return Markup("").join(parts)


def _ticks(low: float, high: float, count: int = 5) -> list[float]:
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [number * step for number in range(first, last + 1)]


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def _number(value: float) -> str:
    return str(escape(f"{value:.6g}".replace("-", "−")))
