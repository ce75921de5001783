"""Slow, obvious readers of tools' files: what each form means, written once more from the tools' own rules.

Each returns `{run or None: {query: {document: number}}}`, or raises `Refused`.
"""

from __future__ import annotations

import json
import re
from typing import Any

from tests.fuzz.slow_readers import BLANKS, Refused, is_number, parse_number, records, refuse_if, text_of

QUERIES = ("query_id", "query-id", "qid", "q_id", "query")
DOCUMENTS = ("doc_id", "docno", "docid", "corpus-id", "corpus_id", "pid", "passage_id", "document")
GRADES = ("relevance", "rel", "label", "grade", "rating")
Tables = dict[str | None, dict[str, dict[str, float]]]


def table(data: bytes, kind: str) -> Tables:
    """Any CSV file, Quepid's or an ordinary one."""
    text = text_of(data)
    first = next((line for line in text.split("\n") if line.strip(BLANKS)), "")
    separator = "\t" if first.count("\t") > first.count(",") else ";" if "," not in first and ";" in first else ","
    rows = records(text, separator)
    refuse_if(not rows or any(len(row) != len(rows[0]) for row in rows))
    header, *rows = rows
    refuse_if(len(set(header)) < len(header))
    heads = ("query_id", "query-id", "qid", "q_id", "query", "topic", "")
    refuse_if(header[1:] and header[0].lower() not in heads and all(map(is_number, header[1:])))
    columns = {name: [row[i] for row in rows] for i, name in enumerate(header)}
    if header == ["query", "docid", "rating"]:
        refuse_if(kind == "run")
        return {None: added((row[0], row[1], parse_number(row[2])) for row in rows if row[2])}
    if {"Query Text", "Doc ID"} <= set(header):
        refuse_if(kind != "run" or "Doc Position" not in header)
        for name in {"Snapshot Name", "Snapshot Time", "Case ID"} & set(header):
            refuse_if(len(set(columns[name])) > 1)
        places = columns["Doc Position"]
        refuse_if(not all(re.fullmatch("[0-9]{1,15}", place) and int(place) for place in places))
        results = list(zip(columns["Query Text"], columns["Doc ID"], [-int(place) for place in places], strict=True))
        refuse_if(len({(query, rank) for query, _, rank in results}) < len(results))
        return {None: added(results)}
    if header[:2] == ["query", "docid"] and header[2:] and not {*GRADES, "score", "rank", "position"} & set(header):
        refuse_if(kind == "run")
        graded = []
        for row in rows:
            ratings = [parse_number(part.strip(" \t")) for cell in row[2:] for part in cell.split("|") if part.strip()]
            if ratings:
                graded.append((row[0], row[1], sum(ratings) / len(ratings)))
        return {None: added(graded)}
    query, document = (next((name for name in names if name in header), None) for names in (QUERIES, DOCUMENTS))
    refuse_if(query is None or document is None)
    bare = {"corpus-id", "corpus_id"} & {document} or query == "q_id"
    numbers = ("score", "rank") if kind == "run" else (*GRADES, *(["score"] if bare else []))
    number = next((name for name in numbers if name in header), None)
    refuse_if(number is None)
    sign = -1 if number == "rank" else 1
    cells = zip(columns[query], columns[document], columns[number], strict=True)
    return {None: added((q, d, sign * parse_number(text)) for q, d, text in cells)}


def added(rows: Any) -> dict[str, dict[str, float]]:
    added_rows: dict[str, dict[str, float]] = {}
    for query, document, number in rows:
        refuse_if(not query or not document or document in added_rows.get(query, {}))
        added_rows.setdefault(query, {})[document] = number
    refuse_if(not added_rows)
    return added_rows


def tool_json(data: bytes, kind: str) -> Tables:
    """The JSON of the Workbench and of `_rank_eval`; anything else is refused."""
    try:
        value = json.loads(text_of(data), object_pairs_hook=once, parse_constant=lambda _: refuse_if(True))
    except (ValueError, RecursionError):
        raise Refused from None
    parts: dict[str | None, list[tuple[Any, list[Any], list[Any] | None]]] = {}
    refuse_if(not isinstance(value, dict | list))
    entries = value if isinstance(value, list) else [value]
    if isinstance(value, dict) and isinstance(value.get("hits"), dict) and isinstance(value["hits"].get("hits"), list):
        entries = value["hits"]["hits"]
    refuse_if(not all(isinstance(entry, dict) for entry in entries))
    entries = [entry["_source"] if isinstance(entry.get("_source"), dict) else entry for entry in entries]
    try:
        if any("judgmentRatings" in entry for entry in entries):
            refuse_if(len(entries) > 1 or kind == "run")
            parts[None] = [
                (each["query"], [one["docId"] for one in each["ratings"]], [one["rating"] for one in each["ratings"]])
                for each in entries[0]["judgmentRatings"]
            ]
        elif any("searchConfigurationId" in entry for entry in entries):
            refuse_if(kind != "run")
            for entry in entries:
                name = entry["searchConfigurationId"]
                refuse_if(not isinstance(name, str) or not isinstance(entry["documentIds"], list))
                parts.setdefault(name, []).append((entry["searchText"], entry["documentIds"], None))
        elif any("results" in entry for entry in entries):
            refuse_if(kind != "run" or len(entries) > 1)
            for result in entries[0]["results"]:
                for snapshot in result["snapshots"]:
                    name = snapshot["searchConfigurationId"]
                    refuse_if(not isinstance(name, str) or not isinstance(snapshot["docIds"], list))
                    parts.setdefault(name, []).append((result["queryText"], snapshot["docIds"], None))
        elif "requests" in value:
            refuse_if(kind == "run")
            parts[None] = [
                (each["id"], [one["_id"] for one in each["ratings"]], [one["rating"] for one in each["ratings"]])
                for each in value["requests"]
            ]
        else:
            refuse_if(kind != "run" or value.get("failures"))
            details = value["details"].items()
            parts[None] = [(query, [one["hit"]["_id"] for one in each["hits"]], None) for query, each in details]
    except (KeyError, TypeError, AttributeError):
        raise Refused from None
    tables = {run: listed(queries) for run, queries in parts.items()}
    tables = {run: queries for run, queries in tables.items() if queries}
    refuse_if(not tables)
    return tables


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    refuse_if(len(dict(pairs)) < len(pairs))
    return dict(pairs)


def listed(queries: list[tuple[Any, list[Any], list[Any] | None]]) -> dict[str, dict[str, float]]:
    names = [identity(query) for query, _, _ in queries]
    refuse_if(len(set(names)) < len(names))
    by_query = {}
    for name, (_, documents, numbers) in zip(names, queries, strict=True):
        ids = [identity(document) for document in documents]
        refuse_if(len(set(ids)) < len(ids))
        values = [-1.0 - i for i in range(len(ids))] if numbers is None else [value_of(number) for number in numbers]
        if ids:
            by_query[name] = dict(zip(ids, values, strict=True))
    return by_query


def identity(value: Any) -> str:
    refuse_if(isinstance(value, bool) or not isinstance(value, str | int | float))
    if isinstance(value, float):
        refuse_if(value != value // 1 or abs(value) > 2**53)
        value = int(value)
    try:
        return (str(value)).encode().decode()
    except ValueError:  # half a character, or thousands of digits
        raise Refused from None


def value_of(value: Any) -> float:
    refuse_if(isinstance(value, bool) or not isinstance(value, str | int | float))
    if isinstance(value, str):
        return parse_number(value.strip(BLANKS))
    refuse_if(abs(value) > 1.7976931348623157e308)
    return float(value)
