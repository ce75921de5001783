"""The base of every result: plain data first, and the same names for writing it, reading it back and showing it.

A result fills in the functions that render its data (`Renderings`), or has methods of its own for some of them.
"""

from __future__ import annotations

import html
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from surefoot.data.reading.files import read_json
from surefoot.data.writing.all_or_nothing import write_text
from surefoot.errors import ArgumentError, DataError, did_you_mean, expecting, shortened
from surefoot.report.escapes import to_json
from surefoot.report.kinds import ResultKind, check_shape
from surefoot.report.provenance import Provenance
from surefoot.report.tables import rendered

if TYPE_CHECKING:
    from rich.console import RenderableType


def _missing(data: Any) -> Any:
    raise NotImplementedError("a result fills in its renderings, or has methods of its own")


@dataclass(frozen=True)
class Renderings:
    """The functions that render the plain data of one kind of result; the tables are what a terminal shows."""

    tables: Callable[..., list[RenderableType]] = _missing
    csv: Callable[..., str] = _missing
    page: Callable[..., str] = _missing
    markdown: Callable[..., str] | None = None
    notebook: Callable[..., str] | None = None
    metrics: Callable[..., dict[str, float]] | None = None


_KINDS = {  # the ending of a file, and the method that makes its text
    ".html": "html", ".json": "json", ".csv": "csv", ".md": "markdown", ".tex": "latex", ".xml": "junit",
}  # fmt: skip


class PlainResult:
    """A result: `to_dict` is its plain data, whose keys are attributes too, and everything else renders that."""

    _kind = ResultKind("a result", (), "", ())
    _renderings = Renderings()

    def __init__(self, data: Any) -> None:
        self._data = data

    def __getattr__(self, name: str) -> Any:
        """What the plain data have under that name."""
        if not name.startswith("_") and name in self._data:
            return self._data[name]
        keys = [] if name.startswith("_") else [key for key in dir(self) if not key.startswith("_")]
        raise AttributeError(f"{self._kind.called} has no {shortened(name)}{did_you_mean(name, keys) or ''}")

    def __dir__(self) -> list[str]:
        """The methods, and the keys of the plain data."""
        return sorted({*super().__dir__(), *self._data})

    def to_text(self, width: int = 120) -> str:
        """The tables that the command line prints, on lines of at most `width` letters."""
        return rendered(self._renderings.tables(self._data), width)

    def to_csv(self) -> str:
        """The figures at full precision, one row each."""
        return self._renderings.csv(self._data)

    def to_html(self, *, provenance: Provenance | None = None) -> str:
        """One self-contained page; `provenance` says in its foot what it was made from."""
        return self._renderings.page(self._data, provenance)

    def to_dict(self) -> dict[str, Any]:
        """Plain data that JSON can hold."""
        return dict(self._data)

    def to_json(self, **options: Any) -> str:
        """The data as JSON text; the options are those of `to_dict`."""
        return to_json(self.to_dict(**options))

    def to_markdown(self) -> str:
        """The result in Markdown; without tables of its own, what the command line prints as a block of text."""
        if self._renderings.markdown is not None:
            return self._renderings.markdown(self._data)
        text = self.to_text()
        fence = "```" if "```" not in text else "~~~~"
        return f"{fence}text\n{text}\n{fence}\n"

    def to_metrics(self) -> dict[str, float]:
        """Flat metrics for MLflow and DVC, a number for each name; absent figures are left out."""
        if self._renderings.metrics is None:
            raise NotImplementedError(f"{self._kind.called} has no metrics")
        return self._renderings.metrics(self._data)

    def write(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write it by the file's ending, all or nothing: .html, .json, .csv, .md, and .tex or .xml where it has that.

        The options are those of `to_html`, `to_json` and so on.
        """
        kind = _KINDS.get(Path(path).suffix.lower())
        if kind is None or not hasattr(type(self), f"to_{kind}"):
            endings = [ending for ending, kind in _KINDS.items() if hasattr(type(self), f"to_{kind}")]
            raise ArgumentError(
                f"{shortened(str(path))} does not say how {self._kind.called} is to be written; use the ending "
                f"{', '.join(endings[:-1])} or {endings[-1]}"
            )
        self._write(path, kind, **options)

    def _write(self, path: str | os.PathLike[str], kind: str, **options: Any) -> None:
        """Write what `to_json` and so on give, all or nothing, whatever the file's ending."""
        content = getattr(self, f"to_{kind}")(**options)
        write_text(path, to_json(content) if kind == "metrics" else content)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """What was written as JSON."""
        content = read_json(path)
        try:
            with expecting(cls._kind.called, path, "write it again"):
                return cls.from_dict(content)
        except DataError as error:
            raise error if str(error).startswith(str(path)) else DataError.at(path, None, str(error)) from error

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The result whose plain data this is."""
        cls._check_schema(data)
        cls._check_data(data)
        result = cls(data)
        # All that a rendering reads is there.
        repr(result), result.to_text(), result.to_csv(), result.to_html(), result._repr_html_()
        return result

    @classmethod
    def _check_schema(cls, data: Any) -> None:
        """Refuse data that names no schema of this result."""
        called, schemas = cls._kind.called, cls._kind.schemas
        if not isinstance(data, dict) or data.get("schema") not in schemas:
            which = "the schema" if len(schemas) == 1 else "a schema such as"
            raise DataError(f"is not {called}; expected JSON with {which} {schemas[0]!r}")

    @classmethod
    def _check_data(cls, data: dict[str, Any]) -> None:
        """Refuse data in which something is of another type than was written; a result may check more."""
        check_shape(data, cls._kind.shape_of(data["schema"]))

    def __str__(self) -> str:
        """The tables that the command line prints."""
        return self.to_text()

    def _repr_html_(self) -> str:
        """What a notebook shows: the tables as plain text, unless a result has a view of its own."""
        if self._renderings.notebook is not None:
            return self._renderings.notebook(self._data)
        return f"<pre>{html.escape(self.to_text())}</pre>"
