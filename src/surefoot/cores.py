"""The cores that this process may use, which can be fewer than the machine has."""

from __future__ import annotations

import os


def cores() -> int:
    """How many threads can run at once."""
    if hasattr(os, "process_cpu_count"):  # Python 3.13; it also heeds PYTHON_CPU_COUNT
        return os.process_cpu_count() or 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
