"""The table of layouts: a new one is a module beside this and a line here (docs/extend/log-layout.md)."""

from __future__ import annotations

from surefoot.clicks.layouts import metarank, table, ubi, yandex
from surefoot.clicks.layouts.layout import LogLayout
from surefoot.errors import ArgumentError, did_you_mean, shortened

LAYOUTS = {
    layout.name: layout
    for layout in (yandex.YANDEX_2012, yandex.YANDEX_2014, ubi.LAYOUT, metarank.LAYOUT, table.LAYOUT)
}
WRITABLE = {name: layout for name, layout in LAYOUTS.items() if layout.write is not None}


def find_layout(name: str) -> LogLayout:
    """The layout of this name."""
    if name not in LAYOUTS:
        raise ArgumentError(
            f"there is no layout {shortened(name)}{did_you_mean(name, LAYOUTS) or '.'} Choose one of: "
            f"{', '.join(LAYOUTS)}"
        )
    return LAYOUTS[name]
