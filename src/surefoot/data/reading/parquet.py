"""A Parquet file's skeleton, checked before Polars sees it: an absurd count in a page would end the whole process.

The skeleton is what https://parquet.apache.org/docs/file-format/ describes: a footer, written in Thrift's compact form,
that says where each column's pages are, and before each page a header that says how large it is.
"""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import Any

from surefoot.data.reading.files import FORMAT_OF_ENDING
from surefoot.data.reading.limits import check_growth
from surefoot.errors import DataError

_DEEP = 16  # structures within structures; Parquet's have fewer
_CELL = 8  # bytes of a value in memory, where a page may say in one that it is repeated a million times
# Thrift's field numbers.
_ROWS, _GROUPS = 3, 4
_COLUMNS, _GROUP_ROWS = 1, 3
_COLUMN = 3
_VALUES, _SIZE, _DATA, _DICTIONARY = 5, 7, 9, 11
_PLAIN_SIZE, _PAGE_SIZE, _HEADERS = 2, 3, (5, 7, 8)
_DATA_HEADERS = 5, 8
_STRUCT, _FIRST_INT = 12, 0x15  # how Thrift starts a structure, and its first field if that is a 32-bit number


def is_parquet(path: str | os.PathLike[str]) -> bool:
    """Whether the file's name says that it is Parquet."""
    return FORMAT_OF_ENDING.get(Path(path).suffix.lower()) == "parquet"


def check_parquet(path: str | os.PathLike[str]) -> None:
    """Refuse a file whose counts and sizes cannot be right, or that would grow too much when it is read."""
    try:
        with Path(path).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            size = _check(data)
    except (AttributeError, LookupError, TypeError, ValueError, OSError) as error:  # fields of any kind may be met
        raise DataError.at(path, None, f"cannot be read as Parquet ({error or 'it is damaged'})") from error
    check_growth(Path(path), size)


def _check(data: mmap.mmap) -> int:
    """Check it; how many bytes it becomes at least."""
    end = len(data) - 8
    start = end - int.from_bytes(data[end : end + 4], "little")
    if data[:4] != b"PAR1" or data[-4:] != b"PAR1" or start < 4:
        raise ValueError("it does not start and end as such a file does, or is truncated")
    footer, _ = _struct(data[start:end], 0)
    _require(footer[_ROWS] == sum(group[_GROUP_ROWS] for group in footer[_GROUPS]), "the rows do not add up")
    columns = [column[_COLUMN] for group in footer[_GROUPS] for column in group[_COLUMNS]]
    rows = [group[_GROUP_ROWS] for group in footer[_GROUPS] for _ in group[_COLUMNS]]
    _require(all(column[_VALUES] >= few for column, few in zip(columns, rows, strict=True)), "a column is too short")
    # Columns that shared their pages could be without number.
    _require(sum(column[_SIZE] for column in columns) <= len(data), "the columns are larger than the file")
    return sum(_check_column(data, start, column) for column in columns) + _CELL * int(footer[_ROWS])


def _check_column(data: mmap.mmap, end: int, column: dict[int, Any]) -> int:
    """Check its pages; how many bytes its values take in memory at least: as its pages hold them, or 8 for each."""
    grown, memory = 0, _CELL * int(column[_VALUES])
    dictionary, size, values = column.get(_DICTIONARY), column[_SIZE], column[_VALUES]
    position = min(column[_DATA], dictionary) if dictionary else column[_DATA]
    last = position + size
    _require(not values or 4 <= position < last <= end, "a column lies outside the file")
    while values:
        plain, size, kind, count = _page(data[position : min(last, position + 64)])
        _require(kind in _HEADERS and 0 <= size <= last - position and plain >= 0, "a page's size is wrong")
        _require(0 <= count <= values or (count >= 0 and kind not in _DATA_HEADERS), "a page's count is wrong")
        grown += plain
        values -= count if kind in _DATA_HEADERS else 0
        if values:  # headers are read to their end only where another follows
            position += _length(data, position, last) + size
    return max(grown, memory)


def _page(data: bytes) -> tuple[int, int, int, int]:
    """Of a page's header: its size, decompressed and as it is, its kind, and how many values it holds."""
    sizes = {}
    number = position = 0
    while data[position] & 15 != _STRUCT:
        number += data[position] >> 4
        sizes[number], position = _zigzag(data, position + 1)
    kind = number + (data[position] >> 4)
    _require(data[position + 1] == _FIRST_INT, "a page has no count")
    return sizes[_PLAIN_SIZE], sizes[_PAGE_SIZE], kind, _zigzag(data, position + 2)[0]


def _length(data: mmap.mmap, position: int, last: int) -> int:
    """How long a page's header is; mostly little, but it may hold long texts."""
    try:
        return _struct(data[position : min(last, position + 512)], 0)[1]
    except (LookupError, ValueError):
        return _struct(data[position:last], 0)[1]


def _require(condition: bool, problem: str) -> None:
    if not condition:
        raise ValueError(problem)


def _struct(data: bytes, position: int, depth: int = 0) -> tuple[dict[int, Any], int]:
    """The fields of a structure by number, and where it ends."""
    _require(depth < _DEEP, "it is damaged")
    fields: dict[int, Any] = {}
    number = 0
    while True:
        head = data[position]
        position += 1
        if not head:
            return fields, position
        if head >> 4:
            number += head >> 4
        else:
            number, position = _zigzag(data, position)
        fields[number], position = _value(data, position, head & 15, depth)


def _value(data: bytes, position: int, kind: int, depth: int) -> tuple[Any, int]:
    match kind:
        case 4 | 5 | 6:
            return _zigzag(data, position)
        case 1 | 2:
            return kind == 1, position
        case 3:
            return data[position], position + 1
        case 7:
            return None, position + 8
        case 8:
            length, position = _varint(data, position)
            _require(length <= len(data) - position, "it is damaged")
            return None, position + length
        case 9 | 10:
            size, kind = data[position] >> 4, data[position] & 15
            position += 1
            if size == 15:
                size, position = _varint(data, position)
            _require(size <= len(data) - position, "it is damaged")  # every item takes a byte at least
            items = []
            for _ in range(size):
                if kind in (1, 2):  # in a list a truth value takes a byte
                    item, position = data[position] == 1, position + 1
                else:
                    item, position = _value(data, position, kind, depth)
                items.append(item)
            return items, position
        case 12:
            return _struct(data, position, depth + 1)
        case _:
            raise ValueError("it is damaged")


def _zigzag(data: bytes, position: int) -> tuple[int, int]:
    value = data[position]
    if value < 128:  # nearly always
        return (value >> 1) ^ -(value & 1), position + 1
    value, position = _varint(data, position)
    return (value >> 1) ^ -(value & 1), position


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, position
    raise ValueError("it is damaged")
