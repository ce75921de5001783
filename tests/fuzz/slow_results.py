"""Results per query of other programs, read once more: slow, strict and obvious."""

from __future__ import annotations

import math
from typing import Any

from tests.fuzz.slow_readers import BLANKS, fields_of, is_number, parse_number, records, refuse_if, text_of

from surefoot.measures.score_reading import canonical, is_result_name

QUERIES = ("query_id", "query-id", "qid", "q_id", "query", "topic")
SYSTEMS = ("name", "system", "run", "run_id", "model")
MEASURES = ("measure", "metric")
VALUES = ("value", "score")

Row = tuple[str, str, str | None, Any]  # system, query, measure, value


def chosen(rows: list[Row], wanted: str) -> Any:
    """The matrix of one measure: systems, queries and values; each query once, and each system with all of them."""
    if all(measure is None for _, _, measure, _ in rows):
        own = rows
    else:
        numeric: dict[str, bool] = {}
        for _, query, measure, value in rows:
            if query != "all":
                numeric.setdefault(str(measure), numeral(value))
        names = [name for name, number in numeric.items() if number]
        same = [wanted] if wanted in names else [name for name in names if canonical(name) == canonical(wanted)]
        refuse_if(len(same) != 1)
        own = [row for row in rows if row[2] == same[0]]
    table: dict[str, dict[str, float]] = {}
    together: set[str] = set()
    for system, query, _, value in own:
        if query == "all":
            continue
        scores = table.setdefault(system, {})
        refuse_if(query in scores)
        scores[query] = number_of(value)
    for system, query, measure, value in own:
        if query == "all" and system in table and measure is not None:
            refuse_if(system in together or not numeral(value))
            together.add(system)
    refuse_if(any(system not in table for system, *_ in rows))
    queries = [query for query in dict.fromkeys(query for _, query, _, _ in rows) if query != "all"]
    refuse_if(any(len(scores) < len(queries) for scores in table.values()))
    return list(table), queries, [[scores[query] for query in queries] for scores in table.values()]


def numeral(value: Any) -> bool:
    if isinstance(value, str):
        return is_number(value.strip(BLANKS))
    return isinstance(value, int | float) and not isinstance(value, bool)


def number_of(value: Any) -> float:
    refuse_if(not numeral(value))
    number = parse_number(value.strip(BLANKS)) if isinstance(value, str) else float(value)
    refuse_if(not math.isfinite(number) or abs(number) > 1e100)
    return number


def lines(data: bytes, system: str, wanted: str) -> Any:
    """trec_eval's and ir_measures' lines; "a table" where the file's first line is not one of them."""
    first = next((line for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.split()), b"")
    words = [word.decode(errors="replace") for word in first.split()]
    columns = len(words) == 3 and words[0].lower() not in QUERIES
    if not (columns and (is_number(words[2]) or "all" in words[:2])):
        return "a table"
    filled = [fields_of(line) for line in text_of(data).split("\n") if fields_of(line)]
    refuse_if(any(len(words) != 3 for words in filled))
    ends = [any(words[at] == "all" for words in filled) for at in (0, 1)]
    if ends[0] == ends[1]:
        ends = [not is_result_name(filled[0][at]) for at in (0, 1)]
        refuse_if(ends[0] == ends[1])
    at = 1 if ends[1] else 0  # where the queries are
    return chosen([(system, words[at], words[1 - at], words[2]) for words in filled], wanted)


def long_table(data: bytes, system: str, wanted: str) -> Any:
    """A long table in CSV; "a matrix" where its header is not that of one."""
    text = text_of(data)
    first = next((line for line in text.split("\n") if line.strip(BLANKS)), "")
    separator = "\t" if first.count("\t") > first.count(",") else ";" if "," not in first and ";" in first else ","
    rows = records(text, separator)
    refuse_if(not rows)
    header = rows[0]
    columns = [next((name for name in names if name in header), None) for names in (SYSTEMS, QUERIES, MEASURES, VALUES)]
    if None in (columns[1], columns[3]) or (columns[0] is None and columns[2] is None):
        return "a matrix"
    refuse_if(len(set(header)) < len(header) or len(rows) < 2 or any(len(row) != len(header) for row in rows))
    cells = [[None if name is None else row[header.index(name)] for name in columns] for row in rows[1:]]
    for own, query, measure, _ in cells:
        refuse_if("" in (own, query, measure))
    return chosen([(own or system, str(query), measure, value) for own, query, measure, value in cells], wanted)
