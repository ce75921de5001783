"""Made-up data with known harm, for demonstrations and tests; the same arguments give the same data.

The functions are loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot.lazy import attach

if TYPE_CHECKING:
    from surefoot.demo.click_log import clicks as clicks
    from surefoot.demo.made_letor import letor as letor
    from surefoot.demo.made_letor import preferences as preferences
    from surefoot.demo.made_runs import judges as judges
    from surefoot.demo.made_runs import runs as runs

__getattr__, __dir__, __all__ = attach(
    __name__,
    {"click_log": ("clicks",), "made_letor": ("letor", "preferences"), "made_runs": ("judges", "runs")},
)
