"""The certificate: what a guard proves, as plain data, as text and as a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

from surefoot.data.hashes import check_seal
from surefoot.decide.guard.certificate_notebook import to_notebook
from surefoot.decide.guard.certificate_page import to_page
from surefoot.decide.guard.certificate_text import figure_rows
from surefoot.errors import DataError, name_list, visible
from surefoot.report.escapes import csv_text
from surefoot.report.kinds import KINDS
from surefoot.report.provenance import Provenance
from surefoot.report.result import PlainResult
from surefoot.risk.assessment_data import Json


class Certificate(PlainResult, Mapping[str, Any]):
    """What is proved of the lists that a guard shows; its fields are also reached as those of a dict.

    `print` it for people, `write` it as JSON and as a page for the record. One that was changed is not read back.
    """

    _kind = KINDS["certificate"]

    @classmethod
    def from_dict(cls, data: Json) -> Self:
        """The certificate whose plain data this is, if it is as it was written."""
        cls._check_schema(data)
        check_seal(data, "the certificate")
        absent = [name for name in cls._kind.json_schema()["$defs"]["CertificateData"]["required"] if name not in data]
        if absent:
            raise DataError(f"is damaged or incomplete: as {cls._kind.called} it lacks {name_list(absent)}")
        return super().from_dict(data)

    def __getitem__(self, name: str) -> Any:
        """A field."""
        return self._data[name]

    def __iter__(self) -> Iterator[str]:
        """The fields' names."""
        return iter(self._data)

    def __len__(self) -> int:
        """How many fields there are."""
        return len(self._data)

    def __repr__(self) -> str:
        """The sentence."""
        return f"<Certificate: {self._data['sentence']}>"

    def to_text(self) -> str:  # type: ignore[override]  # no table: its lines have no width
        """The sentence, the figures, and what is assumed."""
        rows = figure_rows(self._data)
        width = max(len(name) for name, _ in rows)
        lines = [
            self._data["sentence"],
            "",
            *(f"  {name:<{width}}  {value}" for name, value in rows),
            "",
            "It assumes:",
        ]
        return "\n".join(visible(line) for line in [*lines, *(f"  - {one}" for one in self._data["assumptions"])])

    def to_csv(self) -> str:
        """The curve of level against gain kept."""
        points = self._data["curve"]
        header = ["condition", "level", "gain", "gain_kept", "share_shown"]
        lines = [
            [name, level, point["gain"], point["gain_kept"], point["share_shown"]]
            for point in points
            for name, level in point["level"].items()
        ]
        return csv_text(header, lines)

    def _repr_html_(self) -> str:
        """What a notebook shows: what is proved, and the figures."""
        return to_notebook(self._data, figure_rows(self._data))

    def to_html(self, *, provenance: Provenance | None = None) -> str:
        """One page: what to serve, the curves, the figures, what is assumed, and a line to sign."""
        return to_page(self._data, provenance)
