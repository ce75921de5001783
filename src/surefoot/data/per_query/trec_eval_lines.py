"""Lines of a measure, a query and a value, as trec_eval (`-q`), pytrec_eval's script and ir_measures (`-q`) print them.

trec_eval prints `measure query value`, ir_measures `query measure value`. Which of the two a file has is told once for
all its lines: the column that says `all`, in the lines that sum up, has the queries. A file without such lines is told
by its first line, where one of the two is the name of a measure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from surefoot.arguments import is_decimal
from surefoot.data.per_query.long_scores import ALL, LongScores
from surefoot.data.reading.files import OLD_MAC, text_lines, utf8_line
from surefoot.errors import DataError, shortened

_BLOCK = 1 << 20
_NOT_RESULTS = {
    4: "; this looks like judgments; give either judgments and runs or --scores, not both",
    6: "; this looks like a run; give either judgments and runs or --scores, not both",
}


def are_lines(first: bytes, heads: Sequence[str]) -> bool:
    """Whether a file whose first filled line this is has such lines, and not a table with a header.

    >>> are_lines(b"map                     303  0.1498", ["query"]), are_lines(b"query  bm25  new", ["query"])
    (True, False)
    """
    fields = [field.decode(errors="replace") for field in first.split()]
    if len(fields) != 3 or fields[0].lower() in heads:
        return (
            len(fields) in _NOT_RESULTS and not any(mark in first for mark in (b",", b";")) and is_decimal(fields[-1])
        )
    return is_decimal(fields[2]) or ALL in fields[:2]


def read_result_lines(path: Path, system: str, is_measure: Callable[[str], bool]) -> LongScores:
    """What a file of such lines holds of one system; `is_measure` knows the names of measures."""
    numbers: list[int] = []
    columns: tuple[list[str], list[str], list[str]] = ([], [], [])
    for number, raw in enumerate(text_lines(path, _BLOCK), start=1):
        data = raw.split()
        if not data:
            continue
        fields = utf8_line(path, number, b" ".join(data)).split(" ")
        if len(fields) != 3:
            if b"\r" in raw.strip():
                raise DataError.at(path, number, OLD_MAC)
            raise DataError.at(
                path,
                number,
                "expected 3 columns (measure, query and value, as trec_eval -q prints them), found "
                f"{len(fields)}: {shortened(' '.join(fields))}{_NOT_RESULTS.get(len(fields), '')}",
            )
        numbers.append(number)
        for column, field in zip(columns, fields, strict=True):
            column.append(field)
    if not numbers:
        raise DataError.at(path, None, "the file is empty; expected lines of measure, query and value")
    first, second, values = columns
    measure_first = _measure_first(path, first, second, is_measure)
    measures, queries = (first, second) if measure_first else (second, first)
    return LongScores(
        str(path), [system] * len(values), queries, measures, values, lambda row: f"{path}, line {numbers[row]}"
    )


def _measure_first(path: Path, first: Sequence[str], second: Sequence[str], is_measure: Callable[[str], bool]) -> bool:
    sums = ALL in first, ALL in second
    if sums[0] != sums[1]:
        return sums[1]
    known = is_measure(first[0]), is_measure(second[0])
    if known[0] != known[1]:
        return known[0]
    raise DataError.at(
        path,
        1,
        f"cannot tell which of {shortened(first[0])} and {shortened(second[0])} is the measure, because no line is "
        "for all queries together ('all'); write a table with the header query_id,measure,value",
    )
