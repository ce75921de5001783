"""Preference pairs: two ranked lists with scores and grades, and which of the two was preferred."""

from __future__ import annotations

import csv
import io
import itertools
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from surefoot.data.files import existing_file, read_bytes, write_text
from surefoot.data.ranking import Floats
from surefoot.errors import ArgumentError, DataError

COLUMNS = ("pair", "list", "rank", "score", "grade", "preferred")
LISTS = ("A", "B")
_List: TypeAlias = "list[tuple[float, float]]"


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
        shape = (len(self.preferred), 2)
        if self.scores.ndim != 3 or self.scores.shape[:2] != shape or self.scores.shape != self.grades.shape:
            raise ArgumentError(
                f"scores have shape {self.scores.shape}, grades {self.grades.shape} and there are "
                f"{len(self.preferred)} preferences; expected (pairs, 2, ranks) twice, and one preference a pair"
            )
        if not len(self.preferred):
            raise ArgumentError("there are no preference pairs; give at least one")
        if not np.isin(self.preferred, (0, 1)).all():
            raise ArgumentError("preferred must be 0 (the first list) or 1 (the second) for every pair")
        filled = np.isneginf(self.scores)
        if not np.isfinite(np.where(filled, 0.0, self.scores)).all() or not np.isfinite(self.grades).all():
            raise ArgumentError("a score or grade is not finite; −inf may only fill up a shorter list")
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
        built = []
        for number, (a_scores, a_grades, b_scores, b_grades, preferred) in enumerate(pairs, start=1):
            if preferred not in LISTS:
                raise ArgumentError(f"pair {number}: preferred is {preferred!r}; it must be 'A' or 'B'")
            if len(a_scores) != len(a_grades) or len(b_scores) != len(b_grades):
                raise ArgumentError(f"pair {number}: every result needs a score and a grade")
            lists = [list(zip(a_scores, a_grades, strict=True)), list(zip(b_scores, b_grades, strict=True))]
            built.append((str(number), lists, LISTS.index(preferred)))
        return _stacked(built)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the CSV that `read_preferences` reads, all or nothing."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(COLUMNS)
        names = self.names or tuple(str(number) for number in range(1, len(self) + 1))
        for pair, name in enumerate(names):
            for number, which in enumerate(LISTS):
                rows = zip(self.scores[pair, number].tolist(), self.grades[pair, number].tolist(), strict=True)
                for rank, (score, grade) in enumerate(rows, start=1):
                    if score > -math.inf:
                        writer.writerow([name, which, rank, score, f"{grade:g}", LISTS[self.preferred[pair]]])
        write_text(path, stream.getvalue())


def read_preferences(path: str | os.PathLike[str]) -> PreferencePairs:
    """Preference pairs from a CSV file with the columns `pair, list, rank, score, grade, preferred`.

    One line a result; `list` and `preferred` are A or B, and `preferred` is the same on all lines of a pair. Ranks go
    from 1 and scores do not rise with them. The file may be compressed (.gz, .bz2, .xz, .zst).
    """
    file = existing_file(path)
    try:
        text = read_bytes(file).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError.at(path, None, f"not UTF-8 text (byte {error.start}); convert the file to UTF-8") from error
    rows = csv.reader(io.StringIO(text))
    header = [name.strip() for name in next(rows, [])]
    missing = [name for name in COLUMNS if name not in header]
    if missing:
        raise DataError.at(
            path, 1, f"no column {', '.join(map(repr, missing))}; expected the header {','.join(COLUMNS)}"
        )
    at = [header.index(name) for name in COLUMNS]
    pairs: dict[str, tuple[dict[str, dict[int, tuple[float, float]]], str]] = {}
    for row in rows:
        if not any(cell.strip() for cell in row):
            continue
        line = rows.line_num
        if len(row) != len(header):
            raise DataError.at(path, line, f"expected {len(header)} columns, found {len(row)}")
        pair, which, rank, score, grade, preferred = (row[column].strip() for column in at)
        for name, value in (("list", which), ("preferred", preferred)):
            if value not in LISTS:
                raise DataError.at(path, line, f"{name} is {value[:60]!r}; it must be A or B")
        lists, chosen = pairs.setdefault(pair, ({one: {} for one in LISTS}, preferred))
        if chosen != preferred:
            raise DataError.at(path, line, f"pair {pair!r} prefers {preferred} here and {chosen} above; one of the two")
        number = int(_number(path, line, "rank", rank, whole=True))
        if number in lists[which]:
            raise DataError.at(path, line, f"rank {number} of list {which} of pair {pair!r} stands twice")
        lists[which][number] = _number(path, line, "score", score), _number(path, line, "grade", grade)
    if not pairs:
        raise DataError.at(path, None, "the file holds no pairs; expected at least one line after the header")
    return _stacked(
        [
            (name, [_in_order(path, name, which, lists[which]) for which in LISTS], LISTS.index(preferred))
            for name, (lists, preferred) in pairs.items()
        ]
    )


def _number(path: str | os.PathLike[str], line: int, name: str, written: str, *, whole: bool = False) -> float:
    try:
        value = int(written) if whole else float(written)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or (whole and value < 1):
        kind = "a whole number from 1" if whole else "a finite number"
        raise DataError.at(path, line, f"the {name} is {written[:60]!r}, not {kind}")
    return value


def _in_order(path: str | os.PathLike[str], pair: str, which: str, ranked: dict[int, tuple[float, float]]) -> _List:
    found = [ranked[rank] for rank in sorted(ranked)]
    if sorted(ranked) != list(range(1, len(ranked) + 1)) or not ranked:
        raise DataError(f"{path}: list {which} of pair {pair!r} has the ranks {sorted(ranked)}; expected 1, 2, 3, …")
    if any(later[0] > earlier[0] for earlier, later in itertools.pairwise(found)):
        raise DataError(
            f"{path}: in list {which} of pair {pair!r} a score rises with the rank; best results come first"
        )
    return found


def _stacked(pairs: Sequence[tuple[str, list[_List], int]]) -> PreferencePairs:
    longest = max((len(one) for _, lists, _ in pairs for one in lists), default=1)
    scores = np.full((len(pairs), 2, max(longest, 1)), -np.inf)
    grades = np.zeros_like(scores)
    for row, (_, lists, _) in enumerate(pairs):
        for column, results in enumerate(lists):
            if results:
                scores[row, column, : len(results)], grades[row, column, : len(results)] = np.transpose(results)
    preferred = np.array([choice for _, _, choice in pairs], dtype=np.int64)
    return PreferencePairs(scores, grades, preferred, tuple(name for name, _, _ in pairs))
