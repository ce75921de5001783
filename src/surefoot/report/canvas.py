"""What every chart shares: style for a paper's column, names drawn as plain text, legends outside the data, files."""

from __future__ import annotations

import os
import re
import textwrap
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot import __version__
from surefoot.arrays import Floats
from surefoot.data.writing.all_or_nothing import replacing
from surefoot.errors import ArgumentError, visible, without_middle
from surefoot.progress import steps
from surefoot.report.options import CHART_FORMATS
from surefoot.runtime import library

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backend_bases import RendererBase
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.text import Annotation, Text
    from matplotlib.transforms import Bbox

COLUMN_WIDTH = 3.33  # inches: one column of the ACM's two-column format
# Okabe and Ito's palette, which the colour-blind can tell apart; an indigo replaces its yellow, hard to see on paper.
HELPED_COLOUR, HURT_COLOUR, SAME_COLOUR = "#0072B2", "#D55E00", "#8C8C8C"
TEXT_COLOUR, MUTED_COLOUR, BAND_COLOUR = "#1A1A1A", "#C9C9C9", "#EBEBEB"
SERIES_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#332288")
SERIES_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
SERIES_DASHES = ("-", (0, (4, 1.2)), (0, (1.2, 1)), (0, (5, 1, 1.2, 1)), "-", (0, (4, 1.2)), (0, (1.2, 1)))
# A lone surrogate cannot be written as UTF-8, and U+FFFE and U+FFFF may not stand in XML.
_NOT_XML = re.compile("[\ud800-\udfff\ufffe\uffff]")
# Where a point's name may stand: to the right, upwards, and how far; a far one gets a line to its point.
_NAME_SPOTS_BESIDE = ((1, 0, 1), (-1, 0, 1), (0, 1, 1), (0, -1, 1))
_NAME_SPOTS_ASKEW = tuple((right, up, far) for far in (1, 2.5, 4) for up in (1, -1) for right in (1, -1))
_RC: dict[Any, Any] = {
    "font.family": ["DejaVu Sans"],  # ships with matplotlib, so that charts are the same everywhere
    "mathtext.fontset": "dejavusans",
    "font.size": 7.0, "axes.labelsize": 8.0, "axes.titlesize": 7.0, "legend.fontsize": 7.0,
    "xtick.labelsize": 7.0, "ytick.labelsize": 7.0,
    "axes.linewidth": 0.6, "axes.edgecolor": TEXT_COLOUR, "axes.labelcolor": TEXT_COLOUR, "text.color": TEXT_COLOUR,
    "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True, "axes.unicode_minus": True,
    "xtick.major.width": 0.6, "ytick.major.width": 0.6, "xtick.major.size": 2.5, "ytick.major.size": 2.5,
    "lines.linewidth": 1.1, "lines.markersize": 3.2, "hatch.linewidth": 0.5, "legend.frameon": False,
    "figure.constrained_layout.h_pad": 0.03, "figure.constrained_layout.w_pad": 0.03,
    "pdf.fonttype": 42, "ps.fonttype": 42, "svg.fonttype": "none", "svg.hashsalt": "surefoot",
    "text.usetex": False, "text.parse_math": True, "savefig.bbox": None, "savefig.facecolor": "white",
}  # fmt: skip
_MAKER = f"surefoot {__version__}"  # tells the command line which files it may replace
_METADATA: dict[str, dict[str, Any]] = {
    "pdf": {"CreationDate": None, "Creator": _MAKER},
    "svg": {"Date": None, "Creator": _MAKER},
    "png": {"Software": _MAKER},
}


def need_matplotlib() -> None:
    """Raise the error that says how to install matplotlib, if it is not there."""
    library("matplotlib", "plots", "drawing charts")


@contextmanager
def style() -> Iterator[None]:
    """The charts' settings, for the time of drawing only: a caller's own stay as they are."""
    need_matplotlib()
    import matplotlib as mpl

    with mpl.rc_context(), warnings.catch_warnings():
        mpl.rcdefaults()
        mpl.rcParams.update(_RC)
        # A letter that the font lacks is drawn as a box; that is no reason to alarm or to fail.
        warnings.filterwarnings("ignore", message=".*[Gg]lyph.*missing")
        yield


