"""The base of every result: plain data first, and the same names for writing it, reading it back and showing it.

A result fills in the functions that render its data (`Renderings`), or has methods of its own for some of them.
"""

from __future__ import annotations

import html
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from surefoot.data.reading.files import read_json
from surefoot.data.writing.all_or_nothing import write_text
from surefoot.errors import DataError, expecting
from surefoot.report.plain_json import to_json
from surefoot.report.provenance import Provenance
from surefoot.report.shape import check_shape


def _missing(data: Any, width: int = 0) -> str:
    raise NotImplementedError("a result fills in its renderings, or has methods of its own")


@dataclass(frozen=True)
class Renderings:
    """The functions that render the plain data of one kind of result; that of text takes a width too."""

    text: Callable[..., str] = _missing
    csv: Callable[..., str] = _missing
    page: Callable[..., str] = _missing
    markdown: Callable[..., str] | None = None
    notebook: Callable[..., str] | None = None
    metrics: Callable[..., dict[str, float]] | None = None


class PlainResult:
    """A result: `to_dict` is its plain data, everything else renders that."""

    called = "a result"  # in messages
    schemas: tuple[str, ...]  # of which the data names one
    shape: Any = None  # the TypedDict of the data
    renderings = Renderings()

    def __init__(self, data: Any) -> None:
        self._data = data

    def to_text(self, width: int = 120) -> str:
        """The tables that the command line prints, on lines of at most `width` letters."""
        return self.renderings.text(self._data, width)

    def to_csv(self) -> str:
        """The figures at full precision, one row each."""
        return self.renderings.csv(self._data)

    def page(self, *, provenance: Provenance | None = None) -> str:
        """The HTML of one self-contained page; `provenance` says in its foot what it was made from."""
        return self.renderings.page(self._data, provenance)

    def to_dict(self) -> dict[str, Any]:
        """Plain data that JSON can hold."""
        return dict(self._data)

    def to_json(self, **options: Any) -> str:
        """The data as JSON text; the options are those of `to_dict`."""
        return to_json(self.to_dict(**options))

    def to_markdown(self) -> str:
        """The result in Markdown; without tables of its own, what the command line prints as a block of text."""
        if self.renderings.markdown is not None:
            return self.renderings.markdown(self._data)
        text = self.to_text()
        fence = "```" if "```" not in text else "~~~~"
        return f"{fence}text\n{text}\n{fence}\n"

    def to_metrics(self) -> dict[str, float]:
        """Flat metrics for MLflow and DVC, a number for each name; absent figures are left out."""
        if self.renderings.metrics is None:
            raise NotImplementedError(f"{self.called} has no metrics")
        return self.renderings.metrics(self._data)

    def to_html(self, path: str | os.PathLike[str] | None = None, **options: Any) -> str:
        """One self-contained page; written to `path`, all or nothing, where one is given."""
        page = self.page(**options)
        if path is not None:
            write_text(path, page)
        return page

    def write_json(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write `to_json`, all or nothing."""
        write_text(path, self.to_json(**options))

    def write_csv(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write `to_csv`, all or nothing."""
        write_text(path, self.to_csv(**options))

    def write_markdown(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write `to_markdown`, all or nothing."""
        write_text(path, self.to_markdown(**options))

    def write_metrics(self, path: str | os.PathLike[str]) -> None:
        """Write `to_metrics` as JSON, all or nothing."""
        write_text(path, to_json(self.to_metrics()))

    def write_html(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write `to_html`, all or nothing."""
        self.to_html(path, **options)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """What `write_json` wrote."""
        content = read_json(path)
        try:
            with expecting(cls.called, path, "write it again"):
                return cls.from_dict(content)
        except DataError as error:
            raise error if str(error).startswith(str(path)) else DataError.at(path, None, str(error)) from error

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The result whose plain data this is."""
        cls.check_schema(data)
        cls.check_data(data)
        result = cls(data)
        # All that a rendering reads is there.
        repr(result), result.to_text(), result.to_csv(), result.page(), result._repr_html_()
        return result

    @classmethod
    def check_schema(cls, data: Any) -> None:
        """Refuse data that names no schema of this result."""
        if not isinstance(data, dict) or data.get("schema") not in cls.schemas:
            which = "the schema" if len(cls.schemas) == 1 else "a schema such as"
            raise DataError(f"is not {cls.called}; expected JSON with {which} {cls.schemas[0]!r}")

    @classmethod
    def check_data(cls, data: dict[str, Any]) -> None:
        """Refuse data in which something is of another type than was written; a result may check more."""
        if cls.shape is not None:
            check_shape(data, cls.shape)

    def __str__(self) -> str:
        """The tables that the command line prints."""
        return self.to_text()

    def _repr_html_(self) -> str:
        """What a notebook shows: the tables as plain text, unless a result has a view of its own."""
        if self.renderings.notebook is not None:
            return self.renderings.notebook(self._data)
        return f"<pre>{html.escape(self.to_text())}</pre>"
