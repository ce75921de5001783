"""The answers of a fetch that is not finished, in a folder beside its output: `new.run.fetch/`.

fetch.json         what is fetched, from where; no secret
answers/KEY.json   a query's whole result; KEY is a hash of everything that decides it
finished.json      once the output is being written: from then on, it is this fetch's own
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import Any

from surefoot.data.reading.files import read_json
from surefoot.data.writing.all_or_nothing import LOCK, write_text
from surefoot.data.writing.resumable import ResumableFolder, content_key
from surefoot.errors import DataError, expecting
from surefoot.fetching.services import Hit

SCHEMA = "surefoot/fetch/1"
_SETTINGS, _ANSWERS, _FINISHED = "fetch.json", "answers", "finished.json"


def answers_folder(output: str | PathLike[str]) -> Path:
    """Where the answers of a fetch are until its output is written."""
    path = Path(output)
    return path.with_name(f"{path.name}.fetch")


def is_own_output(output: str | PathLike[str]) -> bool:
    """Whether what is at `output` was written by a fetch that was killed before it could clean up."""
    return (answers_folder(output) / _FINISHED).is_file()


class FetchedAnswers:
    """The folder of one fetch.

    `settings` are what all its answers have in common; so is `private`, of which only hashes are ever written.
    """

    def __init__(self, output: str | PathLike[str], settings: Mapping[str, Any], private: Any = None) -> None:
        self.folder = answers_folder(output)
        self._settings, self._private = {"schema": SCHEMA, **settings}, private
        self._resumable = ResumableFolder(self.folder, _SETTINGS, "fetch", beside=[_FINISHED])

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other programs out; the folder of other work is refused."""
        with self._resumable.lock():
            begun = self._resumable.resume()
            if begun is not None and begun.get("schema") != SCHEMA:
                raise DataError.at(self.folder, None, "was not written by a fetch of this version; remove it")
            self._resumable.write_settings(self._settings)
            (self.folder / _ANSWERS).mkdir(exist_ok=True)
            try:
                yield
            finally:
                if not any((self.folder / _ANSWERS).glob("*")):  # nothing to go on from
                    self.remove()

    def read(self, query: str, body: Any) -> list[Hit] | None:
        """A query's result, if it was fetched before."""
        path = self._path(query, body)
        if not path.exists():
            return None
        with expecting("an answer", path, "remove it, and run the same command again"):
            return [Hit(str(document), float(score)) for document, score in read_json(path)]

    def keep(self, query: str, body: Any, hits: Sequence[Hit]) -> None:
        """Keep a query's result."""
        write_text(self._path(query, body), json.dumps([[hit.document, hit.score] for hit in hits]))

    def finish(self) -> None:
        """Say that all is fetched: what is at the output from now on was made from these answers."""
        write_text(self.folder / _FINISHED, "{}\n", durable=True)

    def remove(self) -> None:
        """Remove the folder; last of all the note that the output is its own."""
        with suppress(OSError):
            shutil.rmtree(self.folder / _ANSWERS, ignore_errors=True)
            for name in (_SETTINGS, LOCK, _FINISHED):
                (self.folder / name).unlink(missing_ok=True)
            self.folder.rmdir()

    def _path(self, query: str, body: Any) -> Path:
        key = content_key([self._settings, self._private, query, body])
        return self.folder / _ANSWERS / f"{key}.json"