def new_figure(width: float, height: float) -> Figure:
    """A figure of so many inches, laid out tightly, that can measure its own text."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    if not 1 <= width <= 50:
        raise ArgumentError(
            f"width is {width:g}; it must lie between 1 and 50 inches (a paper's column is {COLUMN_WIDTH})"
        )
    figure = Figure(figsize=(width, height), dpi=200, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def new_panels(count: int, width: float, margin: float, height_share: float) -> tuple[Figure, list[Axes], int]:
    """A figure of `count` panels with common axes, and how many stand side by side.

    Its height is a margin in inches and a share of the width for each line of panels.
    """
    columns = min(2, count)
    lines = -(-count // columns)
    figure = new_figure(width, margin + height_share * width * lines)
    grid = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for axes in grid[count:]:
        axes.remove()
    return figure, list(grid[:count]), columns


def save_chart(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a chart in the format of the file's ending, all or nothing, the same bytes every time."""
    save_charts({Path(path): figure})


def save_charts(charts: Mapping[Path, Figure]) -> None:
    """Write each chart to its file, in the format of the file's ending; all of them or none."""
    check_formats([path.suffix[1:].lower() for path in charts])
    with style(), ExitStack() as unfinished:
        for path, figure in steps(list(charts.items()), "Writing charts"):
            ending = path.suffix[1:].lower()
            temporary = unfinished.enter_context(replacing(path))
            figure.savefig(temporary, format=ending, dpi=300, metadata=_METADATA[ending])


def check_formats(formats: Sequence[str]) -> list[str]:
    """The formats, each once, if all can be written."""
    for name in formats:
        if name not in CHART_FORMATS:
            raise ArgumentError(f"charts cannot be written as {name!r}; choose from {', '.join(CHART_FORMATS)}")
    return list(dict.fromkeys(formats))


def plain(name: str, most: int = 26) -> str:
    """A user's name as it is drawn: nothing invisible, nothing XML forbids, the middle left out of a very long one.

    >>> plain("a-very-long-name-that-no-legend-has-room-for", 20)
    'a-very-lon…-room-for'
    """
    plain_name = _NOT_XML.sub("�", visible(name)) if name.strip() else "(no name)"
    return without_middle(plain_name, most)


def measure_width(figure: Figure, text: Text) -> float:
    """Width of a text in inches."""
    return float(text.get_window_extent(renderer(figure)).width) / figure.dpi


