"""Training on many machines: Dask holds the data and starts the work, XGBoost's collective adds up.

`parts.py` makes parts of collections or files with every query complete; `rounds.py` is the client, which places them
and asks for batches of trees round by round (`clusters.py` reaches the cluster, and lets XGBoost's processes find each
other); `worker.py` is what each machine does. The state goes back to the client after each round, so a machine that
dies costs one round.
"""

from __future__ import annotations

from typing import Any

from surefoot.runtime import library


def dask_library(name: str) -> Any:
    """A library that training on many machines needs, or how to install it."""
    return library(name, "dask", "Training on many machines")


def is_dask(value: Any) -> bool:
    """Whether this is a Dask array, frame or series."""
    return type(value).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(value, "to_delayed")
