"""Texts of queries and titles of documents, by id: what a reader sees beside an id.

Files are `id<TAB>text` (MS MARCO), JSON lines (BEIR), or TREC topics; their first letter tells which.
"""

from __future__ import annotations

import html
import os
import re
import warnings
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from surefoot.data.reading.columns import ids_of, is_missing, row_of
from surefoot.data.reading.files import existing_file, json_lines, read_text, text_lines, utf8_line
from surefoot.data.reading.frames import DOCUMENT_COLUMNS, QUERY_COLUMNS, is_columns, read_table, table_of
from surefoot.data.reading.parquet import is_parquet
from surefoot.errors import DataError, SurefootWarning, name_list, shortened

# The first that is not empty counts.
TEXT_COLUMNS = ("title", "text", "query", "query_text", "question", "passage", "contents")
ID_COLUMNS = tuple(name for name in ("_id", *QUERY_COLUMNS, "id", *DOCUMENT_COLUMNS) if name not in TEXT_COLUMNS)
_ACCEPTED = "a file, a dict {id: text}, or a pandas, polars or Arrow table with columns such as query_id and text"
_BLOCK = 1 << 20
_IDS_IN_MESSAGE = 3  # ids that a message names
# Possessive, so that no letter is looked at more than a few times, whatever a file holds.
_TOPIC = re.compile(r"<(?:top|topic)\b([^<>]*+)>(.*?)(?=<top\b|<topic\b|</top>|</topic>|\Z)", re.DOTALL | re.IGNORECASE)
_TOPIC_NUMBER = re.compile(r"<num>\s*+(?:Number\s*+:\s*+)?([^\s<]++)", re.IGNORECASE)
_TOPIC_ID_ATTRIBUTE = re.compile(r"""\b(?:number|id)\s*+=\s*+["']([^"']++)["']""", re.IGNORECASE)
_TOPIC_TITLE = re.compile(r"<(?:title|query)>\s*+(?:Topic\s*+:)?([^<]*+)", re.IGNORECASE)

TextRows: TypeAlias = "Iterator[tuple[str, str, str]]"  # where it stands, the id, the text


def read_texts(source: Any, wanted: Collection[str] | None = None, *, whole: bool = False) -> dict[str, str]:
    """The text of each id, from a file, a dict or a table; of the `wanted` ids alone where they are given.

    Of a title and a text the title is taken; if `whole`, both.

    Files: `id<TAB>text` (a header is known by its names), JSON lines with an id (`_id`, `query_id`, `qid` …) and a
    `title`, `text` or `query`, or TREC topics; plain, .gz, .bz2, .xz, .zst, or .parquet. White space becomes
    single spaces.

    >>> read_texts({"q1": "surefoot  mountain goat"})
    {'q1': 'surefoot mountain goat'}
    >>> read_texts({"d1": {"title": "Goats", "text": "They climb."}}, whole=True)
    {'d1': 'Goats They climb.'}
    """
    return _read(source, wanted, whole)[0]


def shown_texts(source: Any, ids: Collection[str]) -> dict[str, str]:
    """The texts to show beside ids, with a warning where there are texts of other ids alone."""
    texts, others = _read(source, ids)
    if ids and others and not texts:
        where = shortened(str(source)) if isinstance(source, str | os.PathLike) else "what was given"
        warnings.warn(
            f"no text can be shown: {where} has texts for {name_list(others, _IDS_IN_MESSAGE, shortened)}, but not for "
            f"{shortened(next(iter(ids)))}; do both files use the same ids?",
            SurefootWarning,
            stacklevel=2,
        )
    return texts


def _read(source: Any, wanted: Collection[str] | None, whole: bool = False) -> tuple[dict[str, str], list[str]]:
    """The texts of the wanted ids, and a few of the others."""
    texts: dict[str, str] = {}
    others: list[str] = []
    for where, key, text in _text_rows(source, whole):
        if wanted is not None and key not in wanted:
            if len(others) < _IDS_IN_MESSAGE:
                others.append(key)
            continue
        if key in texts:
            raise DataError(f"{where}: the id {shortened(key)} appears twice; keep one text for each id")
        texts[key] = " ".join(text.split())
    return texts, others


def _text_rows(source: Any, whole: bool) -> TextRows:
    if isinstance(source, Mapping) and not is_columns(source):
        return _from_dict(source, whole)
    if not isinstance(source, str | os.PathLike):
        return _from_table(table_of(source, "texts", _ACCEPTED), "texts", whole)
    path = existing_file(source)
    if is_parquet(path):
        return _from_table(table_of(read_table(path), str(source), _ACCEPTED), str(source), whole)
    first = next((line.strip() for line in text_lines(path, _BLOCK) if line.strip()), b"")
    if not first:
        raise DataError.at(path, None, "the file is empty; expected lines 'id<TAB>text', JSON lines or TREC topics")
    if first.startswith(b"<"):
        return _from_topics(path)
    return _from_json_lines(path, whole) if first.startswith(b"{") else _from_lines(path, whole)


