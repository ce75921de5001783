"""GitHub's files and lines of a step: outputs and warnings, whose values may hold anything."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def commands_stopped() -> Iterator[None]:
    """Within, no line of the log is a command; the token that ends this cannot be guessed, so no program can end it.

    Programs that are started must write to standard output alone: GitHub reads one stream in its order, not two.
    """
    token = secrets.token_hex(16)
    print(f"::stop-commands::{token}", flush=True)
    try:
        yield
    finally:
        print(f"\n::{token}::", flush=True)


def write_output(name: str, value: str) -> None:
    """Set an output of the step; the mark that ends the value cannot be guessed, so no value can end it itself."""
    mark = f"end-{secrets.token_hex(16)}"
    with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as file:
        file.write(f"{name}<<{mark}\n{value}\n{mark}\n")


def warn(message: str) -> None:
    """A warning at the pull request, on one line."""
    print("::warning title=surefoot::" + message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def append_summary(markdown: str) -> None:
    """Add to the job's summary, where there is one."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if path:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(f"\n{markdown}")
