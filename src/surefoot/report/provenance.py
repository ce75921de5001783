"""What a page was made from: its title, the command, the files and their hashes, when, and the pages beside it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, Self
from urllib.parse import quote

from surefoot.errors import visible


class SourceFile(NamedTuple):
    """A file of data: its name without folders, which leak when a page is sent round, and its SHA-256 in hex."""

    name: str
    sha256: str | None = None

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> Self:
        """The source that a file is, or a folder, by its files; what cannot be read twice (a pipe) has a name alone."""
        from surefoot.data.reading.files import as_text

        location = Path(path)
        name = as_text(location.resolve().name)
        if location.is_file():
            return cls(name, _hash_of(location))
        if not location.is_dir():
            return cls(name)
        inside = sorted(file for file in location.rglob("*") if file.is_file())
        lines = "".join(f"{_hash_of(file)}  {as_text(file.relative_to(location).as_posix())}\n" for file in inside)
        return cls(name, hashlib.sha256(lines.encode()).hexdigest())


def _hash_of(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


class Link(NamedTuple):
    """A link to another page of the same release: its words, and the page's path relative to this one."""

    text: str
    path: str

    def address(self) -> str:
        """What the link leads to: always a file beside this one, whatever the path holds."""
        return "./" + quote(self.path)


class Provenance(NamedTuple):
    """What a page says of itself in its top bar and its foot."""

    title: str | None = None
    command: str | None = None
    sources: Sequence[SourceFile] = ()
    links: Sequence[Link] = ()
    caution: str | None = None  # of the data as a whole, whatever is chosen on the page

    def date(self) -> str:
        """When the page is made. SOURCE_DATE_EPOCH sets the date, as reproducible builds have it."""
        epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
        moment = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdecimal() else datetime.now(UTC)
        return f"{moment:%Y-%m-%d %H:%M} UTC"

    def visible_copy(self) -> Self:
        """The same without characters that steer how text is shown."""
        return self._replace(
            title=self.title and visible(self.title),
            command=self.command and visible(self.command),
            sources=[source._replace(name=visible(source.name)) for source in self.sources],
            links=[link._replace(text=visible(link.text)) for link in self.links],
            caution=self.caution and visible(self.caution),
        )
