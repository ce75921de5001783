"""Modules and pages whose libraries are not installed are left out; `make test-neural` runs them."""

from __future__ import annotations

import os
from importlib.util import find_spec

# Where the libraries should be there, nothing is left out, and so it fails.
collect_ignore_glob: list[str] = []
if os.environ.get("SUREFOOT_NEURAL") != "1" and find_spec("torch") is None:
    collect_ignore_glob += ["src/surefoot/neural/*.py", "tests/neural/*.py", "docs/neural.md"]
