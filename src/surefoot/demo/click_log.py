"""A made-up click log, in which it is known whom personalization can help."""

from __future__ import annotations

import os

from surefoot.clicks.generator import generate_log, write_kinds, write_log


def clicks(
    path: str | os.PathLike[str],
    *,
    users: int = 1000,
    queries: int | None = None,
    layout: str = "ubi",
    segments: str | os.PathLike[str] | None = None,
    seed: int = 0,
) -> dict[str, int]:
    """Write a click log of any size, a file or for `ubi` a folder, and return how much was written.

    There are 200 + users / 10 queries by default. `segments` names a CSV file for what only the generator knows, the
    kind of each list. The same arguments give the same log.
    """
    written = write_log(generate_log(users, queries=queries, seed=seed), path, layout)
    if segments is not None:
        write_kinds(generate_log(users, queries=queries, seed=seed), segments)
    return written
