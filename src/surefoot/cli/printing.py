"""Results in the files that a command names, and on the terminal, or the file or pipe in its place."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from surefoot.cli import shared_options as shared
from surefoot.cli.option import OptionGroup
from surefoot.cli.outputs import JSON, METRICS, PAGE, TERMINAL, Output, Signature, check_outputs
from surefoot.errors import ArgumentError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from surefoot.report.provenance import Link, Provenance

_SIGNATURES: dict[str, Signature] = {"json": JSON, "html": PAGE, "metrics": METRICS}
_WIDTH = 130  # letters of a line, in a file or pipe


def show(parts: Sequence[RenderableType]) -> None:
    """Print tables and texts."""
    from surefoot.report.tables import plain_console, rendered

    if sys.stdout.isatty():
        console = plain_console()
        for part in parts:
            console.print(part)
    else:
        width = os.environ.get("COLUMNS", "")
        typer.echo(rendered(parts, int(width) if width.isdecimal() and int(width) else _WIDTH))


class Delivery:
    """What a command makes of its result, by kind (`json`, `html`, …): a file each, of which `-` is the terminal.

    Without any `-`, the terminal shows tables; with one, that alone, also when the command is quiet.
    """

    def __init__(
        self, signatures: dict[str, Signature], *, force: bool = False, quiet: bool = False, **paths: str | None
    ) -> None:
        """`signatures` by which files of a kind are known, where not all commands write the same."""
        to_terminal = [kind for kind, path in paths.items() if path == TERMINAL]
        if len(to_terminal) > 1:
            options = " and ".join(f"--{kind} -" for kind in to_terminal)
            raise ArgumentError(f"{options} would both be printed; print one, and name a file")
        self.printed = to_terminal[0] if to_terminal else None
        self.paths, self.force, self.quiet = paths, force, quiet
        self.files = {kind: None if kind == self.printed else path for kind, path in paths.items()}
        known = _SIGNATURES | signatures
        self.outputs = [Output(f"--{kind}", path, known.get(kind)) for kind, path in self.files.items()]

    def check(self, inputs: Iterable[str | Path | None], *others: Output) -> None:
        """Check, before anything is read, that the files and the command's other outputs can be written."""
        check_outputs([*others, *self.outputs], inputs, self.force)

    def finish(
        self, result: Any, show_table: Callable[[], None], sources: Iterable[str | Path | None] | None = None,
        links: Sequence[str | Path] = (), **options: dict[str, Any],
    ) -> None:  # fmt: skip
        """Write and print a result; `options` are keyword arguments of its `to_json`, `to_html` and so on.

        A page with `sources` says that it is made from these files, and leads to `links`.
        """
        if sources is not None and self.paths.get("html") is not None:
            provenance = page_provenance(self.paths["html"], sources, links)
            options["html"] = options.get("html", {}) | {"provenance": provenance}
        self.write(result, **options)
        if self.printed is not None:
            typer.echo(_rendered(result, self.printed, options), nl=False)
        elif not self.quiet:
            show_table()

    def write(self, result: Any, **options: dict[str, Any]) -> None:
        """Write the files of a result."""
        from surefoot.data.writing.all_or_nothing import write_text

        for kind, path in self.files.items():
            if path is not None:
                write_text(path, _rendered(result, kind, options))


def results(kinds: str, **signatures: Signature) -> OptionGroup:
    """The options for a result of these kinds; a command takes them as a `Delivery`."""
    options = {kind: (shared.RESULTS[kind], None) for kind in kinds.split()}
    return OptionGroup(
        partial(Delivery, signatures), options | {name: shared.EVERYWHERE[name] for name in ("force", "quiet")}
    )


def _rendered(result: Any, kind: str, options: Mapping[str, dict[str, Any]]) -> str:
    """A result as a text of a kind."""
    from surefoot.report.escapes import to_json

    made = getattr(result, f"to_{kind}")(**options.get(kind, {}))
    return made if isinstance(made, str) else to_json(made)


def command_line() -> str:
    """The command as it was typed, without the folders of files: these leak when a page is sent round."""
    from surefoot.data.reading.files import as_text

    def without_folders(argument: str) -> str:
        before, equals, after = argument.rpartition("=")  # NAME=FILE, --option=FILE
        in_folder = os.sep in after and Path(after).parent.is_dir()
        return f"{before}{equals}{Path(after).name}" if in_folder else argument

    return shlex.join(["surefoot", *(as_text(without_folders(argument)) for argument in sys.argv[1:])])


def either(names: Iterable[str]) -> str:
    """Names of which one is to be taken."""
    *others, last = names
    return f"{', '.join(others)} or {last}"


def page_provenance(
    page: str | Path | None, inputs: Iterable[str | Path | None], links: Sequence[str | Path] = ()
) -> Provenance | None:
    """The provenance of a page; None where none is written, so that no file is read again to hash it."""
    if page is None:
        return None
    from surefoot.report.provenance import Provenance, SourceFile

    once = dict.fromkeys(str(path) for path in inputs if path is not None)
    return Provenance(
        command=command_line(),
        sources=[SourceFile.of(path) for path in once],
        links=[link_from(page, link) for link in links],
    )


def link_from(page: str | Path, other: str | Path) -> Link:
    """A link from one page to another, wherever both are moved together."""
    from surefoot.data.reading.files import as_text
    from surefoot.report.provenance import Link

    path = os.path.relpath(Path(other).absolute(), Path(page).absolute().parent)
    return Link(as_text(Path(other).name), as_text(Path(path).as_posix()))
