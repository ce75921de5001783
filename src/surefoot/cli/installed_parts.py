"""What is installed, in which versions, and whether it can be imported: `surefoot check` without files."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from surefoot import __version__
from surefoot.runtime import cores

SCHEMA = "surefoot/installed/1"
CORE_EXTRA = "core"
_SECONDS = 180  # that an import may take, on a busy machine


class Status(StrEnum):
    """What became of an import."""

    works = "works"
    missing = "missing"
    broken = "broken"


@dataclass(frozen=True)
class InstalledPart:
    """Modules that surefoot imports, the extra that they come with, and their distributions.

    Of alternatives, as in `xgboost|xgboost-cpu`, one is enough.
    """

    modules: tuple[str, ...]
    extra: str
    distributions: tuple[str, ...]


PARTS = (
    InstalledPart(("numpy", "scipy", "polars"), CORE_EXTRA, ("numpy", "scipy", "polars")),
    InstalledPart(("jinja2", "typer", "rich"), CORE_EXTRA, ("jinja2", "typer", "rich")),
    InstalledPart(("lightgbm", "numba"), "learn", ("lightgbm", "numba")),
    InstalledPart(("xgboost",), "xgboost", ("xgboost|xgboost-cpu",)),
    InstalledPart(("dask", "distributed"), "dask", ("dask", "distributed")),
    InstalledPart(("ibis", "duckdb"), "clicks", ("ibis-framework", "duckdb")),
    InstalledPart(("starlette", "uvicorn"), "serve", ("starlette", "uvicorn")),
    InstalledPart(("pyspark",), "spark", ("pyspark",)),
    InstalledPart(("matplotlib",), "plots", ("matplotlib",)),
    InstalledPart(("onnx",), "onnx", ("onnx",)),
    InstalledPart(("httpx",), "fetch", ("httpx",)),
    InstalledPart(("torch", "safetensors"), "neural", ("torch", "safetensors")),
)


@dataclass(frozen=True)
class FoundPart:
    """What was found of a part; `detail` is why it cannot be imported, or the line that installs it."""

    name: str
    extra: str
    status: Status
    versions: dict[str, str]
    detail: str


def examined(parts: Sequence[InstalledPart]) -> list[FoundPart]:
    """What is found of each part, as many at once as there are cores."""
    with ThreadPoolExecutor(max_workers=max(1, min(4, cores()))) as threads:
        return list(threads.map(_examine, parts))


def is_sound(found: Sequence[FoundPart]) -> bool:
    """Whether the core can be imported."""
    return all(part.status is Status.works for part in found if part.extra == CORE_EXTRA)


def found_json(found: Sequence[FoundPart]) -> str:
    """What was found, as JSON."""
    data = {"schema": SCHEMA, **_machine(), "sound": is_sound(found), "parts": [asdict(part) for part in found]}
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def found_lines(found: Sequence[FoundPart]) -> Iterator[str]:
    """What was found, in words."""
    machine = _machine()
    yield (
        f"surefoot {machine['surefoot']}, Python {machine['python']}, {machine['platform']}, {machine['cores']} cores"
    )
    yield ""
    wide = max(len(part.name) for part in found)
    for part in found:
        versions = ", ".join(f"{name} {number}" for name, number in part.versions.items())
        extra = "core" if part.extra == CORE_EXTRA else f"[{part.extra}]"
        yield f"{part.name:<{wide}}  {extra:<9}  {part.status:<7}  {part.detail or versions}"
    yield ""
    broken = [part.name for part in found if part.status is Status.broken]
    if not is_sound(found):
        yield "The core does not work. Install surefoot again, in a separate environment."
    elif broken:
        yield f"The core works, but these parts do not: {'; '.join(broken)}."
    else:
        yield "Everything that is installed works."


def _machine() -> dict[str, Any]:
    return {
        "surefoot": __version__, "python": platform.python_version(), "platform": platform.platform(),
        "cores": cores(),
    }  # fmt: skip


def _examine(part: InstalledPart) -> FoundPart:
    """Look which distributions of a part are there, and import it if all are: in another process, which may crash."""
    name = ", ".join(part.modules)
    versions = {name: found for name in part.distributions for name, found in _installed(name)}
    if len(versions) < len(part.distributions):
        what = "surefoot" if part.extra == CORE_EXTRA else f'"surefoot[{part.extra}]"'
        return FoundPart(name, part.extra, Status.missing, versions, f"pip install {what}")
    command = [sys.executable, "-P", "-c", f"import {name}"]  # nothing of this folder is imported
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return FoundPart(name, part.extra, Status.broken, versions, f"was not imported within {_SECONDS} seconds")
    status = Status.broken if done.returncode else Status.works
    return FoundPart(name, part.extra, status, versions, _why(done) if done.returncode else "")


def _installed(alternatives: str) -> Iterator[tuple[str, str]]:
    """The first of some distributions that is installed, and its version."""
    for name in alternatives.split("|"):
        try:
            yield name, version(name)
        except PackageNotFoundError:
            continue
        return


def _why(done: subprocess.CompletedProcess[str]) -> str:
    if done.returncode < 0:
        return f"signal {-done.returncode} ended its process: the library does not run on this machine"
    return done.stderr.strip().rpartition("\n")[2] or f"its process ended with {done.returncode}"