def _from_dict(source: Mapping[Any, Any], whole: bool) -> TextRows:
    ids = ids_of(list(source), "the key", row_of("texts")).to_list()
    for key, value in zip(ids, source.values(), strict=True):
        yield f"texts, id {shortened(key)}", key, _text_of(value, f"texts, id {shortened(key)}", whole)


def _from_table(table: Mapping[str, Any], what: str, whole: bool) -> TextRows:
    key = next((name for name in ID_COLUMNS if name in table), None)
    columns = [name for name in TEXT_COLUMNS if name in table and name != key]
    if key is None or not columns:
        raise DataError(
            f"{what}: expected a column of ids ({', '.join(ID_COLUMNS[:5])} …) and one of texts "
            f"({', '.join(TEXT_COLUMNS[:3])} …), "
            f"found {', '.join(map(shortened, list(table)[:8])) or 'none'}"
        )
    where = row_of(what)
    ids = ids_of(table[key], repr(key), where).to_list()
    for row, values in enumerate(zip(*(list(table[name]) for name in columns), strict=True)):
        present = {name: value for name, value in zip(columns, values, strict=True) if not is_missing(value)}
        yield where(row), ids[row], _text_of(present, where(row), whole) if present else ""


def _from_lines(path: Path, whole: bool) -> TextRows:
    key, text, width = 0, [1], 2
    for number, raw in enumerate(text_lines(path, _BLOCK), start=1):
        if not raw.strip():
            continue
        fields = utf8_line(path, number, raw).rstrip("\r").split("\t")
        heads = [field.strip().lower() for field in fields]
        if number == 1 and heads[0] in ID_COLUMNS and any(head in TEXT_COLUMNS for head in heads[1:]):
            text, width = [heads.index(name) for name in TEXT_COLUMNS if name in heads[1:]], len(fields)
            text = text if whole and "title" in heads else text[:1]
            continue
        if len(fields) != width or not fields[key].strip():
            raise DataError.at(
                path, number, f"expected an id and a text with one tab between, found {shortened(' '.join(fields))}"
                if width == 2
                else f"expected {width} columns as the header has, found {len(fields)}",
            )  # fmt: skip
        yield f"{path}, line {number}", fields[key].strip(), " ".join(_title_and_text([fields[n] for n in text]))


def _from_json_lines(path: Path, whole: bool) -> TextRows:
    for number, entry in json_lines(path):
        where = f"{path}, line {number}"
        key = next((entry[name] for name in ID_COLUMNS if name in entry), None) if isinstance(entry, dict) else None
        if isinstance(key, bool) or not isinstance(key, str | int) or not str(key).strip():
            raise DataError(
                f"{where}: expected an object with an id ({', '.join(ID_COLUMNS[:5])} …), found {shortened(entry)}"
            )
        yield where, str(key), _text_of(entry, where, whole)


def _from_topics(path: Path) -> TextRows:
    """TREC's topics: `<top><num> Number: 301 <title> …`, or `<topic number="151"><query>…`."""
    content, end, line, any_topic = read_text(path), 0, 1, False
    for topic in _TOPIC.finditer(content):
        line, end, any_topic = line + content.count("\n", end, topic.start()), topic.start(), True
        number = _TOPIC_ID_ATTRIBUTE.search(topic[1]) or _TOPIC_NUMBER.search(topic[2])
        title = _TOPIC_TITLE.search(topic[2])
        if number is None or title is None:
            lacks = "number (<num>, or number=…)" if number is None else "<title> or <query>"
            raise DataError.at(path, line, f"the topic has no {lacks}")
        yield f"{path}, line {line}", html.unescape(number[1]), html.unescape(title[1])
    if not any_topic:
        raise DataError.at(path, None, "no topic was found; expected <top>…</top> or <topic number=…>…</topic>")


def _text_of(value: Any, where: str, whole: bool) -> str:
    """A text, or the first that is not empty of a dict's, a title before a text; if `whole`, the title and a text."""
    if isinstance(value, Mapping):
        candidates = [value[name] for name in TEXT_COLUMNS if name in value]
        if not candidates:
            raise DataError(f"{where}: expected one of {', '.join(TEXT_COLUMNS[:3])} …, found {shortened(list(value))}")
        if whole and all(text is None or isinstance(text, str) for text in candidates):
            return " ".join(_title_and_text(candidates if "title" in value else ["", *candidates]))
        value = next((text for text in candidates if text), "")
    if not isinstance(value, str):
        raise DataError(f"{where}: the text is {shortened(value)}; expected a text")
    return value


def _title_and_text(candidates: list[Any]) -> list[str]:
    """The title, which comes first, and the first of the other texts that is not empty."""
    return [text for text in (candidates[0], next((text for text in candidates[1:] if text), "")) if text]
