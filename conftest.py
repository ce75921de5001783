"""Modules and pages that need PyTorch are left out where it is not installed; `make test-neural` runs them."""

from __future__ import annotations

import os
from importlib.util import find_spec

# Where PyTorch should be there, they are not left out, and so fail.
if find_spec("torch") is None and os.environ.get("SUREFOOT_NEURAL") != "1":
    collect_ignore_glob = ["src/surefoot/neural/*.py", "tests/neural/*.py", "docs/neural.md"]
