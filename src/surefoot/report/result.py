"""What every result is: plain data first, and the same names for writing it, reading it back and showing it."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import Any, Self

from surefoot.data.reading.files import read_json
from surefoot.data.writing.all_or_nothing import write_text
from surefoot.errors import DataError, expecting
from surefoot.report.plain_json import to_json
from surefoot.report.shape import check_shape


class Result(ABC):
    """A result: `to_dict` is its plain data, everything else renders that."""

    called = "a result"

    @abstractmethod
    def to_dict(self, *args: Any, **options: Any) -> dict[str, Any]:
        """Plain data that JSON can hold."""

    @classmethod
    @abstractmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The result whose plain data this is."""

    @abstractmethod
    def to_csv(self, *args: Any, **options: Any) -> str:
        """The figures at full precision, one row each."""

    @abstractmethod
    def to_text(self, *args: Any, **options: Any) -> str:
        """The tables that the command line prints."""

    @abstractmethod
    def to_html(self, path: str | os.PathLike[str] | None = None, *args: Any, **options: Any) -> str:
        """One self-contained page; written to `path`, all or nothing, where one is given."""

    def to_json(self, *args: Any, **options: Any) -> str:
        """The data as JSON text; the options are those of `to_dict`."""
        return to_json(self.to_dict(*args, **options))

    def write_json(self, path: str | os.PathLike[str], *args: Any, **options: Any) -> None:
        """Write `to_json`, all or nothing."""
        write_text(path, self.to_json(*args, **options))

    def write_csv(self, path: str | os.PathLike[str], *args: Any, **options: Any) -> None:
        """Write `to_csv`, all or nothing."""
        write_text(path, self.to_csv(*args, **options))

    def write_html(self, path: str | os.PathLike[str], *args: Any, **options: Any) -> None:
        """Write `to_html`, all or nothing."""
        self.to_html(path, *args, **options)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """What `write_json` wrote."""
        content = read_json(path)
        try:
            with expecting(cls.called, path, "write it again"):
                return cls.from_dict(content)
        except DataError as error:
            raise error if str(error).startswith(str(path)) else DataError.at(path, None, str(error)) from error

    def __str__(self) -> str:
        """The tables that the command line prints."""
        return self.to_text()


class PlainResult(Result):
    """A result that is its plain data and nothing besides, told by the schema that the data names."""

    schemas: tuple[str, ...]  # of which the data has one
    shape: Any = None  # the TypedDict of the data, where there is one

    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data

    def to_dict(self) -> dict[str, Any]:
        """Plain data that JSON can hold."""
        return dict(self._data)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The result whose plain data this is."""
        if not isinstance(data, dict) or data.get("schema") not in cls.schemas:
            which = "the schema" if len(cls.schemas) == 1 else "a schema such as"
            raise DataError(f"is not {cls.called}; expected JSON with {which} {cls.schemas[0]!r}")
        if cls.shape is not None:
            check_shape(data, cls.shape)
        found = cls(data)
        repr(found), found.to_text(), found.to_csv(), found.to_html()  # all that a rendering looks at is there
        return found

    @abstractmethod
    def page(self) -> str:
        """The page of the data."""

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """One self-contained page; written to `path`, all or nothing, where one is given."""
        page = self.page()
        if path is not None:
            write_text(path, page)
        return page