def renderer(figure: Figure) -> RendererBase:
    """What measures the figure's text."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = figure.canvas
    assert isinstance(canvas, FigureCanvasAgg)  # new_figure saw to it
    measuring: RendererBase = canvas.get_renderer()  # type: ignore[no-untyped-call]
    return measuring


def add_legend(figure: Figure, entries: Sequence[tuple[Any, str]]) -> None:
    """A legend below the axes, in as many columns as its longest name allows.

    Names are set afterwards: matplotlib leaves out labels that start with an underscore, and reads $ as math.
    """
    handles = [handle for handle, _ in entries]
    legend = _legend(figure, handles, 1, entries)
    widest = max(measure_width(figure, text) for text in legend.get_texts())
    columns = int((figure.get_figwidth() - 0.1) / (widest + 0.36))
    if columns > 1 and len(entries) > 1:
        legend.remove()
        rows = -(-len(entries) // min(columns, 4))
        _legend(figure, handles, -(-len(entries) // rows), entries)


def _legend(figure: Figure, handles: list[Any], columns: int, entries: Sequence[tuple[Any, str]]) -> Legend:
    legend = figure.legend(
        handles, ["-"] * len(entries), loc="outside lower center", ncols=columns,
        handlelength=1.9, handletextpad=0.5, columnspacing=1.1, labelspacing=0.3, borderpad=0.1, borderaxespad=0.2,
    )  # fmt: skip
    for text, (_, name) in zip(legend.get_texts(), entries, strict=True):
        text.set_parse_math(False)
        text.set_text(name)
    return legend


def add_title(figure: Figure, axes: Axes, words: str, pad: float = 4) -> None:
    """A small heading over the axes, on as many lines as it takes."""
    lines = textwrap.fill(words, max(12, int(14 * figure.get_figwidth())))
    axes.set_title(lines, loc="left", parse_math=False, pad=pad)


def write_instead_of_chart(axes: Axes, words: str) -> None:
    """Words where there is nothing to draw."""
    axes.set_xticks([])
    axes.set_yticks([])
    axes.text(0.5, 0.5, words, transform=axes.transAxes, ha="center", va="center", wrap=True, parse_math=False)


def label_points(
    figure: Figure, axes: Axes, points: Sequence[tuple[float, float]], names: Sequence[str], first: int
) -> int:
    """Name the points whose name finds room beside them, in order of importance; gives how many it named.

    The `first` ones are in bold ink, the rest in grey.
    """
    from matplotlib.transforms import Bbox

    figure.draw_without_rendering()  # fixes where the axes are
    measuring = renderer(figure)
    point = figure.dpi / 72
    inside = axes.get_window_extent(measuring)
    spots = axes.transData.transform(points)
    taken: list[Bbox] = [Bbox.from_bounds(x - 2 * point, y - 2 * point, 4 * point, 4 * point) for x, y in spots]
    named = 0
    for number, ((x, y), name) in enumerate(zip(points, names, strict=True)):
        bold = number < first
        # A name at an angle or far off is harder to match with its point: only for those that matter most.
        for right, up, far in _NAME_SPOTS_BESIDE + _NAME_SPOTS_ASKEW * bold:
            text = axes.annotate(
                name, (x, y), xytext=(right * 4.2 * far, up * 3.4 * far), textcoords="offset points", parse_math=False,
                ha={1: "left", -1: "right", 0: "center"}[right], va={1: "bottom", -1: "top", 0: "center"}[up],
                fontsize=6.5 if bold else 6, color=TEXT_COLOUR if bold else "#6B6B6B", zorder=5,
                # The line starts at the corner next to the point.
                arrowprops={
                    "arrowstyle": "-", "linewidth": 0.4, "shrinkA": 0, "shrinkB": 2,
                    "relpos": ((1 - right) / 2, (1 - up) / 2),
                } if far > 1 else None,
            )  # fmt: skip
            text.set_in_layout(False)
            box = _letters(text, measuring)
            free = not any(box.overlaps(other) for i, other in enumerate(taken) if i != number)
            # Without a line to its point, a name belongs to the nearest one, in every reader's eye.
            gaps = np.hypot(*(np.clip(spots, box.min, box.max) - spots).T)
            line = _leader(spots[number], box, point) if far > 1 else []
            if far > 1:
                free = free and not any(b.overlaps(other) for b in line for i, other in enumerate(taken) if i != number)
            else:
                free = free and gaps[number] <= gaps.min() + 0.5 * point
            if free and inside.x0 <= box.x0 and box.x1 <= inside.x1 and inside.y0 <= box.y0 and box.y1 <= inside.y1:
                taken += [box, *line]
                named += 1
                break
            text.remove()
    return named


def _leader(spot: Floats, box: Bbox, point: float) -> list[Bbox]:
    """Small boxes along the line from a name to its point: a line through another's point would name that one."""
    from matplotlib.transforms import Bbox

    end = np.clip(spot, box.min, box.max)
    steps = (spot + (end - spot) * share for share in np.linspace(0, 1, 30))
    outside = [step for step in steps if not box.contains(*step)]
    return [Bbox.from_bounds(x - point / 2, y - point / 2, point, point) for x, y in outside]


def _letters(text: Annotation, measuring: RendererBase) -> Bbox:
    """Where an annotation's letters are; its own extent includes the point it belongs to."""
    from matplotlib.text import Text

    text.update_positions(measuring)
    return Text.get_window_extent(text, measuring)
