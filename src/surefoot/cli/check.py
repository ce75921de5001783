"""`surefoot check`: whether policies, judgments and the installation are all right, before anything depends on them."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated

import typer

from surefoot import __version__
from surefoot.cli import shared_options as shared
from surefoot.cli.option import FILE, argument, option
from surefoot.cli.outputs import TERMINAL, Output, check_outputs
from surefoot.errors import ArgumentError, SurefootError, visible
from surefoot.export.settings import STEM
from surefoot.runtime import cores

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


def check(
    files: Annotated[
        list[str] | None, argument("[FILE]...", "Policies, judgments, or an export and its SCORES.")
    ] = None,
    new_policy: Annotated[str | None, option("--new-policy", "Write a release policy to start from.", FILE)] = None,
    url: Annotated[str | None, option("--url", "Where an export runs, to ask it for scores.", "URL")] = None,
    json_file: Annotated[str | None, option("--json", "What is installed; - prints it.", FILE)] = None,
    force: shared.Force = False,
    quiet: shared.Quiet = False,
) -> None:
    """Check policies, judgments, exports, or what is installed.

    The exit code is 2 for files that are wrong, and 1 where scores differ or the installation does not work.

    **Example:** `surefoot check release.toml qrels.txt`
    """
    if new_policy is not None:
        if files or json_file is not None or url is not None:
            raise ArgumentError("--new-policy only writes a policy to edit; leave out files, --url and --json")
        _new_policy(new_policy, force, quiet)
    elif files and _is_export(files[0]):
        _check_export(Path(files[0]), files[1:], url, json_file, quiet, force)
    elif url is not None:
        raise ArgumentError("--url is for the folder of an export: surefoot check es/ --url ADDRESS")
    elif not files:
        _check_installation(json_file, force, quiet)
    elif json_file is not None:
        raise ArgumentError("--json says what is installed, and takes no files; leave one of the two out")
    else:
        _check_files(files, quiet)


def _check_files(files: list[str], quiet: bool) -> None:
    """Say what each file has, or what is wrong with it."""
    wrong = 0
    for file in files:
        try:
            found = _policy(Path(file)) if file.lower().endswith(".toml") else _judgments(file)
        except SurefootError as error:
            wrong += 1
            typer.echo(f"surefoot: {visible(str(error))}", err=True)
        else:
            if not quiet:
                typer.echo(visible(f"{file}: {found}"))
    if wrong:
        raise typer.Exit(2)


def _new_policy(path: str, force: bool, quiet: bool) -> None:
    """Write the commented policy."""
    from surefoot.data.writing.all_or_nothing import write_text
    from surefoot.decide.gate.release_policy import policy_template

    check_outputs([Output("--new-policy", path)], [], force)
    write_text(path, policy_template())
    if not quiet:
        typer.echo(visible(f"Wrote {path}; edit its conditions, then: surefoot gate QRELS RUN... --policy {path}"))


def _check_installation(json_file: str | None, force: bool, quiet: bool) -> None:
    """Say which extras are installed, and whether what is there can be imported."""
    check_outputs([Output("--json", None if json_file == TERMINAL else json_file)], [], force)
    with ThreadPoolExecutor(max_workers=max(1, min(4, cores()))) as threads:
        found = list(threads.map(_examine, PARTS))
    sound = all(part.status is Status.works for part in found if part.extra == CORE_EXTRA)
    machine = {
        "surefoot": __version__, "python": platform.python_version(), "platform": platform.platform(),
        "cores": cores(),
    }  # fmt: skip
    data = {"schema": "surefoot/installed/1", **machine, "sound": sound, "parts": [asdict(part) for part in found]}
    text = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    _tell(text, json_file, _found_lines(found, machine, sound), quiet)
    if not sound:
        raise typer.Exit(1)


def _policy(path: Path) -> str:
    """A policy's conditions in words."""
    from surefoot.decide.gate.release_policy import ReleasePolicy, wrong_line
    from surefoot.errors import DataError

    try:
        policy = ReleasePolicy.read(path)
    except DataError as error:
        before, colon, wrong = str(error).partition(f"{path}: ")
        line = wrong_line(path, wrong) if colon and not before and path.is_file() else None
        raise error if line is None else DataError.at(path, line, wrong) from error
    rules = (rule.words if rule.segment is None else f"{rule.words} in {rule.segment}" for rule in policy.rules)
    return f"{', '.join(rules)}, with δ = {policy.delta:g}"


def _judgments(file: str) -> str:
    """How many queries and documents are judged."""
    from surefoot.data.types.runs import read_qrels

    qrels = read_qrels(file)
    return f"{len(qrels):,} judgments of {len(qrels.queries):,} queries"


def _is_export(path: str) -> bool:
    """Whether it is the folder of an export."""
    return (Path(path) / f"{STEM}.rows.json").is_file()


def _check_export(
    folder: Path, scores: Sequence[str], url: str | None, json_file: str | None, quiet: bool, force: bool
) -> None:
    """Compare the scores that a search engine gives with those that it must give; other scores end with 1."""
    from surefoot.export.replay import PLUGINS, replayed

    if (len(scores) != 1) == (url is None) or len(scores) > 1:
        raise ArgumentError(
            f"give the scores of the search engine, one per line in the order of {STEM}.rows.json, or its address: "
            f"surefoot check {folder} SCORES. Exports for {' or '.join(PLUGINS)} also take --url ADDRESS"
        )
    rows = folder / f"{STEM}.rows.json"
    check_outputs([Output("--json", None if json_file == TERMINAL else json_file)], [rows, *scores], force)
    try:
        result = replayed(str(rows), scores[0] if scores else None, url, [])
    except ValueError as error:
        raise ArgumentError(str(error)) from error
    text = json.dumps({"schema": "surefoot/replay/1", **result}, indent=2) + "\n"
    answer = "scores as the model does" if result["agree"] else "does NOT score as the model does"
    figures = (f"  {name}: {value}" for name, value in result.items())
    _tell(text, json_file, [f"{folder}: the search engine {answer}", *figures], quiet)
    if not result["agree"]:
        raise typer.Exit(1)


def _found_lines(found: Sequence[FoundPart], machine: Mapping[str, object], sound: bool) -> Iterator[str]:
    """What was found, in words."""
    yield "surefoot {surefoot}, Python {python}, {platform}, {cores} cores".format(**machine)
    yield ""
    wide = max(len(part.name) for part in found)
    for part in found:
        versions = ", ".join(f"{name} {number}" for name, number in part.versions.items())
        extra = "core" if part.extra == CORE_EXTRA else f"[{part.extra}]"
        yield f"{part.name:<{wide}}  {extra:<9}  {part.status:<7}  {part.detail or versions}"
    yield ""
    broken = [part.name for part in found if part.status is Status.broken]
    if not sound:
        yield "The core does not work. Install surefoot again, in a separate environment."
    elif broken:
        yield f"The core works, but these parts do not: {'; '.join(broken)}."
    else:
        yield "Everything that is installed works."


def _tell(text: str, json_file: str | None, lines: Iterable[str], quiet: bool) -> None:
    """Write JSON to its file, and print what was found in words, or the JSON in their place."""
    from surefoot.data.writing.all_or_nothing import write_text

    if json_file == TERMINAL:
        typer.echo(text, nl=False)
        return
    if json_file is not None:
        write_text(json_file, text)
    for line in lines if not quiet else ():
        typer.echo(visible(line))


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
