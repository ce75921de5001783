"""A line chart as SVG text, drawn here so that its page needs no script; every name in it is escaped."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from surefoot.errors import visible

_WIDTH, _HEIGHT = 560, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 14, 22, 42


@dataclass(frozen=True)
class Line:
    """One line: its name, a value for each x, and a band around it where there is one."""

    name: str
    values: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None


def line_chart(
    x: Sequence[float],
    lines: Sequence[Line],
    *,
    label: str,
    x_label: str,
    y_label: str,
    x_names: Sequence[str] | None = None,
    logarithmic: bool = False,
    from_zero: bool = False,
    dots: bool = True,
) -> Markup:
    """The chart with its axes, and a legend under it; `x_names` name the places on the x axis instead of numbers."""
    at = [math.log(value) for value in x] if logarithmic else list(x)
    every = [value for line in lines for part in (line.values, line.low or (), line.high or ()) for value in part]
    low, high = min(every), max(every)
    low = min(low, 0.0) if from_zero else low
    size = max(abs(low), abs(high))
    if high - low <= max(1e-9 * size, 1e-290):  # all are one, or rounding parts them
        low, high = (low - size / 2, high + size / 2) if size > 1e-280 else (low - 0.5, high + 0.5)
    ticks = _ticks(low, high)
    low, high = min(low, ticks[0]), max(high, ticks[-1])
    left, span = min(at), (max(at) - min(at)) or 1.0

    def to_x(value: float) -> float:
        return _LEFT + (value - left) / span * (_WIDTH - _LEFT - _RIGHT)

    def to_y(value: float) -> float:
        return _HEIGHT - _BOTTOM - (value - low) / (high - low) * (_HEIGHT - _TOP - _BOTTOM)

    # Where there are many points, round numbers are easier to read than the points' own.
    many = len(x) > 20 and not logarithmic and x_names is None
    marked = [tick for tick in _ticks(x[0], x[-1]) if x[0] <= tick <= x[-1]] if many else x
    marks = [to_x(value) for value in (marked if many else at)]
    parts = [_axes(marked, marks, ticks, to_y, x_names, x_label, y_label)]
    for number, line in enumerate(lines):
        places = [(to_x(a), to_y(value)) for a, value in zip(at, line.values, strict=True)]
        if line.low is not None and line.high is not None:
            upper = [(to_x(a), to_y(value)) for a, value in zip(at, line.high, strict=True)]
            lower = [(to_x(a), to_y(value)) for a, value in zip(at, line.low, strict=True)]
            parts.append(Markup('<path class="band s{}" d="{}Z"/>').format(number % 6, _path(upper + lower[::-1])))
        parts.append(Markup('<path class="line s{}" d="{}"/>').format(number % 6, _path(places)))
        if dots:
            parts += [
                Markup('<circle class="dot s{}" cx="{:.1f}" cy="{:.1f}" r="3"><title>{}</title></circle>').format(
                    number % 6, *place, f"{visible(line.name)}: {_number(value)}"
                )
                for place, value in zip(places, line.values, strict=True)
            ]
    legend = Markup("").join(
        Markup('<li><span class="mark s{}"></span><bdi>{}</bdi></li>').format(number % 6, visible(line.name))
        for number, line in enumerate(lines)
    )
    return Markup('<svg viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg><ul class="legend">{}</ul>').format(
        _WIDTH, _HEIGHT, visible(label), Markup("").join(parts), legend
    )


def _axes(
    x: Sequence[float],
    places: Sequence[float],
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
            ).format(_LEFT, _WIDTH - _RIGHT, y, y, _LEFT - 7, y + 4, _number(tick))
        )
    names = [_number(value) for value in x] if x_names is None else [visible(name) for name in x_names]
    last = -math.inf
    for place, name in zip(places, names, strict=True):
        if place - last < 8 * len(name) + 6:  # names that would touch are left out
            continue
        last = place
        parts.append(
            Markup('<text x="{:.1f}" y="{}" text-anchor="middle">{}</text>').format(place, _HEIGHT - _BOTTOM + 17, name)
        )
    parts.append(Markup('<text x="4" y="12">{}</text>').format(visible(y_label)))
    parts.append(
        Markup('<text x="{}" y="{}" text-anchor="end">{}</text>').format(_WIDTH - _RIGHT, _HEIGHT - 6, visible(x_label))
    )
    return Markup("").join(parts)


def _ticks(low: float, high: float, count: int = 5) -> list[float]:
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [number * step for number in range(first, last + 1)]


def _path(places: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)


def _number(value: float) -> str:
    return str(escape(f"{value:.6g}".replace("-", "−")))
