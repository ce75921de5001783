"""Readers that are slow, strict and obvious: what each format means, written once more and without speed in mind.

Each returns the file's meaning as plain Python, or raises `Refused`.
"""

from __future__ import annotations

import datetime
import math
import re

import numpy as np

NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
BLANKS = " \t\v\f\r"


class Refused(Exception):  # noqa: N818 - it is what is expected
    """The input is wrong."""


def refuse_if(wrong: object) -> None:
    if wrong:
        raise Refused


def text_of(data: bytes) -> str:
    try:
        text = data.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError:
        raise Refused from None
    refuse_if("\0" in text)
    return text


def parse_number(text: str) -> float:
    refuse_if(not NUMBER.fullmatch(text))
    value = float(text)
    refuse_if(not math.isfinite(value))
    return value


def parse_score(text: str) -> float:
    """A whole number that float64 cannot hold would become equal to another."""
    value = parse_number(text)
    refuse_if(re.fullmatch(r"[+-]?[0-9]+", text) is not None and int(text) != value)
    return value


def fields_of(line: str) -> list[str]:
    return [field for field in re.split(f"[{BLANKS}]", line) if field]


def trec(data: bytes, fields: int, at: int, *, by_id: bool) -> list[tuple[str, list[tuple[str, float]]]]:
    """Queries in order of appearance with their documents, best first.

    Three columns, if single tabs part the first line into so many, are query, document and rank (of a run) or grade.
    """
    table: dict[str, dict[str, float]] = {}
    filled = [line for line in text_of(data).split("\n") if fields_of(line)]
    refuse_if(not filled)
    first = filled[0].removesuffix("\r")
    three = fields_of(first) == first.split("\t") and len(fields_of(first)) == 3
    for line in filled:
        words = fields_of(line)
        refuse_if(len(words) != (3 if three else fields))
        documents = table.setdefault(words[0], {})
        document, number = (words[1], words[2]) if three else (words[2], words[at])
        refuse_if(document in documents)
        documents[document] = parse_score(number) * (-1 if three and by_id else 1)
    for documents in table.values():
        refuse_if(three and by_id and sorted(documents.values()) != [-rank for rank in range(len(documents), 0, -1)])
    ranked = []
    for query, documents in table.items():
        items = list(documents.items())
        if by_id:
            items.sort(key=lambda item: item[0], reverse=True)
        items.sort(key=lambda item: -item[1])
        ranked.append((query, items))
    return ranked


def records(text: str, separator: str) -> list[list[str]]:
    """CSV, letter by letter; white space around fields, and records of nothing else, do not count."""
    refuse_if(re.search(r"\r(?!\n|\Z)", text))
    rows: list[list[str]] = []
    row: list[str] = []
    field, i, quoted = "", 0, False
    while i <= len(text):
        letter = text[i : i + 1]
        if quoted:
            refuse_if(not letter)
            if letter == '"' and text[i + 1 : i + 2] == '"':
                field += '"'
                i += 1
            elif letter == '"':
                quoted = False
                refuse_if(text[i + 1 : i + 2] not in ("", separator, "\n", "\r"))
            else:
                field += letter
        elif letter == '"' and not field and (i == 0 or text[i - 1] in (separator, "\n")):
            quoted = True
        elif letter in ("", separator, "\n"):
            row.append(field.strip(BLANKS))
            field = ""
            if letter != separator:
                rows.append(row)
                row = []
        else:
            field += letter
        i += 1
    return [row for row in rows if any(row)]


def scores(data: bytes) -> tuple[list[str], list[str], list[list[float]]]:
    text = text_of(data)
    first = next((line for line in text.split("\n") if line.strip(BLANKS)), "")
    separator = "\t" if first.count("\t") > first.count(",") else ";" if "," not in first and ";" in first else ","
    rows = records(text, separator)
    refuse_if(len(rows) < 2)
    header = rows[0]
    refuse_if(len(header) < 2 or "" in header[1:] or len(set(header)) < len(header))
    refuse_if(any(len(row) != len(header) for row in rows))
    headers = ("query_id", "qid", "q_id", "query", "topic", "")
    refuse_if(header[0].lower() not in headers and all(map(is_number, header[1:])))
    queries = [row[0] for row in rows[1:]]
    refuse_if("" in queries or len(set(queries)) < len(queries))
    values = [[parse_score(row[column]) for row in rows[1:]] for column in range(1, len(header))]
    refuse_if(any(abs(value) > 1e100 for row in values for value in row))
    return header[1:], queries, values


def is_number(text: str) -> bool:
    return bool(NUMBER.fullmatch(text) or re.fullmatch(r"[+-]?(nan|inf(inity)?)", text, re.IGNORECASE))


