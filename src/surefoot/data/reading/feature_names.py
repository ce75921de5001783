"""Names of features, from a file of one name a line: LETOR text has numbers alone."""

from __future__ import annotations

import os

from surefoot.data.reading.files import OLD_MAC, WHITESPACE, existing_file, read_text
from surefoot.errors import DataError, shortened


def read_feature_names(path: str | os.PathLike[str]) -> list[str]:
    """The names of features 1, 2, … from the lines of a file; empty lines at its end do not count."""
    text = read_text(existing_file(path)).rstrip(f"{WHITESPACE}\n")
    if "\n" not in text and "\r" in text:
        raise DataError.at(path, 1, OLD_MAC)
    first: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        name = line.strip(WHITESPACE)
        if not name:
            raise DataError.at(
                path, number, "the line has no name; write one name per feature, in the order of the features"
            )
        if name in first:
            raise DataError.at(
                path,
                number,
                f"{shortened(name)} also appears in line {first[name]}; every feature needs a different name",
            )
        first[name] = number
    return list(first)
