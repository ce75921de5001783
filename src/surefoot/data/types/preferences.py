"""Preference pairs: two ranked lists with scores and grades, and which of the two was preferred."""

from __future__ import annotations

import csv
import io
import itertools
import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from surefoot.arguments import decimal
from surefoot.arrays import Floats
from surefoot.data.reading.columns import first_repeated
from surefoot.data.reading.csv_table import check_csv_names, read_csv_text, records
from surefoot.data.reading.files import existing_file
from surefoot.data.writing.all_or_nothing import write_text
from surefoot.errors import ArgumentError, DataError, shortened

PREFERENCE_COLUMNS = ("pair", "list", "rank", "score", "grade", "preferred")
LIST_NAMES = ("A", "B")
_RANK = re.compile(r"[0-9]{1,9}")
_ALWAYS_ALLOWED_CELLS = 1 << 22  # that pairs may take
_ALLOWED_PER_RESULT = 64
_ScoresAndGrades: TypeAlias = "list[tuple[float, float]]"


@dataclass(frozen=True, eq=False)
class PreferencePairs:
    """Pairs of ranked lists, of which people preferred one.

    `scores` and `grades` are [pair, list, rank], best first; a shorter list is filled up with scores of −inf and grades
    of 0. `preferred` is 0 where the first list (A) was preferred, 1 where the second (B) was. `names` name the pairs.

    >>> pairs = PreferencePairs.of([([0.9, 0.5], [2, 0], [0.9, 0.5], [0, 2], "A")])
    >>> pairs
    <PreferencePairs: 1 pairs, lists of up to 2>
    """

    scores: Floats
    grades: Floats
    preferred: npt.NDArray[np.int64]
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse arrays that do not fit together."""
        if self.names and (len(self.names) != len(self.preferred) or len(set(self.names)) < len(self.names)):
            raise ArgumentError(f"there are {len(self.preferred)} pairs; names must name each of them, all differently")
        shape = (len(self.preferred), 2)
        if self.scores.ndim != 3 or self.scores.shape[:2] != shape or self.scores.shape != self.grades.shape:
            raise ArgumentError(
                f"scores have shape {self.scores.shape}, grades {self.grades.shape} and there are "
                f"{len(self.preferred)} preferences; expected (pairs, 2, ranks) twice, and one preference per pair"
            )
        if not len(self.preferred):
            raise ArgumentError("there are no preference pairs; give at least one")
        if not np.isin(self.preferred, (0, 1)).all():
            raise ArgumentError("preferred must be 0 (the first list) or 1 (the second) for every pair")
        filled = np.isneginf(self.scores)
        if not np.isfinite(np.where(filled, 0.0, self.scores)).all() or not np.isfinite(self.grades).all():
            raise ArgumentError(
                "a score or grade is not finite; −inf is allowed only as padding at the end of a shorter list"
            )
        if (self.scores[..., 1:] > self.scores[..., :-1]).any():
            raise ArgumentError("in a list a score rises with the rank; best results come first")
        if filled[..., 0].any():
            raise ArgumentError("a list is empty; every list needs at least one result")

    def __len__(self) -> int:
        """The number of pairs."""
        return len(self.preferred)

    def __repr__(self) -> str:
        """Size."""
        return f"<PreferencePairs: {len(self):,} pairs, lists of up to {self.scores.shape[2]}>"

    @classmethod
    def of(
        cls, pairs: Sequence[tuple[Sequence[float], Sequence[float], Sequence[float], Sequence[float], str]]
    ) -> PreferencePairs:
        """From tuples (scores of A, grades of A, scores of B, grades of B, "A" or "B")."""
        lists_by_pair = []
        for number, (a_scores, a_grades, b_scores, b_grades, preferred) in enumerate(pairs, start=1):
            if preferred not in LIST_NAMES:
                raise ArgumentError(f"pair {number}: preferred is {shortened(preferred)}; it must be 'A' or 'B'")
            if len(a_scores) != len(a_grades) or len(b_scores) != len(b_grades):
                raise ArgumentError(f"pair {number}: every result needs a score and a grade")
            lists = [list(zip(a_scores, a_grades, strict=True)), list(zip(b_scores, b_grades, strict=True))]
            lists_by_pair.append((str(number), lists, LIST_NAMES.index(preferred)))
        return _stacked(lists_by_pair)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the CSV that `read_preferences` reads, all or nothing."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(PREFERENCE_COLUMNS)
        names = self.names or tuple(str(number) for number in range(1, len(self) + 1))
        check_csv_names(path, names, "rename the pair")
        for pair, name in enumerate(names):
            for number, which in enumerate(LIST_NAMES):
                rows = zip(self.scores[pair, number].tolist(), self.grades[pair, number].tolist(), strict=True)
                for rank, (score, grade) in enumerate(rows, start=1):
                    if score > -math.inf:
                        # The shortest text that reads back as the same grade.
                        grade_text = repr(grade).removesuffix(".0")
                        writer.writerow([name, which, rank, score, grade_text, LIST_NAMES[self.preferred[pair]]])
        write_text(path, stream.getvalue())


def read_preferences(path: str | os.PathLike[str]) -> PreferencePairs:
    """Preference pairs from a CSV file with the columns `pair, list, rank, score, grade, preferred`.

    One line per result; `list` and `preferred` are A or B, and `preferred` is the same on all lines of a pair. Ranks go
    from 1 and scores do not rise with them. The file may be compressed (.gz, .bz2, .xz, .zst).
    """
    file = existing_file(path)
    rows = records(file, read_csv_text(file), ",")
    first, header = next(rows, (1, []))
    missing = [name for name in PREFERENCE_COLUMNS if name not in header]
    if missing:
        raise DataError.at(
            path,
            first,
            f"no column {', '.join(map(repr, missing))}; expected the header {','.join(PREFERENCE_COLUMNS)}",
        )
    twice = first_repeated(name for name in header if name in PREFERENCE_COLUMNS)
    if twice is not None:
        raise DataError.at(path, first, f"two columns are named {twice!r}; keep one")
    at = [header.index(name) for name in PREFERENCE_COLUMNS]
    pairs: dict[str, tuple[dict[str, dict[int, tuple[float, float]]], str]] = {}
    for line, row in rows:
        if len(row) != len(header):
            raise DataError.at(path, line, f"expected {len(header)} columns, found {len(row)}")
        pair, which, rank, score, grade, preferred = (row[column] for column in at)
        if not pair:
            raise DataError.at(path, line, "the pair is missing; every line needs one")
        for name, value in (("list", which), ("preferred", preferred)):
            if value not in LIST_NAMES:
                raise DataError.at(path, line, f"{name} is {shortened(value)}; it must be A or B")
        lists, chosen = pairs.setdefault(pair, ({list_name: {} for list_name in LIST_NAMES}, preferred))
        if chosen != preferred:
            raise DataError.at(
                path, line, f"pair {shortened(pair)} prefers {preferred} here but {chosen} above; keep one of the two"
            )
        number = _rank(path, line, rank)
        if number in lists[which]:
            raise DataError.at(path, line, f"rank {number} of list {which} of pair {shortened(pair)} appears twice")
        lists[which][number] = _number(path, line, "score", score), _number(path, line, "grade", grade)
    if not pairs:
        raise DataError.at(path, None, "the file contains no pairs; expected at least one line after the header")
    stacked = [
        (name, [_in_order(path, name, which, lists[which]) for which in LIST_NAMES], LIST_NAMES.index(preferred))
        for name, (lists, preferred) in pairs.items()
    ]
    try:
        return _stacked(stacked)
    except DataError as error:
        raise DataError.at(path, None, str(error)) from error


def _rank(path: str | os.PathLike[str], line: int, text: str) -> int:
    if not _RANK.fullmatch(text) or not int(text):
        raise DataError.at(path, line, f"the rank is {shortened(text)}, not a whole number from 1")
    return int(text)


def _number(path: str | os.PathLike[str], line: int, name: str, text: str) -> float:
    try:
        value = decimal(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise DataError.at(path, line, f"the {name} is {shortened(text)}, not a finite number")
    return value


def _in_order(
    path: str | os.PathLike[str], pair: str, which: str, ranked: dict[int, tuple[float, float]]
) -> _ScoresAndGrades:
    results = [ranked[rank] for rank in sorted(ranked)]
    if sorted(ranked) != list(range(1, len(ranked) + 1)) or not ranked:
        ranks = shortened(sorted(ranked))
        raise DataError(f"{path}: list {which} of pair {shortened(pair)} has the ranks {ranks}; expected 1, 2, 3, …")
    if any(later[0] > earlier[0] for earlier, later in itertools.pairwise(results)):
        raise DataError(
            f"{path}: in list {which} of pair {shortened(pair)} a score rises with the rank; best results come first"
        )
    return results


def _stacked(pairs: Sequence[tuple[str, list[_ScoresAndGrades], int]]) -> PreferencePairs:
    lengths = [len(documents) for _, lists, _ in pairs for documents in lists]
    longest = max(lengths, default=1)
    if len(lengths) * longest > max(_ALWAYS_ALLOWED_CELLS, _ALLOWED_PER_RESULT * sum(lengths)):
        raise DataError(
            f"the longest list has {longest:,} results and most have few: arrays of {len(pairs):,} pairs of such lists "
            "would take far more memory than the results; cut the longest lists"
        )
    scores = np.full((len(pairs), 2, max(longest, 1)), -np.inf)
    grades = np.zeros_like(scores)
    for row, (_, lists, _) in enumerate(pairs):
        for column, results in enumerate(lists):
            if results:
                scores[row, column, : len(results)], grades[row, column, : len(results)] = np.transpose(results)
    preferred = np.array([choice for _, _, choice in pairs], dtype=np.int64)
    return PreferencePairs(scores, grades, preferred, tuple(name for name, _, _ in pairs))
