"""`surefoot doctor`: what is installed, in which versions, and what of it works."""

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
from typing import Annotated, Any

import typer

from surefoot import __version__
from surefoot.errors import visible
from surefoot.runtime import cores

SCHEMA = "surefoot/doctor/1"
CORE_EXTRA = "core"
_SECONDS = 180  # that a call may take, on a busy machine


class Status(StrEnum):
    """What became of a call."""

    works = "works"
    missing = "missing"
    broken = "broken"


@dataclass(frozen=True)
class InstalledPart:
    """Something that surefoot uses: the call that tries it, the extra that it comes with, and its distributions.

    Of alternatives, as in `xgboost|xgboost-cpu`, one is enough.
    """

    probe: str
    extra: str
    distributions: tuple[str, ...]


PARTS = (
    InstalledPart("scoring", CORE_EXTRA, ("numpy", "scipy", "polars")),
    InstalledPart("page", CORE_EXTRA, ("jinja2", "typer", "rich")),
    InstalledPart("compiled", "learn", ("numba",)),
    InstalledPart("lightgbm", "learn", ("lightgbm", "numba")),
    InstalledPart("xgboost", "xgboost", ("xgboost|xgboost-cpu", "numba")),
    InstalledPart("dask", "dask", ("dask", "distributed")),
    InstalledPart("duckdb", "clicks", ("ibis-framework", "duckdb")),
    InstalledPart("uvicorn", "serve", ("starlette", "uvicorn")),
    InstalledPart("spark", "spark", ("pyspark", "ibis-framework")),
    InstalledPart("matplotlib", "plots", ("matplotlib",)),
    InstalledPart("onnx", "onnx", ("onnx",)),
    InstalledPart("httpx", "fetch", ("httpx",)),
    InstalledPart("torch", "neural", ("torch", "safetensors")),
)


@dataclass(frozen=True)
class ProbeResult:
    """What was found of a part; `detail` is what its call did, why it failed, or the line that installs it."""

    name: str
    extra: str
    status: Status
    versions: dict[str, str]
    detail: str


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show which extras are installed, and which work. Exit code 1: the core does not work.

    **Example:** `surefoot doctor`

    The command tests each part with a small real call in a separate process.
    """
    findings = examined(PARTS)
    sound = all(finding.status is Status.works for finding in findings if finding.extra == CORE_EXTRA)
    machine = {
        "surefoot": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cores": cores(),
    }
    if as_json:
        data = {"schema": SCHEMA, **machine, "sound": sound, "parts": [asdict(finding) for finding in findings]}
        typer.echo(json.dumps(data, indent=2, ensure_ascii=False))
    else:
        for line in _lines(machine, findings, sound):
            typer.echo(visible(line))
    if not sound:
        raise typer.Exit(1)


def examined(parts: Sequence[InstalledPart]) -> list[ProbeResult]:
    """What is found of each part, as many at once as there are cores."""
    with ThreadPoolExecutor(max_workers=max(1, min(4, cores()))) as threads:
        return list(threads.map(examine, parts))


def examine(part: InstalledPart) -> ProbeResult:
    """Look which distributions of a part are there, and try it if all are."""
    versions = {name: found for name in part.distributions for name, found in _installed(name)}
    if len(versions) < len(part.distributions):
        what = "surefoot" if part.extra == CORE_EXTRA else f'"surefoot[{part.extra}]"'
        return ProbeResult(part.probe, part.extra, Status.missing, versions, f"pip install {what}")
    command = [sys.executable, "-P", "-m", "surefoot.cli.probes", part.probe]  # nothing of this folder is imported
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return ProbeResult(part.probe, part.extra, Status.broken, versions, f"did not answer within {_SECONDS} seconds")
    if done.returncode:
        return ProbeResult(part.probe, part.extra, Status.broken, versions, _why(done))
    return ProbeResult(part.probe, part.extra, Status.works, versions, done.stdout.strip().rpartition("\n")[2])


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


def _lines(machine: dict[str, Any], findings: Sequence[ProbeResult], sound: bool) -> Iterator[str]:
    yield (
        f"surefoot {machine['surefoot']}, Python {machine['python']}, {machine['platform']}, {machine['cores']} cores"
    )
    yield ""
    wide = max(len(finding.name) for finding in findings)
    for finding in findings:
        found = ", ".join(f"{name} {number}" for name, number in finding.versions.items())
        extra = "core" if finding.extra == CORE_EXTRA else f"[{finding.extra}]"
        text = f"{finding.detail} ({found})" if found and finding.status is not Status.missing else finding.detail
        yield f"{finding.name:<{wide}}  {extra:<9}  {finding.status:<7}  {text}"
    yield ""
    broken = [finding.name for finding in findings if finding.status is Status.broken]
    if not sound:
        yield "The core does not work. Install surefoot again, in a separate environment."
    elif broken:
        yield f"The core works, but these parts do not: {', '.join(broken)}."
    else:
        yield "Everything that is installed works."
