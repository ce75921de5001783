"""The pages that `surefoot demo` writes, made when the site is built."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

PAGES = ("report.html", "learned.html")


def demo_pages() -> dict[str, str]:
    """The pages' text by their file in the site."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "demo")
        command = [sys.executable, "-P", "-m", "surefoot", "demo", "-o", str(made)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return {f"demo/{name}": (made / name).read_text(encoding="utf-8") for name in PAGES}
