"""What stays the same from release to release, beside the conditions in a policy file: judgments, the live run, …"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from surefoot.data.reading.files import file_status, system_name
from surefoot.errors import ArgumentError, shortened
from surefoot.measures.notation import named_measure


@dataclass(frozen=True)
class ReleaseSettings:
    """The files and names of a release; paths in a policy file are relative to its folder."""

    qrels: str | None = None
    baseline: str | None = None  # the file of the live run, or its name
    measure: str | None = None
    record: str | None = None
    segments: str | None = None
    sample: str | None = None

    @classmethod
    def parse(
        cls, table: Mapping[Any, Any], folder: str | os.PathLike[str], error: Callable[[str], Exception]
    ) -> ReleaseSettings:
        """The settings among the keys of a policy.

        >>> ReleaseSettings.parse({"qrels": "qrels.txt", "measure": "AP", "risk": 0.02}, "ci", ValueError).qrels
        'ci/qrels.txt'
        """
        found: dict[str, str] = {}
        for key in SETTINGS:
            value = table.get(key)
            if key == "segments" and isinstance(value, Mapping):  # the conditions on segments may stand there too
                value = value.get(SEGMENTS_FILE)
                value = None if isinstance(value, Mapping) else value  # a segment of this name
            if value is None:
                continue
            if not isinstance(value, str) or not value.strip():
                raise error(f"{key} is {shortened(value)}; write a text, such as {_EXAMPLES[key]}")
            found[key] = value if key in _NAMES else str(Path(folder) / value)
        live = found.get("baseline")
        if live is not None and (Path(folder) / live).is_file():  # or else it is a name
            found["baseline"] = str(Path(folder) / live)
        return cls(**found)

    def for_scores(self, measure: str) -> ReleaseSettings:
        """The same for scores of a measure, whose systems have names: they must be of the measure that is settled."""
        if self.measure is not None and self.measure != measure:
            settled, found = named_measure(self.measure), named_measure(measure)
            if settled is None or settled != found:
                raise ArgumentError(
                    f"the policy is for {shortened(self.measure)}, and the scores are {shortened(measure)}; give "
                    "scores of that measure, or change the policy"
                )
        if self.baseline is None or file_status(self.baseline) is None:
            return self
        return replace(self, baseline=system_name(self.baseline))


NO_SETTINGS = ReleaseSettings()
SEGMENTS_FILE = "file"  # in the table of segments, beside the tables of their conditions
SETTINGS = tuple(field.name for field in fields(ReleaseSettings))
_NAMES = ("baseline", "measure")
_EXAMPLES = {
    "qrels": 'qrels = "qrels.txt"', "baseline": 'baseline = "today.run"', "measure": 'measure = "nDCG@10"',
    "record": 'record = "release.json"', "segments": 'segments = "segments.csv"', "sample": 'sample = "draws.json"',
}  # fmt: skip
