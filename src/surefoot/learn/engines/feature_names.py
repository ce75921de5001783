"""Feature names that engines' model texts can hold; Ranker keeps the true ones."""

from __future__ import annotations

import re
from collections.abc import Sequence

_UNSAFE = re.compile(r'[\s\x00-\x1f\x7f"\\,:=\[\]{}<]')  # what LightGBM's or XGBoost's model cannot hold


def safe_names(names: Sequence[str]) -> list[str]:
    """The names with other characters in place of those that a model cannot hold, all different.

    >>> safe_names(["bm25", "title: length", "title[ length", ""])
    ['bm25', 'title__length', 'Column_2', 'Column_3']
    """
    safe_list: list[str] = []
    taken = {name for name in names if name and not _UNSAFE.search(name)}
    for number, name in enumerate(names):
        safe = _UNSAFE.sub("_", name)
        if safe != name:
            while not safe or safe in taken:
                safe = f"Column_{number}" if safe != f"Column_{number}" else f"{safe}_"
            taken.add(safe)
        elif not name:
            safe = f"Column_{number}"
        safe_list.append(safe)
    return safe_list