def letor(data: bytes) -> tuple[list[dict[int, float]], int, list[float], list[str], list[str] | None]:
    """Features of each row, the matrix's width, labels, query and document ids."""
    rows: list[dict[int, float]] = []
    labels, queries, ids = [], [], []
    for line in text_of(data).split("\n"):
        before, _, comment = line.partition("#")
        words = fields_of(before)
        if not words:
            continue
        label = parse_number(words[0])
        refuse_if(label < 0 or len(words) < 2 or not words[1].startswith("qid:") or words[1] == "qid:")
        row: dict[int, float] = {}
        for word in words[2:]:
            match = re.fullmatch(r"([0-9]+):(.*)", word, re.DOTALL)
            refuse_if(not match)
            feature, value = int(match[1][:20]), match[2]
            refuse_if(not max(row, default=0) < feature <= 1 << 20)
            row[feature] = math.nan if value.lower().lstrip("+-") == "nan" and is_number(value) else single(value)
        rows.append(row)
        labels.append(label)
        queries.append(words[1][4:])
        ids.append(document_of(comment))
    width = max((max(row, default=0) for row in rows), default=0)
    refuse_if(not width)
    appeared = [query for i, query in enumerate(queries) if i == 0 or query != queries[i - 1]]
    refuse_if(len(set(appeared)) < len(appeared))
    documents = None if None in ids else ids
    refuse_if(documents and len(set(zip(queries, documents, strict=True))) < len(documents))
    return rows, width, labels, queries, documents


def single(text: str) -> float:
    with np.errstate(over="ignore"):
        value = float(np.float32(parse_number(text)))
    refuse_if(math.isinf(value))
    return value


def document_of(comment: str) -> str | None:
    words = fields_of(comment)
    named = re.match(rf"[{BLANKS}]*docid[{BLANKS}]*=[{BLANKS}]*([^{BLANKS}]+)", comment)
    if named:
        return named[1]
    alone = len(words) == 1 and not words[0].startswith("docid=")
    return words[0] if alone else None


def preferences(data: bytes) -> list[tuple[str, str, list[list[tuple[float, float]]]]]:
    """Name, preferred list, and (score, grade) of both lists."""
    rows = records(text_of(data), ",")
    names = ("pair", "list", "rank", "score", "grade", "preferred")
    refuse_if(not rows or any(rows[0].count(name) != 1 for name in names))
    pairs: dict[str, tuple[str, dict[str, dict[int, tuple[float, float]]]]] = {}
    for row in rows[1:]:
        refuse_if(len(row) != len(rows[0]))
        pair, which, rank, score, grade, preferred = (row[rows[0].index(name)] for name in names)
        refuse_if(not pair or which not in ("A", "B") or preferred not in ("A", "B"))
        chosen, lists = pairs.setdefault(pair, (preferred, {"A": {}, "B": {}}))
        refuse_if(chosen != preferred or not re.fullmatch(r"[0-9]{1,9}", rank) or int(rank) in lists[which])
        lists[which][int(rank)] = parse_number(score), parse_number(grade)
    refuse_if(not pairs)
    pairs_read = []
    for pair, (preferred, lists) in pairs.items():
        both = []
        for results in lists.values():
            refuse_if(not results or sorted(results) != list(range(1, len(results) + 1)))
            ordered = [results[rank] for rank in sorted(results)]
            refuse_if(any(ordered[i + 1][0] > ordered[i][0] for i in range(len(ordered) - 1)))
            both.append(ordered)
        pairs_read.append((pair, preferred, both))
    return pairs_read


def dates(data: bytes) -> dict[str, datetime.date]:
    by_query: dict[str, datetime.date] = {}
    text = text_of(data)
    refuse_if("\n" not in text and "\r" in text.strip(BLANKS))
    first = True
    for line in text.split("\n"):
        words = fields_of(line.replace(",", " "))
        if not words:
            continue
        header, first = first and [word.lower() for word in words[1:]] == ["date"], False
        if header:
            continue
        time = r"[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?( ?(Z|UTC|[+-][0-9]{2}(:?[0-9]{2})?))?"
        match = re.fullmatch(rf"([0-9]{{4}})-([0-9]{{2}})-([0-9]{{2}})([T ]{time})?", " ".join(words[1:]))
        refuse_if(not match)
        try:
            date = datetime.date(*map(int, match.groups()[:3]))
        except ValueError:
            raise Refused from None
        refuse_if(by_query.setdefault(words[0], date) != date)
    refuse_if(not by_query)
    return by_query
